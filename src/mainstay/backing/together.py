"""Many changes of one organisation as one: all of them are kept, or none."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from mainstay.backing.database import Database, Handle


@dataclass
class Together:
    """A database within a change that goes on: whatever is read or changed by it belongs to that one change.

    A single change that is refused takes back what it did, and no more. Keeping very many apart is slow: where they are
    not, whoever is refused one of them must let the whole go.
    """

    engine: str
    rows: Handle
    reads_inline: bool = False
    apart: bool = True

    @classmethod
    @contextmanager
    def within(cls, database: Database, organisation: str, *, keep: bool, apart: bool) -> Iterator["Together"]:
        """The database of one organisation, for as long as the one change lasts."""
        with database.changing(organisation, keep=keep) as rows, _room(rows, database.engine):
            yield cls(database.engine, rows, apart=apart)

    @contextmanager
    def reading(self, _organisation: str) -> Iterator[Handle]:
        """What the changes so far have left."""
        yield self.rows

    def glancing(self, organisation: str) -> AbstractContextManager[Handle]:
        """The same."""
        return self.reading(organisation)

    @contextmanager
    def changing(self, _organisation: str, *, keep: bool = True) -> Iterator[Handle]:
        """One change of the many."""
        if keep and not self.apart:
            yield self.rows
            return
        self.rows.run("SAVEPOINT one_of_many")
        try:
            yield self.rows
        except BaseException:
            self._take_back()
            raise
        if not keep:
            self._take_back()
        self.rows.run("RELEASE SAVEPOINT one_of_many")

    def _take_back(self) -> None:
        self.rows.run("ROLLBACK TO SAVEPOINT one_of_many")

    def pool(self) -> None:
        """It has the one connection of the change."""

    def close(self) -> None:
        """There is nothing to let go of: it ends with the one change."""


@contextmanager
def _room(rows: Handle, engine: str) -> Iterator[None]:
    """Let SQLite hold more of the database in memory: what many changes touch, it would read again and again."""
    if engine != "sqlite":
        yield
        return
    rows.run("PRAGMA cache_size = -32000")
    try:
        yield
    finally:
        # What it is by itself.
        rows.run("PRAGMA cache_size = -2000")
