"""The engine for growth: PostgreSQL through psycopg 3.

Every transaction names its organisation to the server, where row-level security is a fence of its own. The name is
local to the transaction: a setting of the session would leak to the next user of the pooled connection.
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

from mainstay.backing.database import (
    EVERY,
    INSERT_OR_FAIL,
    SKIP_LOCKED,
    Clash,
    Pool,
    Row,
    Taken,
    Unreachable,
    Value,
    asks_for_now,
)
from mainstay.backing.deadline import seconds_left
from mainstay.settings import WrongSetting
from mainstay.values.ids import is_id

# The pool tells the log of each attempt to connect in words of its own; what matters is told by whoever waits for it.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

# As many as a server process has threads that ask the database (`doors/running.py`); each thread finds one free.
POOL_SIZE = 16
POOL_WAIT_SECONDS = 5.0
# Any number will do, as long as every process that migrates takes the same one.
MIGRATION_LOCK = 7_205_759

_CONNECT_SECONDS = 5

# Read-only, and one snapshot for all statements of the transaction.
_BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_BEGIN_CHANGING = "BEGIN"


# So many rows come at once where all are looked at.
_AT_ONCE = 1000
_numbers = count(1)
_TRIGGERED = (
    "SELECT DISTINCT CAST(tgrelid::regclass AS text) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
    " WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace"
)

_UNFENCED = (
    "MAINSTAY_DATABASE cannot name a role that is a superuser or has BYPASSRLS: row-level security, which fences each"
    " organisation's rows, does not hold for it."
)


_MAY_NOT_TRY = (
    "The role may not make a schema for a moment, to compare. Allow it: GRANT CREATE ON DATABASE … TO … (its role)."
)


class PostgresHandle:
    """Statements on one pooled connection."""

    __slots__ = ("_connection", "me", "now", "organisation")

    engine = "postgresql"

    def __init__(self, connection: psycopg.Connection[Row], organisation: str) -> None:
        self._connection = connection
        self.organisation = organisation
        self.me: str | None = None
        self.now: Callable[[], str] | None = None

    def one(self, sql: str, **given: Value) -> Row | None:
        """The first row, or None."""
        return self._execute(sql, given).fetchone()

    def all(self, sql: str, **given: Value) -> Sequence[Row]:
        """Every row."""
        return self._execute(sql, given).fetchall()

    def run(self, sql: str, **given: Value) -> int:
        """Change rows; how many there were."""
        return self._execute(sql, given).rowcount

    def each(self, sql: str, **given: Value) -> Iterator[Row]:
        """Row by row, out of a cursor that stays at the server."""
        with self._connection.cursor(name=f"each_{next(_numbers)}") as cursor:
            cursor.itersize = _AT_ONCE
            cursor.execute(_spelled(sql), self._bound(sql, given))
            yield from cursor

    def within(self, organisation: str) -> "PostgresHandle":
        """The same state, looked at as one organisation's."""
        handle = PostgresHandle(self._connection, organisation)
        handle.now = self.now
        return handle

    def fill(self, sql: str, rows: Iterable[dict[str, Value]]) -> None:
        """Run a statement once for each row."""
        waiting = iter(rows)
        try:
            with self._connection.cursor() as cursor:
                while some := list(islice(waiting, _AT_ONCE)):
                    cursor.executemany(_spelled(sql), some)
        except psycopg.IntegrityError as error:
            raise Clash(str(error)) from error

    def script(self, text: str) -> None:
        """Run every statement of the script."""
        self._connection.execute(text.encode())

    def _execute(self, sql: str, given: dict[str, Value]) -> psycopg.Cursor[Row]:
        try:
            return self._connection.execute(_spelled(sql), self._bound(sql, given))
        except psycopg.errors.UniqueViolation as error:
            raise Clash(str(error)) from error
        except psycopg.errors.ExclusionViolation as error:
            raise Taken(str(error)) from error

    def _bound(self, sql: str, given: dict[str, Value]) -> dict[str, Value]:
        given["organisation"] = self.organisation
        given["me"] = self.me
        if self.now and asks_for_now(sql):
            given.setdefault("now", self.now())
        return given


