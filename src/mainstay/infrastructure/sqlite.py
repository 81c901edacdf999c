"""The embedded database: SQLite in the data folder.

WAL lets readers continue while the one writer writes. FULL keeps acknowledged changes through a power cut. IMMEDIATE
takes the write lock at the start, because a transaction that first reads and then writes fails if there are many
writers.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import NamedTuple, cast
from weakref import WeakSet

import apsw

from mainstay.infrastructure.database import (
    ALL_ORGANISATIONS,
    DatabaseBusy,
    DatabaseUnavailable,
    OverlapViolation,
    Row,
    SchemaCheck,
    UniqueViolation,
    Value,
    uses_now,
)
from mainstay.infrastructure.deadline import WAIT_SECONDS, seconds_left
from mainstay.infrastructure.schema_guard import SCHEMA_STATE
from mainstay.infrastructure.writer_queue import WriterQueue

# No two threads use one connection at the same time, so SQLite need not take a lock for each field of each row. It also
# takes none for each piece of memory if it does not count them. It accepts such settings only while it is shut down.
apsw.shutdown()
apsw.config(apsw.SQLITE_CONFIG_MULTITHREAD)
apsw.config(apsw.SQLITE_CONFIG_MEMSTATUS, 0)
apsw.initialize()


class SqliteHandle:
    """A handle on one SQLite connection."""

    __slots__ = ("_connection", "me", "now", "organisation")

    engine = "sqlite"

    def __init__(self, connection: apsw.Connection, organisation: str) -> None:
        self._connection = connection
        self.organisation = organisation
        self.me: str | None = None
        self.now: Callable[[], str] | None = None

    def one(self, sql: str, **parameters: Value) -> Row | None:
        """Return the first row, or None."""
        row: Row | None = self._execute(sql, parameters).fetchone()
        return row

    def all(self, sql: str, **parameters: Value) -> Sequence[Row]:
        """Return every row."""
        return cast("list[Row]", self._execute(sql, parameters).fetchall())

    def run(self, sql: str, **parameters: Value) -> int:
        """Run a statement that changes rows, and return how many it changed."""
        self._execute(sql, parameters)
        return self._connection.changes()

    def stream(self, sql: str, **parameters: Value) -> Iterator[Row]:
        """Yield one row after another."""
        try:
            for row in self._execute(sql, parameters):
                yield cast("Row", row)
        except apsw.CorruptError as error:
            raise DatabaseUnavailable(f"The database is damaged: {error}.") from error

    def has_pooler(self) -> bool:
        """Return False: an embedded database has no connections to pool."""
        return False

    def for_organisation(self, organisation: str) -> "SqliteHandle":
        """Return a handle of one organisation that reads the same state."""
        handle = SqliteHandle(self._connection, organisation)
        handle.now = self.now
        return handle

    def _execute(self, sql: str, parameters: dict[str, Value]) -> apsw.Cursor:
        parameters["organisation"] = self.organisation
        parameters["me"] = self.me
        if self.now and uses_now(sql):
            parameters.setdefault("now", self.now())
        try:
            return self._connection.execute(sql, parameters)
        except apsw.ConstraintError as error:
            # The type stubs of the library lack this attribute.
            if (found := vars(error)["extendedresult"]) in _UNIQUE_ERRORS:
                raise UniqueViolation(str(error)) from error
            # The messages of the triggers that refuse overlapping times begin like this.
            if found == apsw.SQLITE_CONSTRAINT_TRIGGER and "taken: " in str(error):
                raise OverlapViolation(str(error)) from error
            raise

    def run_script(self, text: str) -> None:
        """Run every statement of the script."""
        self._connection.execute(text)

    def run_many(self, sql: str, rows: Iterable[dict[str, Value]]) -> None:
        """Run a statement once for each row."""
        try:
            self._connection.executemany(sql, rows)
        except apsw.ConstraintError as error:
            raise UniqueViolation(str(error)) from error


_UNIQUE_ERRORS = {apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY}


class _Writer(NamedTuple):
    """The connection that all changes share, whose turn it is in this process, and the queue of all processes."""

    connection: apsw.Connection
    turn: threading.Lock
    queue: WriterQueue


class SqliteDatabase:
    """A database file. Each thread reads on its own connection; changes share one connection, one at a time."""

    reads_inline = True
    engine = "sqlite"

    def __init__(self, path: Path) -> None:
        self.check_schema: SchemaCheck | None = None
        self._path = path
        self._threads = threading.local()
        # The connection of a thread disappears from here when the thread ends.
        self._connections: WeakSet[apsw.Connection] = WeakSet()
        self._writer = self._open()
        self._queue = WriterQueue(path.with_name(f"{path.name}-queue"))
        self._shared_writer = _Writer(self._writer, threading.Lock(), self._queue)
        self._writer.set_busy_handler(self._queue.wait_or_give_up)
        # The undo log of a single statement is kept in memory, not in a file that is opened for each statement.
        self._writer.execute("PRAGMA temp_store = MEMORY")
        # The pages that the log holds before they are written to the file: many changes touch the same pages, which are
        # then written only once. This many fit into one of the index tables that readers use to find pages in the log.
        self._writer.execute("PRAGMA wal_autocheckpoint = 4000")

    def read_transaction(self, organisation: str) -> "_ReadTransaction":
        """Open a transaction that reads one consistent state and changes nothing."""
        return _ReadTransaction(self._reading_connection(), organisation)

    def single_read(self, organisation: str) -> "_SingleRead":
        """Open a read for one statement, which is a transaction by itself."""
        return _SingleRead(self._reading_connection(), organisation)

    def write_transaction(self, organisation: str, *, keep: bool = True) -> "_WriteTransaction":
        """Open a transaction that changes all or nothing, one at a time."""
        return _WriteTransaction(self._shared_writer, organisation, self.check_schema, keep=keep)

    @contextmanager
    def scan_transaction(self) -> Iterator[SqliteHandle]:
        """Open a transaction that reads one consistent state of everything, while writers continue."""
        with self.read_transaction(ALL_ORGANISATIONS) as handle:
            yield handle

    @contextmanager
    def temporary_schema(self) -> Iterator[SqliteHandle]:
        """Open an empty database in memory."""
        connection = apsw.Connection(":memory:")
        try:
            yield SqliteHandle(connection, ALL_ORGANISATIONS)
        finally:
            connection.close()

    def migration_transaction(self) -> AbstractContextManager[SqliteHandle]:
        """Open a normal write transaction: SQLite's schema is part of the transaction."""
        return _WriteTransaction(self._shared_writer, ALL_ORGANISATIONS, None, keep=True)

    @contextmanager
    def load_transaction(self) -> Iterator[SqliteHandle]:
        """Open a write transaction in which no triggers run."""
        with self.migration_transaction() as handle:
            self._writer.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
            try:
                yield handle
            finally:
                self._writer.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)

    def pool_usage(self) -> None:
        """Return None: each thread has its own connection."""

    def close(self) -> None:
        """Close every connection."""
        for connection in list(self._connections):
            connection.close()
        self._queue.close()

    def _reading_connection(self) -> apsw.Connection:
        connection: apsw.Connection
        try:
            connection = self._threads.connection
        except AttributeError:
            connection = self._open()
            connection.execute("PRAGMA query_only = ON")
            # Twice the default, so that everything a large firm's overview reads stays in the cache.
            connection.execute("PRAGMA cache_size = -4000")
            self._threads.connection = connection
        return connection

    def _open(self) -> apsw.Connection:
        try:
            return self._connect()
        except (*_TEMPORARY_ERRORS, apsw.CorruptError, apsw.NotADBError, OSError) as error:
            raise DatabaseUnavailable(f"The database {self._path} cannot be opened: {error}.") from error

    def _connect(self) -> apsw.Connection:
        if not self._path.exists():
            # Other users of the machine may not read it, whatever the mode of its folder.
            self._path.touch(mode=0o600)
        connection = apsw.Connection(str(self._path), statementcachesize=512)
        connection.set_busy_timeout(int(WAIT_SECONDS * 1000))
        # Keep one query plan for all values: without this, SQLite plans some statements again for each value.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")
        self._connections.add(connection)
        return connection


