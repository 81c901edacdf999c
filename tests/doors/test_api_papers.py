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

from mainstay.business.customers.operations import update_customer
from mainstay.business.quotes.sending import get_quote_pdf
from mainstay.changes import outbox_queue
from mainstay.changes.outbox import Lane
from mainstay.doors.document_answers import DocumentAnswers
from mainstay.doors.runner import Runner
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.files import FolderFileStore
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Access, Role
from mainstay.worker.task_kinds import make_pdf_task
from mainstay.worker.worker import Worker
from mainstay.worker_command import open_worker
from support.browser_session import sign_in_new_person
from support.cast import Cast, make_cast
from support.in_process import run_in_process
from support.installations import Installation
from support.invoices import issue_invoice, make_invoice
from support.killed_children import kill_children
from support.quotes import issue_quote, make_quote, open_document_files
from support.random_billing import make_billing_firm
from support.raw_http import check_refusal
from support.servers import RunningServer

QUOTES = "/api/v1/quotes"
_TIMEOUT_SECONDS = 60
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def test_a_pdf_is_given_as_soon_as_it_is_made_and_stays_the_same(server: RunningServer, cast: Cast) -> None:
    key, quote = cast.make_key(Access.READ), issue_quote(cast, deliver="none")
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
    firm = make_billing_firm(cast)
    lines = [{"description": "Boiler", "unitPrice": "100", "taxRateId": firm.e_invoice_rates[0]}]
    invoice = issue_invoice(cast, make_invoice(cast, customerId=firm.customer, lines=lines))
    answer = server.request("GET", f"/api/v1/invoices/{invoice['id']}/ubl", cast.make_key(Access.READ))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith('attachment; filename="')
    assert b"urn:cen.eu:en16931:2017" in answer.content


def test_a_draft_has_none_and_a_stranger_s_is_not_there(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    draft = make_quote(cast)
    text = check_refusal(server.request("GET", f"{QUOTES}/{draft['id']}/pdf", cast.make_key()), 409)
    assert text == "Q-0001 has not been sent, so it has no file yet."
    path = f"{QUOTES}/{issue_quote(cast, draft, deliver='none')['id']}/pdf"
    check_refusal(server.request("GET", path, other_cast.make_key()), 404)
    check_refusal(server.request("GET", path), 401)
    check_refusal(server.request("GET", f"{path}?copy=void", cast.make_key()), 422)
    check_refusal(server.request("POST", path, cast.make_key(), json={}), 405)


def test_a_pdf_that_someone_waits_for_is_made_before_all_that_was_there_to_do(only_cast: Cast, tmp_path: Path) -> None:
    other = make_cast(only_cast.performer)
    for _ in range(3):
        issue_quote(other)
    quote = issue_quote(only_cast, deliver="none")
    requested = Event()
    worker = Worker(only_cast.performer, {"print": make_pdf_task(open_document_files(only_cast, tmp_path))}, ())

    def do_one_thing() -> None:
        requested.wait(_TIMEOUT_SECONDS)
        worker.run_next_tasks()

    with ThreadPoolExecutor(1) as thread:
        runner = Runner(reads_inline=False)
        document_answers = DocumentAnswers(
            replace(only_cast.performer, wake_worker=requested.set), runner, FolderFileStore(tmp_path / "files")
        )
        thread.submit(do_one_thing)
        raw = orjson.dumps({"quoteId": quote["id"]})
        given = asyncio.run(
            document_answers.answer(get_quote_pdf, only_cast.actor(Role.OWNER), raw, RequestDetails("req_test"))
        )
        runner.threads.close()
    assert given.status == 200


@pytest.fixture
def server_without_worker(own_installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """A server beside which nobody prints, and which waits for nobody."""
    monkeypatch.setattr("mainstay.doors.document_answers.WAIT_SECONDS", 0.0)
    with run_in_process(own_installation.settings, with_worker=False) as server:
        yield server


def test_a_file_that_is_not_ready_says_so_until_it_is(server_without_worker: RunningServer, only_cast: Cast) -> None:
    key, quote = only_cast.make_key(Access.READ), issue_quote(only_cast, deliver="none")
    path = f"{QUOTES}/{quote['id']}/pdf"
    for _ in range(2):
        answer = server_without_worker.request("GET", path, key)
        assert answer.status_code == 202
        assert answer.headers["retry-after"] == "2"
        assert answer.json() == {
            "object": "paper",
            "recordId": quote["id"],
            "form": "pdf",
            "name": "Quote Q-0001.pdf",
            "sha256": None,
        }
    worker = open_worker(server_without_worker.settings, only_cast.performer)
    while worker.run_next_tasks():
        pass
    answer = server_without_worker.request("GET", path, key)
    assert answer.status_code == 200
    assert answer.content.startswith(b"%PDF-")


def test_a_file_whose_process_is_killed_is_not_ready_until_it_is_printed_again(
    server_without_worker: RunningServer, only_cast: Cast
) -> None:
    key, performer = only_cast.make_key(Access.READ), only_cast.performer
    path = f"{QUOTES}/{issue_quote(only_cast, deliver='none')['id']}/pdf"
    assert server_without_worker.request("GET", path, key).status_code == 202
    worker = open_worker(server_without_worker.settings, performer)
    with kill_children():
        while worker.run_next_tasks():
            pass
    assert server_without_worker.request("GET", path, key).status_code == 202
    later = replace(performer, clock=lambda: performer.clock() + outbox_queue.RETRIES[0])
    while replace(worker, performer=later).run_next_tasks():
        pass
    answer = server_without_worker.request("GET", path, key)
    assert (answer.status_code, answer.content[:5]) == (200, b"%PDF-")


def test_the_office_shows_a_page_that_loads_again_by_itself(
    server_without_worker: RunningServer, only_cast: Cast
) -> None:
    quote = issue_quote(only_cast, deliver="none")
    page = sign_in_new_person(server_without_worker, only_cast).get(f"/quotes/{quote['id']}/pdf")
    assert page.status_code == 202
    assert page.headers["refresh"] == "2"
    assert "Preparing Quote Q-0001.pdf" in page.text


def test_a_file_that_could_not_be_made_is_refused_and_not_promised(
    server_without_worker: RunningServer, only_cast: Cast
) -> None:
    path = f"{QUOTES}/{issue_quote(only_cast, deliver='none')['id']}/pdf"
    assert server_without_worker.request("GET", path, only_cast.make_key()).status_code == 202
    with only_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        (work,) = outbox_queue.take_tasks(db, Lane.PDFS, only_cast.performer.clock())
        outbox_queue.park_task(db, work, only_cast.performer.clock(), "Typst gave up", "It could not be printed.")
    text = check_refusal(server_without_worker.request("GET", path, only_cast.make_key()), 409)
    assert text == "Quote Q-0001.pdf could not be created. Ask your administrator to retry it."
