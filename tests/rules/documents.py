"""Write the documents that are made from the catalogue. A test checks that they are current."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.openapi import build_openapi
from mainstay.kernel.operation import Effect, Operation
from mainstay.vocabulary.record_json import to_json
from mainstay.vocabulary.schemas import Output, Record
from mainstay.webhooks.model import TEST_EVENT, EventData, EventOut, WebhookOut
from rules.message_texts import build_message_catalogue

ROOT = Path(__file__).parents[2]
BASE_URL = "https://mainstay.example"
_EFFECTS = {Effect.READ: "reads", Effect.CHANGE: "changes", Effect.IRREVERSIBLE: "cannot be undone"}
_OPERATIONS_HEADER = """\
# Operations

Everything that can be done, as every door offers it. Written by `make documents` from the catalogue.

An operation without a route is not part of the HTTP API. One that cannot be undone answers with a preview until it is
confirmed.

| operation | route | right | effect | doors | what it does |
|---|---|---|---|---|---|
"""
_EVENTS_HEADER = """\
# Events

Every kind of event with a whole example, as it stands in the feed (`GET /api/v1/events`) and as webhooks are sent it,
byte for byte. Written by `make documents` from the catalogue. See also
[how to receive webhooks](receiving-webhooks.md).

`data.object` is the whole record after the change. It has costs, even if the person who made the change may not
see them. So the feed and the webhooks are for owners and admins. `data.previous` holds the fields that the change
changed, as they were before. `sequence` goes up by one with each event of the organisation, without gaps.

| kind | what happened |
|---|---|
"""
_PERSON = {"id": "person_01KA3Q8V7N2M4X6Z8B0D1F3H5K", "name": "Ruth Hartley"}
_STAMP = {"kind": "person", "person": _PERSON, "via": {"door": "office", "client": None}}
_AT = "2026-11-15T10:30:50.123Z"
_ULID = "01KA41T9YB7C5D3E1F9G8H6J4K"
# What is particular to a kind: fields of its record, and what they were before.
_EXAMPLE_FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "person.invited": ({"status": "invited"}, {}),
    "person.updated": ({}, {"phone": None}),
    "person.left": ({"status": "left"}, {}),
    "job.updated": ({"priority": "high"}, {"priority": "normal"}),
    "job.scheduled": (
        {"stage": "scheduled", "next_action": "Visit planned", "next_visit_at": "2026-11-20T08:00:00.000Z"},
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


def format_operation_row(operation: Operation) -> str:
    """Format an operation as a row of the table of operations."""
    route = f"`{operation.api_path}`" if operation.api_path else ""
    doors = ", ".join(sorted(operation.doors))
    words = f"**{operation.title}.** {operation.description}".replace("|", "\\|")
    effect = _EFFECTS[operation.effect]
    return f"| `{operation.name}` | {route} | `{operation.permission}` | {effect} | {doors} | {words} |\n"


def _format_operations() -> str:
    return _OPERATIONS_HEADER + "".join(map(format_operation_row, CATALOGUE.operations))


def _format_events() -> str:
    kinds: list[tuple[str, str, type[Output]]] = [
        (event.name, event.__doc__ or "", event.output) for event in CATALOGUE.events
    ]
    kinds.append((TEST_EVENT, "Someone tries a webhook. It is sent to that one alone, and is in no feed.", WebhookOut))
    rows = "".join(f"| [`{kind}`](#{kind.replace('.', '')}) | {meaning} |\n" for kind, meaning, _ in kinds)
    return _EVENTS_HEADER + rows + "".join(_format_event(*kind) for kind in kinds)


def _format_event(kind: str, meaning: str, output: type[Output]) -> str:
    example = orjson.dumps(orjson.loads(to_json(make_event_example(kind, output))), option=orjson.OPT_INDENT_2).decode()
    return f"\n## `{kind}`\n\n{meaning}\n\n```json\n{example}\n```\n"


def make_event_example(kind: str, output: type[Output]) -> EventOut:
    """Make an event of this kind from the examples of its record's fields."""
    fields, previous = _EXAMPLE_FIELDS.get(kind, ({}, {}))
    record = output.model_validate(_make_record(output) | fields)
    return EventOut.model_validate(
        {
            "object": EventOut.noun,
            "id": f"evt_{_ULID}",
            "type": kind,
            "created_at": _AT,
            "organisation_id": "org_01KA3Q8V7MXG5T1R9P7N5M3K1J",
            "sequence": 0 if kind == TEST_EVENT else 42,
            "actor": _STAMP,
            "data": EventData(object=orjson.loads(to_json(record)), previous=previous),
        }
    )


def _make_record(output: type[Output]) -> dict[str, Any]:
    shared = {
        "object": output.noun,
        "id": f"{output.noun}_{_ULID}",
        "created_at": _AT,
        "created_by": _STAMP,
        "updated_at": _AT,
        "updated_by": _STAMP,
        "version": 1,
    }
    own = {name: field for name, field in output.model_fields.items() if name not in Record.model_fields}
    return shared | {name: (field.examples or [])[0] for name, field in own.items()}


def _format_openapi() -> str:
    return build_openapi(CATALOGUE, BASE_URL).decode() + "\n"


# What makes each generated document. They are made when they are asked for: it takes a while.
DOCUMENTS: dict[Path, Callable[[], str]] = {
    ROOT / "docs" / "operations.md": _format_operations,
    ROOT / "docs" / "events.md": _format_events,
    ROOT / "docs" / "openapi.json": _format_openapi,
    ROOT / "docs" / "messages.pot": build_message_catalogue,
}


def main() -> None:
    """Write the documents."""
    for path, make_text in DOCUMENTS.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(make_text(), "utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
