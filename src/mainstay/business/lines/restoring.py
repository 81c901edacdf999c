"""The edits that give a document the lines again that it had before a change."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from mainstay.changes.undo import Inverse
from mainstay.kernel.inverse import Act, find_previous_input, name_record
from mainstay.values.message import Message
from mainstay.vocabulary.record_json import to_json

# The fields of a line that an edit can set. Texts and headings have only the first two.
_TEXT_FIELDS = ("kind", "description")
_FIELDS = (
    *_TEXT_FIELDS,
    "itemId",
    "quantity",
    "unit",
    "unitPrice",
    "discountPercent",
    "taxRateId",
    "optional",
    "cost",
    "orderLineId",
)

_BILLS_SOMETHING = Message("A line with hours, materials or an earlier invoice was removed. Add it again.")

Lines = Sequence[Mapping[str, Any]]


def restore_document(act: Act) -> Sequence[Inverse] | Message:
    """Restore the previous values and lines of a document."""
    before, after = (orjson.loads(to_json(document))["lines"] for document in (act.before, act.after))
    kept_ids = {line["id"] for line in after}
    if any(line.get("source") and line["id"] not in kept_ids for line in before):
        return _BILLS_SOMETHING
    values = find_previous_input(act)
    if edits := find_edits(after, before):
        values["edits"] = edits
    return [Inverse(act.operation, name_record(act) | values)] if values else []


def find_edits(current: Lines, wanted: Lines) -> list[dict[str, Any]]:
    """Return the edits that turn the current lines into the wanted ones, which keep their ids."""
    wanted_ids, lines = {line["id"] for line in wanted}, {line["id"]: line for line in current}
    edits: list[dict[str, Any]] = [
        {"edit": "remove", "lineId": line_id} for line_id in lines if line_id not in wanted_ids
    ]
    order = [line_id for line_id in lines if line_id in wanted_ids]
    for index, line in enumerate(wanted):
        line_id = line["id"]
        place: dict[str, Any] = {"lineId": line_id, "position": index + 1}
        if line_id not in lines:
            edits.append({"edit": "add", **place, **_fields_of(line)})
            order.insert(index, line_id)
            continue
        if order[index] != line_id:
            edits.append({"edit": "move", **place})
            order.remove(line_id)
            order.insert(index, line_id)
        if changed := _find_changes(lines[line_id], line):
            edits.append({"edit": "set", "lineId": line_id, **changed})
    return edits


def _find_changes(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    fields = _fields_of(wanted)
    changed = {name: value for name, value in fields.items() if current.get(name) != value}
    # A line that is created again from another item gets all its fields, not those of the item.
    return fields if changed.get("itemId") or "kind" in changed else changed


def _fields_of(line: Mapping[str, Any]) -> dict[str, Any]:
    names = _FIELDS if line["kind"] == "item" else _TEXT_FIELDS
    return {name: line[name] for name in names if name in line}
