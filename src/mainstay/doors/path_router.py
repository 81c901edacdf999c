"""The router of paths: a tree of path segments, built at start, for the HTTP API and the pages."""

import re
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

# The key of a parameter in the tree; it can be no segment itself.
_PARAMETER = "/"
_MAX_LENGTH = 200


@dataclass(frozen=True, slots=True)
class RouteMatch(Generic[T]):
    """What was found at a path: the target of each method, and the values of its parameters."""

    methods: dict[str, T]
    values: dict[str, str]


@dataclass(slots=True)
class _Node(Generic[T]):
    children: dict[str, "_Node[T]"] = field(default_factory=dict)
    methods: dict[str, T] = field(default_factory=dict)
    parameter_names: tuple[str, ...] = ()


class PathRouter(Generic[T]):
    """Finds what was added for a method and a path, such as `/people/{personId}`."""

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()
        # Paths without parameters are found by a single lookup.
        self._fixed: dict[str, RouteMatch[T]] = {}

    def add(self, method: str, path: str, target: T) -> None:
        """Add something at a path. A GET route also answers HEAD."""
        node = self._root
        for segment in path.split("/")[1:]:
            node = node.children.setdefault(_PARAMETER if segment.startswith("{") else segment, _Node())
        node.parameter_names = tuple(re.findall(r"{(\w+)}", path))
        node.methods[method] = target
        if method == "GET":
            node.methods["HEAD"] = target
        if not node.parameter_names:
            self._fixed[path] = RouteMatch(node.methods, {})

    def find(self, path: str) -> RouteMatch[T] | None:
        """Find what is at a path."""
        if found := self._fixed.get(path):
            return found
        node = self._root
        values: list[str] = []
        for segment in path.split("/")[1:]:
            child = node.children.get(segment)
            if child is None:
                child = node.children.get(_PARAMETER)
                if child is None or not _can_be_parameter(segment):
                    return None
                values.append(segment)
            node = child
        return RouteMatch(node.methods, dict(zip(node.parameter_names, values, strict=True))) if node.methods else None


def _can_be_parameter(segment: str) -> bool:
    """Return whether a segment can be a parameter: only printable ASCII, because a database may refuse others."""
    return 0 < len(segment) <= _MAX_LENGTH and segment.isascii() and segment.isprintable()
