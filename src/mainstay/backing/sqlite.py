"""The embedded engine: SQLite in the data folder.

WAL lets readers go on beside the one writer; FULL keeps what was acknowledged through a power cut; IMMEDIATE takes the
write lock at the start, because a transaction that starts reading and then writes fails among many writers.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import cast
from weakref import WeakSet

import apsw

from mainstay.backing.database import EVERY, Clash, Row, Taken, Unreachable, Value, asks_for_now
from mainstay.backing.deadline import WAIT_SECONDS, seconds_left
from mainstay.backing.writer_queue import WriterQueue

# No two threads use one connection at the same time here: SQLite need not take a lock for each field of each row it
# hands out, nor for each piece of memory, when it does not count them. It takes such words only while it rests.
apsw.shutdown()
apsw.config(apsw.SQLITE_CONFIG_MULTITHREAD)
apsw.config(apsw.SQLITE_CONFIG_MEMSTATUS, 0)
apsw.initialize()


class SqliteHandle:
    """Statements on one connection."""

    __slots__ = ("_connection", "me", "now", "organisation")

    engine = "sqlite"

    def __init__(self, connection: apsw.Connection, organisation: str) -> None:
        self._connection = connection
        self.organisation = organisation
        self.me: str | None = None
        self.now: Callable[[], str] | None = None

    def one(self, sql: str, **given: Value) -> Row | None:
        """The first row, or None."""
        row: Row | None = self._execute(sql, given).fetchone()
        return row

    def all(self, sql: str, **given: Value) -> Sequence[Row]:
        """Every row."""
        return cast("list[Row]", self._execute(sql, given).fetchall())

    def run(self, sql: str, **given: Value) -> int:
        """Change rows; how many there were."""
        self._execute(sql, given)
        return self._connection.changes()

    def each(self, sql: str, **given: Value) -> Iterator[Row]:
        """Row by row."""
        try:
            for row in self._execute(sql, given):
                yield cast("Row", row)
        except apsw.CorruptError as error:
            raise Unreachable(f"The database is damaged: {error}.") from error

    def within(self, organisation: str) -> "SqliteHandle":
        """The same state, looked at as one organisation's."""
        handle = SqliteHandle(self._connection, organisation)
        handle.now = self.now
        return handle

    def _execute(self, sql: str, given: dict[str, Value]) -> apsw.Cursor:
        given["organisation"] = self.organisation
        given["me"] = self.me
        if self.now and asks_for_now(sql):
            given.setdefault("now", self.now())
        try:
            return self._connection.execute(sql, given)
        except apsw.ConstraintError as error:
            # An attribute that the stubs of the library do not know.
            if (found := vars(error)["extendedresult"]) in _TAKEN:
                raise Clash(str(error)) from error
            # So begins what triggers say that keep someone's time.
            if found == apsw.SQLITE_CONSTRAINT_TRIGGER and "taken: " in str(error):
                raise Taken(str(error)) from error
            raise

    def script(self, text: str) -> None:
        """Run every statement."""
        self._connection.execute(text)

    def fill(self, sql: str, rows: Iterable[dict[str, Value]]) -> None:
        """Run a statement once for each row."""
        try:
            self._connection.executemany(sql, rows)
        except apsw.ConstraintError as error:
            raise Clash(str(error)) from error


_TAKEN = {apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY}


