"""A damaged backup file is recognised, whichever byte was changed."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mainstay.maintenance.archive import DamagedBackup, checksum_of, create_backup_file, open_backup_file
from mainstay.settings import Settings
from mainstay.vocabulary.refusal import Conflict
from support.backups import SampleInstallation
from support.command_line import run_command

pytestmark = pytest.mark.engines("sqlite")


@pytest.fixture(scope="module")
def sound_backup(original_installation: SampleInstallation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undamaged backup."""
    path = tmp_path_factory.mktemp("whole") / "backup"
    run_command(original_installation.settings, "backup", str(path))
    return path


@pytest.fixture
def empty_settings(original_installation: SampleInstallation, engine: str, tmp_path: Path) -> Settings:
    return original_installation.installations.make_empty(engine, tmp_path / "empty")


def is_damage_found(content: bytes | bytearray, path: Path) -> bool:
    path.write_bytes(content)
    try:
        with open_backup_file(path):
            return False
    except DamagedBackup:
        return True


@given(place=st.integers(0, 2**40), bit=st.integers(0, 7))
@example(place=0, bit=0)
@example(place=-1, bit=0)
@example(place=-64, bit=7)
@example(place=-65, bit=5)
@example(place=-110, bit=1)
def test_a_flipped_bit_is_found_wherever_it_is(sound_backup: Path, place: int, bit: int) -> None:
    content = bytearray(sound_backup.read_bytes())
    content[place % len(content)] ^= 1 << bit
    assert is_damage_found(content, sound_backup.with_name("flipped"))


@given(left=st.integers(0, 2**40))
def test_what_was_cut_off_is_found_to_be_missing(sound_backup: Path, left: int) -> None:
    content = sound_backup.read_bytes()
    assert is_damage_found(content[: left % len(content)], sound_backup.with_name("cut"))


@pytest.mark.parametrize("added", [b"\0", b"0", b"\n", b"x" * 100])
def test_what_was_added_is_found(sound_backup: Path, added: bytes) -> None:
    assert is_damage_found(sound_backup.read_bytes() + added, sound_backup.with_name("added"))
    assert is_damage_found(added + sound_backup.read_bytes(), sound_backup.with_name("added"))


def test_a_damaged_backup_is_refused_before_anything_is_touched(sound_backup: Path, empty_settings: Settings) -> None:
    content = bytearray(sound_backup.read_bytes())
    content[len(content) // 2] ^= 1
    damaged = sound_backup.with_name("damaged")
    damaged.write_bytes(content)

    refusal = run_command(empty_settings, "restore", str(damaged), "--json").error

    assert refusal == f"{damaged} is damaged: its content is not what was written. Use another backup."
    assert not empty_settings.data.exists()
    assert run_command(empty_settings, "restore", str(sound_backup), "--json").json["sound"] is True


def test_what_is_no_backup_is_refused(empty_settings: Settings, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("Dear diary, " * 100)
    assert "is no backup of Mainstay" in run_command(empty_settings, "restore", str(other), "--json").error
    assert "No such file" in run_command(empty_settings, "restore", str(tmp_path / "none"), "--json").error
    assert not empty_settings.data.exists()


def test_a_backup_that_was_broken_off_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), create_backup_file(tmp_path / "backup"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "backup"
    with pytest.raises(Conflict), create_backup_file(path):
        path.write_text("first")
    assert [one.name for one in tmp_path.iterdir()] == ["backup"]
    assert path.read_text() == "first"


def test_the_seal_is_told(sound_backup: Path) -> None:
    assert sound_backup.read_bytes().endswith(b"mainstay backup, sha256 " + checksum_of(sound_backup).encode())


ABANDONED = """
import os, signal, sys
from pathlib import Path
from mainstay.maintenance.archive import create_backup_file
with create_backup_file(Path(sys.argv[1])) as archive:
    archive.writestr("half", b"of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_backup_has_left_is_removed_by_the_next(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", ABANDONED, str(tmp_path / "monday")], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len([*tmp_path.glob("monday.*.unfinished")]) == 1
    (tmp_path / "mine.unfinished").write_bytes(b"")

    with create_backup_file(tmp_path / "tuesday"), create_backup_file(tmp_path / "wednesday"):
        # A backup that is being written must not be removed.
        assert len([*tmp_path.glob("*day.*.unfinished")]) == 2

    assert {path.name for path in tmp_path.iterdir()} == {"tuesday", "wednesday", "mine.unfinished"}
