"""A disk whose power fails: each write since the last sync may be lost, kept or torn."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import apsw

_SECTOR = 512
_WATCHED_FILES = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_WAL
_VFS_NAME = "failing power"


@dataclass(slots=True)
class _DiskFile:
    """A file as it was at its last sync, and the writes since then."""

    synced: bytearray = field(default_factory=bytearray)
    # Each is an offset and what is written there; no bytes where the file is cut off there.
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        for offset, data in self.pending:
            _apply_write(self.synced, offset, data)
        self.pending.clear()

    def image_after_cut(self, random: Random) -> bytes:
        image = bytearray(self.synced)
        for offset, data in self.pending:
            sectors = -(-len(data or b"") // _SECTOR)
            match random.randrange(3), data:
                case 0, _:
                    _apply_write(image, offset, data)
                case 1, bytes():
                    _apply_write(image, offset, data[: random.randint(0, sectors) * _SECTOR])
        return bytes(image)


def _apply_write(image: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del image[offset:]
        return
    image.extend(bytes(max(0, offset - len(image))))
    image[offset : offset + len(data)] = data


class FailingDisk(apsw.VFS):
    """The disk on which SQLite opens its files; `before_write` is called before each write, cut and sync."""

    def __init__(self, before_write: Callable[[], None]) -> None:
        self.real, *_ = apsw.vfs_names()
        super().__init__(_VFS_NAME, self.real, makedefault=True)
        self.before_write = before_write
        self._files: dict[str, _DiskFile] = {}

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:
        """Open a file that reports its writes to the disk."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None or not flags[0] & _WATCHED_FILES:
            return super().xOpen(name, flags)
        return _WatchedFile(name or "", flags, self, self._files.setdefault(path, _DiskFile()))

    def sync_all(self) -> None:
        """Sync every file."""
        for file in self._files.values():
            file.sync()

    def cut_power(self, folder: Path, random: Random) -> None:
        """Write the files as they are found after a power failure now, into a new folder."""
        folder.mkdir()
        for path, file in self._files.items():
            (folder / Path(path).name).write_bytes(file.image_after_cut(random))


class _WatchedFile(apsw.VFSFile):
    def __init__(self, name: apsw.URIFilename | str, flags: list[int], disk: FailingDisk, disk_file: _DiskFile) -> None:
        super().__init__(disk.real, name, flags)
        self._disk = disk
        self._disk_file = disk_file

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.before_write()
        self._disk_file.pending.append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._disk.before_write()
        self._disk_file.pending.append((size, None))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._disk.before_write()
        self._disk_file.sync()
        super().xSync(flags)
