"""Many changes as one: kept apart from each other, all kept or none, with room in memory meanwhile."""

from collections.abc import Iterator

import pytest

from mainstay.composition import connect
from mainstay.infrastructure.batch_transaction import BatchTransaction
from mainstay.infrastructure.database import MigratableDatabase, Value
from mainstay.settings import Settings
from mainstay.values.ids import new_id

ORGANISATION = new_id("org")
USUAL_CACHE, LARGE_CACHE = (-2000,), (-32000,)


@pytest.fixture
def database(fresh_settings: Settings) -> Iterator[MigratableDatabase]:
    """One with a table to write to."""
    database = connect(fresh_settings)
    with database.migration_transaction() as schema:
        schema.run_script("CREATE TABLE organisation (id text); CREATE TABLE word (x text)")
    yield database
    database.close()


def read_words(database: MigratableDatabase) -> list[str]:
    """What was written."""
    with database.read_transaction(ORGANISATION) as db:
        return [str(word) for (word,) in db.all("SELECT x FROM word ORDER BY x")]


class RefusedError(Exception):
    """One of the changes is not to be."""


def write_word(transaction: BatchTransaction, word: str) -> None:
    with transaction.write_transaction(ORGANISATION) as db:
        db.run("INSERT INTO word (x) VALUES (:word)", word=word)
        if word == "refused":
            raise RefusedError


def write_together(database: MigratableDatabase, *wanted: str) -> tuple[Value, ...] | None:
    """Write them without keeping them apart; how much room SQLite had."""
    with BatchTransaction.open(database, ORGANISATION, keep=True, uses_savepoints=False) as one:
        for word in wanted:
            write_word(one, word)
        return one.db.one("PRAGMA cache_size") if database.engine == "sqlite" else None


def test_one_that_is_refused_takes_back_itself_alone(database: MigratableDatabase) -> None:
    with BatchTransaction.open(database, ORGANISATION, keep=True, uses_savepoints=True) as one:
        write_word(one, "before")
        with pytest.raises(RefusedError):
            write_word(one, "refused")
        write_word(one, "behind")
    assert read_words(database) == ["before", "behind"]


def test_where_they_are_not_kept_apart_one_that_is_refused_takes_back_all(database: MigratableDatabase) -> None:
    with pytest.raises(RefusedError):
        write_together(database, "before", "refused")
    assert read_words(database) == []


def test_what_is_not_to_be_kept_is_seen_within_alone(database: MigratableDatabase) -> None:
    with BatchTransaction.open(database, ORGANISATION, keep=False, uses_savepoints=True) as one:
        write_word(one, "before")
        with one.read_transaction(ORGANISATION) as db:
            assert db.all("SELECT x FROM word") == [("before",)]
    assert read_words(database) == []


@pytest.mark.only_on("sqlite")
def test_sqlite_has_more_room_for_as_long_as_it_lasts(database: MigratableDatabase) -> None:
    assert write_together(database, "kept") == LARGE_CACHE
    with pytest.raises(RefusedError):
        write_together(database, "refused")
    with database.write_transaction(ORGANISATION) as db:
        assert db.one("PRAGMA cache_size") == USUAL_CACHE
