"""Counters summed over several processes without a lock: each process adds to its own row."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from mainstay.infrastructure.mapped_files import map_file, replace_file


class SharedCounters:
    """The counters as one process sees them: it adds to its own row and reads all rows.

    A row outlives its process: the next process that claims it continues to add.
    """

    def __init__(self, path: Path, names: Sequence[str], row: int) -> None:
        file = os.open(path, os.O_RDWR)
        try:
            rows = (os.fstat(file).st_size - _CACHE_LINE_BYTES) // _row_bytes(names)
            self._map = map_file(file, _file_bytes(names, rows), _build_header(names))
        finally:
            os.close(file)
        if not 0 <= row < rows:
            raise ValueError(f"There is no row {row}; there are {rows}.")
        self._names = tuple(names)
        self._indices = {name: index for index, name in enumerate(names)}
        view = memoryview(self._map)
        begins = range(_CACHE_LINE_BYTES, len(view), _row_bytes(names))
        self._rows = [view[begin : begin + len(names) * _WORD_BYTES].cast("d") for begin in begins]
        # The process's own row; it adds to it by index.
        self.own_row = self._rows[row]
        view.release()

    @staticmethod
    def create(path: Path, names: Sequence[str], rows: int) -> None:
        """Create the file with all counters at zero, replacing any earlier one."""
        size = _file_bytes(names, rows)
        replace_file(path, _build_header(names).ljust(size, b"\0"), size)

    def close(self) -> None:
        """Close the file."""
        for row in self._rows:
            row.release()
        self._map.close()

    def index_of(self, name: str) -> int:
        """Return the position of this counter in a row."""
        return self._indices[name]

    def totals(self) -> dict[str, float]:
        """Return every counter, summed over all processes."""
        return dict(zip(self._names, map(sum, zip(*self._rows, strict=True)), strict=True))


_WORD_BYTES = 8
_CACHE_LINE_BYTES = 64  # rows are aligned to cache lines, so that writers do not slow each other down


def _row_bytes(names: Sequence[str]) -> int:
    return -(-len(names) * _WORD_BYTES // _CACHE_LINE_BYTES) * _CACHE_LINE_BYTES


def _file_bytes(names: Sequence[str], rows: int) -> int:
    return _CACHE_LINE_BYTES + rows * _row_bytes(names)


def _build_header(names: Sequence[str]) -> bytes:
    """Return the header of the file, which differs if the names differ, as after an update."""
    return hashlib.blake2b("\n".join(names).encode(), digest_size=_CACHE_LINE_BYTES).digest()
