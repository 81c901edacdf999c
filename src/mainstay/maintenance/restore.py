"""`restore`: brings a backup into an empty installation, completely or not at all."""

import os
from collections.abc import Iterator, Mapping
from zipfile import ZipFile

import orjson

from mainstay.infrastructure.database import DatabaseHandle, SchemaHandle, UniqueViolation, Value
from mainstay.infrastructure.files import content_name_of
from mainstay.infrastructure.installation_parts import forget_file_store
from mainstay.infrastructure.installation_secret import fingerprint_of
from mainstay.infrastructure.migrations.apply import (
    LAST_WITH_OLDER_STEPS,
    is_too_old,
    migrate,
    newest_step,
    steps_for,
)
from mainstay.infrastructure.schema import SchemaTable, read_tables
from mainstay.maintenance.archive import FILES, SECRET, TABLES, BackupTable, DamagedBackup, Manifest, OperatorRefusal
from mainstay.maintenance.backup import ReportProgress
from mainstay.maintenance.installation import Installation

# This table is not restored, because it lists the steps that were applied to this database itself.
_STEP_TABLE = "schema_step"
# All other data belongs to a row in one of these tables.
_ROOT_TABLES = ("organisation", "account")


def restore_backup(archive: ZipFile, target: Installation, report: ReportProgress) -> Manifest:
    """Restore a backup: first the files, which nothing refers to yet, then the database in one transaction.

    Before the rows are restored, the schema is migrated to that of the backup; afterwards, to the newest one.
    """
    manifest = Manifest.read(archive)
    _check_schema(manifest, target)
    _check_secret(manifest, archive, target)
    try:
        _restore_files(archive, manifest, target, report)
        _restore_secret(archive, target)
    except OSError as error:
        raise OperatorRefusal(
            f"The files cannot be written to {target.folder.path}: {error.strerror or error}."
        ) from error
    migrate(target.database, manifest.schema)
    _restore_rows(archive, manifest, target, report)
    migrate(target.database)
    forget_file_store(target.database)
    return manifest


def _check_schema(manifest: Manifest, target: Installation) -> None:
    engine = target.database.engine
    newest_known = steps_for(engine)[-1].number
    if manifest.schema > newest_known:
        raise OperatorRefusal(
            f"The backup has schema step {manifest.schema}; this Mainstay knows {newest_known}. Use a newer one to"
            " restore it."
        )
    if is_too_old(manifest.schema, engine):
        raise OperatorRefusal(
            f"The backup has schema step {manifest.schema}, which is older than this Mainstay can bring up to date."
            f" Restore it with {LAST_WITH_OLDER_STEPS}, and back up from there."
        )
    with target.database.scan_transaction() as db:
        existing_tables = {table.name for table in read_tables(db, engine)}
        _check_empty(db, existing_tables)
        applied = newest_step(db) if _STEP_TABLE in existing_tables else 0
        if applied > manifest.schema or is_too_old(applied, engine):
            raise OperatorRefusal(
                f"The database has schema step {applied} already, and the backup {manifest.schema}."
                " Restore it into a database without tables."
            )


def check_movable(source: Installation, target: Installation) -> None:
    """Refuse a target that an installation cannot be moved to, before anything is copied."""
    with target.database.scan_transaction() as db:
        if _has_data(db, {table.name for table in read_tables(db, target.database.engine)}):
            raise OperatorRefusal("There is data there already, and nothing is moved over any. Name an empty place.")
    if source.secret and target.secret not in {None, source.secret}:
        raise OperatorRefusal(f"{target.folder.secret} is another secret than the one here. Take it away first.")


def _check_empty(db: DatabaseHandle, existing_tables: set[str]) -> None:
    if _has_data(db, existing_tables):
        raise OperatorRefusal(
            "There is data here already, and a backup never goes over any. Restore it into an empty place."
        )


def _has_data(db: DatabaseHandle, existing_tables: set[str]) -> bool:
    return any(db.one(f"SELECT 1 FROM {root} LIMIT 1") for root in _ROOT_TABLES if root in existing_tables)


