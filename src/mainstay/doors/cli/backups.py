"""The operator's commands about all stored data: check it, back it up, restore it and move it."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from time import monotonic
from zipfile import ZipFile

from mainstay.business.records.file_removal import STORED_FILE_COLUMNS
from mainstay.catalogue import INVARIANTS
from mainstay.composition import connect, open_files
from mainstay.doors.cli.output import CheckFailed
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.maintenance import backup as taking
from mainstay.maintenance import check as checking
from mainstay.maintenance import files_move as moving
from mainstay.maintenance import restore as restoring
from mainstay.maintenance.archive import Manifest, checksum_of, open_backup_file
from mainstay.maintenance.backup import ReportProgress
from mainstay.maintenance.installation import Installation
from mainstay.settings import SettingError, Settings, with_file_store
from mainstay.values.json_object import JsonObject
from mainstay.values.message import Message
from mainstay.values.moments import system_clock
from mainstay.vocabulary.refusal import Conflict


def check(settings: Settings, _options: Namespace) -> JsonObject:
    """Check every invariant; nothing is changed, not even an older schema."""
    with _open_existing(settings) as installation:
        return _check_invariants({}, installation)


def backup(settings: Settings, options: Namespace) -> JsonObject:
    """Copy one consistent state of everything into one file."""
    path = Path(options.file)
    file_columns = () if options.without_files else STORED_FILE_COLUMNS
    with _open_existing(settings) as installation:
        copy = taking.back_up(installation, path, system_clock(), file_columns, _progress_printer(options))
    outcome = {
        "file": str(path),
        "bytes": path.stat().st_size,
        "seal": checksum_of(path),
        **_count_contents(copy.manifest),
        "missing": copy.missing,
    }
    if copy.missing:
        raise CheckFailed(outcome, str(_FILES_MISSING))
    return outcome


def restore(settings: Settings, options: Namespace) -> JsonObject:
    """Restore a backup into an empty installation, and check it there."""
    # The whole backup is verified before anything is created here.
    with open_backup_file(Path(options.file)) as archive, _open_installation(settings) as installation:
        return _restore_and_check(archive, installation, options)


def verify_backup(settings: Settings, options: Namespace) -> JsonObject:
    """Restore a backup into a temporary installation, check it there, and remove it; the installation is not used."""
    with (
        open_backup_file(Path(options.file)) as archive,
        TemporaryDirectory(prefix="mainstay-") as folder,
        _open_installation(replace(settings, database=None, data=Path(folder), files=None)) as installation,
    ):
        return _restore_and_check(archive, installation, options)


def _restore_and_check(archive: ZipFile, installation: Installation, options: Namespace) -> JsonObject:
    began = monotonic()
    manifest = restoring.restore_backup(archive, installation, _progress_printer(options))
    outcome = {**_count_contents(manifest), "restoreSeconds": round(monotonic() - began, 1)}
    return _check_invariants(outcome, installation)


def move(settings: Settings, options: Namespace) -> JsonObject:
    """Copy everything to another database or folder, and check it there; the source stays as it is."""
    show_progress = _progress_printer(options)
    target_settings = _target_settings(settings, options.to)
    with (
        _open_existing(settings) as source,
        _open_installation(target_settings) as target,
        _open_temporary_path(settings) as path,
    ):
        restoring.check_movable(source, target)
        if taking.back_up(source, path, system_clock(), STORED_FILE_COLUMNS, show_progress).missing:
            raise Conflict(_FILES_MISSING)
        with open_backup_file(path) as archive:
            manifest = restoring.restore_backup(archive, target, show_progress)
        outcome = _check_invariants(_count_contents(manifest), target)
        if not taking.is_up_to_date(manifest, source):
            raise CheckFailed(outcome, _CHANGED_MEANWHILE)
        return outcome


def files_move(settings: Settings, options: Namespace) -> JsonObject:
    """Copy the files to another store; those that are there already are left out, so it can be repeated."""
    target = open_files(with_file_store(settings, options.to))
    with _open_existing(settings) as source:
        result = moving.copy_files(source, target, STORED_FILE_COLUMNS, _progress_printer(options))
    outcome = {"files": result.total, "copied": result.copied, "missing": result.missing}
    if result.missing:
        raise CheckFailed(outcome, str(_FILES_MISSING))
    return outcome


_CHANGED_MEANWHILE = (
    "Something was changed in the meantime and was not copied. Stop the server, and move to another empty place."
)
_FILES_MISSING = Message("Some files are missing or damaged. `mainstay check` names them.")


def _check_invariants(outcome: JsonObject, installation: Installation) -> JsonObject:
    """Add the results of all invariants to an outcome; raise CheckFailed if one does not hold."""
    began = monotonic()
    reports = list(checking.check_invariants(installation.database, installation.files, system_clock(), INVARIANTS))
    violated = sum(1 for report in reports if report.violations)
    seconds = round(monotonic() - began, 1)
    outcome |= {"checkSeconds": seconds, "sound": not violated, "proofs": [report.report for report in reports]}
    if violated:
        raise CheckFailed(outcome, f"{violated} of {len(reports)} checks failed.")
    return outcome


def _count_contents(manifest: Manifest) -> JsonObject:
    rows = sum(table.rows for table in manifest.tables.values())
    return {"takenAt": manifest.taken_at, "tables": len(manifest.tables), "rows": rows, "files": manifest.files}


def _target_settings(settings: Settings, to: str) -> Settings:
    """Return the settings of the target: PostgreSQL with the same folder, or a folder with a database in it."""
    if to.startswith(("postgresql://", "postgres://")):
        return replace(settings, database=to)
    if "://" in to or not to.strip():
        raise SettingError("--to must begin with postgresql://, or be a folder.")
    return replace(settings, database=None, data=Path(to))


@contextmanager
def _open_temporary_path(settings: Settings) -> Iterator[Path]:
    """Provide a path for a temporary backup, and remove what a killed move left there."""
    folder = DataFolder(settings.data).path / "run" / "moving"
    with folder.with_suffix(".lock").open("w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise Conflict(Message("This installation is already being moved. Wait until that is finished.")) from None
        rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        try:
            yield folder / "backup"
        finally:
            rmtree(folder, ignore_errors=True)


@contextmanager
def _open_existing(settings: Settings) -> Iterator[Installation]:
    """Open the existing installation; never create one."""
    if settings.database is None and not DataFolder(settings.data).database.exists():
        raise SettingError(f"There is no database in {settings.data} (MAINSTAY_DATA).")
    with _open_installation(settings) as installation:
        yield installation


@contextmanager
def _open_installation(settings: Settings) -> Iterator[Installation]:
    database = connect(settings)
    try:
        yield Installation(database, DataFolder(settings.data), open_files(settings), settings.secret)
    finally:
        database.close()


def _progress_printer(options: Namespace) -> ReportProgress:
    """Return a function that prints progress for people; a program that reads JSON gets only the outcome."""

    def show_progress(line: str) -> None:
        if not options.json:
            sys.stderr.write(f"{line}\n")

    return show_progress
