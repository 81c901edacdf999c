"""Row-level security follows from the schema: a new table of organisations is fenced by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mainstay.composition import connect
from mainstay.infrastructure.database import ALL_ORGANISATIONS, MigratableDatabase
from mainstay.infrastructure.migrations.apply import migrate
from mainstay.infrastructure.row_security import EXEMPT_TABLES
from mainstay.infrastructure.schema import read_tables
from mainstay.settings import Settings
from support.schema_steps import add_steps

pytestmark = pytest.mark.only_on("postgresql")

ORGANISATION, OTHER_ORGANISATION = "org_01M7000000000000000000000A", "org_01M7000000000000000000000B"
TALLY_TABLE = "CREATE TABLE tally (organisation_id text NOT NULL, id text NOT NULL, PRIMARY KEY (organisation_id, id));"


@pytest.fixture
def database(fresh_settings: Settings) -> Iterator[MigratableDatabase]:
    """A database with the newest schema."""
    database = connect(fresh_settings)
    migrate(database)
    yield database
    database.close()


def list_owners(database: MigratableDatabase, organisation: str) -> list[str]:
    """Whose tallies are seen by a statement that names nobody."""
    with database.read_transaction(organisation) as db:
        return [str(owner) for (owner,) in db.all("SELECT organisation_id FROM tally ORDER BY organisation_id")]


def test_a_step_that_makes_a_table_need_not_fence_it(
    database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add_steps(monkeypatch, tmp_path / "steps", {"tally.sql": TALLY_TABLE})
    migrate(database)
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        for organisation in (ORGANISATION, OTHER_ORGANISATION):
            db.run("INSERT INTO tally (organisation_id, id) VALUES (:owner, 'a')", owner=organisation)
    assert list_owners(database, ORGANISATION) == [ORGANISATION]
    assert list_owners(database, ALL_ORGANISATIONS) == [ORGANISATION, OTHER_ORGANISATION]


def test_a_table_that_a_step_makes_again_and_one_whose_fence_was_taken_down_are_fenced(
    database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with database.migration_transaction() as db:
        db.run_script("ALTER TABLE job DISABLE ROW LEVEL SECURITY")
    again = "DROP TABLE own_customer CASCADE; CREATE TABLE own_customer (organisation_id text NOT NULL);"
    add_steps(monkeypatch, tmp_path / "steps", {"again.sql": again})
    migrate(database)
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        found = db.all(
            "SELECT relname, CAST(relrowsecurity AS int), CAST(relforcerowsecurity AS int),"
            " (SELECT count(*) FROM pg_policy WHERE polrelid = pg_class.oid) FROM pg_class"
            " WHERE relname IN ('job', 'own_customer') AND relnamespace = CAST('public' AS regnamespace)"
            " ORDER BY relname"
        )
    assert found == [("job", 1, 1, 1), ("own_customer", 1, 1, 1)]


def test_a_table_of_nobody_is_left_alone(
    database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add_steps(monkeypatch, tmp_path / "steps", {"tally.sql": "CREATE TABLE tally (id text NOT NULL PRIMARY KEY);"})
    migrate(database)
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.one("SELECT CAST(relrowsecurity AS int) FROM pg_class WHERE relname = 'tally'") == (0,)


def test_each_exception_names_a_table_of_organisations(database: MigratableDatabase) -> None:
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        tables = {table.name: table.columns for table in read_tables(db, "postgresql")}
    assert [name for name in EXEMPT_TABLES if "organisation_id" not in tables.get(name, ())] == []
