"""What an operation did, and the functions that declare how it is undone."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import orjson

from mainstay.changes.undo import Inverse
from mainstay.kernel.context import SavedRecord
from mainstay.kernel.record_store import RecordStore
from mainstay.values.message import Message
from mainstay.vocabulary.record_json import find_changed_fields, to_dict
from mainstay.vocabulary.schemas import Input, StoredRecord


class Act(NamedTuple):
    """An operation that was performed."""

    operation: str
    # The kind of record that it is done to, and the model of its input.
    on: RecordStore[Any] | None
    model: type[Input]
    # The record before and the result, which is the record after; None before if it created the record.
    before: Any
    after: Any
    given: Any
    # All records that it wrote, before and after, in this order.
    saved: Sequence[SavedRecord]
    # If it undid a change: what undoes this in turn, or the reason why it cannot be.
    redo: Sequence[Inverse] | Message = ()

    def saved_of(self, kind: type[StoredRecord]) -> list[tuple[Any, Any]]:
        """Return the records of one kind that were there before and are there after, each once."""
        first: dict[str, StoredRecord] = {}
        last: dict[str, StoredRecord] = {}
        for before, after in self.saved:
            if isinstance(before, kind) and isinstance(after, kind):
                first.setdefault(before.id, before)
                last[after.id] = after
        return [(before, last[record_id]) for record_id, before in first.items()]


# Returns the operations that undo an act, in the order in which they are performed, or the reason why it cannot be
# undone. No operations if there is nothing to undo.
UndoneBy = Callable[[Act], Sequence[Inverse] | Message]


def declare_inverse(operation: str, id_field: str, **fields: Any) -> UndoneBy:
    """Return the declaration that another operation on the same record undoes it, with these further fields."""

    def find(act: Act) -> Sequence[Inverse]:
        return [Inverse(operation, {id_field: act.after.id} | fields)]

    return find


def restore_values(act: Act) -> Sequence[Inverse]:
    """Perform the operation again with the previous values of the fields that changed."""
    values = find_previous_input(act)
    return [Inverse(act.operation, name_record(act) | values)] if values else []


def restore_values_or_archive(act: Act) -> Sequence[Inverse]:
    """Restore the previous values; or archive the record if the operation created it."""
    if act.before is not None:
        return restore_values(act)
    return [Inverse(act.operation, name_record(act) | {"status": "archived"})]


def name_record(act: Act) -> dict[str, Any]:
    """Return the field of an input that names the record of an act; none if there is only one of its kind."""
    return {act.on.id_alias: act.after.id} if act.on and act.on.id_alias else {}


def find_previous_input(act: Act) -> dict[str, Any]:
    """Return the previous values of the fields that changed and that the operation takes, as JSON has them."""
    names = _input_names(act.model)
    return {name: value for name, value in _find_previous_values(act).items() if name in names}


def _find_previous_values(act: Act) -> dict[str, Any]:
    """Return the previous values of the record's fields that changed, as JSON has them."""
    pairs = {(id(act.before), id(act.after)): (act.before, act.after)}
    pairs |= {(id(one.before), id(one.after)): one for one in act.saved if one.after and one.after.id == act.after.id}
    values: dict[str, Any] = {}
    for before, after in pairs.values():
        if type(before) is type(after) and (changed := find_changed_fields(before, after)):
            was, is_now = _read_fields(before, changed), _read_fields(after, changed)
            values = {name: clear_added_parts(was[name], is_now[name]) for name in changed} | values
    return values


@cache
def _input_names(model: type[Input]) -> frozenset[str]:
    """Return the names of the fields of an input, as JSON has them."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


def _read_fields(record: StoredRecord, names: Sequence[str]) -> dict[str, Any]:
    """Return some fields of a record, as JSON has them."""
    fields = to_dict(record)
    values: dict[str, Any] = orjson.loads(orjson.dumps({name: fields[name] for name in names}))
    return values


def clear_added_parts(previous: Any, current: Any) -> Any:
    """Return a previous value with null for the parts that were added to it, such as a line of an address."""
    return {**dict.fromkeys(current or ()), **previous} if isinstance(previous, dict) else previous
