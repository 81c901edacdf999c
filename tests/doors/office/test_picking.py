"""What an invoice bills is picked line by line in its form: of a quote, hours and materials."""

import re
from typing import Any

import pytest

from doors.office.test_quotes import fields_of
from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.jobs.operations import change_job_status
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import cast_at
from support.invoices import (
    BOILER,
    FLUE,
    issue_invoice,
    make_accepted_quote,
    make_approved_hour,
    make_hourly_job,
    make_invoice,
    reread_invoice,
)
from support.purchases import make_order, place_order, receive_order
from support.quotes import make_default_tax_rate
from support.servers import RunningServer

BOXES = re.compile(r'type="checkbox" name="(bill [^"]+)"( checked)?')


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_new_person(server, cast, Role.OFFICE)


def fetch_draft(cast: Cast) -> dict[str, Any]:
    return reread_invoice(cast, cast.perform(list_invoices)["data"][0])


def source_ids_of(invoice: dict[str, Any]) -> list[str]:
    return [line["source"]["id"] for line in invoice["lines"] if line["source"]]


def untick(page: str, *ids: str, **typed: str) -> dict[str, str]:
    """The form as it stands, but for the ticks of these."""
    return {name: value for name, value in fields_of(page).items() if not name.endswith(ids)} | typed


def test_work_is_listed_with_what_it_is_worth_and_only_what_is_ticked_is_billed(
    session: BrowserSession, cast: Cast
) -> None:
    busy = cast_at(cast)
    job = make_hourly_job(busy)
    first, second = (
        make_approved_hour(busy, job, on="2026-11-12"),
        make_approved_hour(busy, job, on="2026-11-13", note="Flushed the pipes"),
    )
    receive_order(busy, place_order(busy, make_order(busy, jobId=job["id"])), "10", "2")
    path = f"/invoices/new?jobId={job['id']}&unbilled=on"
    page = session.get(path).text
    boxes = BOXES.findall(page)
    assert [ticked for _, ticked in boxes] == [" checked"] * 4
    shown = visible_text(page)
    for expected in (
        "Hours 12 November 2026, Mia Member 1 h \N{MULTIPLICATION SIGN} £60.00 £60.00",
        "Flushed the pipes",
        "Materials Copper pipe",
    ):
        assert expected in shown
    session.follow_redirect(session.post(path, untick(page, second)))
    kept = [name.rpartition(" ")[2] for name, _ in boxes if not name.endswith(second)]
    assert source_ids_of(fetch_draft(cast)) == kept
    assert first in kept
    # What was left out is listed the next time, alone.
    [(left, _)] = BOXES.findall(session.get(path).text)
    assert left == f"bill timeEntry {second}"


def test_the_total_follows_the_ticks_and_nothing_is_drafted_by_it(session: BrowserSession, cast: Cast) -> None:
    busy = cast_at(cast)
    make_default_tax_rate(busy)
    job = make_hourly_job(busy)
    make_approved_hour(busy, job, on="2026-11-12")
    second = make_approved_hour(busy, job, on="2026-11-13")
    page = session.get(f"/invoices/new?jobId={job['id']}&unbilled=on").text
    assert 'data-totals="/invoices/new/totals"' in page
    assert "Total £144.00" in visible_text(page)
    answer = session.post("/invoices/new/totals", untick(page, second))
    assert (answer.status_code, "Total £72.00" in visible_text(answer.text)) == (200, True)
    # Without JavaScript, a button tells it; the ticks stay as they are.
    again = session.post("/invoices/new", untick(page, second, do="look"))
    assert (again.status_code, "Total £72.00" in visible_text(again.text)) == (200, True)
    assert [bool(ticked) for _, ticked in BOXES.findall(again.text)] == [True, False]
    assert cast.perform(list_invoices)["data"] == []


def test_lines_of_a_quote_are_picked_and_a_deposit_is_taken_off_with_the_last(
    session: BrowserSession, cast: Cast
) -> None:
    quote = make_accepted_quote(cast)
    issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"percent": "10"}))
    boiler, flue = (line["id"] for line in quote["lines"])
    path = f"/invoices/new?quoteId={quote['id']}"
    page = session.get(path).text
    assert "Deposits deducted" in visible_text(page)
    some = session.post(path, untick(page, flue, do="look")).text
    assert "Deposits deducted" not in visible_text(some)
    session.follow_redirect(session.post(path, untick(some, flue)))
    assert source_ids_of(fetch_draft(cast)) == [boiler]
    session.follow_redirect(session.post(path, fields_of(session.get(path).text)))
    assert (source_ids_of(fetch_draft(cast))[0], fetch_draft(cast)["kind"]) == (flue, "final")
    # All of it is billed, and the page says so.
    assert "is already on invoices" in visible_text(session.get(path).text)


