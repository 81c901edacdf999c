"""One small interface to a database, implemented for two engines.

Statements are portable SQL with named parameters (`:name`). A handle belongs to one organisation and binds
`:organisation`, `:me` and `:now` itself, so that no statement can read the rows of another organisation.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Final, NamedTuple, Protocol

# The types of parameters and results: only text and whole numbers, so that both engines agree on every value.
Value = str | int | None
Row = tuple[Value, ...]

# The organisation of a handle that may read across organisations: for authentication, the operator and the worker.
ALL_ORGANISATIONS: Final = "*"

# Begins a statement that inserts many rows and, if it fails, need not undo those it has inserted: the caller rolls the
# whole transaction back. SQLite then copies no page before changing it. PostgreSQL has no such keyword and needs none.
INSERT_OR_FAIL: Final = "INSERT OR FAIL INTO"

# Ends a SELECT of rows that one of several workers is about to take: each takes different rows, and none waits. On
# SQLite it is a comment, because only one transaction writes at a time.
SKIP_LOCKED: Final = "/* FOR NO KEY UPDATE SKIP LOCKED */"


# Raises an error if a program may not change a database whose schema has this state (`schema_guard.py`).
SchemaCheck = Callable[[Row], None]


class UniqueViolation(Exception):
    """A row with this unique value already exists."""


class OverlapViolation(Exception):
    """A rule of the database itself refuses a row: someone's time would overlap."""


class DatabaseUnavailable(Exception):
    """The database cannot be reached or cannot accept the change now; nothing was changed."""


class DatabaseBusy(DatabaseUnavailable):
    """Other changes take too long; nothing was changed."""


class NewerSchema(Exception):
    """A newer version of Mainstay created the database."""


class OlderSchema(Exception):
    """The database was made by an older Mainstay than this one can bring up to date."""


class DatabaseHandle(Protocol):
    """A connection that runs statements inside one transaction of one organisation."""

    # The engine: `sqlite` or `postgresql`.
    engine: str

    # Values that are bound to every statement: `:organisation`, and as `:me` the person who acts, if one does. `:now`
    # is the moment of the act and is bound only to statements that contain it.
    organisation: str
    me: str | None
    now: Callable[[], str] | None

    def one(self, sql: str, **parameters: Value) -> Row | None:
        """Return the first row, or None."""

    def all(self, sql: str, **parameters: Value) -> Sequence[Row]:
        """Return every row; the statement bounds how many there are."""

    def run(self, sql: str, **parameters: Value) -> int:
        """Run a statement that changes rows, and return how many it changed."""

    def for_organisation(self, organisation: str) -> "DatabaseHandle":
        """Return a handle of one organisation in the same transaction; only for a handle of all organisations."""


class ScanHandle(DatabaseHandle, Protocol):
    """A handle that reads everything in one consistent state, however much there is."""

    def stream(self, sql: str, **parameters: Value) -> Iterator[Row]:
        """Yield one row after another, with only a few in memory; other statements may run in between."""

    def has_pooler(self) -> bool:
        """Return whether a connection pooler is between this process and the database server."""

    def for_organisation(self, organisation: str) -> "ScanHandle":
        """Return a handle of one organisation that reads the same state."""


class SchemaHandle(ScanHandle, Protocol):
    """A handle that can also run a script of several statements, or one statement for very many rows."""

    def run_script(self, text: str) -> None:
        """Run every statement of the script."""

    def run_many(self, sql: str, rows: Iterable[dict[str, Value]]) -> None:
        """Run a statement once for each row."""


class PoolUsage(NamedTuple):
    """The connections that a process keeps open, and the threads that wait for one."""

    # Now: the open connections, those in use, and the threads that wait.
    size: int
    used: int
    waiting: int
    # Since the start: how often a thread had to wait, for how many seconds in total, and how often in vain.
    queued: int
    waited: float
    failed: int


class Database(Protocol):
    """A database that opens transactions."""

    # The engine, which selects the files of a migration step.
    engine: str

    # True if a bounded read takes microseconds and may run on the event loop itself.
    reads_inline: bool

    def read_transaction(self, organisation: str) -> AbstractContextManager[DatabaseHandle]:
        """Open a transaction that reads one consistent state and changes nothing."""

    def single_read(self, organisation: str) -> AbstractContextManager[DatabaseHandle]:
        """Open a read for exactly one statement: a `read_transaction` without what only a second statement needs."""

    def write_transaction(self, organisation: str, *, keep: bool = True) -> AbstractContextManager[DatabaseHandle]:
        """Open a transaction that changes all or nothing, or nothing if it is not to be committed.

        The changes of one organisation happen one at a time.
        """

    def pool_usage(self) -> PoolUsage | None:
        """Return how the connections are used, if they are pooled."""

    def close(self) -> None:
        """Close every connection."""


class MigratableDatabase(Database, Protocol):
    """A database whose schema can also be changed."""

    # Decides before each change whether this program may still change the database; None lets it.
    check_schema: SchemaCheck | None

    def scan_transaction(self) -> AbstractContextManager[ScanHandle]:
        """Open a transaction that reads one consistent state of everything and does not block writers."""

    def temporary_schema(self) -> AbstractContextManager[SchemaHandle]:
        """Open an empty temporary schema, which is discarded afterwards."""

    def migration_transaction(self) -> AbstractContextManager[SchemaHandle]:
        """Open a transaction that changes the schema, all or nothing.

        Processes that start at the same time take turns.
        """

    def load_transaction(self) -> AbstractContextManager[SchemaHandle]:
        """Open a migration transaction that loads complete rows from elsewhere, with triggers off."""


@cache
def uses_now(sql: str) -> bool:
    """Return whether a statement contains `:now`; cached, so that each statement is searched only once."""
    return ":now" in sql
