"""Lets a program change a database only while it knows enough of its schema.

During an upgrade, servers of two versions share a database. A migration step that older servers can live with says so
(`migrations/apply.py`); after any other step they refuse changes, because they would write what the newer version does
not expect. They go on reading.
"""

from mainstay.infrastructure.database import DatabaseUnavailable, Row
from mainstay.infrastructure.row_hashes import forget_columns

# The newest step of a database, and the oldest one that a program must know to change it.
SCHEMA_STATE = """
(SELECT max(number) FROM schema_step), (SELECT value FROM installation WHERE name = 'oldest_writer')
"""


class OutdatedProgram(DatabaseUnavailable):
    """The program is too old to change the database; nothing was changed."""


class SchemaGuard:
    """Compares the schema of a database with the newest step that this program knows."""

    def __init__(self, known: int) -> None:
        self._known = known
        self._newest = known

    def check(self, state: Row) -> None:
        """Refuse to go on if this program is too old for a database with this `SCHEMA_STATE`."""
        newest, oldest_writer = int(state[0] or 0), int(state[1] or 0)
        if problem := self._find_problem(oldest_writer):
            raise OutdatedProgram(problem)
        if newest != self._newest:
            # Another version has migrated the database: a row has more columns than this process has seen.
            forget_columns()
            self._newest = newest

    def find_problem(self, state: Row) -> str | None:
        """Return why a database with this `SCHEMA_STATE` cannot be served by this program, as a sentence."""
        if int(state[0] or 0) < self._known:
            return "The database has not been migrated to this version yet."
        return self._find_problem(int(state[1] or 0))

    def _find_problem(self, oldest_writer: int) -> str | None:
        if oldest_writer <= self._known:
            return None
        return (
            f"This server is older than its database: it knows schema step {self._known}, and changes need step"
            f" {oldest_writer}. Update it; until then it only reads."
        )
