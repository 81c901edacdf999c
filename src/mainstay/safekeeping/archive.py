"""A backup as a file: a ZIP that anyone can open, whose last words are the SHA-256 of every byte before them.

    manifest.json       what is in it
    secret              the installation's secret, where it was a file
    files/SHA-256       what people handed in
    tables/NAME.jsonl   the rows of a table, each a JSON list of the columns that the manifest names

The rows are the same whichever engine they come from, and go into either.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import orjson

from mainstay.terms.refusal import Conflict, Refusal

FORMAT = 1
MANIFEST, SECRET, FILES, TABLES = "manifest.json", "secret", "files/", "tables/"
# A comment is the last thing in a ZIP.
_MARK = b"mainstay backup, sha256 "
_DIGITS = 64
_CHUNK = 1 << 20


class Damaged(Refusal):
    """The file is not the backup that was made."""


@dataclass(frozen=True, slots=True)
class KeptTable:
    """A table in a backup: the columns of each row, and how many rows there are."""

    columns: list[str]
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup tells of itself."""

    format: int
    version: str
    taken_at: str
    # Where it was taken; rows are the same on either.
    engine: str
    # How far its schema was, in steps of either engine.
    schema: int
    tables: dict[str, KeptTable]
    files: int
    # A print of the installation's secret by which the same one is known; None where there was none yet.
    secret: str | None

    def write(self, archive: ZipFile) -> None:
        """Put it into the backup."""
        archive.writestr(MANIFEST, orjson.dumps(self, option=orjson.OPT_INDENT_2))

    @classmethod
    def read(cls, archive: ZipFile) -> "Manifest":
        """Out of a backup whose seal was found whole."""
        told = orjson.loads(archive.read(MANIFEST))
        if told["format"] != FORMAT:
            raise Conflict(f"The backup has the form {told['format']}; this Mainstay knows {FORMAT}. Use a newer one.")
        return cls(**told | {"tables": {name: KeptTable(**kept) for name, kept in told["tables"].items()}})


@contextmanager
def writing(path: Path) -> Iterator[ZipFile]:
    """A new backup, for the operator's eyes only; it has its name once all of it is on the disk, and sealed."""
    if path.exists():
        raise Conflict(f"There is a file {path} already. Name another one.")
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        _remove_abandoned(path.parent)
        with _create_locked(fresh) as file:
            with ZipFile(file, "w", ZIP_DEFLATED) as archive:
                archive.comment = _MARK + b"0" * _DIGITS
                yield archive
            file.flush()
            digest = _digest(file)
            file.seek(-_DIGITS, os.SEEK_END)
            file.write(digest)
            file.flush()
            os.fsync(file.fileno())
        # A link never replaces a file that has come to be there meanwhile.
        path.hardlink_to(fresh)
    except OSError as fault:
        raise Conflict(f"The backup cannot be written to {path}: {fault.strerror or fault}.") from fault
    finally:
        fresh.unlink(missing_ok=True)


_UNFINISHED = re.compile(r".+\.[0-9a-f]{8}\.unfinished")


def _create_locked(path: Path) -> BinaryIO:
    """Create a file that is locked for as long as it is open, and no longer: the lock dies with the process."""
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b")
        flock(file, LOCK_EX)
        # Before it was locked, another backup may have taken it for an abandoned one.
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()


def _remove_abandoned(folder: Path) -> None:
    """Remove the unfinished backups of processes that died."""
    for path in folder.glob("*.unfinished"):
        if _UNFINISHED.fullmatch(path.name):
            # Of one that is still written, the lock is taken; one of somebody else stays.
            with suppress(OSError), path.open("r+b") as file:
                flock(file, LOCK_EX | LOCK_NB)
                path.unlink()


@contextmanager
def reading(path: Path) -> Iterator[ZipFile]:
    """A backup that is whole: every byte of it was looked at before any is believed."""
    with ExitStack() as opened:
        try:
            file = opened.enter_context(path.open("rb"))
            _check_seal(path, file)
            archive = opened.enter_context(ZipFile(file))
        except BadZipFile as fault:
            raise Damaged(f"{path} is no backup of Mainstay: {fault}.") from fault
        except OSError as fault:
            raise Conflict(f"{path} cannot be read: {fault.strerror or fault}.") from fault
        yield archive


def seal_of(path: Path) -> str:
    """The checksum with which a backup ends."""
    with path.open("rb") as file:
        file.seek(-_DIGITS, os.SEEK_END)
        return file.read().decode("ascii")


def _check_seal(path: Path, file: BinaryIO) -> None:
    size = file.seek(0, os.SEEK_END)
    mark = b""
    if size > len(_MARK) + _DIGITS:
        file.seek(-_DIGITS - len(_MARK), os.SEEK_END)
        mark = file.read(len(_MARK))
    if mark != _MARK:
        raise Damaged(f"{path} is no backup of Mainstay, or its end is missing or damaged.")
    sealed = file.read(_DIGITS)
    if sealed != _digest(file):
        raise Damaged(f"{path} is damaged: its content is not what was written. Use another backup.")


def _digest(file: BinaryIO) -> bytes:
    """The checksum of all but the last digits, in which it stands itself."""
    left = file.seek(0, os.SEEK_END) - _DIGITS
    file.seek(0)
    digest = hashlib.sha256()
    while left > 0:
        chunk = file.read(min(left, _CHUNK))
        digest.update(chunk)
        left -= len(chunk)
    return digest.hexdigest().encode("ascii")
