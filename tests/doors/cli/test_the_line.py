"""What every command shares, and the commands about the whole installation. The engine does not matter here."""

import argparse
import socket
import stat
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.composition import open_performer
from mainstay.doors.api.openapi import build_openapi
from mainstay.doors.cli.command_line import _build_parser
from mainstay.settings import DESCRIPTIONS, Settings, read_settings
from support.command_line import run_command as commanded
from support.command_line import run_process, run_processes
from support.schema_steps import ADD_LATER_STEP


@pytest.fixture
def empty_settings(tmp_path: Path) -> Settings:
    """An installation where nothing has happened yet."""
    return replace(read_settings({}), data=tmp_path / "new" / "data")


def test_a_command_makes_the_database_it_needs(empty_settings: Settings) -> None:
    names = ("--name", "First", "--owner-name", "Ottilie", "--owner-email", "o@first.example")

    made = run_process(empty_settings, "organisation", "create", *names, "--json").json

    assert made["organisation"]["name"] == "First"
    assert stat.S_IMODE(empty_settings.data.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in empty_settings.data.glob("mainstay.db*")} == {0o600}
    migrate, show, described = run_processes(
        empty_settings,
        ("migrate", "--json"),
        ("subscription", "show", "First", "--json"),
        ("subscription", "show", "first"),
    )
    assert migrate.json == {"applied": []}
    assert show.json == {"organisation": made["organisation"]["id"], "status": "active"}
    assert (described.code, described.output) == (0, f"organisation: {made['organisation']['id']}\nstatus: active\n")


def test_a_flag_goes_before_the_environment(empty_settings: Settings, tmp_path: Path) -> None:
    applied = run_process(empty_settings, "migrate", "--data", str(tmp_path / "flagged"), "--json").json["applied"]

    assert applied[0] == "0063_baseline"
    assert applied == sorted(applied)
    assert (tmp_path / "flagged" / "mainstay.db").exists()
    assert not empty_settings.data.exists()
    message = run_process(empty_settings, "serve", "--port", "eighty", MAINSTAY_PORT="8000").error
    assert message == "MAINSTAY_PORT must be a whole number from 1 to 65535."


