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

from mainstay.business.people.operations import invite_person, update_person
from mainstay.changes import outbox
from mainstay.changes.outbox import OutboxTask
from mainstay.changes.outbox_queue import LEASE, RETRIES
from mainstay.composition import open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.worker_wakeups import WakeupListener, WakeupSender
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings, to_environment
from mainstay.values.moments import moment_text, system_clock
from mainstay.values.stored_message import load_message
from mainstay.vocabulary.permissions import Role
from mainstay.webhooks import retention
from mainstay.worker.worker import GATHER_SECONDS, Worker
from mainstay.worker.worker_process import run_dispatcher, stop_on_signal
from mainstay.worker_command import open_dispatcher, open_worker
from support.cast import Cast, make_cast
from support.dispatchers import ManualClock, insert_deliveries
from support.installations import Installations
from support.mail_server import MailController
from support.raw_http import NEW_PERSON, PEOPLE
from support.servers import RunningServer
from support.waiting import wait_until
from support.webhooks import insert_attempt, list_stored_deliveries, make_webhook

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
        controller.close_and_stop()


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@dataclass
class MailInstallation:
    """An installation whose mails go to a port, with a clock that is set by hand."""

    settings: Settings
    clock: ManualClock
    performer: Performer
    cast: Cast

    def invite(self, name: str = "Nora New") -> None:
        self.cast.perform(
            invite_person, **NEW_PERSON | {"name": name, "email": f"{name.split(maxsplit=1)[0]}@new.example"}
        )

    def make_worker(self) -> Worker:
        return open_worker(self.settings, self.performer)

    def list_tasks(self) -> list[str]:
        with self.performer.database.read_transaction("*") as db:
            return [str(kind) for (kind,) in db.all("SELECT kind FROM outbox ORDER BY id")]


@pytest.fixture
def installation(engine: str, installations: Installations, tmp_path: Path, port: int) -> Iterator[MailInstallation]:
    settings = replace(installations.make_with_accounts(engine, tmp_path), smtp=f"smtp://127.0.0.1:{port}")
    clock = ManualClock(system_clock())
    performer = open_performer(settings, clock)
    yield MailInstallation(settings, clock, performer, make_cast(performer))
    performer.database.close()


def run_all_tasks(worker: Worker) -> int:
    """Do everything that is due; how much it was."""
    steps = 0
    while worker.run_next_tasks():
        steps += 1
        assert steps < 1000
    return steps


def test_an_invitation_is_mailed_into_the_folder_while_the_server_runs(server: RunningServer, cast: Cast) -> None:
    address = f"nora.{cast.organisation.lower()}@new.example"

    answer = server.request("POST", PEOPLE, cast.make_key(), json={**NEW_PERSON, "email": address})

    assert answer.status_code == 201
    mail = _find_mail(server, address)
    assert mail["Subject"].startswith("Olivia Owner invites you to Organisation ")
    assert "Hello Nora New," in mail.get_content()
    assert server.url in mail.get_content()


def _find_mail(server: RunningServer, address: str) -> EmailMessage:
    def look() -> EmailMessage | None:
        for file in (server.settings.data / "outbox").glob("*.eml"):
            mail = message_from_bytes(file.read_bytes(), policy=default)
            if mail["To"] == address and isinstance(mail, EmailMessage):
                return mail
        return None

    return wait_until(look)


def test_an_invitation_leaves_through_the_mail_server(installation: MailInstallation, port: int) -> None:
    installation.invite()
    with mail_server(port) as inbox:
        run_all_tasks(installation.make_worker())

    [mail] = inbox.mails
    assert mail["To"] == "Nora@new.example"
    assert "invites you" in mail["Subject"]
    assert installation.list_tasks() == []


def test_a_change_that_is_taken_back_mails_nobody(installation: MailInstallation, port: int) -> None:
    run_all_tasks(installation.make_worker())
    taken = NEW_PERSON | {"email": "mia@cast.example"}
    with pytest.raises(Exception, match="already belongs to"):
        installation.cast.perform(invite_person, **taken)

    assert installation.list_tasks() == []
    with mail_server(port) as inbox:
        assert run_all_tasks(installation.make_worker()) == 0
    assert inbox.mails == []


def test_a_mail_that_fails_is_tried_again_later_and_holds_up_nobody(installation: MailInstallation, port: int) -> None:
    worker = installation.make_worker()
    installation.invite()
    # Nobody listens at the port: the mail fails, and with it nothing else.
    assert run_all_tasks(worker) >= 1
    assert installation.list_tasks() == ["mail"]
    assert run_all_tasks(worker) == 0

    installation.clock.now += RETRIES[0] - timedelta(milliseconds=1)
    assert run_all_tasks(worker) == 0
    installation.clock.now += timedelta(milliseconds=1)
    assert run_all_tasks(worker) == 1
    assert installation.list_tasks() == ["mail"]

    installation.clock.now += RETRIES[1]
    with mail_server(port) as inbox:
        assert run_all_tasks(worker) == 1
        assert run_all_tasks(worker) == 0
    assert [mail["To"] for mail in inbox.mails] == ["Nora@new.example"]
    assert installation.list_tasks() == []


