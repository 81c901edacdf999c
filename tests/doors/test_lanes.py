"""The lanes of a running worker: none waits for another, leases are kept, and what kills workers is parked."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mainstay.business.invoices.issuing.sending import send_reminder
from mainstay.business.issuing.document_files import PRINT
from mainstay.business.organisation.failed_work import list_failed_work, retry_work
from mainstay.business.people.operations import update_person
from mainstay.changes import outbox
from mainstay.changes.outbox import Lane, OutboxTask
from mainstay.changes.outbox_queue import LEASE, MAX_LOST_LEASES, LeasedTask
from mainstay.composition import open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable
from mainstay.infrastructure.worker_wakeups import WakeupListener
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings, to_environment
from mainstay.values.message import Message
from mainstay.values.moments import moment_text, system_clock
from mainstay.vocabulary.permissions import Role
from mainstay.worker import worker as working
from mainstay.worker.tasks import TaskFunction
from mainstay.worker.worker import Worker
from mainstay.worker_command import open_worker
from support.cast import Cast, make_cast
from support.dispatchers import ManualClock
from support.installations import Installations
from support.invoices import issue_invoice, make_invoice
from support.mail_server import run_mail_server
from support.outbox_tasks import empty_outbox, make_email_task
from support.waiting import wait_until
from support.webhooks import list_stored_deliveries, make_webhook

pytestmark = pytest.mark.engines("sqlite", "postgresql")

_TIMEOUT_SECONDS = 60.0


@dataclass
class ClockedInstallation:
    """An installation with two organisations, nothing to do, and a clock that is set by hand."""

    settings: Settings
    clock: ManualClock
    performer: Performer
    cast: Cast
    other: Cast

    def put_task(self, task: OutboxTask, cast: Cast | None = None) -> None:
        with self.performer.database.write_transaction((cast or self.cast).organisation) as db:
            outbox.add_task(db, task, moment_text(self.clock()))

    def list_tasks(self) -> list[tuple[str, str]]:
        """The kind and the lane of what is left."""
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return [(str(kind), str(lane)) for kind, lane in db.all("SELECT kind, lane FROM outbox ORDER BY id")]

    def list_leases(self) -> list[tuple[str, int]]:
        """When each task is due, and how many leases it lost."""
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return [(str(due), int(lost or 0)) for due, lost in db.all("SELECT due_at, lost_leases FROM outbox")]

    @contextmanager
    def run_worker(self, smtp: str | None = None, **kinds: TaskFunction) -> Iterator[Worker]:
        """A worker that runs as in its own process, with some kinds of tasks done otherwise."""
        worker = open_worker(replace(self.settings, smtp=smtp), self.performer)
        worker = Worker(self.performer, {**worker.task_functions, **kinds}, ())
        stopping = threading.Event()
        with (
            ThreadPoolExecutor(1) as thread,
            WakeupListener.listen(DataFolder(self.settings.data).worker_socket) as bell,
        ):
            running = thread.submit(worker.run, bell, stopping, lambda: None)
            try:
                yield worker
            finally:
                stopping.set()
                self.performer.wake_worker()
                running.result(_TIMEOUT_SECONDS)


@pytest.fixture
def installation(engine: str, installations: Installations, tmp_path: Path) -> Iterator[ClockedInstallation]:
    settings = installations.make_with_accounts(engine, tmp_path)
    clock = ManualClock(system_clock())
    performer = open_performer(settings, clock)
    cast, other = make_cast(performer), make_cast(performer)
    empty_outbox(cast)
    yield ClockedInstallation(settings, clock, performer, cast, other)
    performer.database.close()


def make_mail_task(to: str = "kim@new.example") -> OutboxTask:
    return make_email_task(to, "Hello", "Hello Kim")


class SlowTask:
    """A task that is in progress until it may end."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()

    def __call__(self, _work: LeasedTask) -> None:
        self.begun.release()
        assert self.may_end.wait(_TIMEOUT_SECONDS)


