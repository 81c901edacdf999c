"""Numbers for the processes of a machine, free again when their holder dies."""

import os
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, lockf
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """A number that belongs to this process until it ends or closes it."""

    number: int
    file: int

    def close(self) -> None:
        """Give the number back."""
        os.close(self.file)


def claim_row(path: Path, rows: int) -> Row:
    """Claim the lowest free number below `rows`; RuntimeError when there is none.

    The lock behind it is the process's, not the object's: a process claims one number of a file, after it was forked,
    and opens that file for nothing else.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    for number in range(rows):
        try:
            lockf(file, LOCK_EX | LOCK_NB, 1, number)
        except (BlockingIOError, PermissionError):
            continue
        return Row(number, file)
    os.close(file)
    raise RuntimeError(f"All {rows} rows are taken.")
