"""What an invoice bills is picked line by line in its form: of a quote, hours and materials."""

import re
from typing import Any

import pytest

from billing import BOILER, FLUE, a_sold_quote, an_hour, an_invoice, issued, now, worked_job
from cast import Cast
from doors.office.test_quotes import fields_of
from labour import at
from mainstay.business.invoices.operations import list_invoices
from mainstay.business.jobs.operations import change_job_status
from mainstay.terms.rights import Role
from ordering import an_order, ordered, received
from quoting import usual_tax
from running import RunningServer
from trade import a_customer, a_job
from visiting import Visit, visit, words

BOXES = re.compile(r'type="checkbox" name="(bill [^"]+)"( checked)?')


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit(server, cast, Role.OFFICE)


def drafted(cast: Cast) -> dict[str, Any]:
    return now(cast, cast.perform(list_invoices)["data"][0])


def sources(invoice: dict[str, Any]) -> list[str]:
    return [line["source"]["id"] for line in invoice["lines"] if line["source"]]


def without(page: str, *ids: str, **typed: str) -> dict[str, str]:
    """The form as it stands, but for the ticks of these."""
    return {name: value for name, value in fields_of(page).items() if not name.endswith(ids)} | typed


def test_work_is_listed_with_what_it_is_worth_and_only_what_is_ticked_is_billed(visiting: Visit, cast: Cast) -> None:
    busy = at(cast)
    job = worked_job(busy)
    first, second = an_hour(busy, job, on="2026-11-12"), an_hour(busy, job, on="2026-11-13", note="Flushed the pipes")
    received(busy, ordered(busy, an_order(busy, jobId=job["id"])), "10", "2")
    path = f"/invoices/new?jobId={job['id']}&unbilled=on"
    page = visiting.get(path).text
    boxes = BOXES.findall(page)
    assert [ticked for _, ticked in boxes] == [" checked"] * 4
    shown = words(page)
    for told in (
        "Hours 12 November 2026, Mia Member 1 h \N{MULTIPLICATION SIGN} 60.00 60.00",
        "Flushed the pipes",
        "Materials Copper pipe",
    ):
        assert told in shown
    visiting.follow(visiting.post(path, without(page, second)))
    kept = [name.rpartition(" ")[2] for name, _ in boxes if not name.endswith(second)]
    assert sources(drafted(cast)) == kept
    assert first in kept
    # What was left out is listed the next time, alone.
    [(left, _)] = BOXES.findall(visiting.get(path).text)
    assert left == f"bill timeEntry {second}"


def test_the_total_follows_the_ticks_and_nothing_is_drafted_by_it(visiting: Visit, cast: Cast) -> None:
    busy = at(cast)
    usual_tax(busy)
    job = worked_job(busy)
    an_hour(busy, job, on="2026-11-12")
    second = an_hour(busy, job, on="2026-11-13")
    page = visiting.get(f"/invoices/new?jobId={job['id']}&unbilled=on").text
    assert 'data-totals="/invoices/new/totals"' in page
    assert "Total GBP 144.00" in words(page)
    answer = visiting.post("/invoices/new/totals", without(page, second))
    assert (answer.status_code, "Total GBP 72.00" in words(answer.text)) == (200, True)
    # Without JavaScript, a button tells it; the ticks stay as they are.
    again = visiting.post("/invoices/new", without(page, second, do="look"))
    assert (again.status_code, "Total GBP 72.00" in words(again.text)) == (200, True)
    assert [bool(ticked) for _, ticked in BOXES.findall(again.text)] == [True, False]
    assert cast.perform(list_invoices)["data"] == []


