"""`docs/running.md`: what the user `mainstay` is told to run is run here as it stands; what root runs is only read."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from support.deployed import DeployedInstallation, deploy, install_home
from support.operator_guide import DEPLOY, ROOT, CommandBlock, find_mainstay_blocks, read_blocks, read_unit_values

DOCUMENT = (ROOT / "docs" / "running.md").read_text("utf-8")
# Under these headings the tests of this folder run what the user `mainstay` is told to.
TESTED_HEADINGS = {
    "The program",
    "Its settings",
    "Backups",
    "Off-site backups",
    "A new version",
    "When a new version fails",
}


def test_every_block_says_who_runs_it_and_nothing_of_the_user_is_left_out() -> None:
    assert {block.user for block in read_blocks()} == {"root", "mainstay", "someone"}
    assert {block.heading for block in read_blocks() if block.user == "mainstay"} == TESTED_HEADINGS


@pytest.mark.parametrize(
    "block", [block for block in read_blocks() if block.user != "mainstay"], ids=lambda one: one.heading
)
def test_what_root_runs_can_be_read_by_the_shell_and_names_files_that_are_there(block: CommandBlock) -> None:
    commands = block.commands
    assert subprocess.run(["bash", "-n"], input=commands, text=True, check=False).returncode == 0
    named = re.findall(r"(?:/var/lib/mainstay/source/|\b)(deploy/[\w.-]+)", commands)
    copied = [f"deploy/{name}" for name in re.findall(r"\bmainstay[\w-]*\.(?:service|timer)\b", commands)]
    assert [name for name in named + copied if not (ROOT / name).exists()] == []


def test_every_file_of_deploy_stands_in_the_document() -> None:
    assert [file.name for file in DEPLOY.iterdir() if file.name not in DOCUMENT] == []


def test_before_it_is_served_only_mail_is_not_well(deployed: DeployedInstallation) -> None:
    lines = deployed.doctor_output.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("FIX")] == ["mail:"]
    assert sum(line.startswith("ok") for line in lines) >= 3


@pytest.fixture
def backups(deployed: DeployedInstallation) -> Path:
    """Where backups are kept, with none: they are named by the second, and another test may just have made one."""
    folder = deployed.home.path / "backups"
    for file in folder.glob("*.backup"):
        file.unlink()
    return folder


def test_a_backup_is_made_at_once_and_can_be_restored(deployed: DeployedInstallation, backups: Path) -> None:
    output = deployed.home.run_blocks(*find_mainstay_blocks("Backups"))
    file = re.search(r"^file: (.*)$", output, re.MULTILINE)
    assert file
    assert Path(file[1]).parent == backups
    assert Path(file[1]).stat().st_mode & 0o777 == 0o600
    assert "restoreSeconds: " in output


def test_each_night_a_backup_is_made_the_books_are_checked_and_old_backups_go(
    deployed: DeployedInstallation, backups: Path
) -> None:
    ages = {"mainstay-old.backup": 40, "before-2020.backup": 40, "mainstay-recent.backup": 20}
    for name, days in ages.items():
        (backups / name).touch()
        at = (backups / name).stat().st_mtime - days * 86_400
        os.utime(backups / name, (at, at))
    before = {file.name for file in backups.iterdir()}

    unit = deployed.home.relocate((DEPLOY / "mainstay-backup.service").read_text("utf-8"))
    output = ""
    for line in read_unit_values(unit, "ExecStart"):
        ended = deployed.home.run(line.replace("$$", "$").replace("%%", "%"))
        assert ended.returncode == 0, ended.stderr
        output += ended.stdout

    after = {file.name for file in backups.iterdir()}
    assert before - after == {"mainstay-old.backup"}
    [made] = after - before
    assert re.fullmatch(r"mainstay-\d{4}-\d\d-\d\d-\d{6}\.backup", made)
    assert "holds  The audit trail is unbroken" in output


@pytest.mark.long
def test_a_version_is_installed_from_the_source_and_served(tmp_path: Path) -> None:
    home = install_home(tmp_path / "home", whole=True)
    loaded = Path(home.run("~/current/bin/python -c 'import mainstay; print(mainstay.__file__)'").stdout).resolve()
    assert loaded.is_relative_to(home.path / "versions")
    with deploy(home) as deployed:
        answer = deployed.server.request("GET", "/api/v1/organisation", deployed.key)
        assert answer.json()["name"] == "Example Ltd"
        # What the program reads from files beside it was installed with it.
        assert deployed.server.request("GET", "/sign-in").status_code == 200
        assert "HTTP API" in deployed.server.request("GET", "/changelog").text
