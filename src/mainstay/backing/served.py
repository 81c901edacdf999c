"""What the server processes of a machine count, in a file that the process beside them reads."""

from collections.abc import Sequence
from pathlib import Path

import orjson

from mainstay.backing.database import Pool
from mainstay.backing.exposition import Meters, meter_names, timeouts_text
from mainstay.backing.mapped import write_fresh
from mainstay.backing.tallies import Tallies


class Served:
    """Requests by route, and how connections are used: each process in a row of its own, and all of them together."""

    def __init__(self, path: Path, routes: Sequence[str], row: int) -> None:
        self._tallies = Tallies(path, _names(routes), row)
        self._first = self._tallies.index(_POOL[0])
        self._before = _NO_POOL
        self._timeouts_at = self._tallies.index(_TIMEOUTS)
        self.meters = Meters(self._tallies, routes)

    @staticmethod
    def create(path: Path, routes: Sequence[str], rows: int) -> None:
        """Make the file with nothing counted, in the place of any earlier one, and beside it what the routes are."""
        Tallies.create(path, _names(routes), rows)
        told = orjson.dumps(list(routes))
        write_fresh(_beside(path), told, len(told))

    @classmethod
    def read(cls, path: Path) -> "Served":
        """What was counted so far, for someone who knows no routes."""
        return cls(path, orjson.loads(_beside(path).read_bytes()), row=0)

    def observe_pool(self, pool: Pool | None) -> None:
        """Note how this process uses its connections now, and what has been added since it was last noted.

        An embedded database has no pool of them.
        """
        if pool is None:
            return
        own, first = self._tallies.own, self._first
        for at, (now, before) in enumerate(zip(pool, self._before, strict=True)):
            own[first + at] = now if at < _NOW else own[first + at] + now - before
        self._before = pool

    def count_timeout(self) -> None:
        """Count a change that waited for its organisation's turn in vain."""
        self._tallies.own[self._timeouts_at] += 1

    def pool(self) -> Pool:
        """How all of them use theirs."""
        totals = self._tallies.totals()
        size, used, waiting, queued, waited, failed = (totals[name] for name in _POOL)
        return Pool(int(size), int(used), int(waiting), int(queued), waited, int(failed))

    def text(self) -> str:
        """The requests, in Prometheus's text format."""
        return self.meters.text() + timeouts_text(int(self._tallies.totals()[_TIMEOUTS]))

    def close(self) -> None:
        """Let go of the file."""
        self._tallies.close()


_POOL = tuple(f"pool {name}" for name in Pool._fields)
_TIMEOUTS = "changes that waited in vain"
_NO_POOL = Pool(0, 0, 0, 0, 0.0, 0)
# How many of them tell what is now; a process that takes over a row of one that died begins them anew.
_NOW = Pool._fields.index("queued")


def _names(routes: Sequence[str]) -> list[str]:
    return [*meter_names(routes), *_POOL, _TIMEOUTS]


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.routes")
