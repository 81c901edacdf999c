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

from billing import an_invoice
from cast import Cast, assemble
from mainstay.kernel.perform import Stage
from mainstay.ledger.outbox_queue import LEASE
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.values.moments import system_clock
from mainstay.working import open_worker
from running import ServerProcess, start_server, tls
from trade import a_customer

# What is acknowledged is kept by each engine in its own way.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

CLIENTS, KILLS, MANY_KILLS = 3, 2, 10
# So many are waiting each time: more than are sent before the end.
DRAFTS = 60


def test_no_number_is_missing_after_kills(fresh_settings: Settings) -> None:
    endure(fresh_settings, KILLS)


@pytest.mark.long
def test_no_number_is_missing_after_many_kills(fresh_settings: Settings) -> None:
    endure(fresh_settings, MANY_KILLS)


def endure(settings: Settings, kills: int) -> None:
    stage = open_stage(settings)
    cast = assemble(stage)
    customer = a_customer(cast)
    told: dict[str, str] = {}
    for number in range(kills):
        drafts = [an_invoice(cast, customerId=customer)["id"] for _ in range(DRAFTS)]
        with start_server(settings) as server:
            send_until_killed(server, cast, drafts, told, after=random.Random(number).randint(5, 30))
        check_numbers(cast, told)
    finish(settings)
    check_papers(settings, stage, cast)
    stage.database.close()


def send_until_killed(server: ServerProcess, cast: Cast, drafts: list[str], told: dict[str, str], after: int) -> None:
    """Let clients send drafts, and kill the server after so many acknowledgements; what they were told is kept."""
    acknowledged = threading.Semaphore(0)

    def send(mine: list[str], key: str) -> None:
        with httpx2.Client(
            base_url=server.url, headers={"Authorization": f"Bearer {key}"}, timeout=30, verify=tls()
        ) as connection:
            for draft in mine:
                body = {"to": [f"{draft.lower()}@calder.example"], "confirmed": True}
                try:
                    answer = connection.post(f"/api/v1/invoices/{draft}/send", json=body)
                except httpx2.TransportError:
                    return
                assert answer.status_code == 200, answer.text
                told[draft] = answer.json()["number"]
                acknowledged.release()

    keys = [cast.key() for _ in range(CLIENTS)]
    threads = [threading.Thread(target=send, args=(drafts[place::CLIENTS], key)) for place, key in enumerate(keys)]
    for thread in threads:
        thread.start()
    for _ in range(after):
        assert acknowledged.acquire(timeout=60)
    server.kill()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def rows_of(cast: Cast) -> dict[str, Any]:
    """The numbers of what was issued, and the names of its PDFs, by id; read as a change, which waits for the dead."""
    with cast.stage.database.changing(cast.organisation, keep=False) as rows:
        sql = "SELECT id, number, pdf_sha256 FROM invoice WHERE organisation_id = :organisation AND status = 'issued'"
        return {str(identity): (number, pdf) for identity, number, pdf in rows.all(sql)}


def check_numbers(cast: Cast, told: dict[str, str]) -> None:
    kept = {identity: number for identity, (number, _) in rows_of(cast).items()}
    assert sorted(kept.values()) == [f"INV-{number:04}" for number in range(1, len(kept) + 1)]
    assert {identity: kept[identity] for identity in told} == told


def finish(settings: Settings) -> None:
    """Let a worker do what is left, also what a killed one had begun."""
    later = open_stage(settings, lambda: system_clock() + LEASE + timedelta(seconds=1))
    worker = open_worker(settings, later)
    while worker.step():
        pass
    later.database.close()


def check_papers(settings: Settings, stage: Stage, cast: Cast) -> None:
    """Each that was issued has its PDF, and was mailed to its own address once, with it."""
    issued = rows_of(cast)
    assert all(pdf for _, pdf in issued.values())
    with stage.database.reading(cast.organisation) as rows:
        assert rows.one("SELECT count(*) FROM outbox WHERE organisation_id = :organisation") == (0,)
    mails = [message_from_bytes(file.read_bytes(), policy=default) for file in (settings.data / "outbox").glob("*.eml")]
    assert Counter(mail["To"] for mail in mails) == {f"{draft.lower()}@calder.example": 1 for draft in issued}
    assert {part.get_content_type() for mail in mails for part in mail.iter_attachments()} == {"application/pdf"}
