"""`backup`: copies a consistent state of the whole installation into one file, while others go on working."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import orjson

from mainstay.infrastructure.database import Row, ScanHandle
from mainstay.infrastructure.files import FileStore, content_name_of
from mainstay.infrastructure.installation_secret import fingerprint_of
from mainstay.infrastructure.migrations.apply import newest_step
from mainstay.infrastructure.schema import SchemaTable, read_tables
from mainstay.maintenance.archive import (
    FILES,
    FORMAT_VERSION,
    SECRET,
    TABLES,
    BackupTable,
    Manifest,
    OperatorRefusal,
    create_backup_file,
)
from mainstay.maintenance.installation import Installation
from mainstay.values.moments import moment_text

ReportProgress = Callable[[str], None]

_BATCH_SIZE = 1000
_REPORT_EVERY = 500


@dataclass(frozen=True, slots=True)
class BackupResult:
    """The result of a backup."""

    manifest: Manifest
    # The files that rows refer to and that are missing or have other content than their name says.
    missing: list[str]


def back_up(
    source: Installation, path: Path, now: datetime, file_columns: Sequence[str], report: ReportProgress
) -> BackupResult:
    """Copy an installation into a new file.

    `file_columns` are the columns that contain the names of files.
    """
    engine = source.database.engine
    with create_backup_file(path) as archive, source.database.scan_transaction() as db:
        tables = read_tables(db, engine)
        if not any(table.name == "schema_step" for table in tables):
            raise OperatorRefusal("There is nothing to back up: the database has no tables of Mainstay yet.")
        secret = source.secret
        if secret and source.given_secret is None:
            archive.writestr(SECRET, secret)
        # Files are copied first, because a file that someone removes is kept for one more hour.
        copied, missing = _copy_files(archive, source.files, list(find_file_names(db, tables, file_columns)), report)
        stored_tables = {table.name: _copy_table(archive, db, table, report) for table in tables}
        manifest = Manifest(
            format=FORMAT_VERSION,
            version=version("mainstay"),
            taken_at=moment_text(now),
            engine=engine,
            schema=newest_step(db),
            tables=stored_tables,
            files=copied,
            secret=fingerprint_of(secret) if secret else None,
        )
        manifest.write(archive)
        report("sealing it with a checksum")
    return BackupResult(manifest, missing)


def is_up_to_date(manifest: Manifest, source: Installation) -> bool:
    """Return whether nothing has changed since the backup. Every change adds a row to the audit trail."""
    with source.database.scan_transaction() as db:
        return db.one("SELECT count(*) FROM audit") == (manifest.tables["audit"].rows,)


def find_file_names(db: ScanHandle, tables: Sequence[SchemaTable], file_columns: Sequence[str]) -> Iterator[str]:
    """Yield the names of all files that rows refer to. An older schema may lack some of the columns."""
    existing = {f"{table.name}.{column}" for table in tables for column in table.columns}
    queries = [
        f"SELECT {column} FROM {column.partition('.')[0]} WHERE {column} IS NOT NULL"
        for column in file_columns
        if column in existing
    ]
    if queries:
        yield from (str(name) for (name,) in db.stream(" UNION ".join(queries)))


def _copy_files(
    archive: ZipFile, files: FileStore, names: Sequence[str], report: ReportProgress
) -> tuple[int, list[str]]:
    missing = []
    for number, name in enumerate(names, 1):
        try:
            content = files.read(name)
        except OSError:
            content = b""
        if content_name_of(content) == name:
            # Pictures and PDFs are already compressed.
            archive.writestr(f"{FILES}{name}", content, ZIP_STORED)
        else:
            missing.append(name)
        if number % _REPORT_EVERY == 0 or number == len(names):
            report(f"{number} of {len(names)} files")
    return len(names) - len(missing), missing


def _copy_table(archive: ZipFile, db: ScanHandle, table: SchemaTable, report: ReportProgress) -> BackupTable:
    count = 0
    found = db.stream(f"SELECT {', '.join(table.columns)} FROM {table.name}")
    with archive.open(f"{TABLES}{table.name}.jsonl", "w", force_zip64=True) as part:
        while batch := list(islice(found, _BATCH_SIZE)):
            part.write(b"".join(map(_to_json_line, batch)))
            count += len(batch)
    report(f"table {table.name}: {count} rows")
    return BackupTable(list(table.columns), count)


def _to_json_line(row: Row) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
