"""The routes of the HTTP API, derived from the catalogue."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic.alias_generators import to_camel

from mainstay.doors.path_router import PathRouter
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Door


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path, and its operation."""

    operation: Operation
    method: str
    path: str
    # The input fields that are taken from the path.
    path_parameters: tuple[str, ...]
    # The input fields that are never in the body: those in the path. A route that creates a record leaves out the field
    # of its id, because only the route that changes the record has it, in the path.
    path_only_fields: tuple[str, ...]
    # The number of this route in the metrics; 0 is for requests without a route.
    route_number: int
    # The status of success: 201 for a POST to a collection, which creates a record.
    status: int


def build_api_router(operations: Sequence[Operation]) -> PathRouter[Endpoint]:
    """Build the router of the API, for the paths below `/api/v1`."""
    router: PathRouter[Endpoint] = PathRouter()
    for endpoint in endpoints_of(operations):
        router.add(endpoint.method, endpoint.path, endpoint)
    return router


def endpoints_of(operations: Sequence[Operation]) -> list[Endpoint]:
    """Return the endpoints of the operations that the API offers, in the order of the catalogue."""
    api_operations = [operation for operation in operations if operation.api_path and Door.API in operation.doors]
    routes = [(operation, route) for operation in api_operations for route in _routes_of(operation)]
    endpoints = []
    for route_number, (operation, route) in enumerate(routes, start=1):
        method, _, declared_path = route.partition(" ")
        path = re.sub(r"{(\w+)}", lambda name: "{" + to_camel(name[1]) + "}", declared_path)
        parameters = tuple(re.findall(r"{(\w+)}", path))
        # A POST to a collection creates a record; any other POST does something to a record.
        status = 201 if method == "POST" and path.count("/") == 1 else 200
        created_id = (
            (operation.on.id_alias,) if operation.creates_without_id and operation.on and operation.on.id_field else ()
        )
        endpoints.append(Endpoint(operation, method, path, parameters, parameters or created_id, route_number, status))
    return endpoints


def _routes_of(operation: Operation) -> list[str]:
    """Return the routes of an operation: two if it creates a record without an id and changes the one with an id."""
    declared = operation.api_path or ""
    if operation.creates_without_id and operation.on:
        return [declared, f"{declared.replace('POST', 'PATCH')}/{{{operation.on.id_field}}}"]
    return [declared]
