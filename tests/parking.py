"""Work that the house could not do, put into the outbox as the worker would have left it."""

from cast import Cast
from mainstay.backing.database import EVERY, Row
from mainstay.ledger import outbox, outbox_queue
from mainstay.ledger.outbox import Letter
from mainstay.ledger.outbox_queue import Work
from mainstay.values.moments import moment_text

PROBLEM = "This Mainstay does not know work of the kind fax."
FAX = Letter("fax", {"to": "x"}, "A fax to x")


def park(cast: Cast, letter: Letter = FAX, problem: str = PROBLEM) -> str:
    """The id of a piece of work that is not tried any more."""
    with cast.stage.database.changing(cast.organisation) as rows:
        outbox.put(rows, letter, moment_text(cast.stage.clock()))
        row = rows.one("SELECT max(id) FROM outbox WHERE organisation_id = :organisation")
        assert row is not None
        work = Work(str(row[0]), cast.organisation, letter.kind, letter.payload, 1)
        outbox_queue.park(rows, work, cast.stage.clock(), problem, problem)
    return work.id


def kept(cast: Cast, work: str) -> Row | None:
    """Whether it is due, how often it was tried, and its problem; None where it is gone."""
    with cast.stage.database.reading(EVERY) as rows:
        return rows.one(
            "SELECT CASE WHEN due_at IS NULL THEN 'parked' ELSE 'due' END, attempts, problem FROM outbox"
            " WHERE id = :id",
            id=work,
        )
