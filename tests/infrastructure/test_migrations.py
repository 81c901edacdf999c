import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import psycopg
import pytest

from mainstay.composition import connect
from mainstay.infrastructure.database import MigratableDatabase, NewerSchema, OlderSchema, SchemaHandle
from mainstay.infrastructure.migrations import apply
from mainstay.infrastructure.migrations.apply import MigrationStep, migrate, steps_for
from mainstay.settings import Settings
from support.engines import ENGINES
from support.schema_steps import ADD_LATER_STEP, ADD_PINNED_COLUMN, add_steps, find_schema_problem
from support.stored_state import read_all_rows, table_names

MIGRATING_PROCESS = """
import sys
from pathlib import Path
from mainstay.infrastructure.migrations.apply import migrate
from mainstay.infrastructure.postgresql import PostgresDatabase
from mainstay.infrastructure.sqlite import SqliteDatabase
engine, place = sys.argv[1:]
database = SqliteDatabase(Path(place)) if engine == "sqlite" else PostgresDatabase(place)
print(flush=True)
sys.stdin.read()
print(*migrate(database))
database.close()
"""
FAILING_SCRIPT = "CREATE TABLE half (x text);\nINSERT INTO half VALUES ('x');\nINSERT INTO nowhere VALUES ('x');\n"


@pytest.fixture
def empty_database(fresh_settings: Settings) -> Iterator[MigratableDatabase]:
    """A database with nothing in it."""
    database = connect(fresh_settings)
    yield database
    database.close()


def make_step(table: str) -> Callable[[SchemaHandle], None]:
    """A step that makes a table."""
    return lambda handle: handle.run_script(f"CREATE TABLE {table} (x text);")


def test_steps_are_numbered_without_gaps_and_are_the_same_on_both_engines() -> None:
    sqlite, postgresql = ([(step.number, step.name) for step in steps_for(engine)] for engine in ENGINES)
    assert sqlite == postgresql
    first, last = sqlite[0][0], sqlite[-1][0]
    assert [number for number, _ in sqlite] == [*range(first, last + 1)]
    assert sqlite[0] == (63, "0063_baseline")


