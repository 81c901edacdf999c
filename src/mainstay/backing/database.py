"""One small way to a database, on two engines.

Statements are portable SQL with named parameters (`:name`). A handle belongs to one organisation and binds
`:organisation` itself, and `:me` and `:now`, so that no statement can forget whose rows it reads.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Final, NamedTuple, Protocol

# What a statement takes and gives: text and whole numbers only, so that both engines agree on every value.
Value = str | int | None
Row = tuple[Value, ...]

# The organisation of a handle that may look across organisations: authentication, the operator, the worker.
EVERY: Final = "*"

# Begins a statement that adds many rows and need not take some of them back when it fails: whoever meets that lets the
# whole change go. SQLite then copies no page before it changes it. PostgreSQL knows no such word, and needs none.
INSERT_OR_FAIL: Final = "INSERT OR FAIL INTO"

# Ends a SELECT of rows that one of several workers is about to take: each takes others, and none waits. On SQLite it is
# a comment: one transaction writes at a time there.
SKIP_LOCKED: Final = "/* FOR NO KEY UPDATE SKIP LOCKED */"


class Clash(Exception):
    """A row with this unique value exists already."""


class Taken(Exception):
    """A rule that the database itself keeps stands against a row: the time of someone is taken already."""


class Unreachable(Exception):
    """The database cannot be reached or cannot take the change now; nothing was changed."""


class NewerSchema(Exception):
    """The database was made by a newer Mainstay than this one."""


class Handle(Protocol):
    """Runs statements inside one transaction of one organisation."""

    # Which engine it is: `sqlite` or `postgresql`.
    engine: str

    # Bound to every statement as `:organisation`, and as `:me` the person who asks, where one does; as `:now`, where a
    # statement asks for it, the moment of the act.
    organisation: str
    me: str | None
    now: Callable[[], str] | None

    def one(self, sql: str, **given: Value) -> Row | None:
        """The first row, or None."""

    def all(self, sql: str, **given: Value) -> Sequence[Row]:
        """Every row; the statement bounds how many."""

    def run(self, sql: str, **given: Value) -> int:
        """Change rows; how many there were."""


class Survey(Handle, Protocol):
    """A handle for looking at all that there is, in one state, however much it is."""

    def each(self, sql: str, **given: Value) -> Iterator[Row]:
        """Row by row, with no more of them in memory than a few; others may be asked for meanwhile."""

    def within(self, organisation: str) -> "Survey":
        """The same state, looked at as one organisation's."""


class SchemaHandle(Survey, Protocol):
    """A handle that can also run a whole script of statements, or one statement for very many rows."""

    def script(self, text: str) -> None:
        """Run every statement of the script."""

    def fill(self, sql: str, rows: Iterable[dict[str, Value]]) -> None:
        """Run a statement once for each row."""


class Pool(NamedTuple):
    """The connections that a process keeps open, and those who wait for one."""

    # Now: how many there are, how many of them are in use, and how many wait.
    size: int
    used: int
    waiting: int
    # Since it began: how often someone had to wait, for how many seconds in all, and how often in vain.
    queued: int
    waited: float
    failed: int


class Database(Protocol):
    """Opens transactions."""

    # Which of a migration step's files is for this engine.
    engine: str

    # True when a bounded read costs microseconds and may run on the event loop itself.
    reads_inline: bool

    def reading(self, organisation: str) -> AbstractContextManager[Handle]:
        """See one consistent state; change nothing."""

    def glancing(self, organisation: str) -> AbstractContextManager[Handle]:
        """See one state with one statement, and no more: as `reading`, without what only a second would need."""

    def changing(self, organisation: str, *, keep: bool = True) -> AbstractContextManager[Handle]:
        """Change all or nothing; nothing when it is not to be kept. An organisation's changes happen one by one."""

    def pool(self) -> Pool | None:
        """How its connections are used, where they are pooled."""

    def close(self) -> None:
        """Let go of every connection."""


class WholeDatabase(Database, Protocol):
    """A database of one's own, whose schema can be changed."""

    def surveying(self) -> AbstractContextManager[Survey]:
        """See one consistent state of everything; change nothing, and keep nobody from changing things meanwhile."""

    def trying(self) -> AbstractContextManager[SchemaHandle]:
        """An empty schema in which something can be tried; nothing of it stays."""

    def migrating(self) -> AbstractContextManager[SchemaHandle]:
        """Change the schema, all or nothing; several processes that start at once take turns."""

    def filling(self) -> AbstractContextManager[SchemaHandle]:
        """The same, for rows that come from elsewhere as they are: what follows a row by itself comes with them."""


@cache
def asks_for_now(sql: str) -> bool:
    """Whether a statement asks for the moment of the act: looked for once, not each time that it is run."""
    return ":now" in sql