class SqliteDatabase:
    """A database file. Each thread reads on a connection of its own; changes share one, one at a time."""

    reads_inline = True
    engine = "sqlite"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.local()
        # Those of threads that have ended go with them.
        self._opened: WeakSet[apsw.Connection] = WeakSet()
        self._writing = threading.Lock()
        self._writer = self._open()
        self._queue = WriterQueue(path.with_name(f"{path.name}-queue"))
        self._writer.set_busy_handler(self._queue.look_again)
        # What a statement would take back if it failed half-way is noted in memory, not in a file opened for each.
        self._writer.execute("PRAGMA temp_store = MEMORY")
        # How many pages the log holds before they go into the file: many changes touch the same ones, which then go
        # there once. These are as many as one of the tables has room for in which readers look pages of the log up.
        self._writer.execute("PRAGMA wal_autocheckpoint = 4000")

    def reading(self, organisation: str) -> "_Reading":
        """See one consistent state; change nothing."""
        return _Reading(self._reader(), organisation)

    def glancing(self, organisation: str) -> "_Glance":
        """One statement is a transaction by itself."""
        return _Glance(self._reader(), organisation)

    def changing(self, organisation: str, *, keep: bool = True) -> "_Changing":
        """Change all or nothing, one after another."""
        return _Changing(self._writer, self._writing, self._queue, organisation, keep=keep)

    @contextmanager
    def surveying(self) -> Iterator[SqliteHandle]:
        """See one consistent state of everything; whoever changes things meanwhile writes beside it."""
        with self.reading(EVERY) as handle:
            yield handle

    @contextmanager
    def trying(self) -> Iterator[SqliteHandle]:
        """An empty database in memory."""
        connection = apsw.Connection(":memory:")
        try:
            yield SqliteHandle(connection, EVERY)
        finally:
            connection.close()

    def migrating(self) -> AbstractContextManager[SqliteHandle]:
        """Change the schema like anything else: SQLite's schema is part of the transaction."""
        return self.changing(EVERY)

    @contextmanager
    def filling(self) -> Iterator[SqliteHandle]:
        """The same, while no trigger is pulled."""
        with self.changing(EVERY) as handle:
            self._writer.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
            try:
                yield handle
            finally:
                self._writer.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)

    def pool(self) -> None:
        """Each thread has a connection of its own."""

    def close(self) -> None:
        """Let go of every connection."""
        for connection in list(self._opened):
            connection.close()
        self._queue.close()

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection
        try:
            connection = self._threads.connection
        except AttributeError:
            connection = self._open()
            connection.execute("PRAGMA query_only = ON")
            # Twice as much as usual: all that the overview of a large firm reads has room and is not read anew.
            connection.execute("PRAGMA cache_size = -4000")
            self._threads.connection = connection
        return connection

    def _open(self) -> apsw.Connection:
        try:
            return self._connect()
        except (*_PASSING, apsw.CorruptError, apsw.NotADBError, OSError) as error:
            raise Unreachable(f"The database {self._path} cannot be opened: {error}.") from error

    def _connect(self) -> apsw.Connection:
        if not self._path.exists():
            # Whoever else is on the machine has no business with it, whatever folder it is in.
            self._path.touch(mode=0o600)
        connection = apsw.Connection(str(self._path), statementcachesize=512)
        connection.set_busy_timeout(int(WAIT_SECONDS * 1000))
        # A plan is kept whatever values come: without this, SQLite plans some statements anew for each.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")
        self._opened.add(connection)
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

    def __init__(self, connection: apsw.Connection, organisation: str) -> None:
        self._connection = connection
        self._organisation = organisation

    def __enter__(self) -> SqliteHandle:
        self._connection.execute("BEGIN")
        return SqliteHandle(self._connection, self._organisation)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.execute("ROLLBACK")


class _Changing:
    """A transaction that changes, in its turn; a class, likewise."""

    __slots__ = ("_ends", "_organisation", "_queue", "_turn", "_writer")

    def __init__(
        self, writer: apsw.Connection, turn: threading.Lock, queue: WriterQueue, organisation: str, *, keep: bool
    ) -> None:
        self._writer = writer
        self._turn = turn
        self._queue = queue
        self._organisation = organisation
        self._ends = "COMMIT" if keep else "ROLLBACK"

    def __enter__(self) -> SqliteHandle:
        if not self._turn.acquire(timeout=seconds_left()):
            raise Unreachable("The changes before this one take too long.")
        try:
            # What is left of the time: others in this process may have taken most of it.
            self._queue.enter(monotonic() + seconds_left())
            try:
                self._writer.execute("BEGIN IMMEDIATE")
            finally:
                self._queue.leave()
        except BaseException as error:
            self._turn.release()
            _tell_passing(error)
            raise
        return SqliteHandle(self._writer, self._organisation)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._writer.execute(self._ends)
        except BaseException as fault:
            _tell_passing(fault)
            raise
        finally:
            try:
                # SQLite has rolled back by itself after some faults, a full disk among them.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
            finally:
                self._turn.release()
        _tell_passing(error)


def _tell_passing(error: BaseException | None) -> None:
    """Locked for too long, disk full, file gone: nothing was changed, and trying again is right."""
    if isinstance(error, _PASSING):
        raise Unreachable(str(error)) from error


_PASSING = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.FullError,
    apsw.IOError,
    apsw.LockedError,
    apsw.ProtocolError,
    apsw.ReadOnlyError,
)
