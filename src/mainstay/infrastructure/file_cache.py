"""Copies of stored files on this machine, so that each is fetched from a remote store only once."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import time

# The cache may exceed this by what is in use, and by what each process adds between two looks.
_MAX_BYTES = 1 << 30
_BYTES_BETWEEN_LOOKS = 64 << 20
# A copy that was fetched or used a moment ago is about to be sent.
_IN_USE_SECONDS = 300.0


@dataclass(slots=True)
class FileCache:
    """A folder of copies, each under the name of the file; those that were not used for longest are removed first."""

    folder: Path
    max_bytes: int = _MAX_BYTES
    _unseen_bytes: int = field(default=_BYTES_BETWEEN_LOOKS, init=False)

    def fetch_path(self, name: str, read: Callable[[str], bytes]) -> Path:
        """Return the path of the copy of a file; read the file if there is none."""
        path = self.folder / name
        try:
            os.utime(path)
        except FileNotFoundError:
            content = read(name)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            unfinished_path = self.folder / f"{name}.{secrets.token_hex(8)}"
            with os.fdopen(os.open(unfinished_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
            unfinished_path.replace(path)
            self._count(len(content))
        return path

    def remove(self, name: str) -> None:
        """Remove the copy of a file."""
        (self.folder / name).unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all copies."""
        for path in self.folder.glob("*"):
            path.unlink(missing_ok=True)

    def _count(self, added: int) -> None:
        self._unseen_bytes += added
        if self._unseen_bytes >= min(_BYTES_BETWEEN_LOOKS, self.max_bytes):
            self._unseen_bytes = 0
            self._remove_oldest()

    def _remove_oldest(self) -> None:
        copies = []
        for path in self.folder.glob("*"):
            with suppress(FileNotFoundError):
                found = path.stat()
                copies.append((found.st_mtime, found.st_size, path))
        excess = sum(size for _, size, _ in copies) - self.max_bytes
        for used_at, size, path in sorted(copies):
            if excess <= 0 or used_at > time() - _IN_USE_SECONDS:
                break
            path.unlink(missing_ok=True)
            excess -= size
