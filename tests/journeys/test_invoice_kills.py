"""The server is killed while invoices are sent: no number is missing or given twice, and each mail comes, once."""

import random
import threading
from collections import Counter
from datetime import timedelta
from email import message_from_bytes
from email.policy import default
from typing import Any

import httpx2
import pytest

from mainstay.changes.outbox_queue import LEASE
from mainstay.composition import open_performer
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from mainstay.values.moments import system_clock
from mainstay.worker_command import open_worker
from support.cast import Cast, make_cast
from support.customers import make_customer
from support.invoices import make_invoice
from support.servers import ServerProcess, make_tls_context, start_server

# What is acknowledged is kept by each engine in its own way.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

CLIENTS, KILLS, MANY_KILLS = 3, 2, 10
# So many are waiting each time: more than are sent before the end.
DRAFTS = 60


def test_no_number_is_missing_after_kills(fresh_settings: Settings) -> None:
    survive_kills(fresh_settings, KILLS)


@pytest.mark.long
def test_no_number_is_missing_after_many_kills(fresh_settings: Settings) -> None:
    survive_kills(fresh_settings, MANY_KILLS)


def survive_kills(settings: Settings, kills: int) -> None:
    performer = open_performer(settings)
    cast = make_cast(performer)
    customer = make_customer(cast)
    numbers: dict[str, str] = {}
    for number in range(kills):
        drafts = [make_invoice(cast, customerId=customer)["id"] for _ in range(DRAFTS)]
        with start_server(settings) as server:
            send_until_killed(server, cast, drafts, numbers, after=random.Random(number).randint(5, 30))
        check_numbers(cast, numbers)
    finish_tasks(settings)
    check_documents(settings, performer, cast)
    performer.database.close()


def send_until_killed(
    server: ServerProcess, cast: Cast, drafts: list[str], numbers: dict[str, str], after: int
) -> None:
    """Let clients send drafts, and kill the server after so many acknowledgements; what they were told is kept."""
    acknowledged = threading.Semaphore(0)

    def send(mine: list[str], key: str) -> None:
        with httpx2.Client(
            base_url=server.url, headers={"Authorization": f"Bearer {key}"}, timeout=30, verify=make_tls_context()
        ) as connection:
            for draft in mine:
                body = {"to": [f"{draft.lower()}@calder.example"], "confirmed": True}
                try:
                    answer = connection.post(f"/api/v1/invoices/{draft}/send", json=body)
                except httpx2.TransportError:
                    return
                assert answer.status_code == 200, answer.text
                numbers[draft] = answer.json()["number"]
                acknowledged.release()

    keys = [cast.make_key() for _ in range(CLIENTS)]
    threads = [threading.Thread(target=send, args=(drafts[place::CLIENTS], key)) for place, key in enumerate(keys)]
    for thread in threads:
        thread.start()
    for _ in range(after):
        assert acknowledged.acquire(timeout=60)
    server.kill()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def read_issued(cast: Cast) -> dict[str, Any]:
    """The numbers of what was issued, and the names of its PDFs, by id; read as a change, which waits for the dead."""
    with cast.performer.database.write_transaction(cast.organisation, keep=False) as db:
        sql = "SELECT id, number, pdf_sha256 FROM invoice WHERE organisation_id = :organisation AND status = 'issued'"
        return {str(record_id): (number, pdf) for record_id, number, pdf in db.all(sql)}


def check_numbers(cast: Cast, numbers: dict[str, str]) -> None:
    kept = {record_id: number for record_id, (number, _) in read_issued(cast).items()}
    assert sorted(kept.values()) == [f"INV-{number:04}" for number in range(1, len(kept) + 1)]
    assert {record_id: kept[record_id] for record_id in numbers} == numbers


def finish_tasks(settings: Settings) -> None:
    """Let a worker do what is left, also what a killed one had begun."""
    later = open_performer(settings, lambda: system_clock() + LEASE + timedelta(seconds=1))
    worker = open_worker(settings, later)
    while worker.run_next_tasks():
        pass
    later.database.close()


def check_documents(settings: Settings, performer: Performer, cast: Cast) -> None:
    """Each that was issued has its PDF, and was mailed to its own address once, with it."""
    issued = read_issued(cast)
    assert all(pdf for _, pdf in issued.values())
    with performer.database.read_transaction(cast.organisation) as db:
        assert db.one("SELECT count(*) FROM outbox WHERE organisation_id = :organisation") == (0,)
    mails = [message_from_bytes(file.read_bytes(), policy=default) for file in (settings.data / "outbox").glob("*.eml")]
    assert Counter(mail["To"] for mail in mails) == {f"{draft.lower()}@calder.example": 1 for draft in issued}
    assert {part.get_content_type() for mail in mails for part in mail.iter_attachments()} == {"application/pdf"}
