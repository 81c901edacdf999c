"""Long work in short steps: each is one transaction that is soon over, and others get their turn between two steps."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import monotonic, sleep
from typing import NamedTuple, TypeVar

T = TypeVar("T")

_STEP_SECONDS = 0.025
# On SQLite, another process that waits for its turn looks for one every 25 ms at first, later every 100 ms. On
# PostgreSQL those who wait are queued, and the first of them goes on as soon as a step is over: the pause is for the
# processors, of which an import is to take no more than half of one.
_PAUSE_SECONDS = {"sqlite": 0.1, "postgresql": 0.025}


class Pace(NamedTuple):
    """How long a step may take, and what is done between two steps."""

    seconds: float
    pause: Callable[[], object]

    def limit(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items until the time of a step is over; one at least, if there is one."""
        until = monotonic() + self.seconds
        for item in items:
            yield item
            if monotonic() >= until:
                return


def pace_for(engine: str) -> Pace:
    """Return the usual pace on a database engine."""
    return Pace(_STEP_SECONDS, partial(sleep, _PAUSE_SECONDS[engine]))
