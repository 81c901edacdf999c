"""Addresses: found by walking a tree of path segments, made at start. The HTTP API and the pages share it."""

import re
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

# Where a parameter stands in the tree: under what can be no segment itself.
_PARAMETER = "/"
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """What is at a path: its methods, and what stands in place of its parameters."""

    methods: dict[str, T]
    values: dict[str, str]


@dataclass(slots=True)
class _Node(Generic[T]):
    children: dict[str, "_Node[T]"] = field(default_factory=dict)
    methods: dict[str, T] = field(default_factory=dict)
    names: tuple[str, ...] = ()


class Paths(Generic[T]):
    """What is where: `/people/{personId}`."""

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()
        # What has no parameters is found at one look.
        self._fixed: dict[str, Found[T]] = {}

    def add(self, method: str, path: str, what: T) -> None:
        """Put something at a path. Who asks for the head of what can be got is answered too."""
        node = self._root
        for segment in path.split("/")[1:]:
            node = node.children.setdefault(_PARAMETER if segment.startswith("{") else segment, _Node())
        node.names = tuple(re.findall(r"{(\w+)}", path))
        node.methods[method] = what
        if method == "GET":
            node.methods["HEAD"] = what
        if not node.names:
            self._fixed[path] = Found(node.methods, {})

    def find(self, path: str) -> Found[T] | None:
        """What is at a path."""
        if found := self._fixed.get(path):
            return found
        node = self._root
        values: list[str] = []
        for segment in path.split("/")[1:]:
            child = node.children.get(segment)
            if child is None:
                child = node.children.get(_PARAMETER)
                if child is None or not _can_stand(segment):
                    return None
                values.append(segment)
            node = child
        return Found(node.methods, dict(zip(node.names, values, strict=True))) if node.methods else None


def _can_stand(segment: str) -> bool:
    """Whether a segment can stand for a parameter: other than printable ASCII could not even be asked of a database."""
    return 0 < len(segment) <= _LONGEST and segment.isascii() and segment.isprintable()
