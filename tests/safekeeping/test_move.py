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

from answers import answers
from commanding import command
from installations import Installations
from keepsakes import Keepsake
from mainstay.__main__ import HOUSE
from mainstay.backing.folder import DataFolder
from mainstay.backing.schema import read_tables
from mainstay.catalogue import CATALOGUE
from mainstay.doors.cli.line import run
from mainstay.identity.authenticate import actor_of_person
from mainstay.kernel.context import Envelope
from mainstay.settings import Settings, environment_of
from mainstay.staging import connect, open_stage
from mainstay.terms.actor import Door
from mainstay.values.moments import system_clock
from trade import a_job

pytestmark = pytest.mark.only_on("sqlite")


def everything(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, but the notes about the schema, which are each database's own."""
    database = connect(settings)
    try:
        with database.surveying() as rows:
            return {
                table.name: sorted(
                    (tuple(row) for row in rows.each(f"SELECT {', '.join(sorted(table.columns))} FROM {table.name}")),
                    key=repr,
                )
                for table in read_tables(rows, database.engine)
                if table.name != "schema_step"
            }
    finally:
        database.close()


def moved(settings: Settings, to: Settings) -> Settings:
    outcome = command(settings, "move", "--to", to.database or str(to.data), "--json").outcome
    assert outcome["sound"] is True
    return to


def round_trip(settings: Settings, installations: Installations, folder: Path) -> tuple[Settings, Settings]:
    """Where it was on PostgreSQL, beside the same folder, and where it is embedded again."""
    server = replace(settings, database=installations.empty("postgresql", folder).database)
    embedded = replace(settings, data=folder / "embedded again")
    return moved(settings, server), moved(server, embedded)


def test_there_and_back_everything_is_the_same(keepsake: Keepsake, tmp_path: Path) -> None:
    DataFolder(keepsake.settings.data).secret.write_text("a secret of this installation alone")
    now = system_clock()
    before, answered = everything(keepsake.settings), answers(keepsake.settings, keepsake.exhibit, now)
    assert sum(map(len, before.values())) > 400

    server, embedded = round_trip(keepsake.settings, keepsake.installations, tmp_path)

    for place in (server, embedded):
        assert everything(place) == before
        assert answers(place, keepsake.exhibit, now) == answered
    assert everything(keepsake.settings) == before, "what is moved stays where it was as well"
    assert DataFolder(embedded.data).secret.read_text() == "a secret of this installation alone"
    files = [DataFolder(settings.data).files for settings in (keepsake.settings, embedded)]
    first, second = ({path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} for folder in files)
    assert first == second


def test_nothing_is_moved_to_where_something_is(keepsake: Keepsake, tmp_path: Path) -> None:
    other = keepsake.copied(tmp_path / "other")
    secret = tmp_path / "another" / "secret"
    secret.parent.mkdir()
    secret.write_text("a secret of another installation")
    DataFolder(keepsake.settings.data).secret.write_text("a secret of this installation alone")
    there = "There is data there already, and nothing is moved over any. Name an empty place."
    refusals = {
        str(other.settings.data): there,
        str(keepsake.settings.data): there,
        "mysql://host/name": "--to must begin with postgresql://, or name a folder.",
        "postgresql://nobody@127.0.0.1:1/nothing": "The database cannot be reached: ",
        str(secret.parent): f"{secret} is another secret than the one here. Take it away first.",
    }
    for to, refusal in refusals.items():
        ended = command(keepsake.settings, "move", "--to", to)
        # It is refused in one sentence, and before it is told how far anything is.
        (told,) = ended.errors.splitlines()
        assert told.startswith(refusal)
        assert ended.code
    assert not (keepsake.settings.data / "run" / "moving").exists()


def test_what_a_killed_move_has_left_is_removed_by_the_next(keepsake: Keepsake, tmp_path: Path) -> None:
    left = keepsake.settings.data / "run" / "moving"
    left.mkdir(parents=True)
    (left / "backup.0123abcd.unfinished").write_bytes(b"half of it")
    moved(keepsake.settings, replace(keepsake.settings, data=tmp_path / "elsewhere"))
    assert not left.exists()


def test_two_moves_do_not_get_in_each_other_s_way(keepsake: Keepsake, tmp_path: Path) -> None:
    with (keepsake.settings.data / "run" / "moving.lock").open("w") as other:
        flock(other, LOCK_EX)
        told = command(keepsake.settings, "move", "--to", str(tmp_path / "elsewhere")).refusal
    assert told == "Another move of this installation is going on. Wait until it ends."


class Interrupting(io.StringIO):
    """Where progress is told; someone does something else when it is told first of the jobs."""

    def __init__(self, deed: Callable[[], object]) -> None:
        super().__init__()
        self._deed: list[Callable[[], object]] = [deed]

    def write(self, text: str) -> int:
        if text.startswith("table job:") and self._deed:
            self._deed.pop()()
        return super().write(text)


def test_what_was_done_meanwhile_is_not_lost_silently(keepsake: Keepsake, tmp_path: Path) -> None:
    with keepsake.opened() as exhibit:
        told = Interrupting(lambda: a_job(exhibit.cast, exhibit.business.customer))
        around = patch.dict(os.environ, environment_of(keepsake.settings))
        with around, redirect_stderr(told), redirect_stdout(io.StringIO()):
            code = run(HOUSE, ["move", "--to", str(tmp_path / "elsewhere")])
    assert code == 1
    assert told.getvalue().splitlines()[-1].startswith("Something was changed meanwhile and is not there.")


@pytest.mark.long
def test_a_year_of_the_demo_there_and_back(installations: Installations, tmp_path: Path) -> None:
    settings = installations.empty("sqlite", tmp_path / "demo")
    made = command(settings, "demo", "--json").outcome
    now = system_clock()

    server, embedded = round_trip(settings, installations, tmp_path)

    assert everything(settings) == everything(server) == everything(embedded)
    lists = [listed(place, made, now) for place in (settings, server, embedded)]
    assert lists[0] == lists[1] == lists[2]
    assert len(lists[0]) > 10


def listed(settings: Settings, made: Any, now: datetime) -> dict[str, bytes]:
    """What the owner is told by every list that needs no record to be named."""
    stage = open_stage(settings, lambda: now)
    try:
        with stage.database.reading(made["organisation"]["id"]) as rows:
            owner = actor_of_person(rows, made["people"][0]["id"], Door.API)
        return {
            one.name: stage.perform(one, owner, b'{"limit":100}', Envelope("req")).body
            for one in CATALOGUE.operations
            if one.lists and not any(field.is_required() for field in one.input.model_fields.values())
        }
    finally:
        stage.database.close()