def test_of_a_step_s_files_an_engine_gets_those_for_both_and_then_its_own(
    empty_database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {f"first.{engine}.sql": f"INSERT INTO first VALUES ('{engine}');" for engine in ENGINES}
    of_both = {"first.sql": "CREATE TABLE first (x text);"}
    in_code = {"second.py": "def apply(handle):\n    handle.run('INSERT INTO first VALUES (:x)', x='code')\n"}
    known = [step.name for step in steps_for("sqlite")]
    added = add_steps(monkeypatch, tmp_path / "steps", files | of_both, in_code)
    assert migrate(empty_database) == [*known, *added]
    assert read_all_rows(empty_database)["first"] == [("code",), (empty_database.engine,)]


def test_an_empty_database_gets_every_step(empty_database: MigratableDatabase) -> None:
    assert migrate(empty_database) == [step.name for step in steps_for(empty_database.engine)]
    assert find_schema_problem(empty_database) is None
    assert {"organisation", "person", "audit"} <= {*table_names(empty_database)}


def test_each_step_is_noted(empty_database: MigratableDatabase) -> None:
    migrate(empty_database)
    noted = read_all_rows(empty_database)["schema_step"]
    assert [row[:2] for row in sorted(noted)] == [(step.number, step.name) for step in steps_for(empty_database.engine)]


def test_a_second_time_nothing_is_left_to_do(empty_database: MigratableDatabase) -> None:
    migrate(empty_database)
    before = read_all_rows(empty_database)
    assert migrate(empty_database) == []
    assert read_all_rows(empty_database) == before


def test_only_what_is_missing_is_applied(
    empty_database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    migrate(empty_database)
    added = add_steps(monkeypatch, tmp_path / "steps", {"pins.sql": ADD_PINNED_COLUMN})
    assert find_schema_problem(empty_database)
    assert migrate(empty_database) == added
    assert find_schema_problem(empty_database) is None


def test_one_can_stop_at_a_step(
    empty_database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add_steps(
        monkeypatch, tmp_path / "steps", {"pins.sql": ADD_PINNED_COLUMN}, {"other.sql": "CREATE TABLE other (x text);"}
    )
    names = [step.name for step in steps_for(empty_database.engine)]
    last = steps_for(empty_database.engine)[-2].number
    assert migrate(empty_database, last) == names[:-1]
    assert migrate(empty_database, last - 1) == []
    assert find_schema_problem(empty_database)
    assert migrate(empty_database) == names[-1:]
    assert find_schema_problem(empty_database) is None


def test_processes_that_start_at_once_apply_each_step_once(fresh_settings: Settings, tmp_path: Path) -> None:
    engine = "postgresql" if fresh_settings.database else "sqlite"
    place = fresh_settings.database or str(tmp_path / "x.db")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATING_PROCESS, engine, place],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
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


def fail_in_sql(handle: SchemaHandle) -> None:
    """A script whose second half is wrong."""
    handle.run_script(FAILING_SCRIPT)


def fail_in_python(handle: SchemaHandle) -> None:
    """The same as a function."""
    for statement in FAILING_SCRIPT.splitlines():
        handle.run_script(statement)


@pytest.mark.parametrize("half", [fail_in_sql, fail_in_python])
def test_a_step_that_fails_half_way_leaves_nothing_and_can_be_tried_again(
    empty_database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch, half: Callable[[SchemaHandle], None]
) -> None:
    known = steps_for(empty_database.engine)
    migrate(empty_database)
    number = known[-1].number + 1
    steps = [*known, MigrationStep(number, "half", half)]
    monkeypatch.setattr(apply, "steps_for", lambda _: steps)
    with pytest.raises((apsw.SQLError, psycopg.errors.UndefinedTable)):
        migrate(empty_database)
    assert "half" not in table_names(empty_database)
    assert len(read_all_rows(empty_database)["schema_step"]) == len(known)
    assert find_schema_problem(empty_database)

    steps[-1] = MigrationStep(number, "whole", make_step("whole"))
    assert migrate(empty_database) == ["whole"]
    assert "whole" in table_names(empty_database)


def test_of_several_steps_those_before_the_one_that_fails_stay(
    empty_database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = steps_for(empty_database.engine)
    migrate(empty_database)
    number = known[-1].number
    later = [MigrationStep(number + 1, "whole", make_step("whole")), MigrationStep(number + 2, "half", fail_in_sql)]
    monkeypatch.setattr(apply, "steps_for", lambda _: [*known, *later])
    with pytest.raises((apsw.SQLError, psycopg.errors.UndefinedTable)):
        migrate(empty_database)
    assert "whole" in table_names(empty_database)
    assert len(read_all_rows(empty_database)["schema_step"]) == len(known) + 1


def test_an_empty_database_gets_all_steps_or_none(
    empty_database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = steps_for(empty_database.engine)
    steps = [*known, MigrationStep(known[-1].number + 1, "half", fail_in_sql)]
    monkeypatch.setattr(apply, "steps_for", lambda _: steps)
    with pytest.raises((apsw.SQLError, psycopg.errors.UndefinedTable)):
        migrate(empty_database)
    assert table_names(empty_database) == ["schema_step"]
    steps.pop()
    assert migrate(empty_database) == [step.name for step in known]


def test_a_newer_schema_is_refused_and_left_alone(empty_database: MigratableDatabase) -> None:
    migrate(empty_database)
    with empty_database.migration_transaction() as schema:
        for statement in ADD_LATER_STEP:
            schema.run(statement)
    before = read_all_rows(empty_database)
    with pytest.raises(NewerSchema, match=r"^The database has schema step 9999; this Mainstay knows \d+\. Use a newer"):
        migrate(empty_database)
    assert read_all_rows(empty_database) == before


def test_a_schema_from_before_the_baseline_is_refused_and_left_alone(empty_database: MigratableDatabase) -> None:
    with empty_database.migration_transaction() as schema:
        schema.run_script("CREATE TABLE schema_step (number bigint, name text, applied_at text);")
        schema.run("INSERT INTO schema_step (number, name, applied_at) VALUES (62, '0062_customer_keys', 'before')")
    before = read_all_rows(empty_database)
    with pytest.raises(OlderSchema, match=r"^The database has schema step 62, which is older than .* 18 November 2026"):
        migrate(empty_database)
    assert read_all_rows(empty_database) == before
    assert table_names(empty_database) == ["schema_step"]


def test_a_schema_by_the_single_steps_is_current(empty_database: MigratableDatabase) -> None:
    migrate(empty_database)
    with empty_database.migration_transaction() as schema:
        schema.run("UPDATE schema_step SET name = '0063_decimal_signs_of_imports' WHERE number = 63")
        schema.run("INSERT INTO schema_step (number, name, applied_at) VALUES (62, '0062_customer_keys', 'before')")
    assert find_schema_problem(empty_database) is None
    assert migrate(empty_database) == []


@pytest.mark.only_on("sqlite")
def test_whoever_tells_sqlite_of_a_table_tells_it_of_every_index(empty_database: MigratableDatabase) -> None:
    # Of one that is not told, it thinks what it likes; and what is told of one that is dropped goes with it.
    migrate(empty_database)
    with empty_database.read_transaction("*") as db:
        stated = {(str(table), str(index)) for table, index in db.all("SELECT tbl, idx FROM sqlite_stat1")}
        indexes = db.all("SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index'")
    tables_told = {table for table, _ in stated}
    assert tables_told >= {"job", "own_job", "visit", "time_entry"}
    assert {(str(table), str(name)) for table, name in indexes if table in tables_told} == stated
