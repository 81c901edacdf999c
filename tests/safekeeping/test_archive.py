"""A backup as a file: a byte that is not what was written is found, wherever it is."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commanding import command
from keepsakes import Keepsake
from mainstay.safekeeping.archive import Damaged, reading, seal_of, writing
from mainstay.settings import Settings
from mainstay.terms.refusal import Conflict

pytestmark = pytest.mark.engines("sqlite")


@pytest.fixture(scope="module")
def whole(original: Keepsake, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup that is as it was made."""
    path = tmp_path_factory.mktemp("whole") / "backup"
    command(original.settings, "backup", str(path))
    return path


@pytest.fixture
def empty(original: Keepsake, engine: str, tmp_path: Path) -> Settings:
    return original.installations.empty(engine, tmp_path / "empty")


def is_found(content: bytes | bytearray, path: Path) -> bool:
    path.write_bytes(content)
    try:
        with reading(path):
            return False
    except Damaged:
        return True


@given(place=st.integers(0, 2**40), bit=st.integers(0, 7))
@example(place=0, bit=0)
@example(place=-1, bit=0)
@example(place=-64, bit=7)
@example(place=-65, bit=5)
@example(place=-110, bit=1)
def test_a_flipped_bit_is_found_wherever_it_is(whole: Path, place: int, bit: int) -> None:
    content = bytearray(whole.read_bytes())
    content[place % len(content)] ^= 1 << bit
    assert is_found(content, whole.with_name("flipped"))


@given(left=st.integers(0, 2**40))
def test_what_was_cut_off_is_found_to_be_missing(whole: Path, left: int) -> None:
    content = whole.read_bytes()
    assert is_found(content[: left % len(content)], whole.with_name("cut"))


@pytest.mark.parametrize("added", [b"\0", b"0", b"\n", b"x" * 100])
def test_what_was_added_is_found(whole: Path, added: bytes) -> None:
    assert is_found(whole.read_bytes() + added, whole.with_name("added"))
    assert is_found(added + whole.read_bytes(), whole.with_name("added"))


def test_a_damaged_backup_is_refused_before_anything_is_touched(whole: Path, empty: Settings) -> None:
    content = bytearray(whole.read_bytes())
    content[len(content) // 2] ^= 1
    damaged = whole.with_name("damaged")
    damaged.write_bytes(content)

    told = command(empty, "restore", str(damaged), "--json").refusal

    assert told == f"{damaged} is damaged: its content is not what was written. Use another backup."
    assert not empty.data.exists()
    assert command(empty, "restore", str(whole), "--json").outcome["sound"] is True


def test_what_is_no_backup_is_refused(empty: Settings, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("Dear diary, " * 100)
    assert "is no backup of Mainstay" in command(empty, "restore", str(other), "--json").refusal
    assert "No such file" in command(empty, "restore", str(tmp_path / "none"), "--json").refusal
    assert not empty.data.exists()


def test_a_backup_that_was_broken_off_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path / "backup"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "backup"
    with pytest.raises(Conflict), writing(path):
        path.write_text("first")
    assert [one.name for one in tmp_path.iterdir()] == ["backup"]
    assert path.read_text() == "first"


def test_the_seal_is_told(whole: Path) -> None:
    assert whole.read_bytes().endswith(b"mainstay backup, sha256 " + seal_of(whole).encode())


ABANDONED = """
import os, signal, sys
from pathlib import Path
from mainstay.safekeeping.archive import writing
with writing(Path(sys.argv[1])) as archive:
    archive.writestr("half", b"of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_backup_has_left_is_removed_by_the_next(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", ABANDONED, str(tmp_path / "monday")], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len([*tmp_path.glob("monday.*.unfinished")]) == 1
    (tmp_path / "mine.unfinished").write_bytes(b"")

    with writing(tmp_path / "tuesday"), writing(tmp_path / "wednesday"):
        # One that is being written is nobody's to remove.
        assert len([*tmp_path.glob("*day.*.unfinished")]) == 2

    assert {path.name for path in tmp_path.iterdir()} == {"tuesday", "wednesday", "mine.unfinished"}
