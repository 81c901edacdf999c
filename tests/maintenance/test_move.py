"""`move`: the same rows, files and answers on the other engine, and back again."""

import io
import os
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import datetime
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from mainstay.__main__ import COMMANDS
from mainstay.catalogue import CATALOGUE
from mainstay.composition import connect, open_performer
from mainstay.doors.cli.command_line import run_command_line
from mainstay.identity.authenticate import actor_of_person
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.schema import read_tables
from mainstay.kernel.context import RequestDetails
from mainstay.settings import Settings, to_environment
from mainstay.values.moments import system_clock
from mainstay.vocabulary.actor import Door
from support.all_reads import read_everything
from support.backups import SampleInstallation
from support.command_line import run_command
from support.customers import make_job
from support.installations import Installations

pytestmark = pytest.mark.only_on("sqlite")


def read_all_rows(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table except the schema steps, which each database has of its own."""
    database = connect(settings)
    try:
        with database.scan_transaction() as db:
            return {
                table.name: sorted(
                    (tuple(row) for row in db.stream(f"SELECT {', '.join(sorted(table.columns))} FROM {table.name}")),
                    key=repr,
                )
                for table in read_tables(db, database.engine)
                if table.name != "schema_step"
            }
    finally:
        database.close()


def move_to(settings: Settings, to: Settings) -> Settings:
    outcome = run_command(settings, "move", "--to", to.database or str(to.data), "--json").json
    assert outcome["sound"] is True
    return to


def move_there_and_back(settings: Settings, installations: Installations, folder: Path) -> tuple[Settings, Settings]:
    """Move to PostgreSQL with the same folder, then back; return the settings of both."""
    server = replace(settings, database=installations.make_empty("postgresql", folder).database)
    embedded = replace(settings, data=folder / "embedded again")
    return move_to(settings, server), move_to(server, embedded)


def test_there_and_back_everything_is_the_same(sample_installation: SampleInstallation, tmp_path: Path) -> None:
    DataFolder(sample_installation.settings.data).secret.write_text("a secret of this installation alone")
    now = system_clock()
    before, answered = (
        read_all_rows(sample_installation.settings),
        read_everything(sample_installation.settings, sample_installation.samples, now),
    )
    assert sum(map(len, before.values())) > 400

    server, embedded = move_there_and_back(sample_installation.settings, sample_installation.installations, tmp_path)

    for place in (server, embedded):
        assert read_all_rows(place) == before
        assert read_everything(place, sample_installation.samples, now) == answered
    assert read_all_rows(sample_installation.settings) == before, "what is moved stays where it was as well"
    assert DataFolder(embedded.data).secret.read_text() == "a secret of this installation alone"
    files = [DataFolder(settings.data).files for settings in (sample_installation.settings, embedded)]
    first, second = ({path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} for folder in files)
    assert first == second


def test_nothing_is_moved_to_where_something_is(sample_installation: SampleInstallation, tmp_path: Path) -> None:
    other = sample_installation.copy_to(tmp_path / "other")
    secret = tmp_path / "another" / "secret"
    secret.parent.mkdir()
    secret.write_text("a secret of another installation")
    DataFolder(sample_installation.settings.data).secret.write_text("a secret of this installation alone")
    there = "There is data there already, and nothing is moved over any. Name an empty place."
    refusals = {
        str(other.settings.data): there,
        str(sample_installation.settings.data): there,
        "mysql://host/name": "--to must begin with postgresql://, or be a folder.",
        "postgresql://nobody@127.0.0.1:1/nothing": "The database cannot be reached: ",
        str(secret.parent): f"{secret} is another secret than the one here. Take it away first.",
    }
    for to, refusal in refusals.items():
        ended = run_command(sample_installation.settings, "move", "--to", to)
        # It is refused in one sentence, before any progress is reported.
        (result,) = ended.errors.splitlines()
        assert result.startswith(refusal)
        assert ended.code
    assert not (sample_installation.settings.data / "run" / "moving").exists()


def test_what_a_killed_move_has_left_is_removed_by_the_next(
    sample_installation: SampleInstallation, tmp_path: Path
) -> None:
    left = sample_installation.settings.data / "run" / "moving"
    left.mkdir(parents=True)
    (left / "backup.0123abcd.unfinished").write_bytes(b"half of it")
    move_to(sample_installation.settings, replace(sample_installation.settings, data=tmp_path / "elsewhere"))
    assert not left.exists()


def test_two_moves_do_not_get_in_each_other_s_way(sample_installation: SampleInstallation, tmp_path: Path) -> None:
    with (sample_installation.settings.data / "run" / "moving.lock").open("w") as other:
        flock(other, LOCK_EX)
        refusal = run_command(sample_installation.settings, "move", "--to", str(tmp_path / "elsewhere")).error
    assert refusal == "This installation is already being moved. Wait until that is finished."


class InterruptingProgress(io.StringIO):
    """An output for progress that runs an action when the table of jobs is first reported."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__()
        self._actions: list[Callable[[], object]] = [action]

    def write(self, text: str) -> int:
        if text.startswith("table job:") and self._actions:
            self._actions.pop()()
        return super().write(text)


def test_what_was_done_meanwhile_is_not_lost_silently(sample_installation: SampleInstallation, tmp_path: Path) -> None:
    with sample_installation.open_samples() as exhibit:
        result = InterruptingProgress(lambda: make_job(exhibit.cast, exhibit.work_samples.customer))
        around = patch.dict(os.environ, to_environment(sample_installation.settings))
        with around, redirect_stderr(result), redirect_stdout(io.StringIO()):
            code = run_command_line(COMMANDS, ["move", "--to", str(tmp_path / "elsewhere")])
    assert code == 1
    assert result.getvalue().splitlines()[-1].startswith("Something was changed in the meantime and was not copied.")


@pytest.mark.long
def test_a_year_of_the_demo_there_and_back(installations: Installations, tmp_path: Path) -> None:
    settings = installations.make_empty("sqlite", tmp_path / "demo")
    made = run_command(settings, "demo", "--json").json
    now = system_clock()

    server, embedded = move_there_and_back(settings, installations, tmp_path)

    assert read_all_rows(settings) == read_all_rows(server) == read_all_rows(embedded)
    lists = [read_lists(place, made, now) for place in (settings, server, embedded)]
    assert lists[0] == lists[1] == lists[2]
    assert len(lists[0]) > 10


def read_lists(settings: Settings, exhibit: Any, now: datetime) -> dict[str, bytes]:
    """Return the answer to the owner of every list that needs no record named."""
    performer = open_performer(settings, lambda: now)
    try:
        with performer.database.read_transaction(exhibit["organisation"]["id"]) as db:
            owner = actor_of_person(db, exhibit["people"][0]["id"], Door.API)
        return {
            one.name: performer.perform(one, owner, b'{"limit":100}', RequestDetails("req")).body
            for one in CATALOGUE.operations
            if one.returns_page and not any(field.is_required() for field in one.input.model_fields.values())
        }
    finally:
        performer.database.close()
