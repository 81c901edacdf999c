"""How much is in the outbox: counted to a limit, so that asking costs little however much there is."""

from datetime import datetime
from typing import NamedTuple

from mainstay.backing.database import Handle
from mainstay.ledger.outbox import FIRST, LATER, READY, Lane
from mainstay.values.moments import parse_moment

# Counting stops here, in each lane.
MOST_COUNTED = 10_000


class LaneDepth(NamedTuple):
    """What is in one lane: how many tasks wait or have failed, by their kind, and since when the oldest is due."""

    waiting: dict[str, int]
    parked: dict[str, int]
    oldest: str | None

    def count_waiting(self) -> int:
        """How many tasks wait or are being done."""
        return sum(self.waiting.values())

    def count_parked(self) -> int:
        """How many tasks failed and are not tried again by themselves."""
        return sum(self.parked.values())

    def seconds_late(self, now: datetime) -> float:
        """For how long the oldest task has been due."""
        return max((now - parse_moment(self.oldest)).total_seconds(), 0.0) if self.oldest else 0.0


def measure_lanes(rows: Handle) -> dict[Lane, LaneDepth]:
    """What is in each lane, in the whole installation."""
    return {
        lane: LaneDepth(
            _count_kinds(rows, _WAITING, lane),
            _count_kinds(rows, _PARKED, lane),
            min(filter(None, (_find_oldest(rows, lane, turn) for turn in (FIRST, READY, LATER))), default=None),
        )
        for lane in Lane
    }


_WAITING = f"turn IN ({FIRST}, {READY}, {LATER}) AND due_at > ''"
_PARKED = f"turn = {LATER} AND due_at IS NULL"


def _count_kinds(rows: Handle, which: str, lane: Lane) -> dict[str, int]:
    counted = rows.all(
        f"SELECT kind, count(*) FROM (SELECT kind FROM outbox WHERE lane = :lane AND {which} LIMIT :most) AS counted"
        " GROUP BY kind",
        lane=lane.value,
        most=MOST_COUNTED,
    )
    return {str(kind): int(number or 0) for kind, number in counted}


def _find_oldest(rows: Handle, lane: Lane, turn: int) -> str | None:
    found = rows.one(
        "SELECT due_at FROM outbox WHERE lane = :lane AND turn = :turn AND due_at > '' ORDER BY due_at LIMIT 1",
        lane=lane.value,
        turn=turn,
    )
    return str(found[0]) if found else None
