"""Does the work of an import: checks the rows of a file, imports them in steps, or undoes the import."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mainstay.business.importing import changes, store
from mainstay.business.importing.amounts import detect_amount_format
from mainstay.business.importing.import_model import (
    CHECKED,
    CHECKING,
    DONE,
    IMPORTING,
    UNDOING,
    UNDONE,
    ImportOutcome,
    ImportRun,
    RowFault,
    RunStatus,
    UndoOutcome,
)
from mainstay.business.importing.references import find_references
from mainstay.business.importing.row_import import FileRows, RowImporter, RowRefused
from mainstay.business.importing.steps import Pace
from mainstay.business.importing.undo import ImportUndoer
from mainstay.kernel.perform import Performer
from mainstay.vocabulary.actor import Actor, system_actor

# So many changes are read at once to be undone. Undoing them all takes longer than a step.
_UNDO_BATCH = 200


class Superseded(Exception):
    """Somebody else is working on this import now, or it is deleted."""


@dataclass(frozen=True)
class ImportWork:
    """The work on one import, for the person who has begun it (`store.begin_run`)."""

    performer: Performer
    actor: Actor
    run: ImportRun
    # The country and the currency of the organisation.
    country: str | None
    currency: str | None
    # Called with the number of rows that are done.
    report: Callable[[int], None]
    pace: Pace

    def check(self) -> None:
        """Check every row. Only the outcome is stored."""
        self._check_rows({})

    def import_rows(self) -> None:
        """Import the rows that are not imported yet, except those that are left out.

        If one of them is refused, the whole import is undone.
        """
        file_rows, left_out = self._read_cells(), self.run.faulty_rows
        # How amounts are written is read from the whole file, as it was for the check.
        importer = self._make_importer(file_rows)
        cells, done = [row for row in file_rows if row[0] not in left_out], self.run.done_rows
        if done:
            importer.outcome = ImportOutcome.from_json(self.run.result or {})
            with self.performer.database.read_transaction(self.actor.organisation) as db:
                importer.remember_imported(db, cells[:done])
        result = importer.outcome.to_json()
        try:
            while True:
                done = self._import_step(importer, cells, done)
                result = importer.outcome.to_json()
                self.report(done)
                if done == len(cells):
                    return
                self.pace.pause()
        except RowRefused as error:
            result |= {"refused": list(error.fault)}
        self._store_progress(self.performer, UNDOING, done, result)
        self._undo_in_steps(system_actor(self.actor.organisation), done, result)

    def undo(self) -> None:
        """Undo the import."""
        self._undo_in_steps(self.actor, self.run.done_rows, self.run.result or {})

    def _import_step(self, importer: RowImporter, cells: FileRows, done: int) -> int:
        """Import some rows in one step, and return how many are done then."""
        with self.performer.open_batch(self.actor.organisation, uses_savepoints=False) as step_performer:
            row_changes = []
            for change in importer.import_rows(step_performer, self.pace.limit(islice(cells, done, None))):
                row_changes += [change] if change else []
                done += 1
            with step_performer.database.write_transaction(self.actor.organisation) as db:
                for change in row_changes:
                    changes.insert(db, self.run.id, change)
            self._store_progress(
                step_performer, DONE if done == len(cells) else IMPORTING, done, importer.outcome.to_json()
            )
        return done

    def _undo_in_steps(self, actor: Actor, done: int, result: dict[str, Any]) -> None:
        outcome = UndoOutcome.from_json(result["undone"]) if "undone" in result else UndoOutcome()
        references = find_references(self.performer.catalogue.kinds.values(), self.run.kind.record_kind.prefix)
        undoer = ImportUndoer(actor, self.run.id, self.run.kind, references)
        # The first read is slow, so it comes before the first step.
        undoer.read_item_uses(self.performer)
        # If a row was refused, all rows are checked again, so that the person sees every problem at once.
        final_status = CHECKING if "refused" in result else UNDONE
        status = UNDOING
        while status == UNDOING:
            with self.performer.open_batch(actor.organisation) as step_performer:
                undoer.read_item_uses(step_performer)
                with step_performer.database.read_transaction(actor.organisation) as db:
                    batch = changes.find_newest(db, self.run.id, _UNDO_BATCH)
                remaining = len(batch)
                for change in self.pace.limit(batch):
                    outcome.add(change, undoer.undo(step_performer, change))
                    remaining -= 1
                if not remaining and len(batch) < _UNDO_BATCH:
                    status = final_status
                result["undone"] = outcome.to_json()
                self._store_progress(step_performer, status, done, result)
            self.report(outcome.count)
            if status == UNDOING:
                self.pace.pause()
        if status == CHECKING:
            self._check_rows({"refused": result["refused"], "undone": result["undone"]})

    def _check_rows(self, earlier: Mapping[str, Any]) -> None:
        cells = self._read_cells()
        outcome = self._make_importer(cells).check_rows(self.performer, cells, self.pace, self.report)
        if "refused" in earlier and not outcome.faults:
            outcome.faults.append(RowFault(*earlier["refused"]))
        self._store_progress(self.performer, CHECKED, 0, {**outcome.to_json(), **earlier})

    def _store_progress(self, performer: Performer, status: RunStatus, done: int, result: Mapping[str, Any]) -> None:
        with performer.database.write_transaction(self.actor.organisation) as db:
            if not store.store_progress(db, self.run, status, done, result):
                raise Superseded

    def _make_importer(self, cells: FileRows) -> RowImporter:
        amounts = detect_amount_format(cells, self.run.mapping, self.run.signs, self.country, self.currency)
        return RowImporter(self.actor, self.run.kind, self.run.mapping, self.run.id, amounts)

    def _read_cells(self) -> FileRows:
        with self.performer.database.read_transaction(self.actor.organisation) as db:
            return store.read_cells(db, self.run.id)