class _SingleRead(SqliteHandle):
    """A handle for one statement without a transaction around it; a test checks that callers run only one."""

    __slots__ = ()

    def __enter__(self) -> SqliteHandle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # It belongs to the context that holds this handle. Only the garbage collector would free such a ring.
        self.now = None


class _ReadTransaction(_SingleRead):
    """A handle within a read transaction; a class, because a generator would cost more than the query."""

    __slots__ = ()

    def __enter__(self) -> SqliteHandle:
        self._connection.execute("BEGIN")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._connection.execute("ROLLBACK")


class _WriteTransaction:
    """A write transaction, which waits for its turn; a class for the same reason."""

    __slots__ = ("_check_schema", "_ends", "_organisation", "_queue", "_turn", "_writer")

    def __init__(self, writer: _Writer, organisation: str, check_schema: SchemaCheck | None, *, keep: bool) -> None:
        self._writer, self._turn, self._queue = writer
        self._organisation = organisation
        self._check_schema = check_schema
        self._ends = "COMMIT" if keep else "ROLLBACK"

    def __enter__(self) -> SqliteHandle:
        if not self._turn.acquire(timeout=seconds_left()):
            raise DatabaseBusy("The changes before this one take too long.")
        try:
            # Only the remaining time: other threads of this process may have used most of it.
            self._queue.enter(monotonic() + seconds_left())
            try:
                self._writer.execute("BEGIN IMMEDIATE")
            finally:
                self._queue.leave()
            if self._check_schema:
                self._check_schema(cast("Row", self._writer.execute(f"SELECT {SCHEMA_STATE}").fetchone()))
        except BaseException as error:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            self._turn.release()
            _raise_if_temporary(error)
            raise
        return SqliteHandle(self._writer, self._organisation)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._writer.execute(self._ends)
        except BaseException as fault:
            _raise_if_temporary(fault)
            raise
        finally:
            try:
                # SQLite rolls back by itself after some errors, such as a full disk.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
            finally:
                self._turn.release()
        _raise_if_temporary(error)


def _raise_if_temporary(error: BaseException | None) -> None:
    """Raise DatabaseUnavailable for a temporary error, such as a long lock, a full disk or a missing file.

    Nothing was changed, so the caller may try again.
    """
    if isinstance(error, _TEMPORARY_ERRORS):
        is_busy = isinstance(error, apsw.BusyError | apsw.LockedError)
        raise (DatabaseBusy if is_busy else DatabaseUnavailable)(str(error)) from error


_TEMPORARY_ERRORS = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.FullError,
    apsw.IOError,
    apsw.LockedError,
    apsw.ProtocolError,
    apsw.ReadOnlyError,
)
