"""Files that are kept under their hash, and files that pass."""

import hashlib
import os
from pathlib import Path

import pytest

from mainstay.infrastructure.files import FolderFileStore, TemporaryFiles


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_file_is_kept_under_its_hash_for_the_operator_s_eyes_only(tmp_path: Path) -> None:
    files = FolderFileStore(tmp_path / "files")
    name = files.store(b"a logo")
    assert name == hashlib.sha256(b"a logo").hexdigest()
    path = tmp_path / "files" / name[:2] / name[2:]
    assert files.path(name) == path
    assert path.read_bytes() == b"a logo"
    assert (mode_of(path), mode_of(path.parent), mode_of(tmp_path / "files")) == (0o600, 0o700, 0o700)
    assert [found for found in (tmp_path / "files").rglob("*") if found.is_file()] == [path]


def test_what_is_kept_already_is_not_written_again(tmp_path: Path) -> None:
    files = FolderFileStore(tmp_path)
    first = files.path(files.store(b"a logo")).stat()
    again = files.path(files.store(b"a logo")).stat()
    assert again.st_ino == first.st_ino


def keep_old_file(files: FolderFileStore, content: bytes) -> str:
    """What was kept long ago."""
    name = files.store(content)
    os.utime(files.path(name), (0, 0))
    return name


def test_what_nobody_needs_goes_once_it_was_not_kept_for_an_hour(tmp_path: Path) -> None:
    files = FolderFileStore(tmp_path)
    name = files.store(b"a photo")
    assert not files.remove_unneeded(name, lambda: False)
    assert files.path(name).read_bytes() == b"a photo"
    keep_old_file(files, b"a photo")
    assert files.remove_unneeded(name, lambda: False)
    assert [found for found in tmp_path.rglob("*") if found.is_file()] == []
    # As often as it is tried.
    assert files.remove_unneeded(name, lambda: False)


def test_what_is_kept_while_it_is_let_go_of_stays(tmp_path: Path) -> None:
    files = FolderFileStore(tmp_path)
    name = keep_old_file(files, b"a photo")
    # Someone stores it while it is set aside: it is written again.
    assert files.remove_unneeded(name, lambda: files.store(b"a photo") == "")
    assert files.path(name).read_bytes() == b"a photo"
    # Someone has just said that they need it.
    keep_old_file(files, b"a photo")
    assert not files.remove_unneeded(name, lambda: True)
    assert files.path(name).read_bytes() == b"a photo"


def test_what_was_kept_between_the_look_and_the_putting_aside_is_brought_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = FolderFileStore(tmp_path)
    name = keep_old_file(files, b"a photo")
    put_aside = Path.replace

    def kept_just_before(path: Path, target: Path) -> Path:
        if path == files.path(name):
            files.store(b"a photo")
        return put_aside(path, target)

    monkeypatch.setattr(Path, "replace", kept_just_before)
    assert not files.remove_unneeded(name, lambda: False)
    assert files.path(name).read_bytes() == b"a photo"


def test_what_was_broken_off_is_ended_or_undone_by_doing_it_again(tmp_path: Path) -> None:
    files = FolderFileStore(tmp_path)
    name = keep_old_file(files, b"a photo")

    def power_cut() -> bool:
        raise KeyboardInterrupt

    for needed in (True, False):
        with pytest.raises(KeyboardInterrupt):
            files.remove_unneeded(name, power_cut)
        assert not files.path(name).exists()
        if needed:
            files.bring_back(name)
            assert files.path(name).read_bytes() == b"a photo"
    assert files.remove_unneeded(name, lambda: False)
    assert [found for found in tmp_path.rglob("*") if found.is_file()] == []


def test_a_name_is_there_only_once_the_disk_has_the_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = FolderFileStore(tmp_path)
    path = files.path(hashlib.sha256(b"a logo").hexdigest())
    synced = []

    def noting(descriptor: int) -> None:
        synced.append((Path(f"/proc/self/fd/{descriptor}").readlink(), path.exists()))

    monkeypatch.setattr(os, "fsync", noting)
    files.store(b"a logo")
    (content, there), (folder, there_then) = synced
    # The content first, under another name; then the folder, which has the name by now.
    assert (content.parent, there) == (tmp_path / "unfinished", False)
    assert (folder, there_then) == (path.parent, True)


def test_only_what_was_left_unfinished_long_ago_is_tidied_away(tmp_path: Path) -> None:
    files = FolderFileStore(tmp_path)
    kept = files.path(files.store(b"a logo"))
    old, fresh = tmp_path / "unfinished" / "old", tmp_path / "unfinished" / "fresh"
    for path in (old, fresh):
        path.write_bytes(b"half")
    for path in (old, kept):
        os.utime(path, (0, 0))
    files.remove_unfinished()
    assert (old.exists(), fresh.exists(), kept.exists()) == (False, True, True)


def test_tidying_where_nothing_was_ever_kept_is_fine(tmp_path: Path) -> None:
    FolderFileStore(tmp_path / "files").remove_unfinished()
    assert not (tmp_path / "files").exists()


def test_a_passing_file_goes_with_its_process_or_when_the_server_begins_anew(tmp_path: Path) -> None:
    passing = TemporaryFiles(tmp_path / "passing")
    passing.prepare_folder()
    path, file = passing.create_file()
    with file:
        file.write(b"for a moment")
    another_s = passing.folder / "1.of-another-process"
    another_s.touch()
    assert mode_of(path) == 0o600
    assert mode_of(passing.folder) == 0o700

    passing.close()
    assert [*passing.folder.iterdir()] == [another_s]
    passing.prepare_folder()
    assert [*passing.folder.iterdir()] == []
