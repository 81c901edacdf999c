"""Migration steps of a test, added after those of the product."""

import shutil
from pathlib import Path

import pytest

from mainstay.infrastructure.database import ALL_ORGANISATIONS, MigratableDatabase
from mainstay.infrastructure.migrations import apply
from mainstay.infrastructure.migrations.apply import make_schema_guard, steps_for
from mainstay.infrastructure.schema_guard import SCHEMA_STATE

# A step that adds a column.
ADD_PINNED_COLUMN = "ALTER TABLE note ADD COLUMN pinned bigint NOT NULL DEFAULT 0;"
# The rows that the migration of a later version leaves behind, with which this version cannot work.
ADD_LATER_STEP = (
    "INSERT INTO schema_step VALUES (9999, '9999_later', '2026')",
    "UPDATE installation SET value = '9999' WHERE name = 'oldest_writer'",
)


def find_schema_problem(database: MigratableDatabase) -> str | None:
    """Return why this version cannot serve a database."""
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        return make_schema_guard(database.engine).find_problem(db.one(f"SELECT {SCHEMA_STATE}") or (None, None))


def add_steps(monkeypatch: pytest.MonkeyPatch, folder: Path, *steps: dict[str, str]) -> list[str]:
    """Add migration steps, each given as its files by the ends of their names, and return their names.

    `{"pins.sql": …}` makes a step of one file, named after the number that comes next.
    """
    newest = steps_for("sqlite")[-1].number
    shutil.copytree(apply._FOLDER, folder)
    for number, files in enumerate(steps, newest + 1):
        for name, text in files.items():
            (folder / f"{number:04}_{name}").write_text(text)
    monkeypatch.setattr(apply, "_FOLDER", folder)
    return [step.name for step in steps_for("sqlite") if step.number > newest]
