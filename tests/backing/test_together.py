"""Many changes as one: kept apart from each other, all kept or none, with room in memory meanwhile."""

from collections.abc import Iterator

import pytest

from mainstay.backing.database import Value, WholeDatabase
from mainstay.backing.together import Together
from mainstay.settings import Settings
from mainstay.staging import connect
from mainstay.values.ids import new_id

ORGANISATION = new_id("org")
USUAL, MORE = (-2000,), (-32000,)


@pytest.fixture
def database(fresh_settings: Settings) -> Iterator[WholeDatabase]:
    """One with a table to write to."""
    database = connect(fresh_settings)
    with database.migrating() as schema:
        schema.script("CREATE TABLE organisation (id text); CREATE TABLE word (x text)")
    yield database
    database.close()


def words(database: WholeDatabase) -> list[str]:
    """What was written."""
    with database.reading(ORGANISATION) as rows:
        return [str(word) for (word,) in rows.all("SELECT x FROM word ORDER BY x")]


class RefusedError(Exception):
    """One of the changes is not to be."""


def write(one: Together, word: str) -> None:
    with one.changing(ORGANISATION) as rows:
        rows.run("INSERT INTO word (x) VALUES (:word)", word=word)
        if word == "refused":
            raise RefusedError


def write_together(database: WholeDatabase, *wanted: str) -> tuple[Value, ...] | None:
    """Write them without keeping them apart; how much room SQLite had."""
    with Together.within(database, ORGANISATION, keep=True, apart=False) as one:
        for word in wanted:
            write(one, word)
        return one.rows.one("PRAGMA cache_size") if database.engine == "sqlite" else None


def test_one_that_is_refused_takes_back_itself_alone(database: WholeDatabase) -> None:
    with Together.within(database, ORGANISATION, keep=True, apart=True) as one:
        write(one, "before")
        with pytest.raises(RefusedError):
            write(one, "refused")
        write(one, "behind")
    assert words(database) == ["before", "behind"]


def test_where_they_are_not_kept_apart_one_that_is_refused_takes_back_all(database: WholeDatabase) -> None:
    with pytest.raises(RefusedError):
        write_together(database, "before", "refused")
    assert words(database) == []


def test_what_is_not_to_be_kept_is_seen_within_alone(database: WholeDatabase) -> None:
    with Together.within(database, ORGANISATION, keep=False, apart=True) as one:
        write(one, "before")
        with one.reading(ORGANISATION) as rows:
            assert rows.all("SELECT x FROM word") == [("before",)]
    assert words(database) == []


@pytest.mark.only_on("sqlite")
def test_sqlite_has_more_room_for_as_long_as_it_lasts(database: WholeDatabase) -> None:
    assert write_together(database, "kept") == MORE
    with pytest.raises(RefusedError):
        write_together(database, "refused")
    with database.changing(ORGANISATION) as rows:
        assert rows.one("PRAGMA cache_size") == USUAL
