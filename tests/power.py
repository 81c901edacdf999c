"""A disk whose power fails: what was not synced may be lost, kept or torn, whatever was written first."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import apsw

_SECTOR = 512
_WATCHED = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_WAL
_NAME = "failing power"


@dataclass(slots=True)
class _Medium:
    """A file as the disk surely holds it, and what was done to it since the last sync."""

    kept: bytearray = field(default_factory=bytearray)
    # Each is an offset and what is written there; no bytes where the file is cut off there.
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        for offset, data in self.pending:
            _apply(self.kept, offset, data)
        self.pending.clear()

    def after_a_cut(self, random: Random) -> bytes:
        image = bytearray(self.kept)
        for offset, data in self.pending:
            sectors = -(-len(data or b"") // _SECTOR)
            match random.randrange(3), data:
                case 0, _:
                    _apply(image, offset, data)
                case 1, bytes():
                    _apply(image, offset, data[: random.randint(0, sectors) * _SECTOR])
        return bytes(image)


def _apply(image: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del image[offset:]
        return
    image.extend(bytes(max(0, offset - len(image))))
    image[offset : offset + len(data)] = data


class Disk(apsw.VFS):
    """Where SQLite opens its files while this is registered; `about_to` is called before whatever is done to one."""

    def __init__(self, about_to: Callable[[], None]) -> None:
        self.real, *_ = apsw.vfs_names()
        super().__init__(_NAME, self.real, makedefault=True)
        self.about_to = about_to
        self._media: dict[str, _Medium] = {}

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:
        """A file that tells the disk what is done to it."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None or not flags[0] & _WATCHED:
            return super().xOpen(name, flags)
        return _File(name or "", flags, self, self._media.setdefault(path, _Medium()))

    def sync_all(self) -> None:
        """Have everything on the disk, as long ago."""
        for medium in self._media.values():
            medium.sync()

    def cut(self, folder: Path, random: Random) -> None:
        """What a machine finds after the power failed now, in a new folder."""
        folder.mkdir()
        for path, medium in self._media.items():
            (folder / Path(path).name).write_bytes(medium.after_a_cut(random))


class _File(apsw.VFSFile):
    def __init__(self, name: apsw.URIFilename | str, flags: list[int], disk: Disk, medium: _Medium) -> None:
        super().__init__(disk.real, name, flags)
        self._disk = disk
        self._medium = medium

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.about_to()
        self._medium.pending.append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._disk.about_to()
        self._medium.pending.append((size, None))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._disk.about_to()
        self._medium.sync()
        super().xSync(flags)
