"""Deletes stored files after their records were removed, unless something else has the same content.

A file that was stored a short time ago is never deleted, whether a record refers to it or not, because somebody may be
about to add a record for it.
"""

from collections.abc import Callable, Iterable

from mainstay.changes import outbox
from mainstay.changes.outbox import OutboxTask
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.files import REMOVAL_GRACE_PERIOD, FileStore
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message
from mainstay.values.moments import moment_text

REMOVE_FILE = "forget_file"
# Every column that contains names of stored files, in any organisation. A file that no column contains is deleted.
STORED_FILE_COLUMNS = (
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


def make_removal_task(name: str) -> OutboxTask:
    """Return the task that deletes a stored file if nothing needs it any more."""
    return OutboxTask(
        REMOVE_FILE,
        {"file": name},
        Message("Delete the content of a file that was removed"),
        delay=REMOVAL_GRACE_PERIOD,
    )


def queue_removal(performer: Performer, organisation: str, names: Iterable[str]) -> None:
    """Queue the deletion of stored files whose record was refused."""
    with performer.database.write_transaction(organisation) as db:
        for name in names:
            outbox.add_task(db, make_removal_task(name), moment_text(performer.clock() + REMOVAL_GRACE_PERIOD))


def make_removal_handler(performer: Performer, files: FileStore) -> Callable[[LeasedTask], None]:
    """Return the task handler that deletes stored files.

    It runs outside of any transaction, and may run any number of times.
    """

    def is_needed(name: str) -> bool:
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return db.one(_IS_NEEDED_SQL, name=name) is not None

    def remove_file(task: LeasedTask) -> None:
        name = task.payload["file"]
        if is_needed(name):
            files.bring_back(name)
        elif not files.remove_unneeded(name, lambda: is_needed(name)):
            # Somebody has just stored the same content, and no record refers to it yet.
            with performer.database.write_transaction(task.organisation) as db:
                outbox.add_task(db, make_removal_task(name), moment_text(performer.clock()))

    return remove_file


def _select_name_sql(column: str) -> str:
    return f"SELECT 1 FROM {column.partition('.')[0]} WHERE {column} = :name"


_IS_NEEDED_SQL = f"SELECT 1 FROM ({' UNION ALL '.join(map(_select_name_sql, STORED_FILE_COLUMNS))}) AS named LIMIT 1"
