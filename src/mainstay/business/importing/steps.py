"""Splits long work into short steps. Each is a short transaction, and others get their turn between two steps."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import monotonic, sleep
from typing import NamedTuple, TypeVar

T = TypeVar("T")

_MAX_STEP_SECONDS = 0.025
# On SQLite, another process that waits for the write lock retries every 25 ms at first, later every 100 ms. PostgreSQL
# queues those who wait, and the first continues as soon as a step is over. There the pause limits the load: an import
# should use at most half of one processor.
_PAUSE_SECONDS = {"sqlite": 0.1, "postgresql": 0.025}


class Pace(NamedTuple):
    """How long a step may take, and the function that pauses between two steps."""

    seconds: float
    pause: Callable[[], object]

    def limit(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items until the time of a step is over, but at least one if there is any."""
        until = monotonic() + self.seconds
        for item in items:
            yield item
            if monotonic() >= until:
                return


def pace_for(engine: str) -> Pace:
    """Return the usual pace on a database engine."""
    return Pace(_MAX_STEP_SECONDS, partial(sleep, _PAUSE_SECONDS[engine]))
