"""Imports of files as the office does them, without its pages."""

from dataclasses import dataclass
from typing import Any

from cast import Cast
from mainstay.business.importing import store
from mainstay.business.importing.import_run import ImportWork
from mainstay.business.importing.model import KINDS
from mainstay.business.importing.run import CHECKING, IMPORTING, UNDOING, Outcome, RowFault, Run, RunStatus
from mainstay.business.importing.steps import Pace
from mainstay.business.importing.store import Columns
from mainstay.terms.actor import Actor, Door
from mainstay.terms.rights import Role

AT_ONCE = Pace(600.0, lambda: None)
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
    def run(self) -> Run:
        """How far it is."""
        with self.cast.stage.database.reading(self.cast.organisation) as rows:
            rows.me = self.actor.id
            return store.fetch(rows, self.id)

    def check(self, pace: Pace = AT_ONCE) -> Outcome:
        """Check its rows; what would become of them."""
        self.begin(CHECKING, pace).check()
        return self.outcome

    def bring(self, pace: Pace = AT_ONCE) -> Outcome:
        """Import its rows, or those that are left; what became of them."""
        self.begin(IMPORTING, pace).import_rows()
        return self.outcome

    def undo(self, pace: Pace = AT_ONCE) -> Run:
        """Undo it; how it is afterwards."""
        self.begin(UNDOING, pace).undo()
        return self.run

    def choose(self, **signs: str) -> None:
        """Choose the decimal signs of columns, by field."""
        with self.cast.stage.database.changing(self.cast.organisation) as rows:
            assert store.begin(rows, self.run, CHECKING, Columns(self.run.mapping, signs))

    def begin(self, status: RunStatus, pace: Pace) -> ImportWork:
        """Begin to work on it, as a page does."""
        with self.cast.stage.database.changing(self.cast.organisation) as rows:
            assert store.begin(rows, self.run, status)
        return ImportWork(self.cast.stage, self.actor, self.run, self.country, self.currency, lambda _: None, pace)

    @property
    def outcome(self) -> Outcome:
        """What became, or would become, of its rows."""
        result: dict[str, Any] = self.run.result or {}
        outcome = Outcome.from_json(result)
        outcome.faults = [RowFault(*fault) for fault in result["faults"]]
        return outcome


def upload(
    cast: Cast,
    kind: str,
    headings: list[str],
    lines: list[list[str]],
    role: Role = Role.OFFICE,
    country: str | None = None,
    currency: str | None = None,
) -> FileImport:
    """Hand in a file, with the columns that its headings tell."""
    actor = cast.actor(role, door=Door.OFFICE)
    fresh = store.Fresh(KINDS[kind], "a.csv", (), headings, list(enumerate(lines, 2)))
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.me = actor.id
        return FileImport(cast, actor, store.insert(rows, fresh, cast.stage.clock()), country, currency)
