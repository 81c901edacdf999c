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

from billing import an_invoice, issued
from cast import Cast, assemble
from dispatching import Clock
from installations import Installations
from mailroom import open_mailroom
from mainstay.backing.database import EVERY, Unreachable
from mainstay.backing.folder import DataFolder
from mainstay.backing.wakeups import Wakeups
from mainstay.business.invoices.sending import send_reminder
from mainstay.business.issuing.printed import PRINT
from mainstay.business.organisation.work import list_failed_work, retry_work
from mainstay.business.people.operations import update_person
from mainstay.identity.mails import mail
from mainstay.kernel.perform import Stage
from mainstay.ledger import outbox
from mainstay.ledger.outbox import Lane, Letter
from mainstay.ledger.outbox_queue import LEASE, MOST_LOST_LEASES, Work
from mainstay.settings import Settings, environment_of
from mainstay.staging import open_stage
from mainstay.terms.rights import Role
from mainstay.values.moments import moment_text, system_clock
from mainstay.worker import worker as working
from mainstay.worker.tasks import Doing
from mainstay.worker.worker import Worker
from mainstay.working import open_worker
from queueing import empty_outbox
from telling import deliveries, make_webhook
from waiting import wait_until

pytestmark = pytest.mark.engines("sqlite", "postgresql")

_PATIENCE_SECONDS = 60.0


@dataclass
class Office:
    """An installation with two organisations, nothing to do, and a clock that is set by hand."""

    settings: Settings
    clock: Clock
    stage: Stage
    cast: Cast
    other: Cast

    def put(self, letter: Letter, cast: Cast | None = None) -> None:
        with self.stage.database.changing((cast or self.cast).organisation) as rows:
            outbox.put(rows, letter, moment_text(self.clock()))

    def waiting(self) -> list[tuple[str, str]]:
        """The kind and the lane of what is left."""
        with self.stage.database.reading(EVERY) as rows:
            return [(str(kind), str(lane)) for kind, lane in rows.all("SELECT kind, lane FROM outbox ORDER BY id")]

    def leases(self) -> list[tuple[str, int]]:
        """When each task is due, and how many leases it lost."""
        with self.stage.database.reading(EVERY) as rows:
            return [(str(due), int(lost or 0)) for due, lost in rows.all("SELECT due_at, lost_leases FROM outbox")]

    @contextmanager
    def working(self, smtp: str | None = None, **kinds: Doing) -> Iterator[Worker]:
        """A worker that runs as in its own process, with some kinds of tasks done otherwise."""
        worker = open_worker(replace(self.settings, smtp=smtp), self.stage)
        worker = Worker(self.stage, {**worker.kinds, **kinds}, ())
        stopping = threading.Event()
        with ThreadPoolExecutor(1) as thread, Wakeups.listen(DataFolder(self.settings.data).bell) as bell:
            running = thread.submit(worker.run, bell, stopping, lambda: None)
            try:
                yield worker
            finally:
                stopping.set()
                self.stage.ring()
                running.result(_PATIENCE_SECONDS)


@pytest.fixture
def office(engine: str, installations: Installations, tmp_path: Path) -> Iterator[Office]:
    settings = installations.furnished(engine, tmp_path)
    clock = Clock(system_clock())
    stage = open_stage(settings, clock)
    cast, other = assemble(stage), assemble(stage)
    empty_outbox(cast)
    yield Office(settings, clock, stage, cast, other)
    stage.database.close()


def a_mail(to: str = "kim@new.example") -> Letter:
    return mail(to, "Hello", "Hello Kim")


