"""Writes the documents that are made from the catalogue. Run as a script it writes them; a test holds them current."""

import sys
from pathlib import Path
from typing import Any

import orjson

from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.openapi import describe
from mainstay.kernel.operation import Effect, Operation
from mainstay.terms.shapes import Record, Shown
from mainstay.terms.wire import to_json
from mainstay.webhooks.model import TEST, EventData, EventOut, WebhookOut

ROOT = Path(__file__).parents[2]
BASE_URL = "https://mainstay.example"
_EFFECTS = {Effect.READ: "reads", Effect.CHANGE: "changes", Effect.IRREVERSIBLE: "cannot be undone"}
_OPERATIONS = """\
# Operations

Everything that can be done, as every door offers it. Written by `make documents` from the catalogue.

An operation without a route is not part of the HTTP API. One that cannot be undone answers with a preview until it is
confirmed.

| operation | route | right | effect | doors | what it does |
|---|---|---|---|---|---|
"""
_EVENTS = """\
# Events

Every kind of event with a whole example, as it stands in the feed (`GET /api/v1/events`) and as webhooks are sent it,
byte for byte. Written by `make documents` from the catalogue. See also
[how to receive webhooks](receiving-webhooks.md).

`data.object` is the whole record after the change, whoever made it: costs are in it although not everyone may see them.
So the feed and the webhooks are for owners and admins. `data.previous` holds the fields that the change changed, as
they were before. `sequence` goes up by one with each event of the organisation, without gaps.

| kind | what happened |
|---|---|
"""
_PERSON = {"id": "person_01KA3Q8V7N2M4X6Z8B0D1F3H5K", "name": "Ruth Hartley"}
_STAMP = {"kind": "person", "person": _PERSON, "via": {"door": "office", "client": None}}
_AT = "2026-11-15T10:30:50.123Z"
_ULID = "01KA41T9YB7C5D3E1F9G8H6J4K"
# What is particular to a kind: fields of its record, and what they were before.
_PARTICULAR: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "person.invited": ({"status": "invited"}, {}),
    "person.updated": ({}, {"phone": None}),
    "person.left": ({"status": "left"}, {}),
    "job.updated": ({"priority": "high"}, {"priority": "normal"}),
    "job.scheduled": (
        {"stage": "scheduled", "next_action": "Do the planned visit", "next_visit_at": "2026-11-20T08:00:00.000Z"},
        {"stage": "toSchedule", "nextAction": "Plan a visit", "nextVisitAt": None},
    ),
    "job.started": (
        {"status": "inProgress", "stage": "inProgress", "next_action": "Finish the work"},
        {"status": "open", "stage": "toSchedule", "nextAction": "Plan a visit"},
    ),
    "job.completed": (
        {"status": "done", "stage": "toInvoice", "next_action": "Invoice the work"},
        {"status": "inProgress", "stage": "inProgress", "nextAction": "Finish the work"},
    ),
    "job.cancelled": (
        {"status": "cancelled", "stage": "cancelled", "next_action": None, "cancel_reason": "The house was sold."},
        {"status": "open", "stage": "toSchedule", "nextAction": "Plan a visit", "cancelReason": None},
    ),
    "quote.created": ({"status": "draft", "issued_on": None, "sent_at": None, "language": None}, {}),
    "quote.updated": (
        {"status": "draft", "issued_on": None, "sent_at": None, "language": None},
        {"title": "Mend the boiler"},
    ),
    "quote.sent": ({}, {"status": "draft", "issuedOn": None, "sentAt": None, "language": None}),
    "quote.viewed": ({"viewed_at": _AT}, {"viewedAt": None}),
    "quote.accepted": ({"status": "accepted", "decided_at": _AT}, {"status": "sent", "decidedAt": None}),
    "quote.declined": ({"status": "declined", "decided_at": _AT}, {"status": "sent", "decidedAt": None}),
    "quote.expired": ({"status": "expired"}, {}),
    "quote.superseded": ({"status": "superseded"}, {"status": "sent"}),
    "quote.withdrawn": ({"status": "withdrawn"}, {"status": "sent"}),
}


def documents() -> dict[Path, str]:
    """Every generated document by its place."""
    return {
        ROOT / "docs" / "operations.md": _OPERATIONS + "".join(map(row, CATALOGUE.operations)),
        ROOT / "docs" / "events.md": _events(),
        ROOT / "docs" / "openapi.json": describe(CATALOGUE, BASE_URL).decode() + "\n",
    }


def row(operation: Operation) -> str:
    """An operation in the table of operations."""
    route = f"`{operation.rest}`" if operation.rest else ""
    doors = ", ".join(sorted(operation.offered))
    words = f"**{operation.title}.** {operation.description}".replace("|", "\\|")
    effect = _EFFECTS[operation.effect]
    return f"| `{operation.name}` | {route} | `{operation.right}` | {effect} | {doors} | {words} |\n"


def _events() -> str:
    kinds: list[tuple[str, str, type[Shown]]] = [
        (event.name, event.__doc__ or "", event.about) for event in CATALOGUE.events
    ]
    kinds.append((TEST, "Someone tries a webhook. It is sent to that one alone, and is in no feed.", WebhookOut))
    rows = "".join(f"| [`{kind}`](#{kind.replace('.', '')}) | {meaning} |\n" for kind, meaning, _ in kinds)
    return _EVENTS + rows + "".join(_section(*kind) for kind in kinds)


def _section(kind: str, meaning: str, about: type[Shown]) -> str:
    example = orjson.dumps(orjson.loads(to_json(event_example(kind, about))), option=orjson.OPT_INDENT_2).decode()
    return f"\n## `{kind}`\n\n{meaning}\n\n```json\n{example}\n```\n"


def event_example(kind: str, about: type[Shown]) -> EventOut:
    """An event of this kind, out of the examples of its record's fields."""
    fields, previous = _PARTICULAR.get(kind, ({}, {}))
    record = about.model_validate(_record(about) | fields)
    return EventOut.model_validate(
        {
            "object": EventOut.noun,
            "id": f"evt_{_ULID}",
            "type": kind,
            "created_at": _AT,
            "organisation_id": "org_01KA3Q8V7MXG5T1R9P7N5M3K1J",
            "sequence": 0 if kind == TEST else 42,
            "actor": _STAMP,
            "data": EventData(object=orjson.loads(to_json(record)), previous=previous),
        }
    )


def _record(about: type[Shown]) -> dict[str, Any]:
    shared = {
        "object": about.noun,
        "id": f"{about.noun}_{_ULID}",
        "created_at": _AT,
        "created_by": _STAMP,
        "updated_at": _AT,
        "updated_by": _STAMP,
        "version": 1,
    }
    own = {name: field for name, field in about.model_fields.items() if name not in Record.model_fields}
    return shared | {name: (field.examples or [])[0] for name, field in own.items()}


def main() -> None:
    """Write them."""
    for path, text in documents().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