def test_a_whole_quote_keeps_its_headings(session: BrowserSession, cast: Cast) -> None:
    quote = make_accepted_quote(cast, {"kind": "heading", "description": "Heating"}, BOILER, FLUE)
    path = f"/invoices/new?quoteId={quote['id']}"
    session.follow_redirect(session.post(path, fields_of(session.get(path).text)))
    assert fetch_draft(cast)["lines"][0]["description"] == "Heating"


def test_what_was_listed_for_something_else_bills_nothing(session: BrowserSession, cast: Cast) -> None:
    busy = cast_at(cast)
    job, other = make_hourly_job(busy), make_hourly_job(busy)
    make_approved_hour(busy, job)
    theirs = make_approved_hour(busy, other, on="2026-11-15")
    page = session.get(f"/invoices/new?jobId={job['id']}&unbilled=on").text
    another = {"jobId": other["id"], "customerId": other["customerId"]}
    answer = session.post("/invoices/new", fields_of(page) | another)
    assert answer.status_code == 409
    assert "The list of what can be invoiced has changed." in visible_text(answer.text)
    assert BOXES.findall(answer.text) == [(f"bill timeEntry {theirs}", " checked")]
    session.follow_redirect(session.post("/invoices/new", fields_of(answer.text) | another))
    assert source_ids_of(fetch_draft(cast)) == [theirs]


