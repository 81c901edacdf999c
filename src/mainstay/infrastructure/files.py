"""Files: stored ones, each under the hash of its content, and temporary ones."""

import hashlib
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import time
from typing import BinaryIO, Protocol

# An unfinished file of this age is left over from a process that died.
_ABANDONED_AFTER = timedelta(hours=1)
# A stored file stays at least this long: by then, the process that stored it has recorded what it is for.
REMOVAL_GRACE_PERIOD = timedelta(hours=1)
# A long task records its progress more often than this, or its process has died.
_PROGRESS_STALE_AFTER = timedelta(minutes=5)
_PROGRESS_PREFIX = "progress"
# How long a finished file waits for the person who asked for it.
FINISHED_FILE_LIFETIME = timedelta(days=1)
_FINISHED_PREFIX = "finished"


def content_name_of(content: bytes) -> str:
    """Return the name under which this content is stored."""
    return hashlib.sha256(content).hexdigest()


class FileStoreUnavailable(Exception):
    """The file store cannot be reached or cannot do this now; it can be tried again."""


class FileStore(Protocol):
    """Files stored under the hash of their content, and never changed: uploads and issued documents.

    A name without a file raises FileNotFoundError.
    """

    def store(self, content: bytes) -> str:
        """Store this content and return its name; it stays for a while from now on, whether it is needed or not."""
        ...

    def has(self, name: str) -> bool:
        """Return whether there is a file with this name."""
        ...

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        ...

    def fetch_path(self, name: str) -> Path:
        """Return the path of a file on this machine from which it can be sent at once."""
        ...

    def remove_unneeded(self, name: str, is_needed: Callable[[], bool]) -> bool:
        """Remove a file that is not needed; return False if it stays because it is needed or was stored recently."""
        ...

    def bring_back(self, name: str) -> None:
        """Undo an interrupted removal, if there was one."""
        ...

    def read_id(self) -> str | None:
        """Return the ID of this store, by which a server notices that it has the files of another installation."""
        ...

    def create_id(self, store_id: str | None = None) -> str:
        """Give this store an ID unless it has one, and return the one that it has."""
        ...

    def remove_unfinished(self) -> None:
        """Remove what processes that died left behind; other servers may be writing here."""
        ...


