"""When a key or app was last used: kept in memory and written together now and then, never once per request."""

import threading
from datetime import datetime

from mainstay.backing.database import EVERY, Database, Unreachable
from mainstay.values.ids import is_id
from mainstay.values.moments import moment_text

# Written this often, the time that settings show is right within a minute.
EVERY_SECONDS = 20.0


class LastUsed:
    """The uses that this process has seen and not yet written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._uses: dict[tuple[str, str], datetime] = {}
        self._writing = threading.Lock()

    def note(self, organisation: str, credential: str, at: datetime) -> None:
        """A key or a connection was used."""
        self._uses[organisation, credential] = at

    def write(self) -> None:
        """Write what is waiting."""
        with self._writing:
            uses, self._uses = self._uses, {}
            if not uses:
                return
            try:
                self._keep(uses)
            except Unreachable:
                # Later uses, seen meanwhile, go before those that are put back.
                self._uses = uses | self._uses
                raise

    def _keep(self, uses: dict[tuple[str, str], datetime]) -> None:
        with self._database.changing(EVERY) as rows:
            for (organisation, credential), at in sorted(uses.items()):
                table = "api_key" if is_id(credential, "key") else "connection"
                # Another process may have seen a later use; in order, so that two of them cannot block each other.
                rows.run(
                    f"UPDATE {table} SET last_used_at = :at WHERE organisation_id = :owner AND id = :id"
                    " AND (last_used_at IS NULL OR last_used_at < :at)",
                    owner=organisation,
                    id=credential,
                    at=moment_text(at),
                )
