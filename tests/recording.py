"""A twin of the database that writes down every statement, and keeps nothing if so wished."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cast import Cast
from mainstay.backing.database import Database, Handle, Pool, Row, Value


class Statement(NamedTuple):
    """A statement as it was run, in a transaction of this organisation."""

    sql: str
    given: dict[str, Value]
    organisation: str


@dataclass
class RecordingHandle:
    """Passes everything on, and writes it down."""

    inner: Handle
    statements: list[Statement]
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
        """The moment of the act."""
        return self.inner.now

    @now.setter
    def now(self, moment: Callable[[], str] | None) -> None:
        self.inner.now = moment

    def one(self, sql: str, **given: Value) -> Row | None:
        """The first row, or None."""
        self._note(sql, given)
        return self.inner.one(sql, **given)

    def all(self, sql: str, **given: Value) -> Sequence[Row]:
        """Every row."""
        self._note(sql, given)
        return self.inner.all(sql, **given)

    def run(self, sql: str, **given: Value) -> int:
        """Change rows; how many there were."""
        self._note(sql, given)
        return self.inner.run(sql, **given)

    def _note(self, sql: str, given: dict[str, Value]) -> None:
        bound = {**given, "organisation": self.organisation, "me": self.me}
        if ":now" in sql and self.now:
            bound.setdefault("now", self.now())
        self.statements.append(Statement(sql, bound, self.organisation))


@dataclass
class RecordingDatabase:
    """The real database, watched."""

    inner: Database
    # False: every change is taken back at its end, so that one cast can serve a thousand trials.
    keep: bool = True
    statements: list[Statement] = field(default_factory=list)
    engine: str = field(init=False)
    reads_inline: bool = field(init=False)

    def __post_init__(self) -> None:
        self.engine, self.reads_inline = self.inner.engine, self.inner.reads_inline

    @contextmanager
    def reading(self, organisation: str) -> Iterator[RecordingHandle]:
        """See one consistent state."""
        with self.inner.reading(organisation) as rows:
            yield RecordingHandle(rows, self.statements)

    @contextmanager
    def glancing(self, organisation: str) -> Iterator[RecordingHandle]:
        """See one state with one statement: a second would see another."""
        before = len(self.statements)
        with self.inner.glancing(organisation) as rows:
            yield RecordingHandle(rows, self.statements)
        assert len(self.statements) <= before + 1, "a glance is one statement"

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Change all or nothing."""
        with self.inner.changing(organisation, keep=keep and self.keep) as rows:
            yield RecordingHandle(rows, self.statements)

    def pool(self) -> Pool | None:
        """How its connections are used."""
        return self.inner.pool()

    def close(self) -> None:
        """Let go of every connection."""
        self.inner.close()


def readings(cast: Cast, table: str, act: Callable[[Cast], object]) -> int:
    """How often a table is read while people do something."""
    database = RecordingDatabase(cast.stage.database)
    act(replace(cast, stage=replace(cast.stage, database=database)))
    return sum(f" FROM {table} " in one.sql and one.sql.startswith("SELECT") for one in database.statements)
