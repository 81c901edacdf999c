"""The data of the beta of 18 November 2026, whose schema was made by single steps, works with this version.

`beta_2026_11_18` holds a data folder and a backup of it, both made by that version: two organisations, one with
something of each kind.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mainstay.infrastructure.migrations.apply import steps_for
from mainstay.settings import Settings, read_settings
from support.backups import query_all
from support.command_line import run_command
from support.installations import Installations

BETA = Path(__file__).with_name("beta_2026_11_18")


@pytest.fixture
def beta_settings(tmp_path: Path) -> Settings:
    """The settings of a data folder as the beta left it."""
    shutil.unpack_archive(BETA / "data.tar.gz", tmp_path / "data", filter="data")
    return replace(read_settings({}), data=tmp_path / "data")


def list_organisation_names(settings: Settings) -> list[str]:
    return [str(name) for (name,) in query_all(settings, "SELECT name FROM organisation ORDER BY name")]


def test_its_database_opens_as_it_is_and_has_the_schema_of_the_baseline(beta_settings: Settings) -> None:
    later = [step.name for step in steps_for("sqlite")[1:]]
    assert run_command(beta_settings, "migrate", "--json").json == {"applied": later}
    assert len(list_organisation_names(beta_settings)) == 2
    # Every table, column, index, trigger and constraint is compared with those that the steps make.
    assert run_command(beta_settings, "check", "--json").json["sound"] is True
    assert run_command(beta_settings, "organisation", "list").code == 0


@pytest.mark.engines("sqlite", "postgresql")
def test_its_backup_is_restored_into_either_engine(
    engine: str, installations: Installations, beta_settings: Settings, tmp_path: Path
) -> None:
    empty = installations.make_empty(engine, tmp_path / "empty")
    restored = run_command(empty, "restore", str(BETA / "backup.zip"), "--json").json
    assert restored["sound"] is True
    assert restored["rows"] > 500
    assert list_organisation_names(empty) == list_organisation_names(beta_settings)
    assert query_all(empty, "SELECT id, title FROM job ORDER BY id") == query_all(
        beta_settings, "SELECT id, title FROM job ORDER BY id"
    )
