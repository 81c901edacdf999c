"""The routes of the HTTP API, derived from the catalogue."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic.alias_generators import to_camel

from mainstay.doors.paths import Paths
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Door


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path."""

    operation: Operation
    method: str
    path: str
    # The names under which the path's parameters go into the input.
    parameters: tuple[str, ...]
    # The names that stand in a path and never in a body; where a record is made, that of its id, which stands in the
    # path where one is changed.
    elsewhere: tuple[str, ...]
    # The number of this route for the meters; 0 is for requests that found none.
    number: int
    # 201 where a record is made: a POST to a collection rather than to a record.
    status: int


def api_paths(operations: Sequence[Operation]) -> Paths[Endpoint]:
    """Every route of the API, below `/api/v1`."""
    paths: Paths[Endpoint] = Paths()
    for endpoint in endpoints_of(operations):
        paths.add(endpoint.method, endpoint.path, endpoint)
    return paths


def endpoints_of(operations: Sequence[Operation]) -> list[Endpoint]:
    """The endpoints of the operations that the API offers, in the catalogue's order."""
    offered = [operation for operation in operations if operation.rest and Door.API in operation.offered]
    routes = [(operation, route) for operation in offered for route in _routes(operation)]
    endpoints = []
    for number, (operation, route) in enumerate(routes, start=1):
        method, _, declared = route.partition(" ")
        path = re.sub(r"{(\w+)}", lambda name: "{" + to_camel(name[1]) + "}", declared)
        parameters = tuple(re.findall(r"{(\w+)}", path))
        # Only what is posted to a collection is made there; elsewhere something is done.
        status = 201 if method == "POST" and path.count("/") == 1 else 200
        made = (to_camel(operation.on.id_field),) if operation.makes and operation.on and operation.on.id_field else ()
        endpoints.append(Endpoint(operation, method, path, parameters, parameters or made, number, status))
    return endpoints


def _routes(operation: Operation) -> list[str]:
    """Where it is; what makes a record where none is named changes one at the address of that."""
    made = operation.rest or ""
    if operation.makes and operation.on:
        return [made, f"{made.replace('POST', 'PATCH')}/{{{operation.on.id_field}}}"]
    return [made]
