"""The import of a file: its state, its outcome, and the rules of what can be done with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from mainstay.business.importing.record_kinds import ImportKind
from mainstay.values.message import Message, ShownMessage
from mainstay.values.stored_message import load_message
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.schemas import StateLabel


class RowFault(NamedTuple):
    """A problem of a row: the row's number, the column, and the problem as a stored message."""

    row: int
    label: str
    stored_problem: str

    @property
    def message(self) -> ShownMessage:
        """What is wrong with the row."""
        return load_message(self.stored_problem)

    @property
    def problem(self) -> str:
        """The message in the format for programs."""
        return str(self.message)


class RecordChange(NamedTuple):
    """The change that importing a row made to a record."""

    row: int
    record: str
    # The version of the record after the change.
    version: int
    # The previous values of the changed fields; None for a new record.
    previous: dict[str, Any] | None


class RemainingRecord(NamedTuple):
    """A record that remains as the import left it after the import was undone, and why, as a stored message."""

    name: str
    record: str
    stored_reason: str

    @property
    def message(self) -> ShownMessage:
        """Why it remains, to be read after `because`."""
        return load_message(self.stored_reason)


@dataclass(slots=True)
class ImportOutcome:
    """The outcome of checking or importing the rows of a file."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    faults: list[RowFault] = field(default_factory=list)
    # The fields whose columns can have either decimal sign, so someone must choose it.
    ambiguous: list[str] = field(default_factory=list)

    @classmethod
    def from_json(cls, result: Mapping[str, Any]) -> "ImportOutcome":
        """Return the outcome so far of an interrupted import."""
        return cls(result["made"], result["changed"], result["unchanged"])

    def count(self, change: RecordChange | None) -> None:
        """Count one more row that has no faults."""
        if change is None:
            self.unchanged += 1
        elif change.previous is None:
            self.created += 1
        else:
            self.changed += 1

    def to_json(self) -> dict[str, Any]:
        """Return what is stored of it."""
        counts = {"made": self.created, "changed": self.changed, "unchanged": self.unchanged}
        return {**counts, "faults": [list(fault) for fault in self.faults], "unclear": self.ambiguous}


@dataclass(slots=True)
class UndoOutcome:
    """The outcome of undoing an import."""

    removed: int = 0
    changed_back: int = 0
    remaining: list[RemainingRecord] = field(default_factory=list)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "UndoOutcome":
        """Return the outcome so far, if undoing was interrupted."""
        return cls(stored["removed"], stored["changedBack"], [RemainingRecord(*values) for values in stored["stays"]])

    @property
    def count(self) -> int:
        """How many changes were processed."""
        return self.removed + self.changed_back + len(self.remaining)

    def add(self, change: RecordChange, remaining_record: RemainingRecord | None) -> None:
        """Count one more record."""
        if remaining_record:
            self.remaining.append(remaining_record)
        elif change.previous is None:
            self.removed += 1
        else:
            self.changed_back += 1

    def to_json(self) -> dict[str, Any]:
        """Return what is stored of it."""
        return {
            "removed": self.removed,
            "changedBack": self.changed_back,
            "stays": [list(record) for record in self.remaining],
        }


RunStatus = Literal["mapping", "checking", "checked", "importing", "done", "undoing", "undone", "failed"]
CHECKING: RunStatus = "checking"
CHECKED: RunStatus = "checked"
IMPORTING: RunStatus = "importing"
DONE: RunStatus = "done"
UNDOING: RunStatus = "undoing"
UNDONE: RunStatus = "undone"
_INTERRUPTED = StateLabel("Interrupted", "bad")
_HAS_ERRORS = StateLabel("Errors found", "bad")
_STATE_LABELS: dict[RunStatus, StateLabel] = {
    "mapping": StateLabel("Choose columns", "waiting"),
    "checking": StateLabel("Checking", "waiting"),
    "checked": StateLabel("Ready to import", "waiting"),
    "importing": StateLabel("Importing", "waiting"),
    "done": StateLabel("Imported", "good"),
    "undoing": StateLabel("Undoing", "waiting"),
    "undone": StateLabel("Undone", "waiting"),
    # An earlier version wrote this when a check was interrupted.
    "failed": _INTERRUPTED,
}


@dataclass(frozen=True, slots=True)
class ImportRun:
    """One import of a file."""

    id: str
    made_at: str
    kind: ImportKind
    file_name: str
    remarks: list[ShownMessage]
    headings: list[str]
    mapping: dict[str, int]
    # The decimal signs that were chosen, by field.
    signs: dict[str, str]
    status: RunStatus
    result: dict[str, Any] | None
    # The faults of the rows that the import leaves out, since it began.
    left_out: list[RowFault]
    # How many rows the file has, and how many of them are imported.
    row_count: int
    done_rows: int
    # Counts how often work on it began. Only the latest attempt may write.
    attempt: int

    @property
    def is_new(self) -> bool:
        """Whether its rows have never been checked."""
        return self.status == "mapping"

    @property
    def is_checking(self) -> bool:
        """Whether its rows are being checked, or the check was interrupted."""
        return self.status in {CHECKING, "failed"}

    @property
    def is_importing(self) -> bool:
        """Whether its rows are being imported, or the import was interrupted."""
        return self.status == IMPORTING

    @property
    def is_undoing(self) -> bool:
        """Whether the import is being undone, or undoing was interrupted."""
        return self.status == UNDOING

    @property
    def is_working(self) -> bool:
        """Whether it is being worked on, or the work was interrupted."""
        return self.is_checking or self.is_importing or self.is_undoing

    @property
    def is_ready(self) -> bool:
        """Whether every row can be imported."""
        return self.status == CHECKED and not self._has_faults

    @property
    def has_errors(self) -> bool:
        """Whether some rows cannot be imported."""
        return self.status == CHECKED and self._has_faults

    @property
    def is_done(self) -> bool:
        """Whether its rows were imported."""
        return self.status == DONE

    @property
    def is_undone(self) -> bool:
        """Whether the import was undone."""
        return self.status == UNDONE

    @property
    def change_count(self) -> int:
        """How many records the import created or changed."""
        result = self.result or {}
        return int(result.get("made", 0)) + int(result.get("changed", 0))

    @property
    def undo_outcome(self) -> UndoOutcome:
        """The outcome of undoing it, so far."""
        stored = (self.result or {}).get("undone")
        return UndoOutcome.from_json(stored) if stored else UndoOutcome()

    @property
    def faults(self) -> list[RowFault]:
        """The faults that the check found, or those of the rows that were left out since."""
        if self.status == CHECKED:
            return [RowFault(*fault) for fault in (self.result or {}).get("faults", [])]
        return [] if self.is_new or self.is_checking else self.left_out

    @property
    def faulty_rows(self) -> set[int]:
        """The numbers of the rows with faults."""
        return {fault.row for fault in self.faults}

    @property
    def import_count(self) -> int:
        """How many rows are imported: all, except those that are left out."""
        return self.row_count - len(self.faulty_rows)

    @property
    def progress_total(self) -> int:
        """How much the work on it has to do: changes to undo, or rows to check or import."""
        return self.change_count if self.is_undoing else self.import_count

    @property
    def can_leave_out(self) -> bool:
        """Whether the rows without faults can be imported without the others."""
        return self.has_errors and not (self.result or {}).get("unclear") and self.import_count > 0

    @property
    def _has_faults(self) -> bool:
        return bool(self.faults)

    def state_label(self, *, interrupted: bool) -> StateLabel:
        """Return its state as shown to people."""
        if interrupted:
            return _INTERRUPTED
        return _HAS_ERRORS if self.has_errors else _STATE_LABELS[self.status]

    def not_checkable(self) -> list[Reason]:
        """Return why its rows cannot be checked now."""
        if self.is_importing or self.is_undoing:
            return [Reason(Message("Continue or undo this import first."))]
        if self.is_done or self.is_undone:
            return [Reason(Message("This file was already imported. To import it again, upload it again."))]
        return []

    def not_importable(self, *, leaves_out: bool = False) -> list[Reason]:
        """Return why its rows cannot be imported now, or not without those that have faults.

        An interrupted import can be continued.
        """
        if self.is_ready or self.is_importing or (leaves_out and self.can_leave_out):
            return []
        return [Reason(Message("Check the rows and fix the errors first."))]

    def not_undoable(self) -> list[Reason]:
        """Return why it cannot be undone."""
        if self.is_done or self.is_importing or self.is_undoing:
            return []
        return [Reason(Message("There is nothing to undo."))]
