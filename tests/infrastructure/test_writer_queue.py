"""Processes that write to one SQLite file take turns, however busy one of them is."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import monotonic

import pytest

from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseHandle, DatabaseUnavailable
from mainstay.infrastructure.deadline import use_deadline
from mainstay.infrastructure.sqlite import SqliteDatabase
from mainstay.infrastructure.writer_queue import WriterQueue
from support.waiting import wait_until

_WRITE_FOR_EVER = """
import sys
from pathlib import Path
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.sqlite import SqliteDatabase

database = SqliteDatabase(Path(sys.argv[1]))
print("begun", flush=True)
while True:
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("UPDATE written SET number = number + 1")
"""
_TRIES = 40


@contextmanager
def run_busy_process(path: Path) -> Iterator[None]:
    """Have another process write as fast as it can."""
    command = [sys.executable, "-c", _WRITE_FOR_EVER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        try:
            process.stdout.readline()
            yield
        finally:
            process.kill()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(tmp_path / "some.db")) as database:
        with database.write_transaction(ALL_ORGANISATIONS) as db:
            db.run("CREATE TABLE written (number bigint NOT NULL)")
            db.run("INSERT INTO written VALUES (0)")
        yield database


def count_written(db: DatabaseHandle) -> int:
    found = db.one("SELECT number FROM written")
    assert found
    return int(found[0] or 0)


def read_count(database: SqliteDatabase) -> int:
    with database.single_read(ALL_ORGANISATIONS) as db:
        return count_written(db)


def has_written(database: SqliteDatabase, before: int) -> bool:
    return read_count(database) > before


def test_a_process_that_writes_again_and_again_lets_others_write_between(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    waited = []
    with run_busy_process(tmp_path / "some.db"):
        for _ in range(_TRIES):
            before = read_count(database)
            # The other process is at work right now.
            wait_until(partial(has_written, database, before))
            before = read_count(database)
            with database.write_transaction(ALL_ORGANISATIONS) as db:
                waited.append(count_written(db) - before)
    assert median(waited) <= 4


def test_who_waits_too_long_for_its_turn_is_refused(database: SqliteDatabase, tmp_path: Path) -> None:
    other = WriterQueue(tmp_path / "some.db-queue")
    other.enter(monotonic())
    with use_deadline(monotonic()), pytest.raises(DatabaseUnavailable), database.write_transaction(ALL_ORGANISATIONS):
        pass
    other.leave()
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("UPDATE written SET number = 7")
    other.close()