class PostgresDatabase:
    """A pool of connections that heals by itself when the server was away."""

    reads_inline = False
    engine = "postgresql"

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            url,
            min_size=1,
            max_size=POOL_SIZE,
            timeout=POOL_WAIT_SECONDS,
            kwargs={"autocommit": True, "connect_timeout": _CONNECT_SECONDS},
            open=False,
            reconnect_timeout=0,
        )
        self._pool.open()

    @contextmanager
    def reading(self, organisation: str) -> Iterator[PostgresHandle]:
        """See one consistent state; change nothing."""
        with self._transaction(_BEGIN_READING, organisation, "ROLLBACK") as handle:
            yield handle

    def glancing(self, organisation: str) -> AbstractContextManager[PostgresHandle]:
        """The organisation is named to the transaction, so there must be one."""
        return self.reading(organisation)

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[PostgresHandle]:
        """Change all or nothing; the organisation's row is the lock that puts its changes in order."""
        begin = _BEGIN_CHANGING
        if organisation != EVERY:
            begin += f"; SET LOCAL lock_timeout = {max(round(seconds_left() * 1000), 1)}"  # nought would be no bound
        with self._transaction(begin, organisation, "COMMIT" if keep else "ROLLBACK") as handle:
            if organisation != EVERY:
                # NO KEY: whoever writes a row that merely names the organisation need not wait for it.
                handle.one("SELECT 1 FROM organisation WHERE id = :organisation FOR NO KEY UPDATE")
            yield handle

    @contextmanager
    def trying(self) -> Iterator[PostgresHandle]:
        """A schema that is taken back with everything in it; only the role's right to make one is needed."""
        with self._transaction(_BEGIN_CHANGING, EVERY, "ROLLBACK") as handle:
            name = f"mainstay_{secrets.token_hex(8)}"
            try:
                handle.script(f"CREATE SCHEMA {name}; SET LOCAL search_path = {name}")
            except psycopg.errors.InsufficientPrivilege as error:
                raise Unreachable(_MAY_NOT_TRY) from error
            yield handle

    @contextmanager
    def migrating(self) -> Iterator[PostgresHandle]:
        """Change the schema; the lock makes several processes that start at once take turns."""
        self._knock()
        with self.changing(EVERY) as handle:
            if handle.one("SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"):
                raise WrongSetting(_UNFENCED)
            handle.one("SELECT pg_advisory_xact_lock(CAST(:lock AS bigint))", lock=MIGRATION_LOCK)
            yield handle

    @contextmanager
    def surveying(self) -> Iterator[PostgresHandle]:
        """See one consistent state of everything."""
        self._knock()
        with self.reading(EVERY) as handle:
            yield handle

    @contextmanager
    def filling(self) -> Iterator[PostgresHandle]:
        """Change everything, while no trigger of ours is pulled; those that hold foreign keys are the server's own."""
        with self.migrating() as handle:
            tables = handle.all(_TRIGGERED)
            for (table,) in tables:
                handle.script(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            yield handle
            for (table,) in tables:
                handle.script(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    def pool(self) -> Pool:
        """How its connections are used."""
        told = self._pool.get_stats()
        size = told.get("pool_size", 0)
        return Pool(
            size=size,
            used=size - told.get("pool_available", 0),
            waiting=told.get("requests_waiting", 0),
            queued=told.get("requests_queued", 0),
            waited=told.get("requests_wait_ms", 0) / 1000,
            failed=told.get("requests_errors", 0),
        )

    def close(self) -> None:
        """Let go of every connection."""
        self._pool.close()

    @contextmanager
    def _transaction(self, begin: str, organisation: str, end: str) -> Iterator[PostgresHandle]:
        if organisation != EVERY and not is_id(organisation, "org"):
            raise ValueError(f"not an organisation: {organisation!r}")
        with _faults():
            # One round trip; the name has just been checked to need no quoting.
            connection = self._begin(f"{begin}; SET LOCAL mainstay.organisation = '{organisation}'")
            try:
                yield PostgresHandle(connection, organisation)
                connection.execute(end)
            except BaseException:
                if not connection.broken:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._pool.putconn(connection)

    def _knock(self) -> None:
        """Connect oneself before the pool is first asked: it only tells how long it waited, and the server why."""
        if not self._pool.get_stats().get("requests_num"):
            with _faults():
                psycopg.connect(self._url, connect_timeout=_CONNECT_SECONDS).close()

    def _begin(self, begin: str) -> psycopg.Connection[Row]:
        """A connection on which this was said.

        One that rested while the server went away shows by that to be broken, so that the others need no check before
        use. Nothing was done on it yet: another is taken, and the pool replaces it.
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


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise Unreachable(f"The database cannot be reached: {' '.join(str(error).split())}.") from error


@cache
def _spelled(sql: str) -> bytes:
    """`:name` as psycopg spells it, sparing casts (`::`), and with every `%` of the statement kept."""
    plain = sql.replace(INSERT_OR_FAIL, "INSERT INTO").replace(SKIP_LOCKED, SKIP_LOCKED.strip("/* ")).replace("%", "%%")
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", plain).encode()
