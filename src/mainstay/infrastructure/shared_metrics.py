"""The metrics of a machine's server processes, in a file that the process next to them reads."""

from collections.abc import Sequence
from pathlib import Path

import orjson

from mainstay.infrastructure.database import PoolUsage
from mainstay.infrastructure.mapped_files import replace_file
from mainstay.infrastructure.metrics import RequestMetrics, counter_names, format_timeouts
from mainstay.infrastructure.shared_counters import SharedCounters


class SharedMetrics:
    """Requests by route, and the use of connections: each process has its own row, and all rows are added up."""

    def __init__(self, path: Path, routes: Sequence[str], row_index: int) -> None:
        self._counters = SharedCounters(path, _all_counter_names(routes), row_index)
        self._first_pool_index = self._counters.find_index(_POOL_COUNTERS[0])
        self._last_usage = _EMPTY_USAGE
        self._timeouts_index = self._counters.find_index(_TIMEOUT_COUNTER)
        self.request_metrics = RequestMetrics(self._counters, routes)

    @staticmethod
    def create(path: Path, routes: Sequence[str], row_count: int) -> None:
        """Create the file with all counters at zero, replacing any earlier one, and next to it a file of the routes."""
        SharedCounters.create(path, _all_counter_names(routes), row_count)
        content = orjson.dumps(list(routes))
        replace_file(_routes_path(path), content, len(content))

    @classmethod
    def open_for_reading(cls, path: Path) -> "SharedMetrics":
        """Open the metrics for a reader that does not know the routes."""
        return cls(path, orjson.loads(_routes_path(path).read_bytes()), row_index=0)

    def observe_pool(self, pool: PoolUsage | None) -> None:
        """Record how this process uses its connections now, and what was added since the last record.

        An embedded database has no pool.
        """
        if pool is None:
            return
        counters, first = self._counters.own_row, self._first_pool_index
        for index, (now, before) in enumerate(zip(pool, self._last_usage, strict=True)):
            is_gauge = index < _GAUGE_COUNT
            counters[first + index] = now if is_gauge else counters[first + index] + now - before
        self._last_usage = pool

    def count_timeout(self) -> None:
        """Count a change that was given up because of its organisation's other changes."""
        self._counters.own_row[self._timeouts_index] += 1

    def pool_usage(self) -> PoolUsage:
        """Return how all processes together use their connections."""
        totals = self._counters.sum_rows()
        size, used, waiting, queued, waited, failed = (totals[name] for name in _POOL_COUNTERS)
        return PoolUsage(int(size), int(used), int(waiting), int(queued), waited, int(failed))

    def to_text(self) -> str:
        """Return the request metrics in Prometheus's text format."""
        return self.request_metrics.to_text() + format_timeouts(int(self._counters.sum_rows()[_TIMEOUT_COUNTER]))

    def close(self) -> None:
        """Close the file."""
        self._counters.close()


_POOL_COUNTERS = tuple(f"pool {name}" for name in PoolUsage._fields)
_TIMEOUT_COUNTER = "changes that waited in vain"
_EMPTY_USAGE = PoolUsage(0, 0, 0, 0, 0.0, 0)
# The number of fields that describe the present; a process that takes over a row of a dead process restarts them.
_GAUGE_COUNT = PoolUsage._fields.index("queued")


def _all_counter_names(routes: Sequence[str]) -> list[str]:
    return [*counter_names(routes), *_POOL_COUNTERS, _TIMEOUT_COUNTER]


def _routes_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.routes")
