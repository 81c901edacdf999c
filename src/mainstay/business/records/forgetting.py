"""What was in a file that was removed goes as well, later, if nothing else has the same in it.

Whoever hands in the same content meanwhile keeps it: what was kept a short time ago is never let go, linked or not.
"""

from collections.abc import Callable, Iterable

from mainstay.backing.database import EVERY
from mainstay.backing.files import KEPT_FOR, Files
from mainstay.kernel.perform import Stage
from mainstay.ledger import outbox
from mainstay.ledger.outbox import Letter
from mainstay.ledger.outbox_queue import Work
from mainstay.values.moments import moment_text

FORGET = "forget_file"
# Every column in which the name of a kept file stands, of whatever organisation: what is not named here is lost.
NAMED_IN = (
    "document.content",
    "document.thumbnail",
    "organisation.logo",
    "quote.pdf_sha256",
    "invoice.pdf_sha256",
    "invoice.void_pdf_sha256",
    "invoice.ubl_sha256",
    "credit_note.pdf_sha256",
    "credit_note.ubl_sha256",
    "purchase_order.pdf_sha256",
    "account_statement.pdf_sha256",
)


def letter(name: str) -> Letter:
    """Have a kept file let go of, if it is needed no longer."""
    return Letter(FORGET, {"file": name}, "Remove the content of a file that was removed", wait=KEPT_FOR)


def forget_later(stage: Stage, organisation: str, names: Iterable[str]) -> None:
    """Have stored files let go of whose record was refused, if nothing else has the same in it."""
    with stage.database.changing(organisation) as rows:
        for name in names:
            outbox.put(rows, letter(name), moment_text(stage.clock() + KEPT_FOR))


def forgetting(stage: Stage, files: Files) -> Callable[[Work], None]:
    """What lets go of kept files; outside of every change, and as often as it is tried."""

    def is_needed(name: str) -> bool:
        with stage.database.reading(EVERY) as rows:
            return rows.one(_NEEDED, name=name) is not None

    def forget(work: Work) -> None:
        name = work.payload["file"]
        if is_needed(name):
            files.bring_back(name)
        elif not files.let_go(name, lambda: is_needed(name)):
            # Someone has just handed in the same, and has not said yet for what.
            with stage.database.changing(work.organisation) as rows:
                outbox.put(rows, letter(name), moment_text(stage.clock()))

    return forget


def _among(column: str) -> str:
    return f"SELECT 1 FROM {column.partition('.')[0]} WHERE {column} = :name"


_NEEDED = f"SELECT 1 FROM ({' UNION ALL '.join(map(_among, NAMED_IN))}) AS named LIMIT 1"
