"""Writes the documents that are made from the catalogue. Run as a script it writes them; a test holds them current."""

import sys
from pathlib import Path

from mainstay.catalogue import OPERATIONS
from mainstay.doors.api.openapi import describe
from mainstay.kernel.operation import Effect, Operation

ROOT = Path(__file__).parents[2]
BASE_URL = "https://mainstay.example"
_EFFECTS = {Effect.READ: "reads", Effect.CHANGE: "changes", Effect.IRREVERSIBLE: "cannot be undone"}
_HEAD = """\
# Operations

Everything that can be done, as every door offers it. Written by `make documents` from the catalogue.

An operation without a route is not part of the HTTP API. One that cannot be undone answers with a preview until it is
confirmed.

| operation | route | right | effect | doors | what it does |
|---|---|---|---|---|---|
"""


def documents() -> dict[Path, str]:
    """Every generated document by its place."""
    return {
        ROOT / "docs" / "operations.md": _HEAD + "".join(map(_row, OPERATIONS)),
        ROOT / "docs" / "openapi.json": describe(OPERATIONS, BASE_URL).decode() + "\n",
    }


def _row(operation: Operation) -> str:
    route = f"`{operation.rest}`" if operation.rest else ""
    doors = ", ".join(sorted(operation.offered))
    words = f"**{operation.title}.** {operation.description}".replace("|", "\\|")
    effect = _EFFECTS[operation.effect]
    return f"| `{operation.name}` | {route} | `{operation.right}` | {effect} | {doors} | {words} |\n"


def main() -> None:
    """Write them."""
    for path, text in documents().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
