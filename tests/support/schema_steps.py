"""Migration steps of a test, added after those of the product."""

import shutil
from pathlib import Path

import pytest

from mainstay.infrastructure.migrations import apply
from mainstay.infrastructure.migrations.apply import steps_for

# A step that adds a column.
ADD_PINNED_COLUMN = "ALTER TABLE note ADD COLUMN pinned bigint NOT NULL DEFAULT 0;"


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
