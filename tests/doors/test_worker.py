"""The worker: mail leaves after the commit, at least once, whatever dies; what is old goes."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage, Message
from email.policy import default
from pathlib import Path

import orjson
import pytest
from aiosmtpd.handlers import Message as Received

from cast import Cast, assemble
from dispatching import Clock, put_deliveries
from installations import Installations
from mailroom import MailController
from mainstay.backing.folder import DataFolder
from mainstay.backing.wakeups import Bell, Wakeups
from mainstay.business.people.operations import invite_person, update_person
from mainstay.kernel.context import Envelope
from mainstay.kernel.perform import Stage
from mainstay.ledger import outbox
from mainstay.ledger.outbox import Letter
from mainstay.ledger.outbox_queue import LEASE, RETRIES
from mainstay.settings import Settings, environment_of
from mainstay.staging import open_stage
from mainstay.terms.rights import Role
from mainstay.values.moments import moment_text, system_clock
from mainstay.webhooks import retention
from mainstay.worker.process import beside, stop_on_signal
from mainstay.worker.worker import GATHER_SECONDS, Worker
from mainstay.working import open_dispatcher, open_worker
from running import RunningServer
from talking import NEWCOMER, PEOPLE
from telling import add_attempt, deliveries, make_webhook
from waiting import wait_until

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


class Inbox(Received):
    """Keeps the mails that arrive at a real mail server."""

    def __init__(self) -> None:
        super().__init__(EmailMessage)
        self.mails: list[Message] = []

    def handle_message(self, message: Message) -> None:
        self.mails.append(message)


@contextmanager
def mail_server(port: int) -> Iterator[Inbox]:
    inbox = Inbox()
    controller = MailController(inbox, port=port)
    controller.start()
    try:
        yield inbox
    finally:
        controller.end()


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@dataclass
class Desk:
    """An installation whose mails go to a port, with a clock that is set by hand."""

    settings: Settings
    clock: Clock
    stage: Stage
    cast: Cast

    def invite(self, name: str = "Nora New") -> None:
        self.cast.perform(
            invite_person, **NEWCOMER | {"name": name, "email": f"{name.split(maxsplit=1)[0]}@new.example"}
        )

    def worker(self) -> Worker:
        return open_worker(self.settings, self.stage)

    def waiting(self) -> list[str]:
        with self.stage.database.reading("*") as rows:
            return [str(kind) for (kind,) in rows.all("SELECT kind FROM outbox ORDER BY id")]


@pytest.fixture
def desk(engine: str, installations: Installations, tmp_path: Path, port: int) -> Iterator[Desk]:
    settings = replace(installations.furnished(engine, tmp_path), smtp=f"smtp://127.0.0.1:{port}")
    clock = Clock(system_clock())
    stage = open_stage(settings, clock)
    yield Desk(settings, clock, stage, assemble(stage))
    stage.database.close()


def work_off(worker: Worker) -> int:
    """Do everything that is due; how much it was."""
    steps = 0
    while worker.step():
        steps += 1
        assert steps < 1000
    return steps


def test_an_invitation_is_mailed_into_the_folder_while_the_server_runs(server: RunningServer, cast: Cast) -> None:
    address = f"nora.{cast.organisation.lower()}@new.example"

    answer = server.request("POST", PEOPLE, cast.key(), json={**NEWCOMER, "email": address})

    assert answer.status_code == 201
    mail = _mail_to(server, address)
    assert mail["Subject"].startswith("Olivia Owner invites you to Organisation ")
    assert "Hello Nora New," in mail.get_content()
    assert server.url in mail.get_content()


def _mail_to(server: RunningServer, address: str) -> EmailMessage:
    def look() -> EmailMessage | None:
        for file in (server.settings.data / "outbox").glob("*.eml"):
            mail = message_from_bytes(file.read_bytes(), policy=default)
            if mail["To"] == address and isinstance(mail, EmailMessage):
                return mail
        return None

    return wait_until(look)


def test_an_invitation_leaves_through_the_mail_server(desk: Desk, port: int) -> None:
    desk.invite()
    with mail_server(port) as inbox:
        work_off(desk.worker())

    [mail] = inbox.mails
    assert mail["To"] == "Nora@new.example"
    assert "invites you" in mail["Subject"]
    assert desk.waiting() == []


def test_a_change_that_is_taken_back_mails_nobody(desk: Desk, port: int) -> None:
    work_off(desk.worker())
    taken = NEWCOMER | {"email": "mia@cast.example"}
    with pytest.raises(Exception, match="already a person"):
        desk.cast.perform(invite_person, **taken)

    assert desk.waiting() == []
    with mail_server(port) as inbox:
        assert work_off(desk.worker()) == 0
    assert inbox.mails == []


def test_a_mail_that_fails_is_tried_again_later_and_holds_up_nobody(desk: Desk, port: int) -> None:
    worker = desk.worker()
    desk.invite()
    # Nobody listens at the port: the mail fails, and with it nothing else.
    assert work_off(worker) >= 1
    assert desk.waiting() == ["mail"]
    assert work_off(worker) == 0

    desk.clock.now += RETRIES[0] - timedelta(milliseconds=1)
    assert work_off(worker) == 0
    desk.clock.now += timedelta(milliseconds=1)
    assert work_off(worker) == 1
    assert desk.waiting() == ["mail"]

    desk.clock.now += RETRIES[1]
    with mail_server(port) as inbox:
        assert work_off(worker) == 1
        assert work_off(worker) == 0
    assert [mail["To"] for mail in inbox.mails] == ["Nora@new.example"]
    assert desk.waiting() == []


def test_a_mail_that_never_leaves_is_parked_and_kept(desk: Desk) -> None:
    worker = desk.worker()
    desk.invite()
    work_off(worker)

    for wait in RETRIES:
        desk.clock.now += wait
        assert work_off(worker) == 1
    desk.clock.now += timedelta(days=3650)
    assert work_off(worker) == 0

    with desk.stage.database.reading("*") as rows:
        assert rows.all("SELECT kind, due_at, attempts FROM outbox") == [("mail", None, len(RETRIES) + 1)]


def test_a_mail_that_can_never_be_sent_is_parked_at_once_with_the_reason(desk: Desk, port: int) -> None:
    letter = {"to": "a..b@new.example", "subject": "Hello", "text": "Hello"}
    with desk.stage.database.changing(desk.cast.organisation) as rows:
        outbox.put(rows, Letter("mail", letter), moment_text(desk.clock.now))

    with mail_server(port) as inbox:
        work_off(desk.worker())
        desk.clock.now += timedelta(days=30)
        work_off(desk.worker())

    assert inbox.mails == []
    with desk.stage.database.reading("*") as rows:
        assert rows.all("SELECT payload, due_at, attempts, problem FROM outbox") == [
            (
                orjson.dumps(letter).decode(),
                None,
                1,
                "This is not the address of a mail: it has a dot too many before the @.",
            )
        ]


def test_what_a_killed_worker_had_begun_is_done_by_the_next(desk: Desk, port: int) -> None:
    # The day has begun: otherwise the worker that is killed may be in the middle of that as well.
    desk.worker().begin_days()
    desk.invite()
    with socket.create_server(("127.0.0.1", port)) as silent:
        process = subprocess.Popen(
            [sys.executable, "-m", "mainstay", "worker"], env={**os.environ, **environment_of(desk.settings)}
        )
        # The worker has called the mail server, which does not answer: it is in the middle of it.
        silent.settimeout(30)
        line, _ = silent.accept()
        process.kill()
        process.wait(30)
        line.close()
    assert desk.waiting() == ["mail"]

    with mail_server(port) as inbox:
        desk.clock.now = system_clock()
        assert work_off(desk.worker()) == 0
        desk.clock.now += LEASE
        assert work_off(desk.worker()) == 1
    assert len(inbox.mails) == 1
    assert desk.waiting() == []


def test_one_event_that_cannot_be_dealt_with_holds_up_no_other(desk: Desk) -> None:
    work_off(desk.worker())
    webhook = make_webhook(desk.cast)
    desk.invite("Ada New")
    with desk.stage.database.changing(desk.cast.organisation) as rows:
        outbox.put(rows, Letter(outbox.EVENT, {}), moment_text(desk.clock()))
    desk.invite("Bea New")

    assert desk.worker().step()
    # Both invitations have led to their mails, and to their deliveries.
    assert sorted(desk.waiting()) == ["event", "mail", "mail"]
    assert [delivery["type"] for delivery in deliveries(desk.cast, webhook)] == ["person.invited"] * 2
    with desk.stage.database.reading("*") as rows:
        assert rows.all("SELECT due_at, attempts FROM outbox WHERE kind = 'event'") == [
            (moment_text(desk.clock() + RETRIES[0]), 1)
        ]


def test_the_events_of_an_organisation_are_dealt_with_together(desk: Desk) -> None:
    work_off(desk.worker())
    casts = [desk.cast, assemble(desk.stage)]
    webhooks = [make_webhook(cast, events=["person.updated"]) for cast in casts]
    for number in range(20):
        for cast in casts:
            cast.perform(update_person, personId=cast.people[Role.MEMBER], phone=str(number))
    worker = desk.worker()
    assert worker.step()
    assert [len(deliveries(cast, webhook)) for cast, webhook in zip(casts, webhooks, strict=True)] == [20, 0]
    assert worker.step()
    assert [len(deliveries(cast, webhook)) for cast, webhook in zip(casts, webhooks, strict=True)] == [20, 20]
    assert desk.waiting() == []


def test_what_comes_in_just_after_the_bell_is_dealt_with_at_once(desk: Desk) -> None:
    make_webhook(desk.cast)
    work_off(desk.worker())
    left: list[int] = []

    class Stopping(threading.Event):
        """A change comes in while the worker waits for what follows the bell."""

        def wait(self, timeout: float | None = None) -> bool:
            if timeout == GATHER_SECONDS:
                desk.cast.perform(update_person, personId=desk.cast.people[Role.MEMBER], phone="01422 555010")
            return super().wait(timeout)

    stopping = Stopping()

    def tell() -> None:
        left.append(desk.waiting().count(outbox.EVENT))
        if left[-1] == 0:
            stopping.set()

    with Wakeups.listen(DataFolder(desk.settings.data).bell) as bell:
        desk.stage.ring()
        desk.worker().run(bell, stopping, tell)
    assert left == [1, 0]  # when it had rung, and when the task was done


def test_two_workers_do_each_piece_of_work_once(desk: Desk, port: int) -> None:
    for number in range(20):
        desk.invite(f"Person{number} New")
    workers = [desk.worker(), desk.worker()]

    with mail_server(port) as inbox:
        while sum(worker.step() for worker in workers):
            pass

    assert len(inbox.mails) == 20
    assert len({mail["Message-ID"] for mail in inbox.mails}) == 20


def count(desk: Desk, table: str) -> int:
    with desk.stage.database.reading("*") as rows:
        row = rows.one(f"SELECT count(*) FROM {table}")
    assert row is not None
    return int(row[0] or 0)


def test_events_are_kept_for_30_days_and_go_when_the_next_day_begins(desk: Desk) -> None:
    kept = count(desk, "event")
    assert kept >= 5

    desk.clock.now += timedelta(days=30) - timedelta(seconds=5)
    desk.worker().begin_days()
    assert count(desk, "event") == kept

    desk.clock.now += timedelta(days=1)
    desk.worker().begin_days()
    assert count(desk, "event") == 0


def test_deliveries_are_kept_for_30_days_with_their_attempts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # They go in several transactions, each of which removes so many.
    monkeypatch.setattr(retention, "AT_ONCE", 2)
    webhook = make_webhook(desk.cast)
    for identity in put_deliveries(desk.cast, webhook, 5, desk.clock()):
        add_attempt(desk.cast, identity, 1, status=500)
    kept = [delivery["id"] for delivery in deliveries(desk.cast, webhook)]

    desk.clock.now += timedelta(days=30)
    put_deliveries(desk.cast, webhook, 1, desk.clock())
    desk.worker().tidy()
    assert len(deliveries(desk.cast, webhook)) == len(kept) + 1

    desk.clock.now += timedelta(seconds=1)
    desk.worker().tidy()
    assert not {delivery["id"] for delivery in deliveries(desk.cast, webhook)} & {*kept}
    assert count(desk, "delivery") == 1
    assert count(desk, "delivery_attempt") == 0


def broken_clock() -> datetime:
    raise RuntimeError("a fault of the dispatcher")


def test_a_dispatcher_that_dies_ends_the_worker_beside_it(desk: Desk) -> None:
    stopping = threading.Event()
    dispatcher = open_dispatcher(desk.settings, replace(desk.stage, clock=broken_clock))
    with pytest.raises(RuntimeError, match="a fault of the dispatcher"), beside(dispatcher, stopping):
        assert stopping.wait(30)


def test_a_worker_that_dies_ends_the_dispatcher_beside_it(desk: Desk) -> None:
    stopping = threading.Event()
    dispatcher = open_dispatcher(desk.settings, desk.stage)
    with pytest.raises(RuntimeError, match="a fault of the worker"), beside(dispatcher, stopping):
        raise RuntimeError("a fault of the worker")
    assert stopping.is_set()


def test_replays_are_kept_for_24_hours(desk: Desk) -> None:
    request = Envelope("req_1", replay_key="once")
    desk.cast.answer(invite_person, desk.cast.actor(Role.OWNER), request, **NEWCOMER)

    desk.clock.now += timedelta(hours=24) - timedelta(seconds=1)
    desk.worker().tidy()
    assert count(desk, "replay") == 1
    assert desk.cast.answer(invite_person, desk.cast.actor(Role.OWNER), request, **NEWCOMER).replayed

    desk.clock.now += timedelta(seconds=2)
    with pytest.raises(Exception, match="already a person"):
        desk.cast.answer(invite_person, desk.cast.actor(Role.OWNER), request, **NEWCOMER)
    desk.worker().tidy()
    assert count(desk, "replay") == 0


@pytest.mark.parametrize("asking", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_rests_is_woken_when_it_is_asked_to_end(tmp_path: Path, asking: signal.Signals) -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with Wakeups.listen(tmp_path / "bell") as bell:
            stopping = stop_on_signal(Bell(tmp_path / "bell").ring)
            signal.raise_signal(asking)
            assert stopping.is_set()
            assert bell.wait(0)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
