"""A file that somebody imports, and what became of its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from mainstay.business.importing.model import Kind
from mainstay.terms.refusal import Reason
from mainstay.terms.shapes import State


class RowFault(NamedTuple):
    """What is wrong with a row: where in the file, with which column, and how."""

    row: int
    label: str
    problem: str


class RecordChange(NamedTuple):
    """What importing a row did to a record."""

    row: int
    record: str
    # That of the record afterwards.
    version: int
    # The fields that changed as they were before; None for a new record.
    previous: dict[str, Any] | None


class Stay(NamedTuple):
    """A record that undoing an import leaves as the import made it, and why."""

    name: str
    record: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """What becomes of the rows of a file."""

    made: int = 0
    changed: int = 0
    unchanged: int = 0
    faults: list[RowFault] = field(default_factory=list)
    # The fields whose columns may have either decimal sign, so that someone has to choose it.
    unclear: list[str] = field(default_factory=list)

    @classmethod
    def from_json(cls, result: Mapping[str, Any]) -> "Outcome":
        """The outcome so far of an import that was interrupted."""
        return cls(result["made"], result["changed"], result["unchanged"])

    def count(self, change: RecordChange | None) -> None:
        """Count one more row that has no faults."""
        if change is None:
            self.unchanged += 1
        elif change.previous is None:
            self.made += 1
        else:
            self.changed += 1

    def to_json(self) -> dict[str, Any]:
        """Return what is stored of it."""
        counts = {"made": self.made, "changed": self.changed, "unchanged": self.unchanged}
        return {**counts, "faults": [list(fault) for fault in self.faults], "unclear": self.unclear}


@dataclass(slots=True)
class Undone:
    """What undoing an import did."""

    removed: int = 0
    changed_back: int = 0
    stays: list[Stay] = field(default_factory=list)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Undone":
        """What was done so far, by somebody who was interrupted."""
        return cls(stored["removed"], stored["changedBack"], [Stay(*stay) for stay in stored["stays"]])

    @property
    def count(self) -> int:
        """How many records were looked at."""
        return self.removed + self.changed_back + len(self.stays)

    def add(self, change: RecordChange, stay: Stay | None) -> None:
        """Count one more record."""
        if stay:
            self.stays.append(stay)
        elif change.previous is None:
            self.removed += 1
        else:
            self.changed_back += 1

    def to_json(self) -> dict[str, Any]:
        """Return what is stored of it."""
        return {"removed": self.removed, "changedBack": self.changed_back, "stays": [list(stay) for stay in self.stays]}


RunStatus = Literal["mapping", "checking", "checked", "importing", "done", "undoing", "undone", "failed"]
CHECKING: RunStatus = "checking"
CHECKED: RunStatus = "checked"
IMPORTING: RunStatus = "importing"
DONE: RunStatus = "done"
UNDOING: RunStatus = "undoing"
UNDONE: RunStatus = "undone"
_INTERRUPTED = State("Interrupted", "bad")
_WRONG = State("Errors found", "bad")
_STATES: dict[RunStatus, State] = {
    "mapping": State("Columns to choose", "waiting"),
    "checking": State("Checking", "waiting"),
    "checked": State("Ready to import", "waiting"),
    "importing": State("Importing", "waiting"),
    "done": State("Imported", "good"),
    "undoing": State("Undoing", "waiting"),
    "undone": State("Undone", "waiting"),
    # An earlier version wrote this when a check was interrupted.
    "failed": _INTERRUPTED,
}


@dataclass(frozen=True, slots=True)
class Run:
    """A file that somebody imports."""

    id: str
    made_at: str
    kind: Kind
    file_name: str
    remarks: list[str]
    headings: list[str]
    mapping: dict[str, int]
    # The decimal signs that were chosen, by field.
    signs: dict[str, str]
    status: RunStatus
    result: dict[str, Any] | None
    # How many rows the file has, and how many of them are imported.
    row_count: int
    done_rows: int
    # Counts how often work on it began. Only the latest attempt may write.
    attempt: int

    @property
    def is_new(self) -> bool:
        """Whether its rows were never checked."""
        return self.status == "mapping"

    @property
    def is_checking(self) -> bool:
        """Whether its rows are being checked, unless that was interrupted."""
        return self.status in {CHECKING, "failed"}

    @property
    def is_importing(self) -> bool:
        """Whether its rows are being imported, unless that was interrupted."""
        return self.status == IMPORTING

    @property
    def is_undoing(self) -> bool:
        """Whether the import is being undone, unless that was interrupted."""
        return self.status == UNDOING

    @property
    def is_working(self) -> bool:
        """Whether something is being done with it, unless that was interrupted."""
        return self.is_checking or self.is_importing or self.is_undoing

    @property
    def is_right(self) -> bool:
        """Whether every row can be imported."""
        return self.status == CHECKED and not self._has_faults

    @property
    def is_wrong(self) -> bool:
        """Whether some rows cannot be imported."""
        return self.status == CHECKED and self._has_faults

    @property
    def is_done(self) -> bool:
        """Whether its rows were imported."""
        return self.status == DONE

    @property
    def is_undone(self) -> bool:
        """Whether somebody undid the import."""
        return self.status == UNDONE

    @property
    def change_count(self) -> int:
        """How many records the import made or changed."""
        result = self.result or {}
        return int(result.get("made", 0)) + int(result.get("changed", 0))

    @property
    def undone(self) -> Undone:
        """What was undone of it."""
        stored = (self.result or {}).get("undone")
        return Undone.from_json(stored) if stored else Undone()

    @property
    def _has_faults(self) -> bool:
        return bool((self.result or {}).get("faults"))

    def state(self, *, interrupted: bool) -> State:
        """Return how far it is."""
        if interrupted:
            return _INTERRUPTED
        return _WRONG if self.is_wrong else _STATES[self.status]

    def not_checkable(self) -> list[Reason]:
        """Return why its rows cannot be checked now."""
        if self.is_importing or self.is_undoing:
            return [Reason("Continue or undo this import first.")]
        if self.is_done or self.is_undone:
            return [Reason("This file was imported. Upload it again to import it once more.")]
        return []

    def not_importable(self) -> list[Reason]:
        """Return why its rows cannot be imported now. An import that was interrupted can go on."""
        if self.is_right or self.is_importing:
            return []
        return [Reason("Check the rows first, and correct what is wrong with them.")]

    def not_undoable(self) -> list[Reason]:
        """Return why it cannot be undone."""
        if self.is_done or self.is_importing or self.is_undoing:
            return []
        return [Reason("There is nothing to undo.")]
