"""Sums over several processes without a lock: each process adds to a row of its own."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from mainstay.backing.mapped import hold, write_fresh


class Tallies:
    """The sums of these names as one process sees them: it adds to its row and reads all rows.

    A row outlives its process: whoever claims it next adds on.
    """

    def __init__(self, path: Path, names: Sequence[str], row: int) -> None:
        file = os.open(path, os.O_RDWR)
        try:
            rows = (os.fstat(file).st_size - _LINE) // _stride(names)
            self._map = hold(file, _size(names, rows), _opening(names))
        finally:
            os.close(file)
        if not 0 <= row < rows:
            raise ValueError(f"There is no row {row}; there are {rows}.")
        self._names = tuple(names)
        self._indices = {name: index for index, name in enumerate(names)}
        whole = memoryview(self._map)
        begins = range(_LINE, len(whole), _stride(names))
        self._rows = [whole[begin : begin + len(names) * _WORD].cast("d") for begin in begins]
        # The process's own row, to be added to by index.
        self.own = self._rows[row]
        whole.release()

    @staticmethod
    def create(path: Path, names: Sequence[str], rows: int) -> None:
        """Make the file with every sum at nought, in the place of any earlier one."""
        size = _size(names, rows)
        write_fresh(path, _opening(names).ljust(size, b"\0"), size)

    def close(self) -> None:
        """Let go of the file."""
        for row in self._rows:
            row.release()
        self._map.close()

    def index(self, name: str) -> int:
        """Where in a row this sum is."""
        return self._indices[name]

    def totals(self) -> dict[str, float]:
        """Every sum over all processes."""
        return dict(zip(self._names, map(sum, zip(*self._rows, strict=True)), strict=True))


_WORD = 8
_LINE = 64  # rows begin on lines of the processor's cache, so that writers do not slow each other


def _stride(names: Sequence[str]) -> int:
    return -(-len(names) * _WORD // _LINE) * _LINE


def _size(names: Sequence[str], rows: int) -> int:
    return _LINE + rows * _stride(names)


def _opening(names: Sequence[str]) -> bytes:
    """Tells apart files made for other names, as after an update."""
    return hashlib.blake2b("\n".join(names).encode(), digest_size=_LINE).digest()
