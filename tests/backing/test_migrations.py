import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import psycopg
import pytest

from engines import ENGINES
from evidence import contents, tables
from mainstay.backing.database import NewerSchema, SchemaHandle, WholeDatabase
from mainstay.backing.migrations import apply
from mainstay.backing.migrations.apply import Step, is_current, level, migrate, newest_known, steps_for
from mainstay.settings import Settings
from mainstay.staging import connect

PROCESS = """
import sys
from pathlib import Path
from mainstay.backing.migrations.apply import migrate
from mainstay.backing.postgresql import PostgresDatabase
from mainstay.backing.sqlite import SqliteDatabase
engine, place = sys.argv[1:]
database = SqliteDatabase(Path(place)) if engine == "sqlite" else PostgresDatabase(place)
print(flush=True)
sys.stdin.read()
print(*migrate(database))
database.close()
"""
HALF = "CREATE TABLE half (x text);\nINSERT INTO half VALUES ('x');\nINSERT INTO nowhere VALUES ('x');\n"


@pytest.fixture
def empty(fresh_settings: Settings) -> Iterator[WholeDatabase]:
    """A database with nothing in it."""
    database = connect(fresh_settings)
    yield database
    database.close()


def making(table: str) -> Callable[[SchemaHandle], None]:
    """A step that makes a table."""
    return lambda handle: handle.script(f"CREATE TABLE {table} (x text);")


def test_steps_are_numbered_without_gaps_or_doubles_and_mean_the_same_on_both_engines() -> None:
    names: dict[int, set[str]] = {}
    for engine in ENGINES:
        steps = steps_for(engine)
        assert len({step.number for step in steps}) == len(steps)
        for step in steps:
            names.setdefault(step.number, set()).add(step.name)
    assert sorted(names) == [*range(1, len(names) + 1)]
    assert {len(of_number) for of_number in names.values()} == {1}


