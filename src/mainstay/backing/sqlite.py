"""The embedded engine: SQLite in the data folder.

WAL lets readers go on beside the one writer; FULL keeps what was acknowledged through a power cut; IMMEDIATE takes the
write lock at the start, because a transaction that starts reading and then writes fails among many writers.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from time import time
from types import TracebackType
from typing import cast
from weakref import WeakSet

import apsw

from mainstay.backing.database import EVERY, Clash, Row, Taken, Unreachable, Value
from mainstay.backing.deadline import LONGEST_SECONDS, WAIT_SECONDS, seconds_left, takes_long

# No two threads use one connection at the same time here: SQLite need not take a lock for each field of each row it
# hands out, nor for each piece of memory, when it does not count them. It takes such words only while it rests.
apsw.shutdown()
apsw.config(apsw.SQLITE_CONFIG_MULTITHREAD)
apsw.config(apsw.SQLITE_CONFIG_MEMSTATUS, 0)
apsw.initialize()


class SqliteHandle:
    """Statements on one connection."""

    __slots__ = ("_connection", "me", "organisation")

    def __init__(self, connection: apsw.Connection, organisation: str) -> None:
        self._connection = connection
        self.organisation = organisation
        self.me: str | None = None

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

    def _execute(self, sql: str, given: dict[str, Value]) -> apsw.Cursor:
        given["organisation"] = self.organisation
        given["me"] = self.me
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
        self._turns = _Turns(threading.Lock(), path.with_name(f"{path.name}-long"))
        self._writer = self._open()
        # What a statement would take back if it failed half-way is noted in memory, not in a file opened for each.
        self._writer.execute("PRAGMA temp_store = MEMORY")

    def reading(self, organisation: str) -> "_Reading":
        """See one consistent state; change nothing."""
        return _Reading(self._reader(), organisation)

    def glancing(self, organisation: str) -> "_Glance":
        """One statement is a transaction by itself."""
        return _Glance(self._reader(), organisation)

    def changing(self, organisation: str, *, keep: bool = True) -> "_Changing":
        """Change all or nothing, one after another."""
        return _Changing(self._writer, self._turns, organisation, keep=keep)

    def migrating(self) -> AbstractContextManager[SqliteHandle]:
        """Change the schema like anything else: SQLite's schema is part of the transaction."""
        return self.changing(EVERY)

    def close(self) -> None:
        """Let go of every connection."""
        for connection in list(self._opened):
            connection.close()

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection
        try:
            connection = self._threads.connection
        except AttributeError:
            connection = self._open()
            connection.execute("PRAGMA query_only = ON")
            self._threads.connection = connection
        return connection

    def _open(self) -> apsw.Connection:
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


class _Turns:
    """The turns of those who change something: in this process by a lock, among processes by SQLite's own.

    Whoever takes long says so by a file beside the database, which is there only while they have their turn.
    """

    __slots__ = ("_lock", "_long")

    def __init__(self, lock: threading.Lock, long: Path) -> None:
        self._lock = lock
        self._long = long

    def take(self, begin: Callable[[float], None]) -> None:
        """Wait for one's turn, then begin in the seconds that are left for it; Unreachable when it does not come."""
        if not self._lock.acquire(timeout=seconds_left()) and not self._outlasts(self._has_lock):
            raise Unreachable("The changes before this one take too long.")
        try:
            try:
                # What is left of the time: others in this process may have taken most of it.
                begin(seconds_left())
            except apsw.BusyError:
                if not self._outlasts(lambda seconds: _has_begun(begin, seconds)):
                    raise
            if takes_long():
                with suppress(OSError):
                    self._long.touch()
        except BaseException:
            self._lock.release()
            raise

    def over(self) -> None:
        """Nobody has to wait any longer; said before the turn is given back, as the next may take long too."""
        if takes_long():
            with suppress(OSError):
                self._long.unlink()

    def give_back(self) -> None:
        """Let the next in this process have their turn."""
        self._lock.release()

    def _outlasts(self, tries: Callable[[float], bool]) -> bool:
        """Wait on while someone has a turn who takes long, and try once more when that is over."""
        goes_on = True
        while goes_on:
            goes_on = self._is_long()
            if tries(_A_MOMENT if goes_on else 0):
                return True
        return False

    def _has_lock(self, seconds: float) -> bool:
        return self._lock.acquire(timeout=seconds)

    def _is_long(self) -> bool:
        with suppress(FileNotFoundError):
            return self._long.stat().st_mtime > time() - LONGEST_SECONDS
        return False


_A_MOMENT = 1.0


def _has_begun(begin: Callable[[float], None], seconds: float) -> bool:
    try:
        begin(seconds)
    except apsw.BusyError:
        return False
    return True


class _Changing:
    """A transaction that changes, in its turn; a class, likewise."""

    __slots__ = ("_ends", "_organisation", "_turns", "_writer")

    def __init__(self, writer: apsw.Connection, turns: _Turns, organisation: str, *, keep: bool) -> None:
        self._writer = writer
        self._turns = turns
        self._organisation = organisation
        self._ends = "COMMIT" if keep else "ROLLBACK"

    def __enter__(self) -> SqliteHandle:
        try:
            self._turns.take(self._begin)
        except BaseException as error:
            _tell_passing(error)
            raise
        return SqliteHandle(self._writer, self._organisation)

    def _begin(self, seconds: float) -> None:
        self._writer.set_busy_timeout(int(seconds * 1000))
        self._writer.execute("BEGIN IMMEDIATE")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._turns.over()
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
                self._turns.give_back()
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
