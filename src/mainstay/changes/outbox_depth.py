"""How many tasks are in the outbox, counted up to a limit so that it is always fast."""

from datetime import datetime
from typing import NamedTuple

from mainstay.changes.outbox import FIRST, LATER, READY, Lane
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.moments import parse_moment

# Waiting tasks are counted up to this number in each lane, and so are parked ones.
MAX_COUNTED = 10_000


class LaneDepth(NamedTuple):
    """How many tasks of one lane wait and how many are parked, by kind, and when the oldest waiting one is due."""

    waiting: dict[str, int]
    parked: dict[str, int]
    oldest_due: str | None

    def count_waiting(self) -> int:
        """Return how many tasks wait. Those in progress count as waiting."""
        return sum(self.waiting.values())

    def count_parked(self) -> int:
        """Return how many tasks have failed for good."""
        return sum(self.parked.values())

    def seconds_late(self, now: datetime) -> float:
        """Return for how many seconds the oldest waiting task has been due."""
        return max((now - parse_moment(self.oldest_due)).total_seconds(), 0.0) if self.oldest_due else 0.0


def measure_lanes(db: DatabaseHandle) -> dict[Lane, LaneDepth]:
    """Count the tasks in each lane, in the whole installation."""
    return {
        lane: LaneDepth(
            _count_by_kind(db, _IS_WAITING, lane),
            _count_by_kind(db, _IS_PARKED, lane),
            min(filter(None, (_find_oldest_due(db, lane, turn) for turn in (FIRST, READY, LATER))), default=None),
        )
        for lane in Lane
    }


# Only a parked task has no due_at. The conditions name the turns, because they come first in the index.
_IS_WAITING = f"turn IN ({FIRST}, {READY}, {LATER}) AND due_at > ''"
_IS_PARKED = f"turn = {LATER} AND due_at IS NULL"


def _count_by_kind(db: DatabaseHandle, condition: str, lane: Lane) -> dict[str, int]:
    counted = db.all(
        f"SELECT kind, count(*) FROM (SELECT kind FROM outbox WHERE lane = :lane AND {condition} LIMIT"
        " :most) AS counted"
        " GROUP BY kind",
        lane=lane.value,
        most=MAX_COUNTED,
    )
    return {str(kind): int(number or 0) for kind, number in counted}


def _find_oldest_due(db: DatabaseHandle, lane: Lane, turn: int) -> str | None:
    found = db.one(
        "SELECT due_at FROM outbox WHERE lane = :lane AND turn = :turn AND due_at > '' ORDER BY due_at LIMIT 1",
        lane=lane.value,
        turn=turn,
    )
    return str(found[0]) if found else None
