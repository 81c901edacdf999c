"""A database that records every statement, and can roll every change back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mainstay.infrastructure.database import Database, DatabaseHandle, PoolUsage, Row, Value
from support.cast import Cast


class RecordedStatement(NamedTuple):
    """A statement as it was run, in a transaction of this organisation."""

    sql: str
    given: dict[str, Value]
    organisation: str


@dataclass
class RecordingHandle:
    """Passes every statement on, and records it."""

    inner: DatabaseHandle
    statements: list[RecordedStatement]
    organisation: str = field(init=False)
    engine: str = field(init=False)

    def __post_init__(self) -> None:
        self.organisation, self.engine = self.inner.organisation, self.inner.engine

    @property
    def me(self) -> str | None:
        """The person who asks."""
        return self.inner.me

    @me.setter
    def me(self, person: str | None) -> None:
        self.inner.me = person

    @property
    def now(self) -> Callable[[], str] | None:
        """The moment of the operation."""
        return self.inner.now

    @now.setter
    def now(self, moment: Callable[[], str] | None) -> None:
        self.inner.now = moment

    def one(self, sql: str, **given: Value) -> Row | None:
        """The first row, or None."""
        self._record(sql, given)
        return self.inner.one(sql, **given)

    def all(self, sql: str, **given: Value) -> Sequence[Row]:
        """Every row."""
        self._record(sql, given)
        return self.inner.all(sql, **given)

    def run(self, sql: str, **given: Value) -> int:
        """Change rows; how many there were."""
        self._record(sql, given)
        return self.inner.run(sql, **given)

    def for_organisation(self, organisation: str) -> "RecordingHandle":
        """The same transaction, bound to one organisation."""
        return RecordingHandle(self.inner.for_organisation(organisation), self.statements)

    def _record(self, sql: str, given: dict[str, Value]) -> None:
        bound = {**given, "organisation": self.organisation, "me": self.me}
        if ":now" in sql and self.now:
            bound.setdefault("now", self.now())
        self.statements.append(RecordedStatement(sql, bound, self.organisation))


@dataclass
class RecordingDatabase:
    """The real database, with every statement recorded."""

    inner: Database
    # False: every change is rolled back at its end, so that one cast serves a thousand tests.
    commits: bool = True
    statements: list[RecordedStatement] = field(default_factory=list)
    engine: str = field(init=False)
    reads_inline: bool = field(init=False)

    def __post_init__(self) -> None:
        self.engine, self.reads_inline = self.inner.engine, self.inner.reads_inline

    @contextmanager
    def read_transaction(self, organisation: str) -> Iterator[RecordingHandle]:
        """Open a read transaction."""
        with self.inner.read_transaction(organisation) as db:
            yield RecordingHandle(db, self.statements)

    @contextmanager
    def single_read(self, organisation: str) -> Iterator[RecordingHandle]:
        """Read with a single statement."""
        before = len(self.statements)
        with self.inner.single_read(organisation) as db:
            yield RecordingHandle(db, self.statements)
        assert len(self.statements) <= before + 1, "a glance is one statement"

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Open a write transaction."""
        with self.inner.write_transaction(organisation, keep=keep and self.commits) as db:
            yield RecordingHandle(db, self.statements)

    def pool_usage(self) -> PoolUsage | None:
        """How its connections are used."""
        return self.inner.pool_usage()

    def close(self) -> None:
        """Let go of every connection."""
        self.inner.close()


def count_reads(cast: Cast, table: str, action: Callable[[Cast], object]) -> int:
    """Count how often a table is read during an action."""
    database = RecordingDatabase(cast.performer.database)
    action(replace(cast, performer=replace(cast.performer, database=database)))
    return sum(f" FROM {table} " in one.sql and one.sql.startswith("SELECT") for one in database.statements)