def test_a_silent_mail_server_delays_no_webhook_and_no_print(installation: ClockedInstallation) -> None:
    webhook, printed = make_webhook(installation.other), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(_TIMEOUT_SECONDS)
        smtp = f"smtp://127.0.0.1:{silent.getsockname()[1]}"
        with installation.run_worker(smtp, **{PRINT: lambda _work: printed.set()}):
            installation.put_task(make_mail_task())
            line, _ = silent.accept()
            installation.other.perform(update_person, personId=installation.other.people[Role.MEMBER], phone="1")
            installation.put_task(OutboxTask(PRINT, {"record": "x"}, lane=Lane.PDFS), installation.other)
            installation.performer.wake_worker()
            assert printed.wait(_TIMEOUT_SECONDS)
            wait_until(lambda: list_stored_deliveries(installation.other, webhook))
            assert ("mail", "emails") in installation.list_tasks()
            line.close()


def test_prints_that_are_slow_delay_no_email(installation: ClockedInstallation) -> None:
    slow = SlowTask()
    with (
        run_mail_server() as mail_server,
        installation.run_worker(f"smtp://127.0.0.1:{mail_server.port}", **{PRINT: slow}),
    ):
        for cast in (installation.cast, installation.cast, installation.other, installation.other):
            installation.put_task(OutboxTask(PRINT, {"record": "x"}, lane=Lane.PDFS), cast)
        installation.performer.wake_worker()
        for _ in range(2):
            assert slow.begun.acquire(timeout=_TIMEOUT_SECONDS)
        installation.put_task(make_mail_task(), installation.other)
        installation.performer.wake_worker()
        wait_until(lambda: mail_server.emails)
        wait_until(lambda: {lane for _, lane in installation.list_tasks()} == {"prints"})
        slow.may_end.set()
        wait_until(lambda: not installation.list_tasks())


def test_an_email_without_a_document_does_not_wait_for_one_with_a_document(installation: ClockedInstallation) -> None:
    issue_invoice(installation.cast, make_invoice(installation.cast), deliver="email", to=["ann@calder.example"])
    assert [lane for kind, lane in installation.list_tasks() if kind == "mail"] == ["prints"]
    installation.put_task(make_mail_task())
    worker = open_worker(installation.settings, installation.performer)
    # In one round, the lane of the emails has sent the one that needs no PDF.
    assert worker.run_next_tasks()
    assert _list_recipients(installation) == {"kim@new.example"}
    run_all_tasks(worker)
    assert _list_recipients(installation) == {"kim@new.example", "ann@calder.example"}


def test_an_email_whose_pdf_is_made_already_does_not_wait_for_prints(installation: ClockedInstallation) -> None:
    invoice = issue_invoice(
        installation.cast, make_invoice(installation.cast), deliver="email", to=["ann@calder.example"]
    )
    run_all_tasks(open_worker(installation.settings, installation.performer))
    installation.clock.now += timedelta(days=60)
    installation.cast.perform(send_reminder, invoiceId=invoice["id"], to=["ben@calder.example"], confirmed=True)
    assert [lane for kind, lane in installation.list_tasks() if kind == "mail"] == ["emails"]


def test_an_email_among_the_emails_whose_pdf_is_not_made_goes_to_the_prints_first(
    installation: ClockedInstallation,
) -> None:
    issue_invoice(installation.cast, make_invoice(installation.cast), deliver="email", to=["ann@calder.example"])
    with installation.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("DELETE FROM outbox WHERE kind <> 'mail'")
        db.run("UPDATE outbox SET lane = 'emails'")
    worker = open_worker(installation.settings, installation.performer)
    lanes = []
    while installation.list_tasks():
        worker._run_next_in_lane(Lane(installation.list_tasks()[0][1]))
        lanes.append(installation.list_tasks())
    assert lanes == [[("mail", "prints")], [("mail", "emails")], []]
    assert _list_recipients(installation) == {"ann@calder.example"}


def run_all_tasks(worker: Worker) -> None:
    while worker.run_next_tasks():
        pass


