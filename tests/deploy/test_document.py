"""`docs/running.md`: what the user `mainstay` is told to run is run here as it stands; what root runs is only read."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from deployed import Deployed, deploy, install
from guide import DEPLOY, ROOT, Block, blocks, of_mainstay, unit_lines

DOCUMENT = (ROOT / "docs" / "running.md").read_text("utf-8")
# Under these headings the tests of this folder run what the user `mainstay` is told to.
FOLLOWED = {"The program", "Its settings", "Backups", "A new version", "When a new version fails"}


def test_every_block_says_who_runs_it_and_nothing_of_the_user_is_left_out() -> None:
    assert {block.who for block in blocks()} == {"root", "mainstay", "whoever"}
    assert {block.heading for block in blocks() if block.who == "mainstay"} == FOLLOWED


@pytest.mark.parametrize("block", [block for block in blocks() if block.who != "mainstay"], ids=lambda one: one.heading)
def test_what_root_runs_can_be_read_by_the_shell_and_names_files_that_are_there(block: Block) -> None:
    commands = block.commands
    assert subprocess.run(["bash", "-n"], input=commands, text=True, check=False).returncode == 0
    named = re.findall(r"(?:/var/lib/mainstay/source/|\b)(deploy/[\w.-]+)", commands)
    copied = [f"deploy/{name}" for name in re.findall(r"\bmainstay[\w-]*\.(?:service|timer)\b", commands)]
    assert [name for name in named + copied if not (ROOT / name).exists()] == []


def test_every_file_of_deploy_stands_in_the_document() -> None:
    assert [file.name for file in DEPLOY.iterdir() if file.name not in DOCUMENT] == []


def test_before_it_is_served_only_mail_is_not_well(deployed: Deployed) -> None:
    lines = deployed.examined.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("MEND")] == ["mail:"]
    assert sum(line.startswith("well") for line in lines) >= 3


@pytest.fixture
def backups(deployed: Deployed) -> Path:
    """Where backups are kept, with none: they are named by the second, and another test may just have made one."""
    folder = deployed.home.path / "backups"
    for file in folder.iterdir():
        file.unlink()
    return folder


def test_a_backup_is_made_at_once(deployed: Deployed, backups: Path) -> None:
    said = deployed.home.follow(*of_mainstay("Backups"))
    file = re.search(r"^file: (.*)$", said, re.MULTILINE)
    assert file
    assert Path(file[1]).parent == backups
    assert Path(file[1]).stat().st_mode & 0o777 == 0o600


def test_each_night_a_backup_is_made_the_books_are_proved_and_old_backups_go(deployed: Deployed, backups: Path) -> None:
    ages = {"mainstay-old.backup": 40, "before-2020.backup": 40, "mainstay-recent.backup": 20}
    for name, days in ages.items():
        (backups / name).touch()
        at = (backups / name).stat().st_mtime - days * 86_400
        os.utime(backups / name, (at, at))
    before = {file.name for file in backups.iterdir()}

    unit = deployed.home.moved((DEPLOY / "mainstay-backup.service").read_text("utf-8"))
    said = ""
    for line in unit_lines(unit, "ExecStart"):
        ended = deployed.home.run(line.replace("$$", "$").replace("%%", "%"))
        assert ended.returncode == 0, ended.stderr
        said += ended.stdout

    after = {file.name for file in backups.iterdir()}
    assert before - after == {"mainstay-old.backup"}
    [made] = after - before
    assert re.fullmatch(r"mainstay-\d{4}-\d\d-\d\d-\d{6}\.backup", made)
    assert "holds  The audit trail is unbroken" in said


@pytest.mark.long
def test_a_version_is_installed_from_the_source_and_served(tmp_path: Path) -> None:
    home = install(tmp_path / "home", whole=True)
    loaded = Path(home.run("~/current/bin/python -c 'import mainstay; print(mainstay.__file__)'").stdout).resolve()
    assert loaded.is_relative_to(home.path / "versions")
    with deploy(home) as deployed:
        answer = deployed.server.request("GET", "/api/v1/organisation", deployed.key)
        assert answer.json()["name"] == "Example Ltd"
        # What the program reads from files beside it was installed with it.
        assert deployed.server.request("GET", "/sign-in").status_code == 200
        assert "HTTP API" in deployed.server.request("GET", "/changelog").text
