"""`mainstay worker`: the process that empties the outbox, and sends what is due to webhooks."""

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from random import SystemRandom

from mainstay.backing.database import EVERY, Pool, Unreachable
from mainstay.backing.exposition import (
    LaneGauges,
    attempts_text,
    mails_text,
    outbox_text,
    pools_text,
    waiting_mails_text,
)
from mainstay.backing.folder import DataFolder
from mainstay.backing.metrics_listener import metrics_listener
from mainstay.backing.served import Served
from mainstay.backing.wakeups import Bell, Wakeups
from mainstay.backing.web import Web
from mainstay.business.issuing.press import Press
from mainstay.business.issuing.printed import PRINT
from mainstay.business.records.forgetting import FORGET, forgetting
from mainstay.catalogue import UPKEEP
from mainstay.identity.mails import MAIL
from mainstay.kernel.perform import Stage
from mainstay.ledger.outbox_depth import MOST_COUNTED, measure_lanes
from mainstay.settings import Settings
from mainstay.staging import open_files, open_guard, open_link_maker, open_post, open_signer, open_stage
from mainstay.webhooks.dispatcher import Dispatcher
from mainstay.webhooks.queue import Queue
from mainstay.worker.kinds import mailing, printing
from mainstay.worker.process import beside, stop_on_signal
from mainstay.worker.worker import Worker


def work(settings: Settings) -> None:
    """Empty the outbox, and send what is due to webhooks, until asked to end."""
    folder = DataFolder(settings.data)
    stage = open_stage(settings)
    mailed = Counter(sent=0, failed=0)
    worker, dispatcher = open_worker(settings, stage, mailed), open_dispatcher(settings, stage)
    stopping = stop_on_signal(Bell(folder.bell).ring)
    metrics = metrics_listener(settings.metrics, _metrics_text(settings, stage, dispatcher, mailed))
    with Wakeups.listen(folder.bell) as bell, metrics, beside(dispatcher, stopping):
        worker.run(bell, stopping, dispatcher.wake)
    stage.database.close()


def open_worker(settings: Settings, stage: Stage, mailed: Counter[str] | None = None) -> Worker:
    """What empties the outbox of a stage; what became of mails may be counted."""
    files = open_files(settings)
    press = Press(stage.database, files)
    counts: Counter[str] = Counter() if mailed is None else mailed
    kinds = {
        MAIL: mailing(open_post(settings), open_link_maker(settings), press, counts),
        PRINT: printing(press),
        FORGET: forgetting(stage, files),
    }
    return Worker(stage, kinds, UPKEEP)


def open_dispatcher(settings: Settings, stage: Stage) -> Dispatcher:
    """What sends the deliveries of a stage."""
    queue = Queue(stage, chance=partial(SystemRandom().uniform, -1, 1))
    return Dispatcher(queue, open_signer(settings), Web(open_guard(settings)), stage.clock)


def _metrics_text(settings: Settings, stage: Stage, dispatcher: Dispatcher, mailed: Counter[str]) -> Callable[[], str]:
    path = DataFolder(settings.data).tallies

    def text() -> str:
        own = stage.database.pool()
        return _served_text(path, own) + attempts_text(dispatcher.counts) + mails_text(mailed) + _outbox_text(stage)

    return text


def _served_text(path: Path, own: Pool | None) -> str:
    """What server processes have counted, and how they and this one use their connections.

    Opened at each reading: a server that starts anew replaces the file, and a worker may be alone on its machine.
    """
    try:
        with closing(Served.read(path)) as served:
            return served.text() + pools_text({"server": served.pool(), "worker": own} if own else {})
    except FileNotFoundError:
        return pools_text({"worker": own} if own else {})


def _outbox_text(stage: Stage) -> str:
    """What is in the outbox; nothing while the database is away, which other metrics do not wait for."""
    try:
        with stage.database.reading(EVERY) as rows:
            lanes = measure_lanes(rows)
    except Unreachable:
        return ""
    now = stage.clock()
    gauges = {
        lane.value: LaneGauges(depth.count_waiting(), depth.count_parked(), depth.seconds_late(now))
        for lane, depth in lanes.items()
    }
    waiting = sum(depth.waiting.get(MAIL, 0) for depth in lanes.values())
    parked = sum(depth.parked.get(MAIL, 0) for depth in lanes.values())
    return outbox_text(gauges, MOST_COUNTED) + waiting_mails_text(waiting, parked, MOST_COUNTED)