def _list_recipients(office: ClockedInstallation) -> set[str]:
    texts = [file.read_text() for file in DataFolder(office.settings.data).emails.glob("*.eml")]
    return {line.removeprefix("To: ") for text in texts for line in text.splitlines() if line.startswith("To: ")}


def test_a_task_that_takes_long_keeps_its_lease(
    installation: ClockedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "RENEW_SECONDS", 0.0)
    slow = SlowTask()
    with installation.run_worker(slow=slow):
        installation.put_task(OutboxTask("slow", {}))
        installation.performer.wake_worker()
        assert slow.begun.acquire(timeout=_TIMEOUT_SECONDS)
        for _ in range(2):
            installation.clock.now += LEASE * 0.9
            wait_until(lambda: installation.list_leases() == [(moment_text(installation.clock.now + LEASE), 0)])
        slow.may_end.set()
        wait_until(lambda: not installation.list_tasks())
    assert not slow.begun.acquire(blocking=False)


def test_a_task_that_was_dropped_because_the_database_was_away_is_done_without_waiting_for_its_lease(
    installation: ClockedInstallation,
) -> None:
    away, done = threading.Event(), threading.Event()

    def do(_work: LeasedTask) -> None:
        if not away.is_set():
            away.set()
            raise DatabaseUnavailable("The database cannot be reached.")
        done.set()

    with installation.run_worker(flaky=do):
        installation.put_task(OutboxTask("flaky", {}))
        installation.performer.wake_worker()
        # The clock stands still, so no lease runs out.
        assert done.wait(_TIMEOUT_SECONDS)
        wait_until(lambda: not installation.list_tasks())


def test_a_thread_that_dies_ends_the_worker(installation: ClockedInstallation) -> None:
    class Bug(BaseException):
        """What no task is expected to raise."""

    failed = threading.Event()

    def fail(_work: LeasedTask) -> None:
        failed.set()
        raise Bug

    ended = pytest.raises(Bug)
    with ended, installation.run_worker(faulty=fail):
        installation.put_task(OutboxTask("faulty", {}))
        installation.performer.wake_worker()
        wait_until(failed.is_set)


def _start_killed_worker(office: ClockedInstallation, at: datetime) -> None:
    """Run a worker process whose clock begins at a moment, and which is killed by its own task."""
    script = Path(__file__).parents[1] / "support" / "killed_worker.py"
    ahead = str((at - system_clock()).total_seconds())
    environment = {**os.environ, **to_environment(office.settings)}
    ended = subprocess.run([sys.executable, script, ahead], env=environment, check=False, timeout=_TIMEOUT_SECONDS)
    assert ended.returncode == -signal.SIGKILL


def test_a_task_that_kills_the_worker_process_is_parked_after_three_deaths_and_holds_up_no_other(
    installation: ClockedInstallation,
) -> None:
    installation.put_task(OutboxTask("kill", {}, Message("A task that kills")))
    for death in range(MAX_LOST_LEASES):
        assert installation.cast.perform(list_failed_work)["data"] == []
        installation.put_task(make_mail_task(f"kim{death}@new.example"), installation.other)
        installation.clock.now = system_clock() + (LEASE + timedelta(seconds=60)) * death
        _start_killed_worker(installation, installation.clock.now)
        # At some hours of the day, the clock of the next worker has passed midnight somewhere: a day begins.
        assert [task for task in installation.list_tasks() if task[1] != "days"] == [("kill", "events")]
        assert f"kim{death}@new.example" in _list_recipients(installation)

    installation.clock.now += LEASE * 2
    worker = open_worker(installation.settings, installation.performer)
    run_all_tasks(worker)
    [failed] = installation.cast.perform(list_failed_work)["data"]
    assert (failed["about"], failed["status"]) == ("A task that kills", "failed")
    assert failed["problem"].startswith("The worker stopped 3 times while doing this.")

    installation.cast.perform(retry_work, workId=failed["id"])
    [(due, lost)] = installation.list_leases()
    assert (due, lost) == (moment_text(installation.clock.now), 0)
