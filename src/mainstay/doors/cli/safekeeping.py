"""The operator's commands about all that is kept: whether it is sound, copies of it, and moving it."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from mainstay.backing.database import WholeDatabase
from mainstay.backing.folder import DataFolder
from mainstay.catalogue import PROOFS
from mainstay.doors.cli.telling import Outcome, Unsound
from mainstay.safekeeping import checking
from mainstay.settings import Settings, WrongSetting
from mainstay.staging import connect, open_files
from mainstay.values.moments import system_clock


def check(settings: Settings, _words: Namespace) -> Outcome:
    """Whether every proof of the books holds; nothing is changed, not even an older schema."""
    with _as_it_is(settings) as database:
        return prove(settings, database)


def prove(settings: Settings, database: WholeDatabase) -> Outcome:
    """What the proofs find in a database; Unsound where one does not hold."""
    found = list(checking.check(database, open_files(settings), system_clock(), PROOFS))
    wrong = sum(1 for one in found if one.flaws)
    outcome = {"sound": not wrong, "proofs": [one.told for one in found]}
    if wrong:
        raise Unsound(outcome, f"{wrong} of {len(found)} proofs {'does' if wrong == 1 else 'do'} not hold.")
    return outcome


@contextmanager
def _as_it_is(settings: Settings) -> Iterator[WholeDatabase]:
    """The database that is there; none is made."""
    if settings.database is None and not DataFolder(settings.data).database.exists():
        raise WrongSetting(f"MAINSTAY_DATA names {settings.data}, in which there is no database.")
    database = connect(settings)
    try:
        yield database
    finally:
        database.close()
