"""Warnings on a card about what the assistant itself arranged: text in records may have tricked it into that."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from mainstay.business.assistant.store import read_changed_records
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.choices import to_label
from mainstay.values.ids import is_id
from mainstay.values.json_object import JsonObject
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Refusal

# The fields that decide who gets something, and how much is paid to whom.
_SENSITIVE = re.compile(
    r"e-?mail|address|phone|bank|iban|account|price|amount|total|lines|discount|terms", re.IGNORECASE
)
# How many of the records that the assistant wrote are searched for an address.
_MAX_RECORDS = 50


class PreviewedCall(NamedTuple):
    """A call of the model, and to whom an email would go."""

    arguments: Mapping[str, Any]
    recipients: Sequence[str]

    @classmethod
    def from_preview(cls, arguments: Mapping[str, Any], preview: Mapping[str, Any]) -> "PreviewedCall":
        """Return a call from its arguments and its preview."""
        email = preview["email"] or {"to": [], "cc": []}
        return cls(arguments, [*email["to"], *email["cc"]])


def find_card_warnings(
    performer: Performer, actor: Actor, operation: Operation, call: PreviewedCall, changes: Sequence[str]
) -> list[Message]:
    """Return what the person should know before they confirm: what the assistant changed, and whom it chose.

    `changes` are those that it made in the same conversation.
    """
    records = _read_records(performer, actor, operation, call.arguments)
    with performer.database.read_transaction(actor.organisation) as db:
        changed = read_changed_records(db, changes)
    sensitive = {
        record_id: names
        for record_id, fields in changed.items()
        if record_id in records and (names := [name for name in fields if _SENSITIVE.search(name)])
    }
    others = [record_id for record_id in changed if record_id not in sensitive][-_MAX_RECORDS:]
    written = [record for record_id in others if (record := _read_record(performer, actor, record_id))]
    known, own = _to_search_text(records.values()), _to_search_text(written)
    return [
        *(
            Message(
                "The assistant changed this in the same conversation: {fields} of {record}.",
                fields=[to_label(name) for name in names],
                record=_name_of(records[record_id]),
            )
            for record_id, names in sensitive.items()
        ),
        *(
            Message("The assistant entered {address} in the same conversation.", address=address)
            for address in call.recipients
            if f'"{address.lower()}"' in own
        ),
        *(
            Message("{address} was chosen by the assistant. It isn't in these records.", address=address)
            for address in _chosen_recipients(call.arguments)
            if f'"{address.lower()}"' not in known + own
        ),
    ]


def _read_records(
    performer: Performer, actor: Actor, operation: Operation, arguments: Mapping[str, Any]
) -> dict[str, JsonObject]:
    """Return the records that the input names, and those that these refer to, by their ids."""
    records: dict[str, JsonObject] = {}
    for record in (_read_record(performer, actor, name) for name in _names_in(arguments, operation)):
        if record:
            records[record["id"]] = record
    for record in [*records.values()]:
        for name, value in record.items():
            if name.endswith("Id") and isinstance(value, str) and value not in records:
                related = _read_record(performer, actor, value)
                if related:
                    records[related["id"]] = related
    return records


def _names_in(arguments: Mapping[str, Any], operation: Operation) -> Iterator[str]:
    """Yield the ids in an input; the field of the operation's own record may have a number instead."""
    own = operation.on.prefix if operation.on else ""
    for name, value in arguments.items():
        values = value if isinstance(value, list) else [value]
        for one in values:
            if isinstance(one, str) and name.endswith(("Id", "Ids")):
                yield one if "_" in one or not own else f"{own} {one}"


def _read_record(performer: Performer, actor: Actor, name: str) -> JsonObject | None:
    """Return a record by its id, or by the prefix of its kind and its number."""
    prefix, _, number = name.partition(" ")
    prefix = prefix if number else name.partition("_")[0]
    get_operation = performer.catalogue.get_operations.get(prefix)
    if get_operation is None or get_operation.on is None or not (number or is_id(name, prefix)):
        return None
    alias = get_operation.on.id_alias
    if not alias:
        return None
    try:
        answer = performer.perform(
            get_operation, actor, orjson.dumps({alias: number or name}), RequestDetails("card", record_only=True)
        )
    except Refusal:
        return None
    record: JsonObject = orjson.loads(answer.body)
    return record


def _chosen_recipients(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in ("to", "cc", "email"):
        value = arguments.get(name)
        yield from [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one]


def _to_search_text(records: Iterable[JsonObject]) -> str:
    return orjson.dumps([*records]).decode().lower()


def _name_of(record: Mapping[str, Any]) -> str:
    return str(record.get("number") or record.get("name") or record.get("title") or record["id"])
