"""That what is written beside every change is whole: the trail, the history of records, events, the outbox."""

from collections.abc import Iterator

import orjson

from mainstay.backing.proof import Books, Flaw, Proof, follows
from mainstay.backing.row_hashes import REMOVED, find_differences
from mainstay.ledger.audit import doer, first_break


def broken_chain(books: Books) -> Iterator[Flaw]:
    """The first entry of the trail that does not follow from the one before."""
    broken = first_break(books.rows)
    if broken is not None:
        yield Flaw(f"entry {broken} of the audit trail", "does not fit the chain: it, or one before it, was altered")


def hidden_doers(books: Books) -> Iterator[Flaw]:
    """The entries of the trail that are not found by who acted."""
    sql = "SELECT sequence, actor, person_id, client_id, acted_by FROM audit WHERE organisation_id = :organisation"
    for sequence, actor, *kept in books.rows.each(sql):
        if doer(str(actor)) != tuple(kept):
            yield Flaw(f"entry {sequence} of the audit trail", "is listed as another's act")


def lost_histories(books: Books) -> Iterator[Flaw]:
    """The entries of the trail that name records in whose history they are not, or are there with another hash."""
    # Entries from before records were named are in no history.
    for sequence, records, row_hashes, told in books.rows.each(_HISTORIES, newline="\n"):
        named = dict.fromkeys(orjson.loads(str(records or "[]")), "-") | orjson.loads(str(row_hashes or "{}"))
        if {f"{record} {hash_}" for record, hash_ in named.items()} != set(str(told).split("\n") if told else ()):
            yield Flaw(f"entry {sequence} of the audit trail", "is not in the history of the records that it names")


def changed_rows(books: Books) -> Iterator[Flaw]:
    """The rows that are not as the act that wrote them last has left them."""
    for one in find_differences(books.rows):
        if one.expected is None:
            yield Flaw(one.called, "is in no entry of the audit trail: Mainstay has not written it")
        elif one.found == REMOVED:
            yield Flaw(one.called, "is not there, and no act has removed it")
        elif one.expected == REMOVED:
            yield Flaw(one.called, "is there again, after an act has removed it")
        else:
            yield Flaw(one.called, "is not as Mainstay wrote it last: its hash in the audit trail is another one")


def unreadable_work(books: Books) -> Iterator[Flaw]:
    """The work in the outbox that says nothing that could be done."""
    for identity, payload in books.rows.each("SELECT id, payload FROM outbox WHERE organisation_id = :organisation"):
        try:
            readable = isinstance(orjson.loads(str(payload)), dict)
        except ValueError:
            readable = False
        if not readable:
            yield Flaw(f"work {identity}", "has a content that cannot be read")


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
_EVENTS_COUNTED = """
SELECT 'events', event_sequence, events_forgotten, (SELECT count(*) FROM event WHERE organisation_id = :organisation)
FROM organisation WHERE id = :organisation AND (
    event_sequence <> events_forgotten + (SELECT count(*) FROM event WHERE organisation_id = :organisation)
    OR event_sequence < (SELECT coalesce(max(sequence), 0) FROM event WHERE organisation_id = :organisation))
"""
_LOST_MAILS = """
SELECT 'message ' || message.id, message.recipient FROM message
WHERE message.organisation_id = :organisation AND message.status = 'queued' AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.organisation_id = :organisation AND outbox.id = message.id)
"""
_SILENT_WORK = """
SELECT 'work ' || id, kind FROM outbox
WHERE organisation_id = :organisation AND due_at IS NULL AND problem IS NULL
"""

PROOFS = (
    Proof("audit_chain", "The audit trail is unbroken", broken_chain),
    Proof("doers", "Each entry of the trail is listed as the act of whoever acted", hidden_doers),
    Proof("histories", "Each entry of the trail is in the history of its records", lost_histories),
    follows(
        "stray_histories",
        "Each entry of a history is in the trail",
        _STRAY_HISTORIES,
        "names entry {0} of the audit trail, which is not there",
    ),
    follows(
        "event_numbers",
        "Events are numbered without a gap",
        _EVENTS_COUNTED,
        "were numbered up to {0}, of which {1} are kept no longer, and there are {2}",
    ),
    Proof("rows", "Every row is as the last act on it has left it", changed_rows),
    Proof("outbox", "Work that waits can be read", unreadable_work),
    follows("parked_work", "Work that is not tried again says why", _SILENT_WORK, "({0}) is parked without a reason"),
    follows("mails", "Each mail that is still to go waits in the outbox", _LOST_MAILS, "to {0} waits for nothing"),
)
