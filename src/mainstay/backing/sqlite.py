"""The embedded engine: SQLite in the data folder.

WAL lets readers go on beside the one writer; FULL keeps what was acknowledged through a power cut; IMMEDIATE takes the
write lock at the start, because a transaction that starts reading and then writes fails among many writers.
"""

import _sqlite3
import ctypes
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType

from mainstay.backing.database import EVERY, Clash, Row, Unreachable, Value

# How long a change waits for another process's change before it gives up with "safe to try again".
BUSY_SECONDS = 10.0


def forgo_mutexes() -> None:
    """Tell SQLite, before its first connection in this process, that no two threads use one at the same time.

    It then need not take a lock for each field of each row it hands out. Told too late or not heard, it goes on
    locking: slower, not wrong.
    """
    with suppress(AttributeError):
        library = ctypes.CDLL(_sqlite3.__file__)
        library.sqlite3_shutdown()
        library.sqlite3_config(_MULTITHREAD)
        library.sqlite3_initialize()


_MULTITHREAD = 2


class SqliteHandle:
    """Statements on one connection."""

    __slots__ = ("_connection", "organisation")

    def __init__(self, connection: sqlite3.Connection, organisation: str) -> None:
        self._connection = connection
        self.organisation = organisation

    def one(self, sql: str, **given: Value) -> Row | None:
        """The first row, or None."""
        given["organisation"] = self.organisation
        row: Row | None = self._connection.execute(sql, given).fetchone()
        return row

    def all(self, sql: str, **given: Value) -> Sequence[Row]:
        """Every row."""
        given["organisation"] = self.organisation
        return self._connection.execute(sql, given).fetchall()

    def run(self, sql: str, **given: Value) -> int:
        """Change rows; how many there were."""
        given["organisation"] = self.organisation
        try:
            return self._connection.execute(sql, given).rowcount
        except sqlite3.IntegrityError as error:
            if error.sqlite_errorcode in {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}:
                raise Clash(str(error)) from error
            raise

    def script(self, text: str) -> None:
        """Run every statement; `executescript` would commit behind our back."""
        for statement in _statements(text):
            self._connection.execute(statement)


class SqliteDatabase:
    """A database file. Each thread reads on a connection of its own; changes share one, one at a time."""

    reads_inline = True
    engine = "sqlite"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._writing = threading.Lock()
        self._writer = self._open()

    def reading(self, organisation: str) -> "_Reading":
        """See one consistent state; change nothing."""
        return _Reading(self._reader(), organisation)

    def glancing(self, organisation: str) -> "_Glance":
        """One statement is a transaction by itself."""
        return _Glance(self._reader(), organisation)

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[SqliteHandle]:
        """Change all or nothing, one after another."""
        with self._writing, _faults():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield SqliteHandle(self._writer, organisation)
                self._writer.execute("COMMIT" if keep else "ROLLBACK")
            except BaseException:
                # SQLite has rolled back by itself after some faults, a full disk among them.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def migrating(self) -> AbstractContextManager[SqliteHandle]:
        """Change the schema like anything else: SQLite's schema is part of the transaction."""
        return self.changing(EVERY)

    def close(self) -> None:
        """Let go of every connection."""
        for connection in self._opened:
            connection.close()

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection
        try:
            connection = self._threads.connection
        except AttributeError:
            connection = self._open()
            connection.execute("PRAGMA query_only = ON")
            self._threads.connection = connection
        return connection

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
        )
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")
        self._opened.append(connection)
        return connection


class _Glance(SqliteHandle):
    """A handle for one statement, which needs nothing around it; a test holds callers to one."""

    __slots__ = ()

    def __enter__(self) -> SqliteHandle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class _Reading:
    """A read transaction; a class, because a generator would cost more than the query."""

    __slots__ = ("_connection", "_organisation")

    def __init__(self, connection: sqlite3.Connection, organisation: str) -> None:
        self._connection = connection
        self._organisation = organisation

    def __enter__(self) -> SqliteHandle:
        self._connection.execute("BEGIN")
        return SqliteHandle(self._connection, self._organisation)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.execute("ROLLBACK")


@contextmanager
def _faults() -> Iterator[None]:
    """Locked for too long, disk full, file gone: nothing was changed, and trying again is right."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise Unreachable(str(error)) from error


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; a trigger's body with its semicolons stays whole."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending
