from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import apsw
import psycopg
import pytest

from mainstay.composition import connect
from mainstay.infrastructure import postgresql
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database, DatabaseUnavailable, Row, UniqueViolation
from mainstay.infrastructure.deadline import use_deadline
from mainstay.infrastructure.migrations.apply import migrate
from mainstay.infrastructure.postgresql import PostgresDatabase
from mainstay.infrastructure.sqlite import SqliteDatabase
from mainstay.settings import SettingError, Settings
from mainstay.values.ids import new_id
from support.engines import PostgresServer
from support.installations import Installations

TALLY_TABLE = """
CREATE TABLE tally (
    organisation_id text NOT NULL,
    id text NOT NULL,
    amount bigint NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (organisation_id, id)
);
"""
INSERT_ORGANISATION = """
INSERT INTO organisation
    (id, name, country, currency, time_zone, subscription, created_at, created_by, updated_at, updated_by, version)
VALUES (:organisation, 'x', 'GB', 'GBP', 'UTC', 'active', '', '', '', '', 1)
"""


@pytest.fixture(scope="module")
def database_settings(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """An installation with one table more."""
    settings = installations.make_with_accounts(engine, tmp_path_factory.mktemp("database"))
    database = connect(settings)
    with database.migration_transaction() as schema:
        schema.run_script(TALLY_TABLE)
    database.close()
    return settings


@pytest.fixture
def database(database_settings: Settings) -> Iterator[Database]:
    """A way to it."""
    database = connect(database_settings)
    yield database
    database.close()


@pytest.fixture
def second_database(database_settings: Settings) -> Iterator[Database]:
    """A second way to the same database, as another process has it."""
    database = connect(database_settings)
    yield database
    database.close()


@pytest.fixture
def org(database: Database) -> str:
    """A new organisation with a tally of nought."""
    organisation = new_id("org")
    with database.write_transaction(organisation) as db:
        db.run(INSERT_ORGANISATION)
        db.run("INSERT INTO tally (organisation_id, id, amount) VALUES (:organisation, 'a', 0)")
    return organisation


def read_amount(database: Database, organisation: str) -> int:
    with database.read_transaction(organisation) as db:
        row = db.one("SELECT amount FROM tally WHERE organisation_id = :organisation AND id = 'a'")
    assert row is not None
    return int(row[0] or 0)


def set_amount(database: Database, organisation: str, value: int, *, keep: bool = True) -> None:
    with database.write_transaction(organisation, keep=keep) as db:
        db.run("UPDATE tally SET amount = :value WHERE organisation_id = :organisation", value=value)


def test_reading_sees_one_state_whatever_happens_meanwhile(database: Database, org: str) -> None:
    query = "SELECT amount FROM tally WHERE organisation_id = :organisation"
    with database.read_transaction(org) as db:
        assert db.one(query) == (0,)
        set_amount(database, org, 7)
        assert db.one(query) == (0,)
        assert db.all(query) == [(0,)]
    assert read_amount(database, org) == 7


def test_reading_cannot_write(database: Database, org: str) -> None:
    refusals = (apsw.ReadOnlyError, psycopg.errors.ReadOnlySqlTransaction)
    with pytest.raises(refusals), database.read_transaction(org) as db:
        db.run("UPDATE tally SET amount = 9 WHERE organisation_id = :organisation")
    assert read_amount(database, org) == 0


def test_reading_ends_well_after_a_fault(database: Database, org: str) -> None:
    with pytest.raises((apsw.SQLError, psycopg.errors.UndefinedTable)), database.read_transaction(org) as db:
        db.one("SELECT 1 FROM nowhere")
    assert read_amount(database, org) == 0


def test_a_change_that_fails_leaves_nothing(database: Database, org: str) -> None:
    def fail(fault: type[BaseException]) -> None:
        with database.write_transaction(org) as db:
            db.run("UPDATE tally SET amount = 9 WHERE organisation_id = :organisation")
            raise fault

    for fault in (ZeroDivisionError, KeyboardInterrupt):
        with pytest.raises(fault):
            fail(fault)
        assert read_amount(database, org) == 0


def test_a_change_that_is_not_to_be_kept_leaves_nothing(database: Database, org: str) -> None:
    with database.write_transaction(org, keep=False) as db:
        db.run("UPDATE tally SET amount = 9 WHERE organisation_id = :organisation")
        assert db.one("SELECT amount FROM tally WHERE organisation_id = :organisation") == (9,)
    assert read_amount(database, org) == 0
    set_amount(database, org, 3)
    assert read_amount(database, org) == 3


def test_a_change_tells_how_many_rows_there_were(database: Database, org: str) -> None:
    with database.write_transaction(org) as db:
        assert db.run("UPDATE tally SET amount = 1 WHERE organisation_id = :organisation") == 1
        assert db.run("UPDATE tally SET amount = 1 WHERE organisation_id = :organisation AND id = 'b'") == 0


def test_no_update_is_lost_among_many_threads_and_two_processes(
    database: Database, second_database: Database, org: str
) -> None:
    def count(number: int) -> None:
        with (database if number % 2 else second_database).write_transaction(org) as db:
            row = db.one("SELECT amount FROM tally WHERE organisation_id = :organisation")
            assert row is not None
            db.run("UPDATE tally SET amount = :value WHERE organisation_id = :organisation", value=int(row[0] or 0) + 1)

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(count, range(160))]
    assert read_amount(database, org) == 160


