"""Counters summed over several processes without a lock: each process adds to its own row."""

import hashlib
import math
import os
from collections.abc import Sequence
from pathlib import Path

from mainstay.infrastructure.mapped_files import map_file, replace_file

_COUNTER_BYTES = 8
# Rows are aligned to cache lines, so that writers do not slow each other down.
_CACHE_LINE_BYTES = 64


class SharedCounters:
    """The counters as one process sees them: it adds to its own row and reads all rows.

    A row outlives its process: the next process that claims it continues to add.
    """

    def __init__(self, path: Path, names: Sequence[str], row_index: int) -> None:
        file = os.open(path, os.O_RDWR)
        try:
            row_count = (os.fstat(file).st_size - _CACHE_LINE_BYTES) // _count_row_bytes(names)
            self._map = map_file(file, _count_file_bytes(names, row_count), _build_header(names))
        finally:
            os.close(file)
        if not 0 <= row_index < row_count:
            raise ValueError(f"There is no row {row_index}; there are {row_count}.")
        self._names = tuple(names)
        self._indices = {name: index for index, name in enumerate(names)}
        view = memoryview(self._map)
        offsets = range(_CACHE_LINE_BYTES, len(view), _count_row_bytes(names))
        self._rows = [view[offset : offset + len(names) * _COUNTER_BYTES].cast("d") for offset in offsets]
        # The row of this process, which adds to each counter by its index.
        self.own_row = self._rows[row_index]
        view.release()

    @staticmethod
    def create(path: Path, names: Sequence[str], row_count: int) -> None:
        """Create the file with all counters at zero, replacing any earlier one."""
        size = _count_file_bytes(names, row_count)
        replace_file(path, _build_header(names).ljust(size, b"\0"), size)

    def close(self) -> None:
        """Close the file."""
        for row in self._rows:
            row.release()
        self._map.close()

    def find_index(self, name: str) -> int:
        """Return the position of this counter in a row."""
        return self._indices[name]

    def sum_rows(self) -> dict[str, float]:
        """Return every counter, summed over all processes."""
        return dict(zip(self._names, map(sum, zip(*self._rows, strict=True)), strict=True))


def _count_row_bytes(names: Sequence[str]) -> int:
    cache_lines = math.ceil(len(names) * _COUNTER_BYTES / _CACHE_LINE_BYTES)
    return cache_lines * _CACHE_LINE_BYTES


def _count_file_bytes(names: Sequence[str], row_count: int) -> int:
    return _CACHE_LINE_BYTES + row_count * _count_row_bytes(names)


def _build_header(names: Sequence[str]) -> bytes:
    """Return the header of the file, which depends on the names, because an update may change them."""
    return hashlib.blake2b("\n".join(names).encode(), digest_size=_CACHE_LINE_BYTES).digest()
