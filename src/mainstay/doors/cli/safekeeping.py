"""The operator's commands about all that is kept: whether it is sound, copies of it, and moving it."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from shutil import rmtree

from mainstay.backing.folder import DataFolder
from mainstay.business.records.forgetting import NAMED_IN
from mainstay.catalogue import PROOFS
from mainstay.doors.cli.telling import Outcome, Unsound
from mainstay.safekeeping import checking, restoring, taking
from mainstay.safekeeping.archive import Manifest, reading, seal_of
from mainstay.safekeeping.installation import Installation
from mainstay.safekeeping.taking import Tell
from mainstay.settings import Settings, WrongSetting
from mainstay.staging import connect
from mainstay.terms.refusal import Conflict
from mainstay.values.moments import system_clock


def check(settings: Settings, _words: Namespace) -> Outcome:
    """Whether every proof of the books holds; nothing is changed, not even an older schema."""
    with _there(settings) as installation:
        return _proved({}, installation)


def backup(settings: Settings, words: Namespace) -> Outcome:
    """One state of everything, in one file."""
    path = Path(words.file)
    with _there(settings) as installation:
        taken = taking.take(installation, path, system_clock(), NAMED_IN, _progress(words))
    outcome = {
        "file": str(path),
        "bytes": path.stat().st_size,
        "seal": seal_of(path),
        **_counted(taken.manifest),
        "missing": taken.missing,
    }
    if taken.missing:
        raise Unsound(outcome, _MISSING)
    return outcome


def restore(settings: Settings, words: Namespace) -> Outcome:
    """A backup, brought back into an empty place, and proved there."""
    # Every byte of the backup is looked at before anything is made here.
    with reading(Path(words.file)) as archive, _opened(settings) as installation:
        manifest = restoring.restore(archive, installation, _progress(words))
        return _proved(_counted(manifest), installation)


def move(settings: Settings, words: Namespace) -> Outcome:
    """Everything, copied to another database or folder, and proved there; what is here stays as it is."""
    tell = _progress(words)
    to = _elsewhere(settings, words.to)
    with _there(settings) as source, _opened(to) as target, _passing(settings) as path:
        restoring.check_movable(source, target)
        if taking.take(source, path, system_clock(), NAMED_IN, tell).missing:
            raise Conflict(_MISSING)
        with reading(path) as archive:
            manifest = restoring.restore(archive, target, tell)
        outcome = _proved(_counted(manifest), target)
        if not taking.is_the_latest(manifest, source):
            raise Unsound(outcome, _LEFT_BEHIND)
        return outcome


_LEFT_BEHIND = "Something was changed meanwhile and is not there. Stop the server, and move to another empty place."
_MISSING = "Some files are not there, or not what they were: `mainstay check` says which."


def _proved(outcome: Outcome, installation: Installation) -> Outcome:
    """What the proofs find, beside what was done; Unsound where one does not hold."""
    found = list(checking.check(installation.database, installation.files, system_clock(), PROOFS))
    wrong = sum(1 for one in found if one.flaws)
    outcome |= {"sound": not wrong, "proofs": [one.told for one in found]}
    if wrong:
        raise Unsound(outcome, f"{wrong} of {len(found)} proofs {'does' if wrong == 1 else 'do'} not hold.")
    return outcome


def _counted(manifest: Manifest) -> Outcome:
    rows = sum(table.rows for table in manifest.tables.values())
    return {"takenAt": manifest.taken_at, "tables": len(manifest.tables), "rows": rows, "files": manifest.files}


def _elsewhere(settings: Settings, to: str) -> Settings:
    """The settings of where everything goes: a database beside the same folder, or a folder with one in it."""
    if to.startswith(("postgresql://", "postgres://")):
        return replace(settings, database=to)
    if "://" in to or not to.strip():
        raise WrongSetting("--to must begin with postgresql://, or name a folder.")
    return replace(settings, database=None, data=Path(to))


@contextmanager
def _passing(settings: Settings) -> Iterator[Path]:
    """Where a backup can be for a while; what a move that was killed has left there is removed."""
    folder = DataFolder(settings.data).path / "run" / "moving"
    with folder.with_suffix(".lock").open("w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise Conflict("Another move of this installation is going on. Wait until it ends.") from None
        rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        try:
            yield folder / "backup"
        finally:
            rmtree(folder, ignore_errors=True)


@contextmanager
def _there(settings: Settings) -> Iterator[Installation]:
    """The installation that is there; none is made."""
    if settings.database is None and not DataFolder(settings.data).database.exists():
        raise WrongSetting(f"MAINSTAY_DATA names {settings.data}, in which there is no database.")
    with _opened(settings) as installation:
        yield installation


@contextmanager
def _opened(settings: Settings) -> Iterator[Installation]:
    database = connect(settings)
    try:
        yield Installation(database, DataFolder(settings.data), settings.secret)
    finally:
        database.close()


def _progress(words: Namespace) -> Tell:
    """Tells people how far it is; a program that reads JSON is told at the end."""

    def tell(said: str) -> None:
        if not words.json:
            sys.stderr.write(f"{said}\n")

    return tell
