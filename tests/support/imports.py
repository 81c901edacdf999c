"""Imports of files as the office does them, without its pages."""

from dataclasses import dataclass
from typing import Any

from mainstay.business.importing import store
from mainstay.business.importing.import_model import (
    CHECKING,
    IMPORTING,
    UNDOING,
    ImportOutcome,
    ImportRun,
    RowFault,
    RunStatus,
)
from mainstay.business.importing.import_run import ImportWork
from mainstay.business.importing.record_kinds import find_import_kinds
from mainstay.business.importing.steps import Pace
from mainstay.business.importing.store import ColumnChoice
from mainstay.catalogue import CATALOGUE
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

IMPORT_KINDS = find_import_kinds(CATALOGUE)

WITHOUT_PAUSE = Pace(600.0, lambda: None)
ROW_BY_ROW = Pace(0.0, lambda: None)


@dataclass(frozen=True)
class FileImport:
    """A file that was uploaded."""

    cast: Cast
    actor: Actor
    id: str
    country: str | None = None
    currency: str | None = None

    @property
    def run(self) -> ImportRun:
        """The run as it is stored now."""
        with self.cast.performer.database.read_transaction(self.cast.organisation) as rows:
            rows.me = self.actor.id
            return store.fetch(rows, IMPORT_KINDS, self.id)

    def check(self, pace: Pace = WITHOUT_PAUSE) -> ImportOutcome:
        """Check the rows, and return the outcome."""
        self.begin(CHECKING, pace).check()
        return self.outcome

    def import_rows(self, pace: Pace = WITHOUT_PAUSE) -> ImportOutcome:
        """Import the rows, or those that are left, and return the outcome."""
        self.begin(IMPORTING, pace).import_rows()
        return self.outcome

    def undo(self, pace: Pace = WITHOUT_PAUSE) -> ImportRun:
        """Undo the import, and return the run afterwards."""
        self.begin(UNDOING, pace).undo()
        return self.run

    def choose_decimal_signs(self, **signs: str) -> None:
        """Choose the decimal signs of columns, by field."""
        with self.cast.performer.database.write_transaction(self.cast.organisation) as db:
            assert store.begin_run(db, self.run, CHECKING, ColumnChoice(self.run.mapping, signs))

    def begin(self, status: RunStatus, pace: Pace) -> ImportWork:
        """Begin a step, as a page does."""
        with self.cast.performer.database.write_transaction(self.cast.organisation) as db:
            assert store.begin_run(db, self.run, status)
        return ImportWork(self.cast.performer, self.actor, self.run, self.country, self.currency, lambda _: None, pace)

    @property
    def outcome(self) -> ImportOutcome:
        """The outcome of the rows, done or only checked."""
        result: dict[str, Any] = self.run.result or {}
        outcome = ImportOutcome.from_json(result)
        outcome.faults = [RowFault(*fault) for fault in result["faults"]]
        return outcome


def upload_import(
    cast: Cast,
    kind: str,
    headings: list[str],
    lines: list[list[str]],
    role: Role = Role.OFFICE,
    country: str | None = None,
    currency: str | None = None,
) -> FileImport:
    """Upload a file; its columns are those that its headings name."""
    actor = cast.actor(role, door=Door.OFFICE)
    fresh = store.NewImport(IMPORT_KINDS[kind], "a.csv", (), headings, list(enumerate(lines, 2)))
    with cast.performer.database.write_transaction(cast.organisation) as rows:
        rows.me = actor.id
        return FileImport(cast, actor, store.insert(rows, fresh, cast.performer.clock()), country, currency)
