"""`mainstay worker`: the process that does the tasks of the outbox and sends deliveries to webhooks."""

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from random import SystemRandom

from mainstay.business.issuing.document_files import PRINT
from mainstay.business.issuing.pdf_files import DocumentFiles
from mainstay.business.records.file_removal import REMOVE_FILE, make_removal_handler
from mainstay.catalogue import UPKEEP
from mainstay.changes.outbox_depth import MAX_COUNTED, measure_lanes
from mainstay.composition import (
    check_installation,
    open_address_guard,
    open_files,
    open_link_maker,
    open_outgoing_email,
    open_performer,
    open_signer,
)
from mainstay.identity.emails import EMAIL_TASK
from mainstay.identity.sample_firms import is_email_withheld
from mainstay.infrastructure.cpu_priority import share_working_children
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable, PoolUsage
from mainstay.infrastructure.metrics import (
    LaneGauges,
    format_emails,
    format_outbox,
    format_pools,
    format_waiting_emails,
    format_webhook_attempts,
)
from mainstay.infrastructure.metrics_listener import serve_metrics
from mainstay.infrastructure.shared_metrics import SharedMetrics
from mainstay.infrastructure.webhook_client import WebhookClient
from mainstay.infrastructure.worker_wakeups import WakeupListener, WakeupSender
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from mainstay.webhooks.dispatcher import Dispatcher
from mainstay.webhooks.queue import DeliveryQueue
from mainstay.worker.task_kinds import make_email_task, make_pdf_task
from mainstay.worker.worker import Worker
from mainstay.worker.worker_process import run_dispatcher, stop_on_signal


def work(settings: Settings) -> None:
    """Do the tasks of the outbox and send deliveries to webhooks, until asked to end."""
    folder = DataFolder(settings.data)
    performer = open_performer(settings)
    check_installation(settings, performer.database)
    email_counts = Counter(sent=0, failed=0)
    worker, dispatcher = open_worker(settings, performer, email_counts), open_dispatcher(settings, performer)
    stopping = stop_on_signal(WakeupSender(folder.worker_socket).wake)
    metrics = serve_metrics(settings.metrics, _make_metrics_reader(settings, performer, dispatcher, email_counts))
    share_working_children(folder.working_children)
    with WakeupListener.listen(folder.worker_socket) as wakeups, metrics, run_dispatcher(dispatcher, stopping):
        worker.run(wakeups, stopping, dispatcher.wake)
    performer.database.close()


def open_worker(settings: Settings, performer: Performer, email_counts: Counter[str] | None = None) -> Worker:
    """Return the worker for the outbox; `email_counts` gets the numbers of sent and failed emails."""
    files = open_files(settings)
    printer = DocumentFiles(performer.database, files)
    counts: Counter[str] = Counter() if email_counts is None else email_counts
    task_functions = {
        EMAIL_TASK: make_email_task(
            open_outgoing_email(settings),
            open_link_maker(settings),
            printer,
            counts,
            partial(_is_email_withheld, performer),
        ),
        PRINT: make_pdf_task(printer),
        REMOVE_FILE: make_removal_handler(performer, files),
    }
    return Worker(performer, task_functions, UPKEEP)


def _is_email_withheld(performer: Performer, organisation: str, address: str) -> bool:
    with performer.database.read_transaction(organisation) as db:
        return is_email_withheld(db, address)


def open_dispatcher(settings: Settings, performer: Performer) -> Dispatcher:
    """Return the dispatcher, which sends deliveries to webhooks."""
    queue = DeliveryQueue(performer, jitter=partial(SystemRandom().uniform, -1, 1))
    return Dispatcher(queue, open_signer(settings), WebhookClient(open_address_guard(settings)), performer.clock)


def _make_metrics_reader(
    settings: Settings, performer: Performer, dispatcher: Dispatcher, email_counts: Counter[str]
) -> Callable[[], str]:
    path = DataFolder(settings.data).counters

    def text() -> str:
        own_pool = performer.database.pool_usage()
        return (
            _server_metrics_text(path, own_pool)
            + format_webhook_attempts(dispatcher.counts)
            + format_emails(email_counts)
            + _outbox_metrics_text(performer)
        )

    return text


def _server_metrics_text(path: Path, own_pool: PoolUsage | None) -> str:
    """Return the metrics that server processes count, and the use of database connections by them and by this process.

    The file is opened each time, because a restarted server replaces it. There is none without a server here.
    """
    try:
        with closing(SharedMetrics.open_for_reading(path)) as served:
            return served.to_text() + format_pools(
                {"server": served.pool_usage(), "worker": own_pool} if own_pool else {}
            )
    except FileNotFoundError:
        return format_pools({"worker": own_pool} if own_pool else {})


def _outbox_metrics_text(performer: Performer) -> str:
    """Return the metrics of the outbox; none while the database is unavailable, so that other metrics work."""
    try:
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            lanes = measure_lanes(db)
    except DatabaseUnavailable:
        return ""
    now = performer.clock()
    gauges = {
        lane.value: LaneGauges(depth.count_waiting(), depth.count_parked(), depth.seconds_late(now))
        for lane, depth in lanes.items()
    }
    waiting = sum(depth.waiting.get(EMAIL_TASK, 0) for depth in lanes.values())
    parked = sum(depth.parked.get(EMAIL_TASK, 0) for depth in lanes.values())
    return format_outbox(gauges, MAX_COUNTED) + format_waiting_emails(waiting, parked, MAX_COUNTED)