def read_if_stored(files: FileStore, name: str) -> bytes | None:
    """Return the content of a file, or None if it is lost, for example if only the database was copied."""
    try:
        return files.read(name)
    except FileNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class FolderFileStore:
    """Files in a folder. They are never overwritten, and never served straight from their folder."""

    folder: Path

    def store(self, content: bytes) -> str:
        """Store this content and return its name.

        Content that is already stored is not stored again, but stays for a while from now on.
        """
        name = content_name_of(content)
        path = self.path(name)
        try:
            os.utime(path)
        except FileNotFoundError:
            # One by one: `parents=True` would not set the mode of the folders in between.
            for folder in (self.folder, self._unfinished_folder, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            unfinished_path, file = _create_file(self._unfinished_folder, name)
            with file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # The file appears complete or not at all, even after a power cut, so that nobody reads half a file.
            unfinished_path.replace(path)
            _sync_folder(path.parent)
        return name

    def path(self, name: str) -> Path:
        """Return the path of the file with this name."""
        return self.folder / name[:2] / name[2:]

    def has(self, name: str) -> bool:
        """Return whether there is a file with this name."""
        return self.path(name).exists()

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return self.path(name).read_bytes()

    def fetch_path(self, name: str) -> Path:
        """Return the path of a file that exists."""
        return self.path(name).resolve(strict=True)

    def remove_unneeded(self, name: str, is_needed: Callable[[], bool]) -> bool:
        """Remove a file that is not needed; return False if it stays because it is needed or was stored recently.

        The file is moved aside before the need is checked, so that a process that stores the same content meanwhile
        writes it again. If the removal was interrupted, repeating it completes it.
        """
        path, aside_path = self.path(name), self._aside_path(name)
        if path.exists() and _is_recent(path):
            return False
        with suppress(FileNotFoundError):
            aside_path.parent.mkdir(mode=0o700, exist_ok=True)
            path.replace(aside_path)
        if aside_path.exists() and (_is_recent(aside_path) or is_needed()):
            self.bring_back(name)
            return False
        aside_path.unlink(missing_ok=True)
        return True

    def bring_back(self, name: str) -> None:
        """Move a file back to its path if it was moved aside."""
        with suppress(FileNotFoundError):
            self._aside_path(name).replace(self.path(name))

    def _aside_path(self, name: str) -> Path:
        return self.folder / "aside" / name

    def read_id(self) -> str | None:
        """Return the ID of this store, by which a server notices that it has the files of another installation."""
        try:
            return self._id_path.read_text("ascii")
        except FileNotFoundError:
            return None

    def create_id(self, store_id: str | None = None) -> str:
        """Give this store an ID unless it has one, and return the one that it has."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        unfinished_path, file = _create_file(self.folder, self._id_path.name)
        with file:
            file.write((store_id or secrets.token_hex(16)).encode())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            self._id_path.hardlink_to(unfinished_path)
        unfinished_path.unlink()
        _sync_folder(self.folder)
        return self._id_path.read_text("ascii")

    def remove_unfinished(self) -> None:
        """Remove unfinished files of processes that died; other servers may be writing here."""
        for path in self._unfinished_folder.glob("*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time() - _ABANDONED_AFTER.total_seconds():
                    path.unlink()

    @property
    def _unfinished_folder(self) -> Path:
        return self.folder / "unfinished"

    @property
    def _id_path(self) -> Path:
        return self.folder / "store-id"


@dataclass(frozen=True, slots=True)
class TemporaryFiles:
    """Temporary files that exist for the length of a request: uploads until they are examined, and files to be sent.

    The folder also holds the progress of long tasks, one small file for each, and the files that they have finished.
    """

    folder: Path

    def create_file(self) -> tuple[Path, BinaryIO]:
        """Create a file that only this process may read, and return its path and the open file."""
        return _create_file(self.folder, str(os.getpid()))

    def prepare_folder(self) -> None:
        """Create the folder, or empty it, before any server process starts."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _remove_files(self.folder, "*")

    def set_progress(self, name: str, count: int) -> None:
        """Record the progress of a long task, visible to every process of this machine."""
        (self.folder / f"{_PROGRESS_PREFIX}.{name}").write_text(str(count), "ascii")

    def progress_of(self, name: str) -> int | None:
        """Return the progress of a task; None if it is done, or if no process has worked on it for long."""
        path = self.folder / f"{_PROGRESS_PREFIX}.{name}"
        with suppress(FileNotFoundError, ValueError):
            if path.stat().st_mtime > time() - _PROGRESS_STALE_AFTER.total_seconds():
                # It is empty while it is being written.
                return int(path.read_text("ascii") or 0)
        return None

    def clear_progress(self, name: str) -> None:
        """Remove the recorded progress of a task that is done."""
        (self.folder / f"{_PROGRESS_PREFIX}.{name}").unlink(missing_ok=True)

    def store_finished(self, path: Path, name: str) -> None:
        """Keep a temporary file under a name, in place of an earlier one, and remove what nobody fetched in time."""
        path.replace(self._finished_path(name))
        for other in self.folder.glob(f"{_FINISHED_PREFIX}.*"):
            if _is_expired(other):
                other.unlink(missing_ok=True)

    def find_finished(self, name: str) -> Path | None:
        """Return the finished file with this name, until its time is over or the server starts again."""
        path = self._finished_path(name)
        return path if path.exists() and not _is_expired(path) else None

    def _finished_path(self, name: str) -> Path:
        return self.folder / f"{_FINISHED_PREFIX}.{name}"

    def close(self) -> None:
        """Remove the files of this process."""
        _remove_files(self.folder, f"{os.getpid()}.*")


def _is_recent(path: Path) -> bool:
    return path.stat().st_mtime > time() - REMOVAL_GRACE_PERIOD.total_seconds()


def _is_expired(path: Path) -> bool:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime < time() - FINISHED_FILE_LIFETIME.total_seconds()
    return False


def _create_file(folder: Path, prefix: str) -> tuple[Path, BinaryIO]:
    path = folder / f"{prefix}.{secrets.token_hex(8)}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return path, os.fdopen(descriptor, "wb")


def _remove_files(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern):
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Write the new name in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