def test_nothing_of_the_quote_ticked_is_no_invoice_of_it(session: BrowserSession, cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    path = f"/invoices/new?quoteId={quote['id']}"
    ids = [line["id"] for line in quote["lines"]]
    answer = session.post(path, untick(session.get(path).text, *ids))
    assert (answer.status_code, "Select at least one line of the quote" in visible_text(answer.text)) == (409, True)


def test_a_part_of_a_quote_stands_alone(session: BrowserSession, cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    page = session.get(f"/invoices/new?quoteId={quote['id']}").text
    part = {"choice": f"part {quote['id']}"}
    refused = session.post("/invoices/new", fields_of(page) | part)
    assert (refused.status_code, "needs a percentage or an amount" in visible_text(refused.text)) == (422, True)
    session.follow_redirect(session.post("/invoices/new", fields_of(page) | part | {"part.percent": "25"}))
    assert (fetch_draft(cast)["kind"], len(fetch_draft(cast)["lines"])) == ("deposit", 1)


def test_whatever_is_typed_into_the_ticks_is_refused_in_words(session: BrowserSession, cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    page = session.get(f"/invoices/new?quoteId={quote['id']}").text
    for typed in ({"bill quoteLine x": "on"}, {"bill": "on"}, {"bill ": "on"}, {"until": "soon"}, {"quoteId": "none"}):
        for path in ("/invoices/new", "/invoices/new/totals"):
            assert session.post(path, fields_of(page) | typed).status_code in {200, 409, 422, 303, 404}


def test_the_price_that_was_agreed_is_shown_and_drafted(session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    job = make_job(cast, make_customer(cast), title="Outside tap", billing="fixed", budget="120")
    cast.perform(change_job_status, jobId=job["id"], status="done")
    path = f"/invoices/new?jobId={job['id']}"
    assert f'href="{path}"' in session.get("/hours/to-bill").text
    page = session.get(path).text
    assert "The agreed price Outside tap £120.00" in visible_text(page)
    assert "Total £144.00" in visible_text(page)
    session.follow_redirect(session.post(path, fields_of(page)))
    assert [(line["description"], line["amount"]) for line in fetch_draft(cast)["lines"]] == [("Outside tap", "120.00")]
    # Where nothing is left, the form says so before there is another draft.
    assert "so nothing is left. Add lines for extras." in visible_text(session.get(path).text)


def read_choices(page: str) -> list[tuple[str, str]]:
    """Return what can be billed, with the amounts."""
    labels = re.findall(r'<label class="choice">(.*?)</label>', page, re.DOTALL)
    texts = [visible_text(label) for label in labels]
    amounts = [re.search(r"(?:up to )?£[\d,.]+$", text) for text in texts]
    titles = [re.search(r"<strong>(.*?)</strong>", label) for label in labels]
    return [
        (title[1] if title else "", amount[0] if amount else "") for title, amount in zip(titles, amounts, strict=True)
    ]


def test_a_job_is_billed_by_a_choice_with_amounts(session: BrowserSession, cast: Cast) -> None:
    busy = cast_at(cast)
    hourly = make_hourly_job(busy)
    job = hourly["id"]
    make_approved_hour(busy, hourly, on="2026-11-12")
    quote = make_accepted_quote(busy, jobId=job, customerId=hourly["customerId"])
    page = session.get(f"/invoices/new?jobId={job}").text
    assert read_choices(page) == [
        (f"Quote {quote['number']}", "£1,091.10"),
        (f"Part of quote {quote['number']}", "up to £1,091.10"),
        ("Hours and materials", "£60.00"),
        ("Something else", ""),
    ]
    # The customer is known, and what the quote leaves out is one tick away.
    assert 'value="Calder Property"' in page
    assert "Add them too, £60.00" in visible_text(page)
    both = session.post("/invoices/new/totals", fields_of(page) | {"unbilled": "on"})
    assert "Net £1,151.10" in visible_text(both.text)
    session.follow_redirect(session.post("/invoices/new", fields_of(page) | {"choice": "work"}))
    assert fetch_draft(cast)["net"] == "60.00"
    # The next time, the work is no choice any more.
    assert [title for title, _ in read_choices(session.get(f"/invoices/new?jobId={job}").text)][2:] == [
        "Something else"
    ]


def test_a_customer_is_billed_by_a_choice_of_their_jobs(session: BrowserSession, cast: Cast) -> None:
    busy = cast_at(cast)
    job = make_hourly_job(busy)
    make_approved_hour(busy, job)
    page = session.get(f"/invoices/new?customerId={job['customerId']}").text
    assert read_choices(page) == [(f"Hours and materials of {job['number']}", "£60.00"), ("Something else", "")]
    # When it would be due follows from the customer's terms, unless a date is typed.
    cast.perform(update_customer, customerId=job["customerId"], paymentTermsDays=0)
    today = local_date(cast.performer.clock(), "Europe/London")
    due = f"Due {today.day} {today:%b} {today.year} if sent today"
    assert due in visible_text(session.get(f"/invoices/new?customerId={job['customerId']}").text)
    dated = session.post("/invoices/new/totals", fields_of(page) | {"dueOn": "2038-01-11"})
    assert "if sent today" not in visible_text(dated.text)
    answer = session.post("/invoices/new", fields_of(page) | {"do": "send"})
    draft = fetch_draft(cast)
    assert (draft["jobId"], draft["net"]) == (job["id"], "60.00")
    # It is sent next. Something without lines needs those first, whatever was pressed.
    assert answer.headers["Location"] == f"/invoices/{draft['id']}/send?done=draft_invoice"
    page = session.get(f"/invoices/new?customerId={job['customerId']}").text
    empty = session.post("/invoices/new", fields_of(page) | {"do": "send", "choice": "other"})
    assert re.fullmatch(r"/invoices/\w+/lines\?done=draft_invoice", empty.headers["Location"])


def test_something_else_than_the_agreed_price_leaves_the_job_out(session: BrowserSession, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), billing="fixed", budget="120")
    page = session.get(f"/invoices/new?jobId={job['id']}").text
    (_, other) = re.findall(r'name="choice" value="([^"]+)"', page)
    session.follow_redirect(session.post("/invoices/new", fields_of(page) | {"choice": other}))
    assert (fetch_draft(cast)["customerId"], fetch_draft(cast)["jobId"]) == (job["customerId"], None)
    assert fetch_draft(cast)["lines"] == []


def test_a_job_that_is_chosen_in_the_form_tells_its_customer(session: BrowserSession, cast: Cast) -> None:
    busy = cast_at(cast)
    make_approved_hour(busy, make_hourly_job(busy, title="Flush the pipes"))
    page = session.get("/invoices/new").text
    assert read_choices(page) == []
    looked = session.post("/invoices/new", fields_of(page) | {"jobId": "J-0001", "do": "look"}).text
    assert 'value="Calder Property"' in looked
    session.follow_redirect(session.post("/invoices/new", fields_of(looked)))
    assert fetch_draft(cast)["net"] == "60.00"
