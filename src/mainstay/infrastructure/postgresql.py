"""The database for larger installations: PostgreSQL through psycopg 3.

Every transaction names its organisation to the server, where row-level security is a second line of defence. The name
is local to the transaction: a session setting would leak to the next user of the pooled connection.
"""

import logging
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from itertools import count, islice
from time import monotonic

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from mainstay.infrastructure.database import (
    ALL_ORGANISATIONS,
    INSERT_OR_FAIL,
    SKIP_LOCKED,
    DatabaseBusy,
    DatabaseUnavailable,
    OverlapViolation,
    PoolUsage,
    Row,
    SchemaCheck,
    UniqueViolation,
    Value,
    uses_now,
)
from mainstay.infrastructure.deadline import seconds_left
from mainstay.infrastructure.schema_guard import SCHEMA_STATE
from mainstay.settings import MAX_POOL_SIZE, SettingError
from mainstay.values.ids import is_id

# The pool logs each attempt to connect in its own words. What matters is logged by the thread that waits for a
# connection.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

POOL_WAIT_SECONDS = 5.0
# Any number works, as long as every migrating process uses the same one.
MIGRATION_LOCK = 7_205_759

_CONNECT_SECONDS = 5

# Read-only, with one snapshot for all statements of the transaction.
_BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_BEGIN_CHANGING = "BEGIN"


# The rows fetched or written at a time when there may be very many.
_BATCH_SIZE = 1000
_cursor_numbers = count(1)
_TABLES_WITH_TRIGGERS = (
    "SELECT DISTINCT CAST(tgrelid::regclass AS text) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
    " WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace"
)

_BYPASSES_ROW_SECURITY = (
    "MAINSTAY_DATABASE cannot name a role that is a superuser or has BYPASSRLS: row-level security, which fences each"
    " organisation's rows, does not hold for it."
)


_CANNOT_CREATE_SCHEMA = (
    "The role may not make a schema for a moment, to compare. Allow it: GRANT CREATE ON DATABASE … TO … (its role)."
)


class PostgresHandle:
    """A handle on one pooled connection."""

    __slots__ = ("_connection", "me", "now", "organisation")

    engine = "postgresql"

    def __init__(self, connection: psycopg.Connection[Row], organisation: str) -> None:
        self._connection = connection
        self.organisation = organisation
        self.me: str | None = None
        self.now: Callable[[], str] | None = None

    def one(self, sql: str, **parameters: Value) -> Row | None:
        """Return the first row, or None."""
        return self._execute(sql, parameters).fetchone()

    def all(self, sql: str, **parameters: Value) -> Sequence[Row]:
        """Return every row."""
        return self._execute(sql, parameters).fetchall()

    def run(self, sql: str, **parameters: Value) -> int:
        """Run a statement that changes rows, and return how many it changed."""
        return self._execute(sql, parameters).rowcount

    def stream(self, sql: str, **parameters: Value) -> Iterator[Row]:
        """Yield one row after another from a server-side cursor."""
        with self._connection.cursor(name=f"each_{next(_cursor_numbers)}") as cursor:
            cursor.itersize = _BATCH_SIZE
            cursor.execute(_to_psycopg(sql), self._bind(sql, parameters))
            yield from cursor

    def for_organisation(self, organisation: str) -> "PostgresHandle":
        """Return a handle of one organisation that reads the same state."""
        handle = PostgresHandle(self._connection, organisation)
        handle.now = self.now
        return handle

    def run_many(self, sql: str, rows: Iterable[dict[str, Value]]) -> None:
        """Run a statement once for each row."""
        remaining = iter(rows)
        try:
            with self._connection.cursor() as cursor:
                while batch := list(islice(remaining, _BATCH_SIZE)):
                    cursor.executemany(_to_psycopg(sql), batch)
        except psycopg.IntegrityError as error:
            raise UniqueViolation(str(error)) from error

    def has_pooler(self) -> bool:
        """Return whether a connection pooler is between this process and the database server."""
        return _has_pooler(self._connection)

    def run_script(self, text: str) -> None:
        """Run every statement of the script."""
        self._connection.execute(text.encode())

    def _execute(self, sql: str, parameters: dict[str, Value]) -> psycopg.Cursor[Row]:
        try:
            return self._connection.execute(_to_psycopg(sql), self._bind(sql, parameters))
        except psycopg.errors.UniqueViolation as error:
            raise UniqueViolation(str(error)) from error
        except psycopg.errors.ExclusionViolation as error:
            raise OverlapViolation(str(error)) from error

    def _bind(self, sql: str, parameters: dict[str, Value]) -> dict[str, Value]:
        parameters["organisation"] = self.organisation
        parameters["me"] = self.me
        if self.now and uses_now(sql):
            parameters.setdefault("now", self.now())
        return parameters