class Slow:
    """A task that is in progress until it may end."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()

    def __call__(self, _work: Work) -> None:
        self.begun.release()
        assert self.may_end.wait(_PATIENCE_SECONDS)


def test_a_silent_mail_server_delays_no_webhook_and_no_print(office: Office) -> None:
    webhook, printed = make_webhook(office.other), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(_PATIENCE_SECONDS)
        smtp = f"smtp://127.0.0.1:{silent.getsockname()[1]}"
        with office.working(smtp, **{PRINT: lambda _work: printed.set()}):
            office.put(a_mail())
            line, _ = silent.accept()
            office.other.perform(update_person, personId=office.other.people[Role.MEMBER], phone="1")
            office.put(Letter(PRINT, {"record": "x"}, lane=Lane.PRINTS), office.other)
            office.stage.ring()
            assert printed.wait(_PATIENCE_SECONDS)
            wait_until(lambda: deliveries(office.other, webhook))
            assert ("mail", "emails") in office.waiting()
            line.close()


def test_prints_that_are_slow_delay_no_email(office: Office) -> None:
    slow = Slow()
    with open_mailroom() as room, office.working(f"smtp://127.0.0.1:{room.port}", **{PRINT: slow}):
        for cast in (office.cast, office.cast, office.other, office.other):
            office.put(Letter(PRINT, {"record": "x"}, lane=Lane.PRINTS), cast)
        office.stage.ring()
        for _ in range(2):
            assert slow.begun.acquire(timeout=_PATIENCE_SECONDS)
        office.put(a_mail(), office.other)
        office.stage.ring()
        wait_until(lambda: room.mails)
        wait_until(lambda: {lane for _, lane in office.waiting()} == {"prints"})
        slow.may_end.set()
        wait_until(lambda: not office.waiting())


def test_an_email_without_a_document_does_not_wait_for_one_with_a_document(office: Office) -> None:
    issued(office.cast, an_invoice(office.cast), deliver="email", to=["ann@calder.example"])
    assert [lane for kind, lane in office.waiting() if kind == "mail"] == ["prints"]
    office.put(a_mail())
    worker = open_worker(office.settings, office.stage)
    # In one round, the lane of the emails has sent the one that needs no PDF.
    assert worker.step()
    assert _sent(office) == {"kim@new.example"}
    work_off(worker)
    assert _sent(office) == {"kim@new.example", "ann@calder.example"}


def test_an_email_whose_pdf_is_made_already_does_not_wait_for_prints(office: Office) -> None:
    invoice = issued(office.cast, an_invoice(office.cast), deliver="email", to=["ann@calder.example"])
    work_off(open_worker(office.settings, office.stage))
    office.clock.now += timedelta(days=60)
    office.cast.perform(send_reminder, invoiceId=invoice["id"], to=["ben@calder.example"], confirmed=True)
    assert [lane for kind, lane in office.waiting() if kind == "mail"] == ["emails"]


def test_an_email_among_the_emails_whose_pdf_is_not_made_goes_to_the_prints_first(office: Office) -> None:
    issued(office.cast, an_invoice(office.cast), deliver="email", to=["ann@calder.example"])
    with office.stage.database.changing(EVERY) as rows:
        rows.run("DELETE FROM outbox WHERE kind <> 'mail'")
        rows.run("UPDATE outbox SET lane = 'emails'")
    worker = open_worker(office.settings, office.stage)
    lanes = []
    while office.waiting():
        worker._step(Lane(office.waiting()[0][1]))
        lanes.append(office.waiting())
    assert lanes == [[("mail", "prints")], [("mail", "emails")], []]
    assert _sent(office) == {"ann@calder.example"}


def work_off(worker: Worker) -> None:
    while worker.step():
        pass


def _sent(office: Office) -> set[str]:
    texts = [file.read_text() for file in DataFolder(office.settings.data).mails.glob("*.eml")]
    return {line.removeprefix("To: ") for text in texts for line in text.splitlines() if line.startswith("To: ")}


def test_a_task_that_takes_long_keeps_its_lease(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "RENEW_SECONDS", 0.0)
    slow = Slow()
    with office.working(slow=slow):
        office.put(Letter("slow", {}))
        office.stage.ring()
        assert slow.begun.acquire(timeout=_PATIENCE_SECONDS)
        for _ in range(2):
            office.clock.now += LEASE * 0.9
            wait_until(lambda: office.leases() == [(moment_text(office.clock.now + LEASE), 0)])
        slow.may_end.set()
        wait_until(lambda: not office.waiting())
    assert not slow.begun.acquire(blocking=False)


def test_a_task_that_was_dropped_because_the_database_was_away_is_done_without_waiting_for_its_lease(
    office: Office,
) -> None:
    away, done = threading.Event(), threading.Event()

    def do(_work: Work) -> None:
        if not away.is_set():
            away.set()
            raise Unreachable("The database cannot be reached.")
        done.set()

    with office.working(flaky=do):
        office.put(Letter("flaky", {}))
        office.stage.ring()
        # The clock stands still, so no lease runs out.
        assert done.wait(_PATIENCE_SECONDS)
        wait_until(lambda: not office.waiting())


def test_a_thread_that_dies_ends_the_worker(office: Office) -> None:
    class Bug(BaseException):
        """What no task is expected to raise."""

    def fail(_work: Work) -> None:
        raise Bug

    ended = pytest.raises(Bug)
    with ended, office.working(faulty=fail):
        office.put(Letter("faulty", {}))
        office.stage.ring()
        wait_until(lambda: office.leases() and office.leases()[0][0] > moment_text(office.clock()))


def _start_killed_worker(office: Office, at: datetime) -> None:
    """Run a worker process whose clock begins at a moment, and which is killed by its own task."""
    script = Path(__file__).parents[1] / "killed_worker.py"
    ahead = str((at - system_clock()).total_seconds())
    environment = {**os.environ, **environment_of(office.settings)}
    ended = subprocess.run([sys.executable, script, ahead], env=environment, check=False, timeout=_PATIENCE_SECONDS)
    assert ended.returncode == -signal.SIGKILL


def test_a_task_that_kills_the_worker_process_is_parked_after_three_deaths_and_holds_up_no_other(
    office: Office,
) -> None:
    office.put(Letter("kill", {}, "A task that kills"))
    for death in range(MOST_LOST_LEASES):
        assert office.cast.perform(list_failed_work)["data"] == []
        office.put(a_mail(f"kim{death}@new.example"), office.other)
        office.clock.now = system_clock() + (LEASE + timedelta(seconds=60)) * death
        _start_killed_worker(office, office.clock.now)
        assert office.waiting() == [("kill", "events")]
        assert f"kim{death}@new.example" in _sent(office)

    office.clock.now += LEASE * 2
    worker = open_worker(office.settings, office.stage)
    work_off(worker)
    [failed] = office.cast.perform(list_failed_work)["data"]
    assert (failed["about"], failed["status"]) == ("A task that kills", "failed")
    assert failed["problem"].startswith("The worker stopped 3 times while doing this.")

    office.cast.perform(retry_work, workId=failed["id"])
    [(due, lost)] = office.leases()
    assert (due, lost) == (moment_text(office.clock.now), 0)
