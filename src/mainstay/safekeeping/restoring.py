"""`restore`: a backup into a place where nothing is yet; all of it, or nothing."""

import os
from collections.abc import Iterator, Mapping
from zipfile import ZipFile

import orjson

from mainstay.backing.database import Clash, Handle, SchemaHandle, Value
from mainstay.backing.files import name_of
from mainstay.backing.migrations.apply import level, migrate, newest_known, newest_step
from mainstay.backing.schema import Table, read_tables
from mainstay.safekeeping.archive import FILES, SECRET, TABLES, Damaged, KeptTable, Manifest
from mainstay.safekeeping.installation import Installation, print_of
from mainstay.safekeeping.taking import Tell
from mainstay.terms.refusal import Conflict

# Which steps were applied is this database's own to say.
_NOTES = "schema_step"
# Whatever is there hangs on one of these.
_ROOTS = ("organisation", "account")


def restore(archive: ZipFile, target: Installation, tell: Tell) -> Manifest:
    """Bring a backup back: files first, which are found by nobody yet, then the database in one transaction.

    The schema is first brought to where it was, and then to the newest.
    """
    manifest = Manifest.read(archive)
    _check_schema(manifest, target)
    _check_secret(manifest, archive, target)
    try:
        _bring_files(archive, manifest, target, tell)
        _bring_secret(archive, target)
    except OSError as fault:
        raise Conflict(f"The files cannot be written to {target.folder.path}: {fault.strerror or fault}.") from fault
    migrate(target.database, manifest.schema)
    _bring_rows(archive, manifest, target, tell)
    migrate(target.database)
    return manifest


def _check_schema(manifest: Manifest, target: Installation) -> None:
    known, engine = newest_known(), target.database.engine
    if manifest.schema > known:
        raise Conflict(
            f"The backup has schema step {manifest.schema}; this Mainstay knows {known}. Use a newer one to restore it."
        )
    with target.database.surveying() as rows:
        there = {table.name for table in read_tables(rows, engine)}
        _check_empty(rows, there)
        if _NOTES in there and (here := level(engine, newest_step(rows))) > manifest.schema:
            raise Conflict(
                f"The database has schema step {here} already, and the backup {manifest.schema}."
                " Restore it into a database without tables."
            )


def check_movable(source: Installation, target: Installation) -> None:
    """Refuse a place to which nothing could be moved, before anything is copied."""
    with target.database.surveying() as rows:
        if _has_data(rows, {table.name for table in read_tables(rows, target.database.engine)}):
            raise Conflict("There is data there already, and nothing is moved over any. Name an empty place.")
    if source.secret and target.secret not in {None, source.secret}:
        raise Conflict(f"{target.folder.secret} is another secret than the one here. Take it away first.")


def _check_empty(rows: Handle, there: set[str]) -> None:
    if _has_data(rows, there):
        raise Conflict("There is data here already, and a backup never goes over any. Restore it into an empty place.")


def _has_data(rows: Handle, there: set[str]) -> bool:
    return any(rows.one(f"SELECT 1 FROM {root} LIMIT 1") for root in _ROOTS if root in there)


def _check_secret(manifest: Manifest, archive: ZipFile, target: Installation) -> None:
    """Refuse another secret than the one that links and webhooks were made with."""
    here = target.secret
    if manifest.secret is None or (here and print_of(here) == manifest.secret):
        return
    if target.given_secret is not None:
        raise Conflict("MAINSTAY_SECRET is another secret than that of the backup. Set it to what it was.")
    if here:
        raise Conflict(f"{target.folder.secret} is another secret than that of the backup. Take it away first.")
    if SECRET not in archive.namelist():
        raise Conflict("The secret of the backup was given by MAINSTAY_SECRET. Set it to what it was.")


def _bring_files(archive: ZipFile, manifest: Manifest, target: Installation, tell: Tell) -> None:
    """Each under the hash of its content, so that nothing that is there already is touched."""
    names = [name for name in archive.namelist() if name.startswith(FILES)]
    if len(names) != manifest.files:
        raise Damaged("The backup has not the files that it tells of. Use another one.")
    for name in names:
        content = archive.read(name)
        if name_of(content) != name.removeprefix(FILES):
            raise Damaged(f"The backup has something else in it under the name {name}. Use another one.")
        target.files.keep(content)
    tell(f"{len(names)} files")


def _bring_secret(archive: ZipFile, target: Installation) -> None:
    if SECRET in archive.namelist() and target.secret is None:
        descriptor = os.open(target.folder.secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(archive.read(SECRET))
            file.flush()
            os.fsync(file.fileno())


def _bring_rows(archive: ZipFile, manifest: Manifest, target: Installation, tell: Tell) -> None:
    with target.database.filling() as rows:
        tables = read_tables(rows, target.database.engine)
        # Asked again, where nobody else writes.
        _check_empty(rows, {table.name for table in tables})
        _check_tables(tables, manifest.tables)
        for table in reversed(tables):
            if table.name != _NOTES:
                rows.run(f"DELETE FROM {table.name}")
        for table in tables:
            if table.name != _NOTES:
                _fill(rows, archive, table.name, manifest.tables[table.name])
                tell(f"table {table.name}: {manifest.tables[table.name].rows} rows")


def _check_tables(tables: list[Table], kept: Mapping[str, KeptTable]) -> None:
    here = {table.name: set(table.columns) for table in tables}
    there = {name: set(table.columns) for name, table in kept.items()}
    if here != there:
        differing = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
        raise Conflict(f"The backup has other tables than its schema step says: {', '.join(differing)}.")


def _fill(rows: SchemaHandle, archive: ZipFile, table: str, kept: KeptTable) -> None:
    # The names of parameters have letters only.
    names = ["v_" + "".join(chr(97 + int(digit)) for digit in str(place)) for place in range(len(kept.columns))]
    values = ", ".join(f":{name}" for name in names)
    try:
        rows.fill(f"INSERT INTO {table} ({', '.join(kept.columns)}) VALUES ({values})", _read(archive, table, names))
    except Clash as fault:
        said = " ".join(str(fault).split())
        raise Conflict(f"The rows of the table {table} in the backup do not fit together: {said}") from fault
    counted = rows.one(f"SELECT count(*) FROM {table}")
    if counted != (kept.rows,):
        raise Damaged(f"The backup has not the rows of the table {table} that it tells of. Use another one.")


def _read(archive: ZipFile, table: str, names: list[str]) -> Iterator[dict[str, Value]]:
    with archive.open(f"{TABLES}{table}.jsonl") as part:
        for line in part:
            yield dict(zip(names, orjson.loads(line), strict=True))
