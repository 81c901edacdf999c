"""Files: those that are kept, each under the hash of its content, and those that only pass through."""

import hashlib
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import time
from typing import BinaryIO

# What was begun so long ago and is not done is left over from a process that died.
_ABANDONED_SECONDS = 3600.0
# What was kept is needed for so long at least: whoever kept it has said by then for what.
KEPT_FOR = timedelta(hours=1)
# Whoever works on something that takes long notes it more often than this, or has died.
_FORSAKEN_SECONDS = 300.0
_NOTED = "noted"


def name_of(content: bytes) -> str:
    """The name under which such content is kept."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Files:
    """What people handed in, outside of everything that is served by itself; never changed, and never overwritten."""

    folder: Path

    def keep(self, content: bytes) -> str:
        """Keep this content; its name. What is kept already is kept once, and for a while from now on."""
        name = name_of(content)
        path = self.path(name)
        try:
            os.utime(path)
        except FileNotFoundError:
            # One by one: what is made on the way to a folder has not its mode.
            for folder in (self.folder, self._unfinished, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            fresh, file = _create(self._unfinished, name)
            with file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # Whole or not there at all, also after a power cut: whoever knows its name finds it.
            fresh.replace(path)
            _sync_folder(path.parent)
        return name

    def path(self, name: str) -> Path:
        """Where a file is that is kept under this name."""
        return self.folder / name[:2] / name[2:]

    def let_go(self, name: str, is_needed: Callable[[], bool]) -> bool:
        """Remove a file that nobody needs any more; False where it was kept a short time ago, and so stays.

        It is put aside first and looked at again: whoever keeps it from then on writes it anew. Where this was broken
        off, doing it again ends it.
        """
        path, aside = self.path(name), self._aside(name)
        if path.exists() and _is_recent(path):
            return False
        with suppress(FileNotFoundError):
            aside.parent.mkdir(mode=0o700, exist_ok=True)
            path.replace(aside)
        if aside.exists() and (_is_recent(aside) or is_needed()):
            self.bring_back(name)
            return False
        aside.unlink(missing_ok=True)
        return True

    def bring_back(self, name: str) -> None:
        """Let a file be where it is looked for, if it was put aside."""
        with suppress(FileNotFoundError):
            self._aside(name).replace(self.path(name))

    def _aside(self, name: str) -> Path:
        return self.folder / "aside" / name

    def tidy(self) -> None:
        """Remove what a process that died has left unfinished; other servers may be writing here."""
        for path in self._unfinished.glob("*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time() - _ABANDONED_SECONDS:
                    path.unlink()

    @property
    def _unfinished(self) -> Path:
        return self.folder / "unfinished"


@dataclass(frozen=True, slots=True)
class PassingFiles:
    """Files for the length of a request: what is handed in, until it is looked at, and what is made to be sent."""

    folder: Path

    def new(self) -> tuple[Path, BinaryIO]:
        """A new file that only this process may read, and its path."""
        return _create(self.folder, str(os.getpid()))

    def prepare(self) -> None:
        """Make the folder, with nothing left over in it; before any server process begins."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _remove(self.folder, "*")

    def note(self, name: str, count: int) -> None:
        """Note how far something is that takes long, for every process of this machine to see."""
        (self.folder / f"{_NOTED}.{name}").write_text(str(count), "ascii")

    def noted(self, name: str) -> int | None:
        """How far it is; None where it is done, or where nobody has worked on it for long."""
        path = self.folder / f"{_NOTED}.{name}"
        with suppress(FileNotFoundError, ValueError):
            if path.stat().st_mtime > time() - _FORSAKEN_SECONDS:
                return int(path.read_text("ascii") or 0)
        return None

    def forget(self, name: str) -> None:
        """It is done."""
        (self.folder / f"{_NOTED}.{name}").unlink(missing_ok=True)

    def close(self) -> None:
        """Remove what this process has made."""
        _remove(self.folder, f"{os.getpid()}.*")


def _is_recent(path: Path) -> bool:
    return path.stat().st_mtime > time() - KEPT_FOR.total_seconds()


def _create(folder: Path, name: str) -> tuple[Path, BinaryIO]:
    path = folder / f"{name}.{secrets.token_hex(8)}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return path, os.fdopen(descriptor, "wb")


def _remove(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern):
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Let the disk know of a new name in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