def _check_secret(manifest: Manifest, archive: ZipFile, target: Installation) -> None:
    """Refuse another secret than that of the backup, because links and webhooks are derived from it."""
    own_secret = target.secret
    if manifest.secret is None or (own_secret and fingerprint_of(own_secret) == manifest.secret):
        return
    if target.given_secret is not None:
        raise OperatorRefusal("MAINSTAY_SECRET is another secret than that of the backup. Set it to what it was.")
    if own_secret:
        raise OperatorRefusal(f"{target.folder.secret} is another secret than that of the backup. Take it away first.")
    if SECRET not in archive.namelist():
        raise OperatorRefusal("The secret of the backup was given by MAINSTAY_SECRET. Set it to what it was.")


def _restore_files(archive: ZipFile, manifest: Manifest, target: Installation, report: ReportProgress) -> None:
    """Restore the files. Each is stored under the hash of its content, so no existing file changes."""
    names = [name for name in archive.namelist() if name.startswith(FILES)]
    if len(names) != manifest.files:
        raise DamagedBackup("The backup has not the files that it tells of. Use another one.")
    for name in names:
        content = archive.read(name)
        if content_name_of(content) != name.removeprefix(FILES):
            raise DamagedBackup(f"The backup has something else in it under the name {name}. Use another one.")
        target.files.store(content)
    report(f"{len(names)} files")


def _restore_secret(archive: ZipFile, target: Installation) -> None:
    if SECRET in archive.namelist() and target.secret is None:
        descriptor = os.open(target.folder.secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(archive.read(SECRET))
            file.flush()
            os.fsync(file.fileno())


def _restore_rows(archive: ZipFile, manifest: Manifest, target: Installation, report: ReportProgress) -> None:
    with target.database.load_transaction() as db:
        tables = read_tables(db, target.database.engine)
        # Checked again, now that nobody else can write.
        _check_empty(db, {table.name for table in tables})
        _check_tables(tables, manifest.tables)
        for table in reversed(tables):
            if table.name != _STEP_TABLE:
                db.run(f"DELETE FROM {table.name}")
        for table in tables:
            if table.name != _STEP_TABLE:
                _restore_table(db, archive, table.name, manifest.tables[table.name])
                report(f"table {table.name}: {manifest.tables[table.name].rows} rows")


def _check_tables(tables: list[SchemaTable], backup_tables: Mapping[str, BackupTable]) -> None:
    own_columns = {table.name: set(table.columns) for table in tables}
    backup_columns = {name: set(table.columns) for name, table in backup_tables.items()}
    if own_columns != backup_columns:
        differing = sorted(
            name
            for name in own_columns.keys() | backup_columns.keys()
            if own_columns.get(name) != backup_columns.get(name)
        )
        raise OperatorRefusal(f"The backup has other tables than its schema step says: {', '.join(differing)}.")


def _restore_table(db: SchemaHandle, archive: ZipFile, table: str, expected: BackupTable) -> None:
    # The names of SQL parameters may not contain digits.
    names = ["v_" + "".join(chr(97 + int(digit)) for digit in str(index)) for index in range(len(expected.columns))]
    values = ", ".join(f":{name}" for name in names)
    try:
        db.run_many(
            f"INSERT INTO {table} ({', '.join(expected.columns)}) VALUES ({values})", _read_rows(archive, table, names)
        )
    except UniqueViolation as error:
        problem = " ".join(str(error).split())
        raise OperatorRefusal(f"The rows of the table {table} in the backup do not fit together: {problem}") from error
    count_row = db.one(f"SELECT count(*) FROM {table}")
    if count_row != (expected.rows,):
        raise DamagedBackup(f"The backup has not the rows of the table {table} that it tells of. Use another one.")


def _read_rows(archive: ZipFile, table: str, names: list[str]) -> Iterator[dict[str, Value]]:
    with archive.open(f"{TABLES}{table}.jsonl") as file:
        for line in file:
            yield dict(zip(names, orjson.loads(line), strict=True))
