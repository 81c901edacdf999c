"""Hashes of rows through steps of the schema: a step that changes rows changes their hashes, and hides nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mainstay.changes.audit import find_break
from mainstay.composition import connect
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseHandle, MigratableDatabase
from mainstay.infrastructure.migrations.apply import migrate, steps_for
from mainstay.infrastructure.rehashing import hash_rows
from mainstay.infrastructure.row_hashes import HASHED_TABLES, find_differences
from mainstay.settings import Settings
from support.schema_steps import add_steps

ORGANISATION, OTHER_ORGANISATION = "org_01M7000000000000000000000A", "org_01M7000000000000000000000B"
_INSERT_ORGANISATION = (
    "INSERT INTO organisation (id, name, country, currency, time_zone, subscription, created_at, created_by,"
    " updated_at, updated_by, version) VALUES (:id, 'O', 'GB', 'GBP', 'UTC', 'active', '', '{}', '', '{}', 1)"
)


@pytest.fixture
def database(fresh_settings: Settings) -> Iterator[MigratableDatabase]:
    """A database with two organisations, whose rows have hashes."""
    database = connect(fresh_settings)
    migrate(database)
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        for organisation in (ORGANISATION, OTHER_ORGANISATION):
            db.run(_INSERT_ORGANISATION, id=organisation)
    add_hashes(database)
    yield database
    database.close()


def add_hashes(database: MigratableDatabase) -> None:
    """Write the hashes of all rows as they are."""
    with database.migration_transaction() as db:
        hash_rows(db, "a test")


def add_notes(database: MigratableDatabase, count: int) -> None:
    """Write notes without hashes."""
    with database.write_transaction(ORGANISATION) as db:
        for number in range(count):
            db.run(
                "INSERT INTO note (organisation_id, id, created_at, created_by, updated_at, updated_by, version,"
                " record_id, body, visibility)"
                " VALUES (:organisation, :id, '', '{}', '', '{}', 1, 'job_1', :body, 'office')",
                id=f"note_{number:026}",
                body=f"Note {number}",
            )


def find_differing(database: MigratableDatabase, organisation: str) -> list[str]:
    """The rows that are not what their hashes say."""
    with database.scan_transaction() as db:
        return [one.name for one in find_differences(db.for_organisation(organisation))]


def list_audited_operations(db: DatabaseHandle) -> list[str]:
    """What stands in the trail."""
    found = db.all("SELECT operation FROM audit WHERE organisation_id = :organisation ORDER BY sequence")
    return [str(operation) for (operation,) in found]


def test_rows_without_a_hash_get_one_under_the_chain(database: MigratableDatabase) -> None:
    add_notes(database, 1001)
    assert len(find_differing(database, ORGANISATION)) == 1001
    add_hashes(database)
    assert find_differing(database, ORGANISATION) == find_differing(database, OTHER_ORGANISATION) == []
    with database.write_transaction(ORGANISATION) as db:
        # After the organisation's own: several entries, so that none is too large to be read.
        assert list_audited_operations(db) == ["hash_rows"] * 3
        assert find_break(db) is None
        db.run("UPDATE note SET body = 'Another' WHERE id = 'note_00000000000000000000000007'")
    assert find_differing(database, ORGANISATION) == ["note_00000000000000000000000007"]


def test_a_step_that_changes_rows_changes_their_hashes_and_hides_nothing(
    database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add_notes(database, 3)
    add_hashes(database)
    with database.write_transaction(ORGANISATION) as db:
        db.run("UPDATE note SET body = 'Another' WHERE id = 'note_00000000000000000000000001'")
    removal = "DELETE FROM note WHERE id = 'note_00000000000000000000000002'"
    added = add_steps(
        monkeypatch,
        tmp_path / "steps",
        {"for_all.sql": "UPDATE note SET visibility = 'field'"},
        {"as_code.py": f'def apply(handle):\n    handle.run_script("{removal}")\n'},
    )
    assert migrate(database) == added
    assert find_differing(database, ORGANISATION) == ["note_00000000000000000000000001"]
    with database.read_transaction(ORGANISATION) as db:
        assert list_audited_operations(db) == ["hash_rows"] * 4
        assert find_break(db) is None


def test_a_new_column_changes_no_hash_until_something_is_written_into_it(
    database: MigratableDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add_notes(database, 2)
    add_hashes(database)
    columns = (
        "ALTER TABLE note ADD COLUMN pinned bigint NOT NULL DEFAULT -1;"
        "ALTER TABLE note ADD COLUMN colour text NOT NULL DEFAULT 'it''s red';"
        "ALTER TABLE note ADD COLUMN seen_at text"
    )
    add_steps(monkeypatch, tmp_path / "steps", {"columns.sql": columns})
    migrate(database)
    with database.write_transaction(ORGANISATION) as db:
        assert list_audited_operations(db) == ["hash_rows"] * 2
        db.run("UPDATE note SET pinned = 0 WHERE id = 'note_00000000000000000000000001'")
    assert find_differing(database, ORGANISATION) == ["note_00000000000000000000000001"]


def test_a_step_says_by_its_text_which_rows_it_may_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    add_steps(
        monkeypatch,
        tmp_path / "steps",
        {"jobs.sql": "UPDATE job SET title = 'job_hopping'", "jobs.sqlite.sql": "UPDATE material SET unit = NULL"},
        {"any.py": "def apply(handle): ..."},
    )
    in_sql, in_code = steps_for("sqlite")[-2:]
    assert in_sql.find_changed_tables() == ["job", "material"]
    assert in_code.find_changed_tables() == list(HASHED_TABLES)
