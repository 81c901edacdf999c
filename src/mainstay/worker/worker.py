"""The worker: does the tasks of the outbox, with all lanes in parallel, and deletes old data."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic

from mainstay.business.organisation.store import has_new_day
from mainstay.changes import outbox_queue
from mainstay.changes.outbox import Lane
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseHandle, DatabaseUnavailable
from mainstay.infrastructure.log import log
from mainstay.infrastructure.worker_wakeups import WakeupListener
from mainstay.kernel.perform import Performer
from mainstay.webhooks import retention
from mainstay.worker.lanes import LaneThreads
from mainstay.worker.start_of_day import schedule_days
from mainstay.worker.tasks import TaskFunction, TaskRunner

# How often the worker looks for due tasks if nothing wakes it.
POLL_SECONDS = 1.0
# How long the worker waits after it was woken, so that a burst of tasks is done together.
GATHER_SECONDS = 0.05
# How often the leases of tasks in progress are renewed; well before they run out.
RENEW_SECONDS = outbox_queue.LEASE.total_seconds() / 4
UPKEEP_EVERY = timedelta(minutes=10)

# Deletes old data, or repairs what a wrong clock has left.
UpkeepFunction = Callable[[DatabaseHandle, datetime], None]


@dataclass(slots=True)
class Worker:
    """One worker; any number of them may share the outbox, in as many processes."""

    performer: Performer
    # The functions for tasks, by kind; not for events, the kinds of tasks of the catalogue, and the start of days.
    task_functions: Mapping[str, TaskFunction]
    upkeep: Sequence[UpkeepFunction]
    _runner: TaskRunner = field(init=False)
    # The organisation that was served last in each lane; the next one is served next.
    _last_served: dict[Lane, str] = field(init=False)
    # The tasks in progress, and those that were dropped because the database was unavailable.
    _in_progress: list[Sequence[LeasedTask]] = field(init=False)
    _dropped: list[LeasedTask] = field(init=False)
    _lock: threading.Lock = field(init=False)
    _renewed_at: float = field(init=False)
    _old_removed_at: datetime | None = field(init=False)

    def __post_init__(self) -> None:
        """Start with no task in progress."""
        self._runner = TaskRunner(self.performer, self.task_functions)
        self._last_served = dict.fromkeys(Lane, "")
        self._in_progress, self._dropped, self._lock = [], [], threading.Lock()
        self._renewed_at, self._old_removed_at = monotonic(), None

    def run(self, wakeups: WakeupListener, stopping: threading.Event, wake_dispatcher: Callable[[], None]) -> None:
        """Work until asked to stop, and then finish the tasks in progress.

        Wake the dispatcher whenever there may be new deliveries.
        """

        def take(lane: Lane) -> Sequence[LeasedTask]:
            if lane is Lane.DAYS:
                schedule_days(self.performer)
            return self._take_tasks(lane)

        def run_and_wake(tasks: Sequence[LeasedTask]) -> None:
            self._run_tasks(tasks)
            if tasks[0].lane is Lane.EVENTS:
                wake_dispatcher()

        with LaneThreads(take, run_and_wake, stopping) as lanes, ThreadPoolExecutor(1) as thread:
            tidying = thread.submit(self._remove_old_until, stopping)
            tidying.add_done_callback(lambda _: stopping.set())
            while not stopping.is_set():
                self._wake_lanes(lanes)
                if wakeups.wait(POLL_SECONDS):
                    stopping.wait(GATHER_SECONDS)
                    wakeups.wait(0)
                    wake_dispatcher()
            tidying.result()

    def run_next_tasks(self) -> bool:
        """Do the next tasks of each lane, one lane after another in this thread; return whether there were any."""
        ran = [self._run_next_in_lane(lane) for lane in Lane]
        return any(ran)

    def begin_days(self) -> None:
        """Run the due timers of all organisations in which a new day has begun, in this thread."""
        while schedule_days(self.performer):
            pass
        while self._run_next_in_lane(Lane.DAYS):
            pass

    def remove_old(self) -> None:
        """Delete old data, if some time has passed since the last time or the clock was set back."""
        now = self.performer.clock()
        if self._old_removed_at and abs(now - self._old_removed_at) < UPKEEP_EVERY:
            return
        self._old_removed_at = now
        with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            for upkeep in self.upkeep:
                upkeep(db, now)
        has_more = True
        while has_more:
            with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
                has_more = retention.delete_old(db, now)

    def _remove_old_until(self, stopping: threading.Event) -> None:
        while not stopping.wait(POLL_SECONDS):
            try:
                self.remove_old()
            except DatabaseUnavailable as error:
                log("database away", level="error", message=str(error))

    def _run_next_in_lane(self, lane: Lane) -> bool:
        tasks = self._take_tasks(lane)
        if tasks:
            self._run_tasks(tasks)
        return bool(tasks)

    def _take_tasks(self, lane: Lane) -> Sequence[LeasedTask]:
        now = self.performer.clock()
        with self.performer.database.single_read(ALL_ORGANISATIONS) as db:
            if not outbox_queue.is_due(db, lane, now):
                return []
        with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            tasks = outbox_queue.take_tasks(db, lane, now, self._last_served[lane])
        if tasks:
            self._last_served[lane] = tasks[-1].organisation
        return tasks

    def _run_tasks(self, tasks: Sequence[LeasedTask]) -> None:
        with self._lock:
            self._in_progress.append(tasks)
        dropped: Sequence[LeasedTask] = tasks
        try:
            self._runner.run(tasks)
            dropped = []
        finally:
            with self._lock:
                self._dropped += dropped
                self._in_progress.remove(tasks)

    def _wake_lanes(self, lanes: LaneThreads) -> None:
        """Wake the lanes with due tasks, and renew the leases of the tasks in progress."""
        now = self.performer.clock()
        try:
            self._renew_leases(now)
            with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
                due = {lane for lane in Lane if outbox_queue.is_due(db, lane, now)}
                if has_new_day(db, now):
                    due.add(Lane.DAYS)
        except DatabaseUnavailable as error:
            log("database away", level="error", message=str(error))
            return
        for lane in due:
            lanes.wake(lane)

    def _renew_leases(self, now: datetime) -> None:
        with self._lock:
            in_progress, dropped = [task for tasks in self._in_progress for task in tasks], [*self._dropped]
        if dropped:
            with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
                outbox_queue.return_tasks(db, dropped, now)
            with self._lock:
                self._dropped = self._dropped[len(dropped) :]
        if in_progress and monotonic() - self._renewed_at >= RENEW_SECONDS:
            with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
                outbox_queue.renew_leases(db, in_progress, now)
            self._renewed_at = monotonic()
