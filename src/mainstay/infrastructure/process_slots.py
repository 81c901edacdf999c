"""Slot numbers for the processes of a machine, free again when their holder dies."""

import os
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, lockf
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessSlot:
    """A number that belongs to this process until the process ends or closes it."""

    number: int
    file: int

    def close(self) -> None:
        """Release the number."""
        os.close(self.file)


def claim_slot(path: Path, slots: int) -> ProcessSlot:
    """Claim the lowest free number below `slots`; raise RuntimeError if there is none.

    The lock belongs to the process, not to the object: a process claims only one number of a file, does so after it was
    forked, and opens that file for nothing else.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    for number in range(slots):
        try:
            lockf(file, LOCK_EX | LOCK_NB, 1, number)
        except (BlockingIOError, PermissionError):
            continue
        return ProcessSlot(number, file)
    os.close(file)
    raise RuntimeError(f"All {slots} rows are taken.")