def test_lines_of_a_quote_are_picked_and_a_deposit_is_taken_off_with_the_last(visiting: Visit, cast: Cast) -> None:
    quote = a_sold_quote(cast)
    issued(cast, an_invoice(cast, quoteId=quote["id"], part={"percent": "10"}))
    boiler, flue = (line["id"] for line in quote["lines"])
    path = f"/invoices/new?quoteId={quote['id']}"
    page = visiting.get(path).text
    assert "Taken off, as it was asked for before" in words(page)
    some = visiting.post(path, without(page, flue, do="look")).text
    assert "Taken off" not in words(some)
    visiting.follow(visiting.post(path, without(some, flue)))
    assert sources(drafted(cast)) == [boiler]
    visiting.follow(visiting.post(path, fields_of(visiting.get(path).text)))
    assert (sources(drafted(cast))[0], drafted(cast)["kind"]) == (flue, "final")
    # All of it is billed, and the page says so.
    assert "is on invoices already" in words(visiting.get(path).text)


def test_a_whole_quote_keeps_its_headings(visiting: Visit, cast: Cast) -> None:
    quote = a_sold_quote(cast, {"kind": "heading", "description": "Heating"}, BOILER, FLUE)
    path = f"/invoices/new?quoteId={quote['id']}"
    visiting.follow(visiting.post(path, fields_of(visiting.get(path).text)))
    assert drafted(cast)["lines"][0]["description"] == "Heating"


def test_what_was_listed_for_something_else_bills_nothing(visiting: Visit, cast: Cast) -> None:
    busy = at(cast)
    job, other = worked_job(busy), worked_job(busy)
    an_hour(busy, job)
    theirs = an_hour(busy, other, on="2026-11-15")
    page = visiting.get(f"/invoices/new?jobId={job['id']}&unbilled=on").text
    another = {"jobId": other["id"], "customerId": other["customerId"]}
    answer = visiting.post("/invoices/new", fields_of(page) | another)
    assert answer.status_code == 409
    assert "is not what was listed before" in words(answer.text)
    assert BOXES.findall(answer.text) == [(f"bill timeEntry {theirs}", " checked")]
    visiting.follow(visiting.post("/invoices/new", fields_of(answer.text) | another))
    assert sources(drafted(cast)) == [theirs]


def test_nothing_of_the_quote_ticked_is_no_invoice_of_it(visiting: Visit, cast: Cast) -> None:
    quote = a_sold_quote(cast)
    path = f"/invoices/new?quoteId={quote['id']}"
    ids = [line["id"] for line in quote["lines"]]
    answer = visiting.post(path, without(visiting.get(path).text, *ids))
    assert (answer.status_code, "Tick what is billed of the quote" in words(answer.text)) == (409, True)


def test_a_part_of_a_quote_stands_alone(visiting: Visit, cast: Cast) -> None:
    quote = a_sold_quote(cast)
    page = visiting.get(f"/invoices/new?quoteId={quote['id']}").text
    visiting.follow(visiting.post("/invoices/new", fields_of(page) | {"part.percent": "25"}))
    assert (drafted(cast)["kind"], len(drafted(cast)["lines"])) == ("deposit", 1)


def test_whatever_is_typed_into_the_ticks_is_refused_in_words(visiting: Visit, cast: Cast) -> None:
    quote = a_sold_quote(cast)
    page = visiting.get(f"/invoices/new?quoteId={quote['id']}").text
    for typed in ({"bill quoteLine x": "on"}, {"bill": "on"}, {"bill ": "on"}, {"until": "soon"}, {"quoteId": "none"}):
        for path in ("/invoices/new", "/invoices/new/totals"):
            assert visiting.post(path, fields_of(page) | typed).status_code in {200, 409, 422, 303, 404}


def test_the_price_that_was_agreed_is_shown_and_drafted(visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    job = a_job(cast, a_customer(cast), title="Outside tap", billing="fixed", budget="120")
    cast.perform(change_job_status, jobId=job["id"], status="done")
    path = f"/invoices/new?jobId={job['id']}"
    assert f'href="{path}"' in visiting.get("/hours/to-bill").text
    page = visiting.get(path).text
    assert "The price that was agreed Outside tap 120.00" in words(page)
    assert "Total GBP 144.00" in words(page)
    visiting.follow(visiting.post(path, fields_of(page)))
    assert [(line["description"], line["amount"]) for line in drafted(cast)["lines"]] == [("Outside tap", "120.00")]
    # Where nothing is left, the form says so before there is another draft.
    assert "Nothing is left: add lines for what is more." in words(visiting.get(path).text)
