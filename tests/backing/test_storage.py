"""The step that adds up what each organisation stores already."""

import pytest

from earlier import open_before
from mainstay.backing.database import EVERY
from mainstay.backing.migrations.apply import migrate, steps_for
from mainstay.settings import Settings

(STEP,) = [step for step in steps_for("sqlite") if step.name.endswith("_storage")]
HERE, ELSEWHERE, EMPTY = (f"org_01M700000000000000000000{end}" for end in ("0A", "0B", "0C"))


def test_what_is_stored_already_is_added_up(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_before(STEP.number, fresh_settings, monkeypatch, HERE, ELSEWHERE, EMPTY) as database:
        with database.changing(EVERY) as rows:
            for number, (organisation, size) in enumerate(((HERE, 10), (HERE, 4_000_000_000), (ELSEWHERE, 7))):
                rows.run(
                    "INSERT INTO document (organisation_id, id, created_at, created_by, updated_at, updated_by,"
                    " version, record_id, name, kind, media_type, bytes, content, visibility) VALUES (:here, :id, '',"
                    " '{}', '', '{}', 1, 'job', 'A', 'file', 'text/plain', :size, 'c', 'field')",
                    here=organisation,
                    id=f"document_{number}",
                    size=size,
                )
        assert STEP.name in migrate(database)
        with database.reading(EVERY) as rows:
            stored = {row[0]: row[1] for row in rows.all("SELECT id, storage_bytes FROM organisation")}
    assert stored == {HERE: 4_000_000_010, ELSEWHERE: 7, EMPTY: 0}
