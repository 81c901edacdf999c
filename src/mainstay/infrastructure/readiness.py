"""Whether a server can do its work: read its database, and save changes and files."""

import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database, DatabaseBusy, DatabaseUnavailable
from mainstay.infrastructure.deadline import use_deadline
from mainstay.infrastructure.files import FileStore, FileStoreUnavailable
from mainstay.infrastructure.schema_guard import SCHEMA_STATE, SchemaGuard

# Below this, a change or an upload may fail at any moment.
_MIN_FREE_BYTES = 16 << 20
# A probe tries to write, and to read the file store, if it last did so longer ago, and gives up after a second.
_SECONDS_BETWEEN_TRIES = 10.0
_TRY_SECONDS = 1.0


@dataclass(slots=True)
class Readiness:
    """Finds out why a server is not ready, if it is not."""

    database: Database
    guard: SchemaGuard
    data_folder: Path
    files: FileStore
    _written_at: float = field(default=float("-inf"), init=False)
    _files_read_at: float = field(default=float("-inf"), init=False)

    def find_problem(self) -> str | None:
        """Return why the server is not ready, as a sentence; None if it is."""
        try:
            with self.database.read_transaction(ALL_ORGANISATIONS) as db:
                state = db.one(f"SELECT {SCHEMA_STATE}")
        except DatabaseUnavailable:
            return "The database cannot be reached."
        if problem := self.guard.find_problem(state or (None, None)):
            return problem
        if shutil.disk_usage(self.data_folder).free < _MIN_FREE_BYTES:
            return "The disk is full."
        return self._find_write_problem() or self._find_file_problem()

    def _find_write_problem(self) -> str | None:
        """Return a problem if nothing can be written; a database that is busy with other changes is none."""
        now = monotonic()
        if now - self._written_at < _SECONDS_BETWEEN_TRIES:
            return None
        name = f"probe {secrets.token_hex(8)}"
        try:
            with use_deadline(now + _TRY_SECONDS), self.database.write_transaction(ALL_ORGANISATIONS) as db:
                db.run("INSERT INTO installation (name, value) VALUES (:name, '')", name=name)
                db.run("DELETE FROM installation WHERE name = :name", name=name)
        except DatabaseBusy:
            return None
        except DatabaseUnavailable:
            return "The database cannot be written to."
        self._written_at = now
        return None

    def _find_file_problem(self) -> str | None:
        now = monotonic()
        if now - self._files_read_at < _SECONDS_BETWEEN_TRIES:
            return None
        try:
            with use_deadline(now + _TRY_SECONDS):
                self.files.read_id()
        except FileStoreUnavailable:
            return "The file store cannot be reached."
        self._files_read_at = now
        return None