class PostgresDatabase:
    """A pool of connections that recovers by itself after the server was unavailable."""

    reads_inline = False
    engine = "postgresql"

    def __init__(self, url: str, pool_size: int = MAX_POOL_SIZE, prepare_statements: str = "auto") -> None:
        self.check_schema: SchemaCheck | None = None
        self._url = url
        self._prepare_statements = prepare_statements
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            url,
            min_size=1,
            max_size=pool_size,
            timeout=POOL_WAIT_SECONDS,
            kwargs={"autocommit": True, "connect_timeout": _CONNECT_SECONDS},
            configure=self._configure_connection,
            open=False,
            reconnect_timeout=0,
        )
        self._pool.open()

    @contextmanager
    def read_transaction(self, organisation: str) -> Iterator[PostgresHandle]:
        """Open a transaction that reads one consistent state and changes nothing."""
        with self._transaction(_BEGIN_READING, organisation, "ROLLBACK") as handle:
            yield handle

    def single_read(self, organisation: str) -> AbstractContextManager[PostgresHandle]:
        """Open a read transaction even for one statement, because the organisation is named to a transaction."""
        return self.read_transaction(organisation)

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[PostgresHandle]:
        """Open a transaction that changes all or nothing.

        A lock on the organisation's row makes its changes happen one at a time. A shared lock makes migrations wait for
        changes, and changes for migrations, so that the schema is still the one that was checked.
        """
        begin, state = _BEGIN_CHANGING, SCHEMA_STATE if self.check_schema else "NULL, NULL"
        begin += f"; SET LOCAL lock_timeout = {max(round(seconds_left() * 1000), 1)}"  # zero would mean no limit
        begin += f"; SELECT pg_advisory_xact_lock_shared({MIGRATION_LOCK})"
        end = "COMMIT" if keep else "ROLLBACK"
        with _refuse_replica(), self._transaction(begin, organisation, end) as handle:
            row = None
            if organisation != ALL_ORGANISATIONS:
                # NO KEY: a transaction that only inserts references to the organisation need not wait for this lock.
                row = handle.one(f"SELECT {state} FROM organisation WHERE id = :organisation FOR NO KEY UPDATE")
            if self.check_schema:
                self.check_schema(row or handle.one(f"SELECT {state}") or (None, None))
            yield handle

    @contextmanager
    def temporary_schema(self) -> Iterator[PostgresHandle]:
        """Open a temporary schema that is rolled back with everything in it.

        The role needs the right to create a schema.
        """
        with self._transaction(_BEGIN_CHANGING, ALL_ORGANISATIONS, "ROLLBACK") as handle:
            name = f"mainstay_{secrets.token_hex(8)}"
            try:
                handle.run_script(f"CREATE SCHEMA {name}; SET LOCAL search_path = {name}")
            except psycopg.errors.InsufficientPrivilege as error:
                raise DatabaseUnavailable(_CANNOT_CREATE_SCHEMA) from error
            yield handle

    @contextmanager
    def migration_transaction(self) -> Iterator[PostgresHandle]:
        """Open a transaction that changes the schema.

        A lock makes processes that start at the same time take turns.
        """
        self._test_connection()
        with self._transaction(_BEGIN_CHANGING, ALL_ORGANISATIONS, "COMMIT") as handle:
            if handle.one("SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"):
                raise SettingError(_BYPASSES_ROW_SECURITY)
            handle.one("SELECT pg_advisory_xact_lock(CAST(:lock AS bigint))", lock=MIGRATION_LOCK)
            yield handle

    @contextmanager
    def scan_transaction(self) -> Iterator[PostgresHandle]:
        """Open a transaction that reads one consistent state of everything."""
        self._test_connection()
        with self.read_transaction(ALL_ORGANISATIONS) as handle:
            yield handle

    @contextmanager
    def load_transaction(self) -> Iterator[PostgresHandle]:
        """Open a migration transaction in which Mainstay's own triggers do not run.

        Foreign keys still hold, because the server's own triggers check them.
        """
        with self.migration_transaction() as handle:
            tables = handle.all(_TABLES_WITH_TRIGGERS)
            for (table,) in tables:
                handle.run_script(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            yield handle
            for (table,) in tables:
                handle.run_script(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    def pool_usage(self) -> PoolUsage:
        """Return how the connections of the pool are used."""
        stats = self._pool.get_stats()
        size = stats.get("pool_size", 0)
        return PoolUsage(
            size=size,
            used=size - stats.get("pool_available", 0),
            waiting=stats.get("requests_waiting", 0),
            queued=stats.get("requests_queued", 0),
            waited=stats.get("requests_wait_ms", 0) / 1000,
            failed=stats.get("requests_errors", 0),
        )

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    def _configure_connection(self, connection: psycopg.Connection[Row]) -> None:
        """Prepare no statements through a pooler, unless the operator says otherwise.

        A pooler gives each transaction another server process, and there the name of a prepared statement may be
        unknown, or name the statement of another client.
        """
        choice = self._prepare_statements
        if choice == "off" or (choice == "auto" and _has_pooler(connection)):
            connection.prepare_threshold = None

    @contextmanager
    def _transaction(self, begin: str, organisation: str, end: str) -> Iterator[PostgresHandle]:
        if organisation != ALL_ORGANISATIONS and not is_id(organisation, "org"):
            raise ValueError(f"not an organisation: {organisation!r}")
        with _translate_errors():
            # One round trip; the id was just checked and needs no quoting.
            connection = self._begin_transaction(f"{begin}; SET LOCAL mainstay.organisation = '{organisation}'")
            try:
                yield PostgresHandle(connection, organisation)
                connection.execute(end)
            except BaseException:
                if not connection.broken:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._pool.putconn(connection)

    def _test_connection(self) -> None:
        """Connect once before the pool is first used.

        The pool reports only how long it waited; the server's own error says why.
        """
        if not self._pool.get_stats().get("requests_num"):
            with _translate_errors():
                psycopg.connect(self._url, connect_timeout=_CONNECT_SECONDS).close()

    def _begin_transaction(self, begin: str) -> psycopg.Connection[Row]:
        """Return a connection on which this statement was run.

        If the server went away while a connection was idle, the statement fails, so that connections need no check
        before each use. Nothing was done on it yet: another connection is tried, and the pool replaces the broken one.
        """
        deadline = monotonic() + min(POOL_WAIT_SECONDS, seconds_left())
        while True:
            connection = self._pool.getconn(deadline - monotonic())
            try:
                connection.execute(begin)
            except BaseException:
                self._pool.putconn(connection)
                if not connection.broken:
                    raise
            else:
                return connection


def _has_pooler(connection: psycopg.Connection[Row]) -> bool:
    """Return whether another server process does the work than the one that the connection was made to.

    A pooler names a process of its own making when a client connects.
    """
    row = connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
    return row is not None and row[0] != connection.info.backend_pid


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except psycopg.errors.LockNotAvailable as error:
        raise DatabaseBusy("Other changes take too long.") from error
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise DatabaseUnavailable(f"The database cannot be reached: {' '.join(str(error).split())}.") from error


@contextmanager
def _refuse_replica() -> Iterator[None]:
    """Treat a server that only reads like one that is away."""
    try:
        yield
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise DatabaseUnavailable("The database server only reads: it is a replica, or was made read-only.") from error


@cache
def _to_psycopg(sql: str) -> bytes:
    """Return a statement in psycopg's syntax: `:name` as `%(name)s` but not casts (`::`), and each `%` doubled."""
    plain = sql.replace(INSERT_OR_FAIL, "INSERT INTO").replace(SKIP_LOCKED, SKIP_LOCKED.strip("/* ")).replace("%", "%%")
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", plain).encode()