def test_a_second_row_with_a_unique_value_clashes_and_leaves_nothing(database: Database, org: str) -> None:
    insert = "INSERT INTO tally (organisation_id, id, amount) VALUES (:organisation, :id, 1)"

    def insert_both() -> None:
        with database.write_transaction(org) as db:
            db.run(insert, id="b")
            db.run(insert, id="a")

    with pytest.raises(UniqueViolation):
        insert_both()
    with database.read_transaction(org) as db:
        assert db.all("SELECT id FROM tally WHERE organisation_id = :organisation") == [("a",)]
    with database.write_transaction(org) as db:
        assert db.run(insert, id="b") == 1


def test_another_broken_rule_is_no_clash(database: Database, org: str) -> None:
    with pytest.raises((apsw.ConstraintError, psycopg.errors.CheckViolation)):
        set_amount(database, org, -1)


def test_a_row_cannot_point_at_another_organisation_s(database: Database, org: str) -> None:
    with (
        pytest.raises((apsw.ConstraintError, psycopg.errors.ForeignKeyViolation)),
        database.write_transaction(org) as db,
    ):
        db.run(
            "INSERT INTO api_key (organisation_id, id, person_id, name, access, hash, last_four, created_at)"
            " VALUES (:organisation, 'k', 'nobody', 'x', 'read', :organisation, 'x', 'x')"
        )


def test_a_handle_binds_its_organisation_and_no_other(database: Database, org: str) -> None:
    for handle in (database.read_transaction(org), database.write_transaction(org)):
        with handle as db:
            assert db.organisation == org
            assert db.one("SELECT CAST(:organisation AS text)") == (org,)
            assert db.one("SELECT CAST(:organisation AS text)", organisation="org_other") == (org,)
            assert db.all("SELECT CAST(:organisation AS text)", organisation="org_other") == [(org,)]
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.one("SELECT CAST(:organisation AS text)") == ("*",)


def test_signs_of_percent_and_odd_texts_survive(database: Database, org: str) -> None:
    odd = "100% %s %(x)s :id ::text ' \" ; -- \\ ☂"
    with database.read_transaction(org) as db:
        assert db.one("SELECT 7 % 4, 'a%', '50%% off', CAST(:odd AS text)", odd=odd) == (3, "a%", "50%% off", odd)
        assert db.one("SELECT 1 WHERE 'abc' LIKE 'a%'") == (1,)
        assert db.one("SELECT CAST(:a AS text), CAST(:a_b AS text)", a="1", a_b="2") == ("1", "2")


def test_nothing_is_null_and_numbers_are_whole(database: Database, org: str) -> None:
    with database.read_transaction(org) as db:
        assert db.one("SELECT CAST(:a AS text), CAST(:b AS bigint)", a=None, b=2**53 - 1) == (None, 2**53 - 1)
        assert db.one("SELECT 1 WHERE 1 = 2") is None
        assert db.all("SELECT 1 WHERE 1 = 2") == []


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "x.db"


