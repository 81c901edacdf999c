"""The worker: does the tasks of the outbox, lane by lane side by side, and removes what is old."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic

from mainstay.backing.database import EVERY, Handle, Unreachable
from mainstay.backing.log import log
from mainstay.backing.wakeups import Wakeups
from mainstay.business.organisation.store import has_day_begun
from mainstay.kernel.perform import Stage
from mainstay.ledger import outbox_queue
from mainstay.ledger.outbox import Lane
from mainstay.ledger.outbox_queue import Work
from mainstay.webhooks import retention
from mainstay.worker.days import schedule_days
from mainstay.worker.lanes import LaneThreads
from mainstay.worker.tasks import Doing, TaskRunner

# How long the worker rests when the bell does not ring: a task that falls due by itself waits no longer than this.
REST_SECONDS = 1.0
# How long the worker waits after the bell, so that what comes in a burst is done together.
GATHER_SECONDS = 0.05
# How often the leases of tasks in progress are renewed; well before they run out.
RENEW_SECONDS = outbox_queue.LEASE.total_seconds() / 4
TIDY_EVERY = timedelta(minutes=10)

# Removes what is kept no longer, or mends what a wrong clock has left.
Forgetting = Callable[[Handle, datetime], None]


@dataclass(slots=True)
class Worker:
    """One worker; any number of them may share the outbox, in as many processes."""

    stage: Stage
    # How tasks of each kind are done, except events, chores and the start of a day.
    kinds: Mapping[str, Doing]
    upkeep: Sequence[Forgetting]
    _runner: TaskRunner = field(init=False)
    # The organisation that was served last in each lane: the next one has its turn.
    _served: dict[Lane, str] = field(init=False)
    # The tasks in progress, and those that were dropped because the database was away.
    _held: list[Sequence[Work]] = field(init=False)
    _dropped: list[Work] = field(init=False)
    _changing: threading.Lock = field(init=False)
    _renewed_at: float = field(init=False)
    _tidied_at: datetime | None = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing in progress."""
        self._runner = TaskRunner(self.stage, self.kinds)
        self._served = dict.fromkeys(Lane, "")
        self._held, self._dropped, self._changing = [], [], threading.Lock()
        self._renewed_at, self._tidied_at = monotonic(), None

    def run(self, bell: Wakeups, stopping: threading.Event, tell: Callable[[], None]) -> None:
        """Work until asked to stop; what is begun is finished.

        Tell the dispatcher whenever there may be more for it.
        """

        def take(lane: Lane) -> Sequence[Work]:
            if lane is Lane.DAYS:
                schedule_days(self.stage)
            return self._take(lane)

        def do(works: Sequence[Work]) -> None:
            self._do(works)
            if works[0].lane is Lane.EVENTS:
                tell()

        with LaneThreads(take, do, stopping) as lanes, ThreadPoolExecutor(1) as thread:
            tidying = thread.submit(self._tidy_until, stopping)
            tidying.add_done_callback(lambda _: stopping.set())
            while not stopping.is_set():
                self._look_after(lanes)
                if bell.wait(REST_SECONDS):
                    stopping.wait(GATHER_SECONDS)
                    bell.wait(0)
                    tell()
            tidying.result()

    def step(self) -> bool:
        """Do the next tasks of each lane, one lane after another in this thread; return whether there were any."""
        done = [self._step(lane) for lane in Lane]
        return any(done)

    def begin_days(self) -> None:
        """Do what is due in all organisations in which a new day has begun, in this thread."""
        while schedule_days(self.stage):
            pass
        while self._step(Lane.DAYS):
            pass

    def tidy(self) -> None:
        """Remove what is kept no longer; at once also where the clock was set back."""
        now = self.stage.clock()
        if self._tidied_at and abs(now - self._tidied_at) < TIDY_EVERY:
            return
        self._tidied_at = now
        with self.stage.database.changing(EVERY) as rows:
            for forget in self.upkeep:
                forget(rows, now)
        more = True
        while more:
            with self.stage.database.changing(EVERY) as rows:
                more = retention.forget_old(rows, now)

    def _tidy_until(self, stopping: threading.Event) -> None:
        while not stopping.wait(REST_SECONDS):
            try:
                self.tidy()
            except Unreachable as fault:
                log("database away", level="error", message=str(fault))

    def _step(self, lane: Lane) -> bool:
        works = self._take(lane)
        if works:
            self._do(works)
        return bool(works)

    def _take(self, lane: Lane) -> Sequence[Work]:
        now = self.stage.clock()
        with self.stage.database.glancing(EVERY) as rows:
            if not outbox_queue.is_due(rows, lane, now):
                return []
        with self.stage.database.changing(EVERY) as rows:
            works = outbox_queue.take(rows, lane, now, self._served[lane])
        if works:
            self._served[lane] = works[-1].organisation
        return works

    def _do(self, works: Sequence[Work]) -> None:
        with self._changing:
            self._held.append(works)
        dropped: Sequence[Work] = works
        try:
            self._runner.run(works)
            dropped = []
        finally:
            with self._changing:
                self._dropped += dropped
                self._held.remove(works)

    def _look_after(self, lanes: LaneThreads) -> None:
        """Wake the lanes in which something is due, and keep the leases of what is in progress."""
        now = self.stage.clock()
        try:
            self._keep_leases(now)
            with self.stage.database.reading(EVERY) as rows:
                due = {lane for lane in Lane if outbox_queue.is_due(rows, lane, now)}
                if has_day_begun(rows, now):
                    due.add(Lane.DAYS)
        except Unreachable as fault:
            log("database away", level="error", message=str(fault))
            return
        for lane in due:
            lanes.wake(lane)

    def _keep_leases(self, now: datetime) -> None:
        with self._changing:
            held, dropped = [work for works in self._held for work in works], [*self._dropped]
        if dropped:
            with self.stage.database.changing(EVERY) as rows:
                outbox_queue.give_back(rows, dropped, now)
            with self._changing:
                self._dropped = self._dropped[len(dropped) :]
        if held and monotonic() - self._renewed_at >= RENEW_SECONDS:
            with self.stage.database.changing(EVERY) as rows:
                outbox_queue.renew(rows, held, now)
            self._renewed_at = monotonic()
