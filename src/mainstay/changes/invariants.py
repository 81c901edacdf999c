"""Invariants of what is stored with every change: the audit trail, record histories, events and the outbox."""

from collections.abc import Iterator

import orjson

from mainstay.changes.audit import find_break, parse_actor
from mainstay.infrastructure.invariants import (
    MAX_CLOCK_DIFFERENCE,
    CheckContext,
    Invariant,
    Violation,
    no_rows_invariant,
)
from mainstay.infrastructure.row_hashes import REMOVED, find_differences
from mainstay.values.moments import moment_text


def find_broken_chain(context: CheckContext) -> Iterator[Violation]:
    """Find the first entry of the audit trail that does not fit the hash chain."""
    broken = find_break(context.db)
    if broken is not None:
        yield Violation(
            f"entry {broken} of the audit trail", "does not fit the chain: it, or one before it, was changed"
        )


def find_future_entries(context: CheckContext) -> Iterator[Violation]:
    """Find an audit trail whose latest entry lies in the future: the clock of this machine was set back, or is slow."""
    row = context.db.one("SELECT max(at) FROM audit WHERE organisation_id = :organisation")
    latest = str(row[0] or "") if row else ""
    if latest > moment_text(context.now + MAX_CLOCK_DIFFERENCE):
        yield Violation("the audit trail", f"has an entry of {latest}, and it is {moment_text(context.now)}")


def find_wrong_actors(context: CheckContext) -> Iterator[Violation]:
    """Find the entries of the audit trail whose columns for the actor do not match their stamp."""
    sql = "SELECT sequence, actor, person_id, client_id, acted_by FROM audit WHERE organisation_id = :organisation"
    for sequence, actor, *columns in context.db.stream(sql):
        if parse_actor(str(actor)) != tuple(columns):
            yield Violation(f"entry {sequence} of the audit trail", "is listed with another actor")


def find_lost_histories(context: CheckContext) -> Iterator[Violation]:
    """Find the entries of the audit trail that name records but are missing, or have another hash, in their history."""
    # The oldest entries name no records, and are in no history.
    for sequence, records, row_hashes, history in context.db.stream(_HISTORIES, newline="\n"):
        expected = dict.fromkeys(orjson.loads(str(records or "[]")), "-") | orjson.loads(str(row_hashes or "{}"))
        if {f"{record} {hash_}" for record, hash_ in expected.items()} != set(
            str(history).split("\n") if history else ()
        ):
            yield Violation(f"entry {sequence} of the audit trail", "is not in the history of its records")


def find_changed_rows(context: CheckContext) -> Iterator[Violation]:
    """Find the rows that differ from what the last change in the audit trail wrote."""
    for difference in find_differences(context.db):
        if difference.expected is None:
            yield Violation(difference.label, "is in no entry of the audit trail: Mainstay did not write it")
        elif difference.actual == REMOVED:
            yield Violation(difference.label, "is missing, but was not deleted by Mainstay")
        elif difference.expected == REMOVED:
            yield Violation(difference.label, "exists, although Mainstay deleted it")
        else:
            yield Violation(difference.label, "is not as Mainstay last wrote it: the audit trail has another hash")


def find_unreadable_tasks(context: CheckContext) -> Iterator[Violation]:
    """Find the tasks in the outbox whose payload cannot be read."""
    for record_id, payload in context.db.stream("SELECT id, payload FROM outbox WHERE organisation_id = :organisation"):
        try:
            readable = isinstance(orjson.loads(str(payload)), dict)
        except ValueError:
            readable = False
        if not readable:
            yield Violation(f"work {record_id}", "has content that cannot be read")


_HISTORIES = """
SELECT audit.sequence, audit.records, audit.row_hashes, history.records FROM audit LEFT JOIN (
    SELECT sequence, string_agg(record_id || ' ' || coalesce(hash, '-'), :newline) AS records FROM audit_record
    WHERE organisation_id = :organisation GROUP BY sequence) AS history
ON history.sequence = audit.sequence
WHERE audit.organisation_id = :organisation
"""
_STRAY_HISTORIES = """
SELECT 'the history of ' || record_id, sequence FROM audit_record WHERE organisation_id = :organisation AND NOT EXISTS (
    SELECT 1 FROM audit WHERE audit.organisation_id = :organisation AND audit.sequence = audit_record.sequence)
"""
_WRONG_EVENT_COUNTS = """
SELECT 'events', event_sequence, events_forgotten, (SELECT count(*) FROM event WHERE organisation_id = :organisation)
FROM organisation WHERE id = :organisation AND (
    event_sequence <> events_forgotten + (SELECT count(*) FROM event WHERE organisation_id = :organisation)
    OR event_sequence < (SELECT coalesce(max(sequence), 0) FROM event WHERE organisation_id = :organisation))
"""
_LOST_EMAILS = """
SELECT 'message ' || message.id, message.recipient FROM message
WHERE message.organisation_id = :organisation AND message.status = 'queued' AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.organisation_id = :organisation AND outbox.id = message.id)
"""
_PARKED_WITHOUT_PROBLEM = """
SELECT 'work ' || id, kind FROM outbox
WHERE organisation_id = :organisation AND due_at IS NULL AND problem IS NULL
"""

INVARIANTS = (
    Invariant("audit_chain", "The audit trail is unbroken", find_broken_chain),
    Invariant("clock", "No entry of the trail lies in the future", find_future_entries),
    Invariant("doers", "Each entry of the trail is listed with its actor", find_wrong_actors),
    Invariant("histories", "Each entry of the trail is in the history of its records", find_lost_histories),
    no_rows_invariant(
        "stray_histories",
        "Each entry of a history is in the trail",
        _STRAY_HISTORIES,
        "names entry {0} of the audit trail, which does not exist",
    ),
    no_rows_invariant(
        "event_numbers",
        "Events are numbered without a gap",
        _WRONG_EVENT_COUNTS,
        "were numbered up to {0}; {1} of them were deleted, and {2} are stored",
    ),
    Invariant("rows", "Every row is as Mainstay last wrote it", find_changed_rows),
    Invariant("outbox", "Waiting tasks can be read", find_unreadable_tasks),
    no_rows_invariant(
        "parked_work",
        "Parked tasks have a reason",
        _PARKED_WITHOUT_PROBLEM,
        "({0}) is parked without a reason",
    ),
    no_rows_invariant("mails", "Each unsent email has a task in the outbox", _LOST_EMAILS, "to {0} has no task"),
)