def test_a_mail_that_never_leaves_is_parked_and_kept(installation: MailInstallation) -> None:
    worker = installation.make_worker()
    installation.invite()
    run_all_tasks(worker)

    for wait in RETRIES:
        installation.clock.now += wait
        assert run_all_tasks(worker) == 1
    installation.clock.now += timedelta(days=3650)
    assert run_all_tasks(worker) == 0

    with installation.performer.database.read_transaction("*") as db:
        assert db.all("SELECT kind, due_at, attempts FROM outbox") == [("mail", None, len(RETRIES) + 1)]


def test_a_mail_that_can_never_be_sent_is_parked_at_once_with_the_reason(
    installation: MailInstallation, port: int
) -> None:
    payload = {"to": "a..b@new.example", "subject": "Hello", "text": "Hello"}
    with installation.performer.database.write_transaction(installation.cast.organisation) as db:
        outbox.add_task(db, OutboxTask("mail", payload), moment_text(installation.clock.now))

    with mail_server(port) as inbox:
        run_all_tasks(installation.make_worker())
        installation.clock.now += timedelta(days=30)
        run_all_tasks(installation.make_worker())

    assert inbox.mails == []
    with installation.performer.database.read_transaction("*") as db:
        [(stored_payload, due, attempts, problem)] = db.all("SELECT payload, due_at, attempts, problem FROM outbox")
    assert (stored_payload, due, attempts) == (orjson.dumps(payload).decode(), None, 1)
    assert str(load_message(str(problem))) == "This is not an email address: it has a misplaced dot before the @."


def test_what_a_killed_worker_had_begun_is_done_by_the_next(installation: MailInstallation, port: int) -> None:
    # The day has begun: otherwise the worker that is killed may be in the middle of that as well.
    installation.make_worker().begin_days()
    installation.invite()
    with socket.create_server(("127.0.0.1", port)) as silent:
        process = subprocess.Popen(
            [sys.executable, "-m", "mainstay", "worker"], env={**os.environ, **to_environment(installation.settings)}
        )
        # The worker has called the mail server, which does not answer: it is in the middle of it.
        silent.settimeout(30)
        line, _ = silent.accept()
        process.kill()
        process.wait(30)
        line.close()
    assert installation.list_tasks() == ["mail"]

    with mail_server(port) as inbox:
        installation.clock.now = system_clock()
        assert run_all_tasks(installation.make_worker()) == 0
        installation.clock.now += LEASE
        assert run_all_tasks(installation.make_worker()) == 1
    assert len(inbox.mails) == 1
    assert installation.list_tasks() == []


def test_one_event_that_cannot_be_dealt_with_holds_up_no_other(installation: MailInstallation) -> None:
    run_all_tasks(installation.make_worker())
    webhook = make_webhook(installation.cast)
    installation.invite("Ada New")
    with installation.performer.database.write_transaction(installation.cast.organisation) as db:
        outbox.add_task(db, OutboxTask(outbox.EVENT, {}), moment_text(installation.clock()))
    installation.invite("Bea New")

    assert installation.make_worker().run_next_tasks()
    # Both invitations have led to their mails, and to their deliveries.
    assert sorted(installation.list_tasks()) == ["event", "mail", "mail"]
    assert [delivery["type"] for delivery in list_stored_deliveries(installation.cast, webhook)] == [
        "person.invited"
    ] * 2
    with installation.performer.database.read_transaction("*") as db:
        assert db.all("SELECT due_at, attempts FROM outbox WHERE kind = 'event'") == [
            (moment_text(installation.clock() + RETRIES[0]), 1)
        ]


def test_the_events_of_an_organisation_are_dealt_with_together(installation: MailInstallation) -> None:
    run_all_tasks(installation.make_worker())
    casts = [installation.cast, make_cast(installation.performer)]
    webhooks = [make_webhook(cast, events=["person.updated"]) for cast in casts]
    for number in range(20):
        for cast in casts:
            cast.perform(update_person, personId=cast.people[Role.MEMBER], phone=str(number))
    worker = installation.make_worker()
    assert worker.run_next_tasks()
    assert [len(list_stored_deliveries(cast, webhook)) for cast, webhook in zip(casts, webhooks, strict=True)] == [
        20,
        0,
    ]
    assert worker.run_next_tasks()
    assert [len(list_stored_deliveries(cast, webhook)) for cast, webhook in zip(casts, webhooks, strict=True)] == [
        20,
        20,
    ]
    assert installation.list_tasks() == []


