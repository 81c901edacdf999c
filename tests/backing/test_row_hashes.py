"""Hashes of rows through migrations: existing rows get theirs, and a step that changes rows changes their hashes."""

from collections.abc import Callable

import pytest

from earlier import open_before
from mainstay.backing.database import Handle, SchemaHandle, WholeDatabase
from mainstay.backing.migrations import apply
from mainstay.backing.migrations.apply import Step, migrate, steps_for
from mainstay.backing.row_hashes import find_differences
from mainstay.ledger.audit import first_break
from mainstay.settings import Settings

(STEP,) = [step for step in steps_for("sqlite") if step.name.endswith("row_hashes")]
HERE, ELSEWHERE = "org_01M7000000000000000000000A", "org_01M7000000000000000000000B"


def add_notes(database: WholeDatabase, organisation: str, count: int) -> None:
    """Write notes as a version without hashes does."""
    with database.changing(organisation) as rows:
        for number in range(count):
            rows.run(
                "INSERT INTO note (organisation_id, id, created_at, created_by, updated_at, updated_by, version,"
                " record_id, body, visibility)"
                " VALUES (:organisation, :id, '', '{}', '', '{}', 1, 'job_1', :body, 'office')",
                id=f"note_{number:026}",
                body=f"Note {number}",
            )


def differing(database: WholeDatabase, organisation: str) -> list[str]:
    """The rows that are not what their hashes say."""
    with database.surveying() as rows:
        return [one.name for one in find_differences(rows.within(organisation))]


def acts(rows: Handle) -> list[str]:
    """What stands in the trail."""
    found = rows.all("SELECT operation FROM audit WHERE organisation_id = :organisation ORDER BY sequence")
    return [str(operation) for (operation,) in found]


def with_later(monkeypatch: pytest.MonkeyPatch, engine: str, run: Callable[[SchemaHandle], None]) -> None:
    """Let there be one step more."""
    known = steps_for(engine)
    later = Step(known[-1].number + 1, "later", run)
    monkeypatch.setattr(apply, "steps_for", lambda _: [*known, later])


def test_rows_from_before_get_their_hashes_under_the_chain(
    fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_before(STEP.number, fresh_settings, monkeypatch, HERE, ELSEWHERE) as database:
        add_notes(database, HERE, 1001)
        assert STEP.name in migrate(database)
        assert differing(database, HERE) == differing(database, ELSEWHERE) == []
        with database.changing(HERE) as rows:
            # In several entries, so that none is too large to be read.
            assert acts(rows) == ["hash_rows"] * 2
            assert first_break(rows) is None
            rows.run("UPDATE note SET body = 'Another' WHERE id = 'note_00000000000000000000000007'")
        assert differing(database, HERE) == ["note_00000000000000000000000007"]


def test_a_later_step_that_changes_rows_changes_their_hashes_and_hides_nothing(
    fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_before(STEP.number, fresh_settings, monkeypatch, HERE) as database:
        add_notes(database, HERE, 3)
        migrate(database)
        with database.changing(HERE) as rows:
            rows.run("UPDATE note SET body = 'Another' WHERE id = 'note_00000000000000000000000001'")
        with_later(
            monkeypatch,
            database.engine,
            lambda handle: handle.script(
                "UPDATE note SET visibility = 'field'; DELETE FROM note WHERE id = 'note_00000000000000000000000002'"
            ),
        )
        assert migrate(database) == ["later"]
        assert differing(database, HERE) == ["note_00000000000000000000000001"]
        with database.reading(HERE) as rows:
            assert acts(rows) == ["hash_rows"] * 2
            assert first_break(rows) is None


def test_a_new_column_changes_no_hash_until_something_is_written_into_it(
    fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_before(STEP.number, fresh_settings, monkeypatch, HERE) as database:
        add_notes(database, HERE, 2)
        migrate(database)
        with_later(
            monkeypatch,
            database.engine,
            lambda handle: handle.script(
                "ALTER TABLE note ADD COLUMN pinned bigint NOT NULL DEFAULT -1;"
                "ALTER TABLE note ADD COLUMN colour text NOT NULL DEFAULT 'it''s red';"
                "ALTER TABLE note ADD COLUMN seen_at text"
            ),
        )
        migrate(database)
        with database.changing(HERE) as rows:
            assert acts(rows) == ["hash_rows"]
            rows.run("UPDATE note SET pinned = 0 WHERE id = 'note_00000000000000000000000001'")
        assert differing(database, HERE) == ["note_00000000000000000000000001"]


def test_a_step_says_by_its_text_which_rows_it_may_change() -> None:
    steps = {step.name: step for step in steps_for("sqlite")}
    assert steps["0040_billable_materials"].may_change() == ["job", "material"]
    assert "invoice" in steps["0008_addresses"].may_change()
