"""Events for records that moved to another customer, emitted in batches because there may be thousands of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from mainstay.business.customers.model import Customer
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.kernel.reaction import TaskKind
from mainstay.kernel.record_store import RecordStore
from mainstay.vocabulary.record_json import column_names
from mainstay.vocabulary.schemas import StoredRecord

K = TypeVar("K", bound=StoredRecord)

# At most this many records are handled by one task.
_BATCH_SIZE = 200
# The tables whose records get events. Each has a task handler in its own area.
_TABLES_WITH_EVENTS = {"job", "quote", "invoice"}


def queue_moved_events(ctx: Context, table: str, moved_ids: Sequence[str], customer: Customer) -> None:
    """Queue tasks that emit an event for each moved record.

    Subscribers need the events, but the merge need not wait for them.
    """
    if table not in _TABLES_WITH_EVENTS:
        return
    for first in range(0, len(moved_ids), _BATCH_SIZE):
        ids = " ".join(moved_ids[first : first + _BATCH_SIZE])
        ctx.add_task(OutboxTask(_task_kind(table), {f"{table}s": ids, "customer": customer.id, "name": customer.name}))


def make_moved_handler(store: RecordStore[K], event: type[Event], past_text: str) -> TaskKind:
    """Return the task handler that emits an event for each moved record of one kind.

    The event contains the record as it is now, and as it was with the customer before.
    """

    def emit_events(ctx: Context, payload: Mapping[str, str]) -> None:
        for record_id in payload[f"{store.table}s"].split():
            record = store.find(ctx, f"{store.table}.id = :id", id=record_id)
            if record:
                ctx.writer.touch(record.id)
                ctx.emit(event(record, _with_old_customer(record, payload["customer"], payload["name"])))

    return TaskKind(_task_kind(store.table), emit_events, past_text)


def _task_kind(table: str) -> str:
    return f"tell_of_moved_{table}s"


def _with_old_customer(record: K, customer_id: str, name: str) -> K:
    old_values = {"customer_id": customer_id, "customer_name": name}
    row = tuple(
        old_values.get(column, value) for column, value in zip(column_names(record.output), record.row, strict=True)
    )
    return replace(record, row=row)
