"""PDFs through the API: waited for while they are made, and the same bytes ever after."""

import asyncio
import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import orjson
import pytest

from billing import an_invoice, issued
from cast import Cast, assemble
from chances import open_firm
from inside import open_inside
from installations import Opened
from mainstay.backing.database import EVERY
from mainstay.backing.files import Files
from mainstay.business.customers.operations import update_customer
from mainstay.business.quotes.sending import get_quote_pdf
from mainstay.doors.papers import Papers
from mainstay.doors.running import Runner
from mainstay.kernel.context import Envelope
from mainstay.ledger import outbox_queue
from mainstay.ledger.outbox import Lane
from mainstay.terms.rights import Access, Role
from mainstay.worker.kinds import printing
from mainstay.worker.worker import Worker
from mainstay.working import open_worker
from quoting import a_draft, press, sent
from running import RunningServer
from talking import refused
from visiting import visit

QUOTES = "/api/v1/quotes"
_PATIENCE_SECONDS = 60
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def test_a_pdf_is_given_as_soon_as_it_is_made_and_stays_the_same(server: RunningServer, cast: Cast) -> None:
    key, quote = cast.key(Access.READ), sent(cast, deliver="none")
    path = f"{QUOTES}/{quote['number']}/pdf"
    with ThreadPoolExecutor(4) as askers:
        answers = list(askers.map(lambda _: server.request("GET", path, key), range(4)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({hashlib.sha256(answer.content).hexdigest() for answer in answers}) == 1
    first = answers[0]
    assert first.content.startswith(b"%PDF-")
    assert first.headers["content-type"] == "application/pdf"
    assert first.headers["content-disposition"].startswith('inline; filename="Quote Q-0001.pdf"')
    assert (first.headers["cache-control"], first.headers["x-content-type-options"]) == ("no-store", "nosniff")
    cast.perform(update_customer, customerId=quote["customerId"], name="Renamed")
    assert server.request("GET", path, key).content == first.content


def test_an_e_invoice_is_saved_and_not_shown(server: RunningServer, cast: Cast) -> None:
    firm = open_firm(cast)
    lines = [{"description": "Boiler", "unitPrice": "100", "taxRateId": firm.told[0]}]
    invoice = issued(cast, an_invoice(cast, customerId=firm.customer, lines=lines))
    answer = server.request("GET", f"/api/v1/invoices/{invoice['id']}/ubl", cast.key(Access.READ))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith('attachment; filename="')
    assert b"urn:cen.eu:en16931:2017" in answer.content


def test_a_draft_has_none_and_a_stranger_s_is_not_there(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    draft = a_draft(cast)
    text = refused(server.request("GET", f"{QUOTES}/{draft['id']}/pdf", cast.key()), 409)
    assert text == "Q-0001 was never sent, and has no file until it is."
    path = f"{QUOTES}/{sent(cast, draft, deliver='none')['id']}/pdf"
    refused(server.request("GET", path, stranger.key()), 404)
    refused(server.request("GET", path), 401)
    refused(server.request("GET", f"{path}?copy=void", cast.key()), 422)
    refused(server.request("POST", path, cast.key(), json={}), 405)


def test_a_pdf_that_someone_waits_for_is_made_before_all_that_was_there_to_do(alone: Cast, tmp_path: Path) -> None:
    other = assemble(alone.stage)
    for _ in range(3):
        sent(other)
    quote = sent(alone, deliver="none")
    asked = Event()
    worker = Worker(alone.stage, {"print": printing(press(alone, tmp_path))}, ())

    def do_one_thing() -> None:
        asked.wait(_PATIENCE_SECONDS)
        worker.step()

    with ThreadPoolExecutor(1) as thread:
        runner = Runner(reads_inline=False)
        papers = Papers(replace(alone.stage, ring=asked.set), runner, Files(tmp_path / "files"))
        thread.submit(do_one_thing)
        raw = orjson.dumps({"quoteId": quote["id"]})
        given = asyncio.run(papers.answer(get_quote_pdf, alone.actor(Role.OWNER), raw, Envelope("req_test")))
        runner.threads.close()
    assert given.status == 200


@pytest.fixture
def without_worker(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """A server beside which nobody prints, and which waits for nobody."""
    monkeypatch.setattr("mainstay.doors.papers.WAIT_SECONDS", 0.0)
    with open_inside(opened.settings, working=False) as server:
        yield server


def test_a_file_that_is_not_ready_says_so_until_it_is(without_worker: RunningServer, alone: Cast) -> None:
    key, quote = alone.key(Access.READ), sent(alone, deliver="none")
    path = f"{QUOTES}/{quote['id']}/pdf"
    for _ in range(2):
        answer = without_worker.request("GET", path, key)
        assert answer.status_code == 202
        assert answer.headers["retry-after"] == "2"
        assert answer.json() == {
            "object": "paper",
            "recordId": quote["id"],
            "form": "pdf",
            "name": "Quote Q-0001.pdf",
            "sha256": None,
        }
    worker = open_worker(without_worker.settings, alone.stage)
    while worker.step():
        pass
    answer = without_worker.request("GET", path, key)
    assert answer.status_code == 200
    assert answer.content.startswith(b"%PDF-")


def test_the_office_shows_a_page_that_loads_again_by_itself(without_worker: RunningServer, alone: Cast) -> None:
    quote = sent(alone, deliver="none")
    page = visit(without_worker, alone).get(f"/quotes/{quote['id']}/pdf")
    assert page.status_code == 202
    assert page.headers["refresh"] == "2"
    assert "Preparing Quote Q-0001.pdf" in page.text


def test_a_file_that_could_not_be_made_is_refused_and_not_promised(without_worker: RunningServer, alone: Cast) -> None:
    path = f"{QUOTES}/{sent(alone, deliver='none')['id']}/pdf"
    assert without_worker.request("GET", path, alone.key()).status_code == 202
    with alone.stage.database.changing(EVERY) as rows:
        (work,) = outbox_queue.take(rows, Lane.PRINTS, alone.stage.clock())
        outbox_queue.park(rows, work, alone.stage.clock(), "Typst gave up", "It could not be printed.")
    text = refused(without_worker.request("GET", path, alone.key()), 409)
    assert text == "Quote Q-0001.pdf could not be made. Ask whoever runs this Mainstay to try again."
