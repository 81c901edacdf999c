"""The routes of the HTTP API, derived from the catalogue: found by walking a tree of path segments made at start."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic.alias_generators import to_camel

from mainstay.kernel.actor import Door
from mainstay.kernel.operation import Operation

# Where a parameter stands in the tree: under what can be no segment itself.
_PARAMETER = "/"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path."""

    operation: Operation
    method: str
    path: str
    # The names under which the path's parameters go into the input.
    parameters: tuple[str, ...]
    # The number of this route for the meters; 0 is for requests that found none.
    number: int
    # 201 where a record is made: a POST to a collection rather than to a record.
    status: int


@dataclass(slots=True)
class _Node:
    children: dict[str, "_Node"] = field(default_factory=dict)
    endpoints: dict[str, Endpoint] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """What is at a path: its methods, and what stands in place of its parameters."""

    endpoints: dict[str, Endpoint]
    values: dict[str, str]


class Routes:
    """Every route of the API."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._root = _Node()
        self.endpoints = tuple(endpoints_of(operations))
        # What has no parameters is found at one look.
        self._fixed: dict[str, Found] = {}
        for endpoint in self.endpoints:
            node = self._root
            for segment in endpoint.path.split("/")[1:]:
                key = _PARAMETER if segment.startswith("{") else segment
                node = node.children.setdefault(key, _Node())
            node.endpoints[endpoint.method] = endpoint
            if endpoint.method == "GET":
                node.endpoints["HEAD"] = endpoint
            if not endpoint.parameters:
                self._fixed[endpoint.path] = Found(node.endpoints, {})

    def find(self, path: str) -> Found | None:
        """What is at a path below `/api/v1`."""
        if found := self._fixed.get(path):
            return found
        node = self._root
        values: list[str] = []
        for segment in path.split("/")[1:]:
            child = node.children.get(segment)
            if child is None:
                child = node.children.get(_PARAMETER)
                # Ids are printable ASCII; other characters could not even be asked of a database. Nothing is no id.
                if child is None or not (segment and segment.isascii() and segment.isprintable()):
                    return None
                values.append(segment)
            node = child
        if not node.endpoints:
            return None
        names = next(iter(node.endpoints.values())).parameters
        return Found(node.endpoints, dict(zip(names, values, strict=True)))


def endpoints_of(operations: Sequence[Operation]) -> list[Endpoint]:
    """The endpoints of the operations that the API offers, in the catalogue's order."""
    offered = [operation for operation in operations if operation.rest and Door.API in operation.offered]
    endpoints = []
    for number, operation in enumerate(offered, start=1):
        method, _, declared = (operation.rest or "").partition(" ")
        path = re.sub(r"{(\w+)}", lambda name: "{" + to_camel(name[1]) + "}", declared)
        parameters = tuple(re.findall(r"{(\w+)}", path))
        status = 201 if method == "POST" and not parameters else 200
        endpoints.append(Endpoint(operation, method, path, parameters, number, status))
    return endpoints
