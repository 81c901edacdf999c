"""Does the work of an import: checks the rows of a file, imports them in steps, or undoes what was imported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mainstay.business.importing import changes, store
from mainstay.business.importing.amounts import read_format
from mainstay.business.importing.row_import import RowImporter, RowRefused, Rows
from mainstay.business.importing.run import (
    CHECKED,
    CHECKING,
    DONE,
    IMPORTING,
    UNDOING,
    UNDONE,
    Outcome,
    RowFault,
    Run,
    RunStatus,
    Undone,
)
from mainstay.business.importing.steps import Pace
from mainstay.business.importing.undoing import ImportUndoer
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor, house

# So many changes are read at once to be undone; a step takes less time than they do.
_UNDONE_AT_ONCE = 200


class Superseded(Exception):
    """Somebody else works on this import now, or it is no longer there."""


@dataclass(frozen=True)
class ImportWork:
    """The work on one run, for one person who has begun it (`store.begin`)."""

    stage: Stage
    actor: Actor
    run: Run
    # Those of the organisation.
    country: str | None
    currency: str | None
    # Told how many rows are done.
    report: Callable[[int], None]
    pace: Pace

    def check(self) -> None:
        """Check every row; nothing is stored but what was found."""
        self._check({})

    def import_rows(self) -> None:
        """Import the rows that are not imported yet. If one of them is refused, the whole import is undone."""
        cells, done = self._cells(), self.run.done_rows
        importer = self._importer(cells)
        if done:
            importer.outcome = Outcome.from_json(self.run.result or {})
            with self.stage.database.reading(self.actor.organisation) as rows:
                importer.skip(rows, cells[:done])
        result = importer.outcome.to_json()
        try:
            while True:
                done = self._import_some(importer, cells, done)
                result = importer.outcome.to_json()
                self.report(done)
                if done == len(cells):
                    return
                self.pace.pause()
        except RowRefused as refused:
            result |= {"refused": list(refused.fault)}
        self._advance(self.stage, UNDOING, done, result)
        self._undo(house(self.actor.organisation), done, result)

    def undo(self) -> None:
        """Undo what was imported."""
        self._undo(self.actor, self.run.done_rows, self.run.result or {})

    def _import_some(self, importer: RowImporter, cells: Rows, done: int) -> int:
        """Import some rows in one step; how many are done then."""
        with self.stage.together(self.actor.organisation, apart=False) as step:
            made = []
            for change in importer.import_some(step, self.pace.limit(islice(cells, done, None))):
                made += [change] if change else []
                done += 1
            with step.database.changing(self.actor.organisation) as rows:
                for change in made:
                    changes.insert(rows, self.run.id, change)
            self._advance(step, DONE if done == len(cells) else IMPORTING, done, importer.outcome.to_json())
        return done

    def _undo(self, actor: Actor, done: int, result: dict[str, Any]) -> None:
        undone = Undone.from_json(result["undone"]) if "undone" in result else Undone()
        undoer = ImportUndoer(actor, self.run.id, self.run.kind)
        # What is slow about it comes before the first step.
        undoer.prepare(self.stage)
        # Where a row was refused, the person is told what is wrong with all of them.
        then = CHECKING if "refused" in result else UNDONE
        status = UNDOING
        while status == UNDOING:
            with self.stage.together(actor.organisation) as step:
                undoer.prepare(step)
                with step.database.reading(actor.organisation) as rows:
                    some = changes.find_newest(rows, self.run.id, _UNDONE_AT_ONCE)
                left = len(some)
                for change in self.pace.limit(some):
                    undone.add(change, undoer.undo(step, change))
                    left -= 1
                if not left and len(some) < _UNDONE_AT_ONCE:
                    status = then
                result["undone"] = undone.to_json()
                self._advance(step, status, done, result)
            self.report(undone.count)
            if status == UNDOING:
                self.pace.pause()
        if status == CHECKING:
            self._check({"refused": result["refused"], "undone": result["undone"]})

    def _check(self, known: Mapping[str, Any]) -> None:
        cells = self._cells()
        outcome = self._importer(cells).check(self.stage, cells, self.pace, self.report)
        if "refused" in known and not outcome.faults:
            outcome.faults.append(RowFault(*known["refused"]))
        self._advance(self.stage, CHECKED, 0, {**outcome.to_json(), **known})

    def _advance(self, stage: Stage, status: RunStatus, done: int, result: Mapping[str, Any]) -> None:
        with stage.database.changing(self.actor.organisation) as rows:
            if not store.advance(rows, self.run, status, done, result):
                raise Superseded

    def _importer(self, cells: Rows) -> RowImporter:
        amounts = read_format(cells, self.run.mapping, self.run.signs, self.country, self.currency)
        return RowImporter(self.actor, self.run.kind, self.run.mapping, self.run.id, amounts)

    def _cells(self) -> Rows:
        with self.stage.database.reading(self.actor.organisation) as rows:
            return store.cells(rows, self.run.id)