@pytest.mark.usefixtures("durable")
def test_sqlite_keeps_what_it_acknowledged_and_watches_its_keys(sqlite_path: Path) -> None:
    database = SqliteDatabase(sqlite_path)
    for handle in (database.read_transaction(ALL_ORGANISATIONS), database.write_transaction(ALL_ORGANISATIONS)):
        with handle as db:
            pragmas = ("journal_mode", "synchronous", "foreign_keys", "trusted_schema")
            assert [db.one(f"PRAGMA {name}") for name in pragmas] == [("wal",), (2,), (1,), (0,)]
    database.close()


def test_sqlite_opens_no_file_for_what_a_statement_would_take_back(sqlite_path: Path) -> None:
    database = SqliteDatabase(sqlite_path)
    with database.migration_transaction() as db:
        db.run_script("CREATE TABLE a (x text UNIQUE); INSERT INTO a SELECT key FROM json_each('[1,2,3]')")
        db.run("UPDATE a SET x = x || hex(zeroblob(100000))")
        opened = len([*Path("/proc/self/fd").iterdir()])
        db.run("UPDATE a SET x = x || 'y'")
        assert len([*Path("/proc/self/fd").iterdir()]) == opened


def test_sqlite_tells_when_another_holds_the_lock_for_too_long(sqlite_path: Path) -> None:
    first, second = SqliteDatabase(sqlite_path), SqliteDatabase(sqlite_path)
    with first.write_transaction(ALL_ORGANISATIONS):
        with (
            use_deadline(monotonic()),
            pytest.raises(DatabaseUnavailable, match="locked"),
            second.write_transaction(ALL_ORGANISATIONS),
        ):
            pass
        with second.read_transaction(ALL_ORGANISATIONS) as db:
            assert db.one("SELECT 1") == (1,)
    with second.write_transaction(ALL_ORGANISATIONS) as db:
        assert db.one("SELECT 1") == (1,)
    first.close()
    second.close()


def test_a_change_waits_for_those_before_it_until_its_deadline_and_no_longer(database: Database, org: str) -> None:
    def change() -> None:
        with use_deadline(monotonic() + 0.2), database.write_transaction(org):
            pass

    with ThreadPoolExecutor(1) as other, database.write_transaction(org) as db:
        waiting = other.submit(change)
        with pytest.raises(DatabaseUnavailable):
            waiting.result(60)
        db.run("UPDATE tally SET amount = 1 WHERE organisation_id = :organisation")
    assert read_amount(database, org) == 1


def test_sqlite_on_a_full_disk_refuses_changes_and_goes_on_reading(sqlite_path: Path) -> None:
    database = SqliteDatabase(sqlite_path)
    with database.migration_transaction() as schema:
        schema.run_script("CREATE TABLE a (x text)")
        schema.run("INSERT INTO a VALUES ('kept')")

    def insert(text: str) -> None:
        with database.write_transaction(ALL_ORGANISATIONS) as db:
            db.run("INSERT INTO a VALUES ('begun')")
            db.run("INSERT INTO a VALUES (:text)", text=text)

    # For SQLite, a disk is as full as the file may not grow.
    database._writer.execute("PRAGMA max_page_count = 2")
    with pytest.raises(DatabaseUnavailable, match="full"):
        insert("x" * 100_000)
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.all("SELECT x FROM a") == [("kept",)]
    insert("small")
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.all("SELECT x FROM a") == [("kept",), ("begun",), ("small",)]
    database.close()


def test_sqlite_reads_a_script_statement_by_statement(sqlite_path: Path) -> None:
    script = (
        "-- a remark; with a semicolon\nCREATE TABLE a (x text);\n\n"
        "CREATE TRIGGER t BEFORE DELETE ON a\nBEGIN\n    SELECT RAISE(ABORT, 'no; never');\nEND;\n"
        "INSERT INTO a VALUES ('one;\ntwo')"
    )
    database = SqliteDatabase(sqlite_path)
    with database.migration_transaction() as schema:
        schema.run_script(script)
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.all("SELECT x FROM a") == [("one;\ntwo",)]
    database.close()


@pytest.fixture
def postgres(request: pytest.FixtureRequest) -> Iterator[PostgresDatabase]:
    """An empty PostgreSQL database."""
    database = PostgresDatabase(request.getfixturevalue("postgresql").new_database())
    migrate(database)
    yield database
    database.close()


