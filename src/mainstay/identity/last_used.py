"""When keys and apps were last used: collected in memory and written in batches instead of once per request."""

import threading
from datetime import datetime

from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database, DatabaseUnavailable
from mainstay.values.ids import is_id
from mainstay.values.moments import moment_text

# At this interval, the times shown in the settings are right within a minute.
WRITE_SECONDS = 20.0


class LastUsed:
    """The uses that this process has seen and not yet written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._uses: dict[tuple[str, str], datetime] = {}
        self._write_lock = threading.Lock()

    def note_use(self, organisation: str, credential: str, at: datetime) -> None:
        """Note that a key or a connection was used."""
        self._uses[organisation, credential] = at

    def write_uses(self) -> None:
        """Write the noted uses to the database."""
        with self._write_lock:
            uses, self._uses = self._uses, {}
            if not uses:
                return
            try:
                self._store_uses(uses)
            except DatabaseUnavailable:
                # Uses noted meanwhile are later, so they replace the ones that are put back.
                self._uses = uses | self._uses
                raise

    def _store_uses(self, uses: dict[tuple[str, str], datetime]) -> None:
        with self._database.write_transaction(ALL_ORGANISATIONS) as db:
            for (organisation, credential), at in sorted(uses.items()):
                table = "api_key" if is_id(credential, "key") else "connection"
                # Another process may have seen a later use. The sorted order keeps two processes from blocking each
                # other.
                db.run(
                    f"UPDATE {table} SET last_used_at = :at WHERE organisation_id = :owner AND id = :id"
                    " AND (last_used_at IS NULL OR last_used_at < :at)",
                    owner=organisation,
                    id=credential,
                    at=moment_text(at),
                )
