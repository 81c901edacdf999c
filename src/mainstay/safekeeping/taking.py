"""`backup`: one state of everything into one file, while others go on working."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import orjson

from mainstay.backing.database import Row, Survey
from mainstay.backing.files import Files, name_of
from mainstay.backing.migrations.apply import level, newest_step
from mainstay.backing.schema import Table, read_tables
from mainstay.safekeeping.archive import FILES, FORMAT, SECRET, TABLES, KeptTable, Manifest, writing
from mainstay.safekeeping.installation import Installation, print_of
from mainstay.terms.refusal import Conflict
from mainstay.values.moments import moment_text

Tell = Callable[[str], None]

_ROWS_AT_ONCE = 1000
_FILES_TOLD = 500


@dataclass(frozen=True, slots=True)
class Taken:
    """A backup that was made."""

    manifest: Manifest
    # The files that rows name and that were not there, or were not what they are named after.
    missing: list[str]


def take(source: Installation, path: Path, now: datetime, named_in: Sequence[str], tell: Tell) -> Taken:
    """Copy an installation into a new file; the columns in which files are named say which files."""
    engine = source.database.engine
    with writing(path) as archive, source.database.surveying() as rows:
        tables = read_tables(rows, engine)
        if not any(table.name == "schema_step" for table in tables):
            raise Conflict("There is nothing to back up: the database has no tables of Mainstay yet.")
        secret = source.secret
        if secret and source.given_secret is None:
            archive.writestr(SECRET, secret)
        # First: what someone removes from now on is let go an hour later.
        copied, missing = _copy_files(archive, source.files, list(_names(rows, tables, named_in)), tell)
        kept = {table.name: _copy_table(archive, rows, table, tell) for table in tables}
        manifest = Manifest(
            format=FORMAT,
            version=version("mainstay"),
            taken_at=moment_text(now),
            engine=engine,
            schema=level(engine, newest_step(rows)),
            tables=kept,
            files=copied,
            secret=print_of(secret),
        )
        manifest.write(archive)
        tell("sealing it with a checksum")
    return Taken(manifest, missing)


def is_the_latest(manifest: Manifest, source: Installation) -> bool:
    """Whether nothing was done since a backup was taken: whatever is done is in the trail."""
    with source.database.surveying() as rows:
        return rows.one("SELECT count(*) FROM audit") == (manifest.tables["audit"].rows,)


def _names(rows: Survey, tables: Sequence[Table], named_in: Sequence[str]) -> Iterator[str]:
    """The names of all files that rows name; an older schema has fewer columns that do."""
    there = {f"{table.name}.{column}" for table in tables for column in table.columns}
    naming = [
        f"SELECT {column} FROM {column.partition('.')[0]} WHERE {column} IS NOT NULL"
        for column in named_in
        if column in there
    ]
    if naming:
        yield from (str(name) for (name,) in rows.each(" UNION ".join(naming)))


def _copy_files(archive: ZipFile, files: Files, names: Sequence[str], tell: Tell) -> tuple[int, list[str]]:
    missing = []
    for place, name in enumerate(names, 1):
        try:
            content = files.path(name).read_bytes()
        except OSError:
            content = b""
        if name_of(content) == name:
            # Pictures and PDFs are packed already.
            archive.writestr(f"{FILES}{name}", content, ZIP_STORED)
        else:
            missing.append(name)
        if place % _FILES_TOLD == 0 or place == len(names):
            tell(f"{place} of {len(names)} files")
    return len(names) - len(missing), missing


def _copy_table(archive: ZipFile, rows: Survey, table: Table, tell: Tell) -> KeptTable:
    count = 0
    found = rows.each(f"SELECT {', '.join(table.columns)} FROM {table.name}")
    with archive.open(f"{TABLES}{table.name}.jsonl", "w", force_zip64=True) as part:
        while some := list(islice(found, _ROWS_AT_ONCE)):
            part.write(b"".join(map(_line, some)))
            count += len(some)
    tell(f"table {table.name}: {count} rows")
    return KeptTable(list(table.columns), count)


def _line(row: Row) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