def test_what_comes_in_just_after_the_bell_is_dealt_with_at_once(installation: MailInstallation) -> None:
    make_webhook(installation.cast)
    run_all_tasks(installation.make_worker())
    left: list[int] = []

    class Stopping(threading.Event):
        """A change comes in while the worker waits for what follows the bell."""

        def wait(self, timeout: float | None = None) -> bool:
            if timeout == GATHER_SECONDS:
                installation.cast.perform(
                    update_person, personId=installation.cast.people[Role.MEMBER], phone="01422 555010"
                )
            return super().wait(timeout)

    stopping = Stopping()

    def tell() -> None:
        left.append(installation.list_tasks().count(outbox.EVENT))
        if left[-1] == 0:
            stopping.set()

    with WakeupListener.listen(DataFolder(installation.settings.data).worker_socket) as bell:
        installation.performer.wake_worker()
        installation.make_worker().run(bell, stopping, tell)
    assert left == [1, 0]  # when it had rung, and when the task was done


def test_two_workers_do_each_piece_of_work_once(installation: MailInstallation, port: int) -> None:
    for number in range(20):
        installation.invite(f"Person{number} New")
    workers = [installation.make_worker(), installation.make_worker()]

    with mail_server(port) as inbox:
        while sum(worker.run_next_tasks() for worker in workers):
            pass

    assert len(inbox.mails) == 20
    assert len({mail["Message-ID"] for mail in inbox.mails}) == 20


def count_rows(installation: MailInstallation, table: str) -> int:
    with installation.performer.database.read_transaction("*") as db:
        row = db.one(f"SELECT count(*) FROM {table}")
    assert row is not None
    return int(row[0] or 0)


def test_events_are_kept_for_30_days_and_go_when_the_next_day_begins(installation: MailInstallation) -> None:
    kept = count_rows(installation, "event")
    assert kept >= 5

    installation.clock.now += timedelta(days=30) - timedelta(seconds=5)
    installation.make_worker().begin_days()
    assert count_rows(installation, "event") == kept

    installation.clock.now += timedelta(days=1)
    installation.make_worker().begin_days()
    assert count_rows(installation, "event") == 0


def test_deliveries_are_kept_for_30_days_with_their_attempts(
    installation: MailInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They go in several transactions, each of which removes so many.
    monkeypatch.setattr(retention, "BATCH_SIZE", 2)
    webhook = make_webhook(installation.cast)
    for record_id in insert_deliveries(installation.cast, webhook, 5, installation.clock()):
        insert_attempt(installation.cast, record_id, 1, status=500)
    kept = [delivery["id"] for delivery in list_stored_deliveries(installation.cast, webhook)]

    installation.clock.now += timedelta(days=30)
    insert_deliveries(installation.cast, webhook, 1, installation.clock())
    installation.make_worker().remove_old()
    assert len(list_stored_deliveries(installation.cast, webhook)) == len(kept) + 1

    installation.clock.now += timedelta(seconds=1)
    installation.make_worker().remove_old()
    assert not {delivery["id"] for delivery in list_stored_deliveries(installation.cast, webhook)} & {*kept}
    assert count_rows(installation, "delivery") == 1
    assert count_rows(installation, "delivery_attempt") == 0


def broken_clock() -> datetime:
    raise RuntimeError("a fault of the dispatcher")


def test_a_dispatcher_that_dies_ends_the_worker_beside_it(installation: MailInstallation) -> None:
    stopping = threading.Event()
    dispatcher = open_dispatcher(installation.settings, replace(installation.performer, clock=broken_clock))
    with pytest.raises(RuntimeError, match="a fault of the dispatcher"), run_dispatcher(dispatcher, stopping):
        assert stopping.wait(30)


def test_a_worker_that_dies_ends_the_dispatcher_beside_it(installation: MailInstallation) -> None:
    stopping = threading.Event()
    dispatcher = open_dispatcher(installation.settings, installation.performer)
    with pytest.raises(RuntimeError, match="a fault of the worker"), run_dispatcher(dispatcher, stopping):
        raise RuntimeError("a fault of the worker")
    assert stopping.is_set()


def test_replays_are_kept_for_24_hours(installation: MailInstallation) -> None:
    request = RequestDetails("req_1", idempotency_key="once")
    installation.cast.answer(invite_person, installation.cast.actor(Role.OWNER), request, **NEW_PERSON)

    installation.clock.now += timedelta(hours=24) - timedelta(seconds=1)
    installation.make_worker().remove_old()
    assert count_rows(installation, "replay") == 1
    assert installation.cast.answer(
        invite_person, installation.cast.actor(Role.OWNER), request, **NEW_PERSON
    ).is_replayed

    installation.clock.now += timedelta(seconds=2)
    with pytest.raises(Exception, match="already belongs to"):
        installation.cast.answer(invite_person, installation.cast.actor(Role.OWNER), request, **NEW_PERSON)
    installation.make_worker().remove_old()
    assert count_rows(installation, "replay") == 0


@pytest.mark.parametrize("asking", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_rests_is_woken_when_it_is_asked_to_end(tmp_path: Path, asking: signal.Signals) -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with WakeupListener.listen(tmp_path / "bell") as bell:
            stopping = stop_on_signal(WakeupSender(tmp_path / "bell").wake)
            signal.raise_signal(asking)
            assert stopping.is_set()
            assert bell.wait(0)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