def test_postgresql_lets_no_organisation_s_name_leak_to_the_next_user(postgres: PostgresDatabase) -> None:
    def read_session_state() -> list[object]:
        with postgres._pool.connection() as connection:
            named = connection.execute("SELECT current_setting('mainstay.organisation', true)").fetchone()
            seen = connection.execute("SELECT count(*) FROM organisation").fetchone()
            return [*(named or ()), *(seen or ())]

    org = new_id("org")
    with postgres.write_transaction(org) as db:
        db.run(INSERT_ORGANISATION)
    assert read_session_state() == ["", 0]
    with postgres.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.one("SELECT count(*) FROM organisation") == (1,)
    assert read_session_state() == ["", 0]
    with pytest.raises(ZeroDivisionError), postgres.write_transaction(org):
        raise ZeroDivisionError
    assert read_session_state() == ["", 0]


def test_postgresql_spares_casts(postgres: PostgresDatabase) -> None:
    with postgres.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.one("SELECT '5'::int, :x::text, '1'::int::text", x="y") == (5, "y", "1")


def test_postgresql_lets_two_organisations_change_at_once(postgres: PostgresDatabase) -> None:
    orgs = new_id("org"), new_id("org")
    for org in orgs:
        with postgres.write_transaction(org) as db:
            db.run(INSERT_ORGANISATION)
    with postgres.write_transaction(orgs[0]), postgres.write_transaction(orgs[1]) as db:
        assert db.one("SELECT id FROM organisation") == (orgs[1],)


@pytest.mark.parametrize("name", ["", "org_x", "x'; DROP TABLE audit; --", "**", "person_01JCDZ8Q4X0V9M2T6W3B7K5N1R"])
def test_postgresql_takes_no_name_that_is_no_organisation_s(postgres: PostgresDatabase, name: str) -> None:
    for handle in (postgres.read_transaction(name), postgres.write_transaction(name)):
        with pytest.raises(ValueError, match="not an organisation"), handle:
            pass


def test_postgresql_away_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "POOL_WAIT_SECONDS", 0.05)
    database = PostgresDatabase("postgresql://nobody@127.0.0.1:1/nowhere")
    with pytest.raises(DatabaseUnavailable), database.read_transaction(ALL_ORGANISATIONS):
        pass
    database.close()


def test_postgresql_that_was_away_is_there_again_for_the_first_who_asks(
    postgres: PostgresDatabase, request: pytest.FixtureRequest
) -> None:
    with ExitStack() as at_once:
        for _ in range(5):
            name = at_once.enter_context(postgres.read_transaction(ALL_ORGANISATIONS)).one("SELECT current_database()")
    assert _end_connections(request, name) == 5

    for _ in range(10):
        with postgres.read_transaction(ALL_ORGANISATIONS) as db:
            assert db.one("SELECT 1") == (1,)


def test_postgresql_that_goes_away_in_the_middle_is_told_as_such(
    postgres: PostgresDatabase, request: pytest.FixtureRequest
) -> None:
    def read() -> None:
        with postgres.read_transaction(ALL_ORGANISATIONS) as db:
            name = db.one("SELECT current_database()")
            _end_connections(request, name)
            db.one("SELECT 1")

    with pytest.raises(DatabaseUnavailable):
        read()


@pytest.mark.parametrize("power", ["SUPERUSER", "BYPASSRLS"])
def test_postgresql_is_not_used_with_a_role_for_which_the_fences_do_not_hold(
    postgresql: PostgresServer, power: str
) -> None:
    url, role = postgresql.new_database(), f"too_mighty_{power.lower()}"
    with psycopg.connect(postgresql.superuser_url, autocommit=True) as superuser:
        superuser.execute(f"CREATE ROLE {role} LOGIN {power} IN ROLE mainstay_app".encode())
    database = PostgresDatabase(url.replace("mainstay_app", role, 1))

    with pytest.raises(SettingError, match="MAINSTAY_DATABASE cannot name a role that is a superuser or has BYPASSRLS"):
        migrate(database)

    database.close()


def _end_connections(request: pytest.FixtureRequest, database: Row | None) -> int:
    with psycopg.connect(request.getfixturevalue("postgresql").superuser_url, autocommit=True) as superuser:
        ended = superuser.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", database
        )
        return ended.rowcount
