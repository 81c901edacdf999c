"""What every command shares, and the commands about the house as a whole. The engine does not matter here."""

import argparse
import socket
import stat
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from commanding import command as commanded
from commanding import process, processes
from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.openapi import describe
from mainstay.doors.cli.line import _parser
from mainstay.settings import MEANINGS, Settings, read_settings
from mainstay.staging import open_stage


@pytest.fixture
def embedded(tmp_path: Path) -> Settings:
    """An installation where nothing has happened yet."""
    return replace(read_settings({}), data=tmp_path / "new" / "data")


def test_a_command_makes_the_database_it_needs(embedded: Settings) -> None:
    names = ("--name", "First", "--owner-name", "Ottilie", "--owner-email", "o@first.example")

    made = process(embedded, "organisation", "create", *names, "--json").outcome

    assert made["organisation"]["name"] == "First"
    assert stat.S_IMODE(embedded.data.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in embedded.data.glob("mainstay.db*")} == {0o600}
    migrate, show, told = processes(
        embedded,
        ("migrate", "--json"),
        ("subscription", "show", "First", "--json"),
        ("subscription", "show", "first"),
    )
    assert migrate.outcome == {"applied": []}
    assert show.outcome == {"organisation": made["organisation"]["id"], "status": "active"}
    assert (told.code, told.output) == (0, f"organisation: {made['organisation']['id']}\nstatus: active\n")


def test_a_flag_goes_before_the_environment(embedded: Settings, tmp_path: Path) -> None:
    applied = process(embedded, "migrate", "--data", str(tmp_path / "flagged"), "--json").outcome["applied"]

    assert applied[0].startswith("0001")
    assert applied == sorted(applied)
    assert (tmp_path / "flagged" / "mainstay.db").exists()
    assert not embedded.data.exists()
    told = process(embedded, "serve", "--port", "eighty", MAINSTAY_PORT="8000").refusal
    assert told == "MAINSTAY_PORT must be a whole number from 1 to 65535."


def test_what_cannot_be_used_is_told_in_one_sentence(embedded: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    wrong, no_folder, away = processes(
        embedded,
        ("key", "list", "--organisation", "x", "--database", "mysql://x"),
        ("demo", "--data", str(tmp_path / "file")),
        ("demo", "--database", "postgresql://nobody@127.0.0.1:1/nothing"),
    )

    assert wrong.refusal == "MAINSTAY_DATABASE must begin with postgresql://."
    assert no_folder.refusal.startswith("MAINSTAY_DATA is not a folder that can be used")
    assert away.refusal.startswith("The database cannot be reached")


def test_a_database_of_a_newer_mainstay_is_left_alone(embedded: Settings) -> None:
    stage = open_stage(embedded)
    with stage.database.changing("*") as rows:
        rows.run("INSERT INTO schema_step (number, name, applied_at) VALUES (999, 'later', 'later')")
    stage.database.close()

    assert process(embedded, "demo").refusal.startswith("The database has schema step 999;")


def test_wrong_usage_is_told_apart_from_a_refusal(embedded: Settings) -> None:
    for ended in processes(
        embedded,
        (),
        ("nonsense",),
        ("key", "create", "--organisation", "x"),
        ("person", "add", "--organisation", "x", "--name", "y", "--email", "z", "--role", "king"),
    ):
        assert (ended.code, ended.output) == (2, "")
        assert ended.errors.startswith("usage: mainstay")
    assert not embedded.data.exists()


def test_version_help_and_openapi_need_no_database(embedded: Settings) -> None:
    version, help_ = processes(embedded, ("version", "--json"), ("serve", "--help"))
    assert list(version.outcome) == ["version"]
    assert help_.code == 0
    for name in MEANINGS:
        assert f"--{name.replace('_', '-')} " in help_.output
    printed = process(embedded, "openapi", MAINSTAY_BASE_URL="https://office.example")
    assert (printed.code, printed.errors) == (0, "")
    assert orjson.loads(printed.output) == orjson.loads(describe(CATALOGUE, "https://office.example"))
    assert not embedded.data.exists()


def test_serve_does_not_share_a_port_that_is_taken(embedded: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as taken:
        port = taken.getsockname()[1]
        told = process(embedded, "serve", "--port", str(port)).refusal

    assert told == f"MAINSTAY_HOST and MAINSTAY_PORT cannot be 127.0.0.1 and {port}: Address already in use."


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_metrics_are_not_told_at_a_port_that_is_taken(embedded: Settings, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        metrics = f"127.0.0.1:{taken.getsockname()[1]}"
        told = process(replace(embedded, metrics=metrics), command).refusal

    assert told == f"MAINSTAY_METRICS cannot be {metrics}: Address already in use."


def arguments_without_help(parser: argparse.ArgumentParser, name: str = "mainstay") -> list[str]:
    """What of a command, or of those below it, is not explained."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            explained = {choice.dest for choice in action._choices_actions if choice.help}
            found += [f"{name} {choice}" for choice in action.choices if choice not in explained]
            for choice, inner in action.choices.items():
                found += arguments_without_help(inner, f"{name} {choice}")
        elif not action.help:
            found.append(f"{name} {action.dest}")
    return found


def test_every_command_and_every_argument_is_explained() -> None:
    assert arguments_without_help(_parser()) == []


def test_a_setting_that_is_not_known_stops_every_command(embedded: Settings) -> None:
    told = process(embedded, "version", MAINSTAY_SMPT="smtp://mail.example").refusal
    assert told == "MAINSTAY_SMPT is not a setting of Mainstay. The nearest one is MAINSTAY_SMTP."


@pytest.mark.parametrize(
    "words",
    [
        ("person", "list", "--organisation", "caf\udce9"),
        ("organisation", "create", "--name", "caf\udce9", "--owner-name", "A", "--owner-email", "a@b.example"),
        ("organisation", "list", "--data", "caf\udce9"),
    ],
)
def test_a_word_that_is_no_text_is_refused_in_one_sentence(embedded: Settings, words: tuple[str, ...]) -> None:
    assert (
        commanded(embedded, *words).refusal == "A word of the command is no text in UTF-8: caf\N{REPLACEMENT CHARACTER}"
    )


def test_a_password_that_is_no_text_is_refused_in_one_sentence(embedded: Settings) -> None:
    words = ("organisation", "create", "--name", "A", "--owner-name", "A", "--owner-email", "a@b.example")
    refusal = commanded(embedded, *words, "--password-stdin", typed="caf\udce9 caf\udce9\n").refusal
    assert refusal == "The password on standard input is no text in UTF-8."


@pytest.mark.parametrize("to", ["", " "])
def test_nothing_is_moved_to_nowhere(embedded: Settings, to: str) -> None:
    commanded(embedded, "migrate")
    assert commanded(embedded, "move", "--to", to).refusal == "--to must begin with postgresql://, or name a folder."


def test_a_secret_that_was_cut_short_stops_the_start(embedded: Settings) -> None:
    commanded(embedded, "migrate")
    (embedded.data / "secret").write_text("short")
    assert "shorter than 32 bytes" in process(embedded, "serve").refusal


def test_nobody_s_plugin_looks_at_what_is_checked(embedded: Settings, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    (tmp_path / "spy.py").write_text(f"import pathlib\npathlib.Path({str(seen)!r}).touch()\nplugin = None\n")
    installed = tmp_path / "spy-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[pydantic]\nspy = spy:plugin\n")
    names = ("--name", "First", "--owner-name", "Ottilie", "--owner-email", "o@first.example")

    assert process(embedded, "organisation", "create", *names, PYTHONPATH=str(tmp_path)).code == 0

    assert not seen.exists()
