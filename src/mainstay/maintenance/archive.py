"""The format of a backup: a ZIP that ends with the SHA-256 checksum of all bytes before it.

    manifest.json       what the backup contains
    secret              the installation's secret, if it was in a file
    files/SHA-256       uploaded files
    tables/NAME.jsonl   the rows of a table, each a JSON list of the columns that the manifest names

The rows do not depend on the database engine. They can be restored into either one.
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

from mainstay.values.message import RenderedText
from mainstay.vocabulary.refusal import Conflict

FORMAT_VERSION = 1
MANIFEST, SECRET, FILES, TABLES = "manifest.json", "secret", "files/", "tables/"
# The checksum is in the ZIP's comment, which is the last thing in the file.
_CHECKSUM_PREFIX = b"mainstay backup, sha256 "
_CHECKSUM_LENGTH = 64
_CHUNK_BYTES = 1 << 20


class OperatorRefusal(Conflict):
    """A command of the operator cannot be carried out. Commands speak English."""

    def __init__(self, text: str) -> None:
        super().__init__(RenderedText(text))


class DamagedBackup(OperatorRefusal):
    """The file is not a complete and unchanged backup."""


@dataclass(frozen=True, slots=True)
class BackupTable:
    """A table in a backup: its columns and the number of its rows."""

    columns: list[str]
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a backup, inside the backup."""

    format: int
    version: str
    taken_at: str
    # The engine that it was taken from. The rows are the same for either.
    engine: str
    # The number of its last schema step, which is the same for either engine.
    schema: int
    tables: dict[str, BackupTable]
    files: int
    # A fingerprint of the installation's secret, to recognise the same one. None if there was no secret yet.
    secret: str | None

    def write(self, archive: ZipFile) -> None:
        """Write the manifest into the backup."""
        archive.writestr(MANIFEST, orjson.dumps(self, option=orjson.OPT_INDENT_2))

    @classmethod
    def read(cls, archive: ZipFile) -> "Manifest":
        """Read the manifest of a backup whose checksum was verified."""
        data = orjson.loads(archive.read(MANIFEST))
        if data["format"] != FORMAT_VERSION:
            raise OperatorRefusal(
                f"The backup has the form {data['format']}; this Mainstay knows {FORMAT_VERSION}. Use a newer one."
            )
        return cls(**data | {"tables": {name: BackupTable(**table) for name, table in data["tables"].items()}})


@contextmanager
def create_backup_file(path: Path) -> Iterator[ZipFile]:
    """Open a new backup for writing, readable only by the operator.

    The file gets its name only after all of it, with the checksum, is on the disk.
    """
    if path.exists():
        raise OperatorRefusal(f"There is a file {path} already. Name another one.")
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        _remove_abandoned(path.parent)
        with _create_locked(fresh) as file:
            with ZipFile(file, "w", ZIP_DEFLATED) as archive:
                archive.comment = _CHECKSUM_PREFIX + b"0" * _CHECKSUM_LENGTH
                yield archive
            file.flush()
            checksum = _compute_checksum(file)
            file.seek(-_CHECKSUM_LENGTH, os.SEEK_END)
            file.write(checksum)
            file.flush()
            os.fsync(file.fileno())
        # A hard link never replaces a file that was created meanwhile.
        path.hardlink_to(fresh)
    except OSError as error:
        raise OperatorRefusal(f"The backup cannot be written to {path}: {error.strerror or error}.") from error
    finally:
        fresh.unlink(missing_ok=True)


_UNFINISHED = re.compile(r".+\.[0-9a-f]{8}\.unfinished")


def _create_locked(path: Path) -> BinaryIO:
    """Create a file and lock it as long as it is open. The lock ends with the process."""
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b")
        flock(file, LOCK_EX)
        # Before the file was locked, another backup may have taken it for an abandoned one and removed it.
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()


def _remove_abandoned(folder: Path) -> None:
    """Remove the unfinished backups of processes that died."""
    for path in folder.glob("*.unfinished"):
        if _UNFINISHED.fullmatch(path.name):
            # A backup that is still being written is locked, and one of another user cannot be opened: both stay.
            with suppress(OSError), path.open("r+b") as file:
                flock(file, LOCK_EX | LOCK_NB)
                path.unlink()


@contextmanager
def open_backup_file(path: Path) -> Iterator[ZipFile]:
    """Open a backup for reading after verifying the checksum of all its bytes."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            _verify_checksum(path, file)
            archive = stack.enter_context(ZipFile(file))
        except BadZipFile as error:
            raise DamagedBackup(f"{path} is no backup of Mainstay: {error}.") from error
        except OSError as error:
            raise OperatorRefusal(f"{path} cannot be read: {error.strerror or error}.") from error
        yield archive


def checksum_of(path: Path) -> str:
    """Return the checksum at the end of a backup."""
    with path.open("rb") as file:
        file.seek(-_CHECKSUM_LENGTH, os.SEEK_END)
        return file.read().decode("ascii")


def _verify_checksum(path: Path, file: BinaryIO) -> None:
    size = file.seek(0, os.SEEK_END)
    prefix = b""
    if size > len(_CHECKSUM_PREFIX) + _CHECKSUM_LENGTH:
        file.seek(-_CHECKSUM_LENGTH - len(_CHECKSUM_PREFIX), os.SEEK_END)
        prefix = file.read(len(_CHECKSUM_PREFIX))
    if prefix != _CHECKSUM_PREFIX:
        raise DamagedBackup(f"{path} is no backup of Mainstay, or its end is missing or damaged.")
    stored = file.read(_CHECKSUM_LENGTH)
    if stored != _compute_checksum(file):
        raise DamagedBackup(f"{path} is damaged: its content is not what was written. Use another backup.")


def _compute_checksum(file: BinaryIO) -> bytes:
    """Return the checksum of all bytes except the last ones, which are the checksum itself."""
    remaining = file.seek(0, os.SEEK_END) - _CHECKSUM_LENGTH
    file.seek(0)
    digest = hashlib.sha256()
    while remaining > 0:
        chunk = file.read(min(remaining, _CHUNK_BYTES))
        digest.update(chunk)
        remaining -= len(chunk)
    return digest.hexdigest().encode("ascii")
