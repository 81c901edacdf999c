"""Many changes in one transaction: all of them are kept, or none.

They are changes of one organisation. On SQLite they may also be of several (`ALL_ORGANISATIONS`), because these share
one lock. On PostgreSQL each organisation has a lock of its own, which only a change of that organisation takes.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database, DatabaseHandle


@dataclass
class BatchTransaction:
    """A database inside an open transaction, to which every read and change through it belongs.

    A refused change undoes only what it did itself. Separating very many changes is slow; if they are not separated, a
    refusal must roll back the whole transaction.
    """

    engine: str
    db: DatabaseHandle
    reads_inline: bool = False
    uses_savepoints: bool = True

    @classmethod
    @contextmanager
    def open(
        cls, database: Database, organisation: str, *, keep: bool, uses_savepoints: bool
    ) -> Iterator["BatchTransaction"]:
        """Open a batch for one organisation, or on SQLite for every one, inside one write transaction."""
        with database.write_transaction(organisation, keep=keep) as db, _enlarge_cache(db, database.engine):
            yield cls(database.engine, db, uses_savepoints=uses_savepoints)

    @contextmanager
    def read_transaction(self, organisation: str) -> Iterator[DatabaseHandle]:
        """Return the open transaction, which sees all changes so far."""
        yield self._bind_organisation(organisation)

    def single_read(self, organisation: str) -> AbstractContextManager[DatabaseHandle]:
        """Return the open transaction, as `read_transaction` does."""
        return self.read_transaction(organisation)

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[DatabaseHandle]:
        """Open one of the changes of the batch."""
        rows = self._bind_organisation(organisation)
        if keep and not self.uses_savepoints:
            yield rows
            return
        self.db.run("SAVEPOINT one_of_many")
        try:
            yield rows
        except BaseException:
            self._roll_back()
            raise
        if not keep:
            self._roll_back()
        self.db.run("RELEASE SAVEPOINT one_of_many")

    def _bind_organisation(self, organisation: str) -> DatabaseHandle:
        return (
            self.db.for_organisation(organisation)
            if self.db.organisation == ALL_ORGANISATIONS != organisation
            else self.db
        )

    def _roll_back(self) -> None:
        self.db.run("ROLLBACK TO SAVEPOINT one_of_many")

    def pool_usage(self) -> None:
        """Return None: the batch uses the one connection of its transaction."""

    def close(self) -> None:
        """Do nothing: the batch ends with its transaction."""


@contextmanager
def _enlarge_cache(db: DatabaseHandle, engine: str) -> Iterator[None]:
    """Let SQLite keep more of the database in memory, because many changes would read the same pages repeatedly."""
    if engine != "sqlite":
        yield
        return
    db.run("PRAGMA cache_size = -32000")
    try:
        yield
    finally:
        # The default.
        db.run("PRAGMA cache_size = -2000")