def test_what_cannot_be_used_is_told_in_one_sentence(empty_settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    wrong, no_folder, away = run_processes(
        empty_settings,
        ("key", "list", "--organisation", "x", "--database", "mysql://x"),
        ("demo", "--data", str(tmp_path / "file")),
        ("demo", "--database", "postgresql://nobody@127.0.0.1:1/nothing"),
    )

    assert wrong.error == "MAINSTAY_DATABASE must begin with postgresql://."
    assert no_folder.error.startswith("MAINSTAY_DATA is not a folder that can be used")
    assert away.error.startswith("The database cannot be reached")


def test_a_database_of_a_newer_mainstay_is_left_alone(empty_settings: Settings) -> None:
    performer = open_performer(empty_settings)
    with performer.database.write_transaction("*") as db:
        for statement in ADD_LATER_STEP:
            db.run(statement)
    performer.database.close()

    assert run_process(empty_settings, "demo").error.startswith("The database has schema step 9999;")


def test_wrong_usage_is_told_apart_from_a_refusal(empty_settings: Settings) -> None:
    for ended in run_processes(
        empty_settings,
        (),
        ("nonsense",),
        ("key", "create", "--organisation", "x"),
        ("person", "add", "--organisation", "x", "--name", "y", "--email", "z", "--role", "king"),
    ):
        assert (ended.code, ended.output) == (2, "")
        assert ended.errors.startswith("usage: mainstay")
    assert not empty_settings.data.exists()


def test_version_help_and_openapi_need_no_database(empty_settings: Settings) -> None:
    version, help_ = run_processes(empty_settings, ("version", "--json"), ("serve", "--help"))
    assert list(version.json) == ["version"]
    assert help_.code == 0
    for name in DESCRIPTIONS:
        assert f"--{name.replace('_', '-')} " in help_.output
    printed = run_process(empty_settings, "openapi", MAINSTAY_BASE_URL="https://office.example")
    assert (printed.code, printed.errors) == (0, "")
    assert orjson.loads(printed.output) == orjson.loads(build_openapi(CATALOGUE, "https://office.example"))
    assert not empty_settings.data.exists()


def test_serve_does_not_share_a_port_that_is_taken(empty_settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as taken:
        port = taken.getsockname()[1]
        message = run_process(empty_settings, "serve", "--port", str(port)).error

    assert message == f"MAINSTAY_HOST and MAINSTAY_PORT cannot be 127.0.0.1 and {port}: Address already in use."


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_metrics_are_not_told_at_a_port_that_is_taken(empty_settings: Settings, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        metrics = f"127.0.0.1:{taken.getsockname()[1]}"
        message = run_process(replace(empty_settings, metrics=metrics), command).error

    assert message == f"MAINSTAY_METRICS cannot be {metrics}: Address already in use."


def find_undocumented_arguments(parser: argparse.ArgumentParser, name: str = "mainstay") -> list[str]:
    """What of a command, or of those below it, is not explained."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            explained = {choice.dest for choice in action._choices_actions if choice.help}
            found += [f"{name} {choice}" for choice in action.choices if choice not in explained]
            for choice, inner in action.choices.items():
                found += find_undocumented_arguments(inner, f"{name} {choice}")
        elif not action.help:
            found.append(f"{name} {action.dest}")
    return found


def test_every_command_and_every_argument_is_explained() -> None:
    assert find_undocumented_arguments(_build_parser()) == []


def test_a_setting_that_is_not_known_stops_every_command(empty_settings: Settings) -> None:
    message = run_process(empty_settings, "version", MAINSTAY_SMPT="smtp://mail.example").error
    assert message == "MAINSTAY_SMPT is not a setting of Mainstay. The nearest one is MAINSTAY_SMTP."


@pytest.mark.parametrize(
    "words",
    [
        ("person", "list", "--organisation", "caf\udce9"),
        ("organisation", "create", "--name", "caf\udce9", "--owner-name", "A", "--owner-email", "a@b.example"),
        ("organisation", "list", "--data", "caf\udce9"),
    ],
)
def test_a_word_that_is_no_text_is_refused_in_one_sentence(empty_settings: Settings, words: tuple[str, ...]) -> None:
    assert commanded(empty_settings, *words).error == "An argument is not text in UTF-8: caf\N{REPLACEMENT CHARACTER}"


def test_a_password_that_is_no_text_is_refused_in_one_sentence(empty_settings: Settings) -> None:
    words = ("organisation", "create", "--name", "A", "--owner-name", "A", "--owner-email", "a@b.example")
    refusal = commanded(empty_settings, *words, "--password-stdin", stdin_text="caf\udce9 caf\udce9\n").error
    assert refusal == "The password on standard input is not text in UTF-8."


@pytest.mark.parametrize("to", ["", " "])
def test_nothing_is_moved_to_nowhere(empty_settings: Settings, to: str) -> None:
    commanded(empty_settings, "migrate")
    assert commanded(empty_settings, "move", "--to", to).error == "--to must begin with postgresql://, or be a folder."


def test_a_secret_that_was_cut_short_stops_the_start(empty_settings: Settings) -> None:
    commanded(empty_settings, "migrate")
    (empty_settings.data / "secret").write_text("short")
    assert "shorter than 32 bytes" in run_process(empty_settings, "serve").error


def test_nobody_s_plugin_looks_at_what_is_checked(empty_settings: Settings, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    (tmp_path / "spy.py").write_text(f"import pathlib\npathlib.Path({str(seen)!r}).touch()\nplugin = None\n")
    installed = tmp_path / "spy-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[pydantic]\nspy = spy:plugin\n")
    names = ("--name", "First", "--owner-name", "Ottilie", "--owner-email", "o@first.example")

    assert run_process(empty_settings, "organisation", "create", *names, PYTHONPATH=str(tmp_path)).code == 0

    assert not seen.exists()
