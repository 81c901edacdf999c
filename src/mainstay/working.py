"""`mainstay worker`: the process that empties the outbox, and sends what is due to webhooks."""

from collections.abc import Callable
from functools import partial
from random import SystemRandom

from mainstay.backing.database import EVERY, Unreachable
from mainstay.backing.exposition import Meters, attempts_text, meter_names, outbox_text
from mainstay.backing.folder import DataFolder
from mainstay.backing.metrics_listener import metrics_listener
from mainstay.backing.tallies import Tallies
from mainstay.backing.wakeups import Wakeups
from mainstay.backing.web import Web
from mainstay.business.issuing.press import Press
from mainstay.business.issuing.printed import PRINT
from mainstay.business.records.forgetting import FORGET, forgetting
from mainstay.catalogue import UPKEEP
from mainstay.doors.metering import METERED
from mainstay.identity.mails import MAIL
from mainstay.kernel.perform import Stage
from mainstay.ledger import outbox
from mainstay.settings import Settings
from mainstay.staging import open_files, open_guard, open_link_maker, open_post, open_signer, open_stage
from mainstay.webhooks.dispatcher import Dispatcher
from mainstay.webhooks.queue import Queue
from mainstay.worker import Worker, beside, mailing, printing, stop_on_signal


def work(settings: Settings) -> None:
    """Empty the outbox, and send what is due to webhooks, until asked to end."""
    folder = DataFolder(settings.data)
    stage = open_stage(settings)
    worker, dispatcher = open_worker(settings, stage), open_dispatcher(settings, stage)
    stopping = stop_on_signal()
    metrics = metrics_listener(settings.metrics, _metrics_text(settings, stage, dispatcher))
    with Wakeups.listen(folder.bell) as bell, metrics, beside(dispatcher, stopping):
        worker.run(bell, stopping, dispatcher.wake)
    stage.database.close()


def open_worker(settings: Settings, stage: Stage) -> Worker:
    """What empties the outbox of a stage."""
    files = open_files(settings)
    press = Press(stage.database, files)
    kinds = {
        MAIL: mailing(open_post(settings), open_link_maker(settings), press),
        PRINT: printing(press),
        FORGET: forgetting(stage, files),
    }
    return Worker(stage, kinds, UPKEEP)


def open_dispatcher(settings: Settings, stage: Stage) -> Dispatcher:
    """What sends the deliveries of a stage."""
    queue = Queue(stage, chance=partial(SystemRandom().uniform, -1, 1))
    return Dispatcher(queue, open_signer(settings), Web(open_guard(settings)), stage.clock)


def _metrics_text(settings: Settings, stage: Stage, dispatcher: Dispatcher) -> Callable[[], str]:
    path = DataFolder(settings.data).tallies

    def text() -> str:
        # Opened at each reading: a server that starts anew replaces the file.
        requests = Meters(Tallies(path, meter_names(METERED), 0), METERED).text()
        return requests + attempts_text(dispatcher.counts) + _outbox_text(stage)

    return text


def _outbox_text(stage: Stage) -> str:
    """What is in the outbox; nothing while the database is away, which other metrics do not wait for."""
    try:
        with stage.database.reading(EVERY) as rows:
            return outbox_text(*outbox.depth(rows, stage.clock()))
    except Unreachable:
        return ""