def test_a_step_may_be_for_the_other_engine_only(empty: WholeDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    known = steps_for(empty.engine)
    later = Step(known[-1].number + 2, "later", making("later"))
    monkeypatch.setattr(apply, "steps_for", lambda _: [*known, later])
    assert migrate(empty)[-1] == "later"
    assert migrate(empty) == []
    assert is_current(empty)


def test_an_empty_database_gets_every_step(empty: WholeDatabase) -> None:
    assert migrate(empty) == [step.name for step in steps_for(empty.engine)]
    assert is_current(empty)
    assert {"organisation", "person", "audit"} <= {*tables(empty)}


def test_each_step_is_noted(empty: WholeDatabase) -> None:
    migrate(empty)
    noted = contents(empty)["schema_step"]
    assert [row[:2] for row in sorted(noted)] == [(step.number, step.name) for step in steps_for(empty.engine)]


def test_a_second_time_nothing_is_left_to_do(empty: WholeDatabase) -> None:
    migrate(empty)
    before = contents(empty)
    assert migrate(empty) == []
    assert contents(empty) == before


def test_only_what_is_missing_is_applied(empty: WholeDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    known = steps_for(empty.engine)
    with monkeypatch.context() as earlier:
        earlier.setattr(apply, "steps_for", lambda _: known[:1])
        assert migrate(empty) == [known[0].name]
    assert not is_current(empty)
    assert migrate(empty) == [step.name for step in known[1:]]


def test_one_can_stop_at_a_step(empty: WholeDatabase) -> None:
    first = migrate(empty, 5)
    assert first == [step.name for step in steps_for(empty.engine) if step.number <= 5]
    assert migrate(empty, 3) == []
    assert not is_current(empty)
    migrate(empty)
    assert is_current(empty)


def test_how_far_a_schema_is_does_not_depend_on_the_engine() -> None:
    # The fifth is for one engine only.
    assert level("sqlite", 4) == level("postgresql", 5) == 5
    assert level("sqlite", 3) == level("postgresql", 3) == 3
    assert {level(engine, steps_for(engine)[-1].number) for engine in ENGINES} == {newest_known()}
    assert level("sqlite", 9999) == 9999


def test_processes_that_start_at_once_apply_each_step_once(fresh_settings: Settings, tmp_path: Path) -> None:
    engine = "postgresql" if fresh_settings.database else "sqlite"
    place = fresh_settings.database or str(tmp_path / "x.db")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, engine, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    # Each tells when it is ready, and waits until all are.
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    said = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert sorted(name for names in said for name in names) == [step.name for step in steps_for(engine)]


def in_sql(handle: SchemaHandle) -> None:
    """A script whose second half is wrong."""
    handle.script(HALF)


def in_python(handle: SchemaHandle) -> None:
    """The same as a function."""
    for statement in HALF.splitlines():
        handle.script(statement)


@pytest.mark.parametrize("half", [in_sql, in_python])
def test_a_step_that_fails_half_way_leaves_nothing_and_can_be_tried_again(
    empty: WholeDatabase, monkeypatch: pytest.MonkeyPatch, half: Callable[[SchemaHandle], None]
) -> None:
    known = steps_for(empty.engine)
    migrate(empty)
    number = known[-1].number + 1
    steps = [*known, Step(number, "half", half)]
    monkeypatch.setattr(apply, "steps_for", lambda _: steps)
    with pytest.raises((apsw.SQLError, psycopg.errors.UndefinedTable)):
        migrate(empty)
    assert "half" not in tables(empty)
    assert len(contents(empty)["schema_step"]) == len(known)
    assert not is_current(empty)

    steps[-1] = Step(number, "whole", making("whole"))
    assert migrate(empty) == ["whole"]
    assert "whole" in tables(empty)


def test_of_several_steps_those_before_the_one_that_fails_stay(
    empty: WholeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = steps_for(empty.engine)
    migrate(empty)
    number = known[-1].number
    later = [Step(number + 1, "whole", making("whole")), Step(number + 2, "half", in_sql)]
    monkeypatch.setattr(apply, "steps_for", lambda _: [*known, *later])
    with pytest.raises((apsw.SQLError, psycopg.errors.UndefinedTable)):
        migrate(empty)
    assert "whole" in tables(empty)
    assert len(contents(empty)["schema_step"]) == len(known) + 1


def test_an_empty_database_gets_all_steps_or_none(empty: WholeDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    known = steps_for(empty.engine)
    steps = [*known, Step(known[-1].number + 1, "half", in_sql)]
    monkeypatch.setattr(apply, "steps_for", lambda _: steps)
    with pytest.raises((apsw.SQLError, psycopg.errors.UndefinedTable)):
        migrate(empty)
    assert tables(empty) == ["schema_step"]
    steps.pop()
    assert migrate(empty) == [step.name for step in known]


def test_a_newer_schema_is_refused_and_left_alone(empty: WholeDatabase) -> None:
    migrate(empty)
    with empty.migrating() as schema:
        schema.run("INSERT INTO schema_step (number, name, applied_at) VALUES (99, 'later', 'later')")
    before = contents(empty)
    with pytest.raises(NewerSchema, match=r"^The database has schema step 99; this Mainstay knows \d+\. Use a newer"):
        migrate(empty)
    assert contents(empty) == before


@pytest.mark.only_on("sqlite")
def test_whoever_tells_sqlite_of_a_table_tells_it_of_every_index(empty: WholeDatabase) -> None:
    # Of one that is not told, it thinks what it likes; and what is told of one that is dropped goes with it.
    migrate(empty)
    with empty.reading("*") as rows:
        told = {(str(table), str(index)) for table, index in rows.all("SELECT tbl, idx FROM sqlite_stat1")}
        indexes = rows.all("SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index'")
    tables_told = {table for table, _ in told}
    assert tables_told >= {"job", "own_job", "visit", "time_entry"}
    assert {(str(table), str(name)) for table, name in indexes if table in tables_told} == told
