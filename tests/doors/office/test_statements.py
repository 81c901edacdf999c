"""Payments → Bank statement: from a file to what it seems to pay, to payments, each once."""

import re
from html import unescape
from typing import Any

import httpx2
import pytest

from mainstay.business.invoices.payments.recording import list_payments
from mainstay.business.organisation.operations import update_organisation
from mainstay.vocabulary.permissions import Role
from support import hostile
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.invoices import issue_invoice, make_invoice, pay_invoice, reread_invoice, void_issued
from support.oauth_app import hidden_value
from support.servers import RunningServer

PATH = "/payments/statement"
RECORD = f"{PATH}/record"
# Before the day on which the cast lives.
ON = "2026-01-05"


def upload_statement(session: BrowserSession, *rows: str, headings: str = "Date;Description;Amount") -> httpx2.Response:
    """Bring a file along, with these rows."""
    page = session.get(PATH).text
    fields = {name: hidden_value(page, name) for name in ("csrf", "once")}
    return session.upload(PATH, fields, file=("statement.csv", "\n".join([headings, *rows]).encode()))


def read_row_fields(page: str) -> dict[str, str]:
    """The fields of the rows as the page has them; a box only where it is ticked."""
    found = {}
    for tag in re.findall("<input[^>]*>", page):
        name, value = (re.search(rf'{what}="([^"]*)"', tag) for what in ("name", "value"))
        if name and " " in name[1] and (value or tag.endswith(" checked>")):
            found[name[1]] = unescape(value[1]) if value else "on"
    return found


def make_row(place: int = 1, **values: str) -> dict[str, str]:
    """A row that is ticked, as someone may send it."""
    fields = {"record": "on", "on": ON, "amount": "10", "text": "Ann", "ref": f"bank {place}", "invoices": "INV-0001"}
    return {f"{name} {place}": value for name, value in (fields | values).items()}


def send_rows(session: BrowserSession, *rows: dict[str, str]) -> httpx2.Response:
    fields = {name: value for one in rows for name, value in one.items()}
    return session.submit_page(session.get(PATH).text, RECORD, **fields)


def fetch_payments(cast: Cast) -> list[dict[str, Any]]:
    return list(cast.perform(list_payments)["data"])


def test_how_many_rows_are_not_listed_is_told(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    came, went = f"{ON};Someone;12.00", f"{ON};Rent;-900.00"
    message = "1 row is not listed because it is an outgoing payment or has no amount."
    assert message in visible_text(upload_statement(orla, came, went).text)
    assert "2 rows are not listed" in visible_text(upload_statement(orla, came, went, f"{ON};Balance;0.00").text)
    assert "not listed" not in visible_text(upload_statement(orla, came).text)
    assert f"The file has no incoming payments. {message}" in visible_text(upload_statement(orla, went).text)


@pytest.mark.engines("sqlite", "postgresql")
def test_what_came_in_is_suggested_recorded_and_known_again(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    invoice = issue_invoice(cast)
    rows = (f"{ON};CALDER INV-0001;1000.00", f"{ON};Someone;12.00", f"{ON};Rent;-900.00")
    answer = upload_statement(orla, *rows)
    text = visible_text(answer.text)
    assert (answer.status_code, "by number and amount" in text, "Rent" in text) == (200, True, False)
    fields = read_row_fields(answer.text)
    assert (fields["record 1"], fields["invoices 1"], "record 2" in fields) == ("on", "INV-0001", False)
    assert fetch_payments(cast) == []

    recorded = orla.submit_page(answer.text, RECORD, **fields)
    assert (recorded.status_code, "Recorded Calder Property : INV-0001" in visible_text(recorded.text)) == (200, True)
    [payment] = fetch_payments(cast)
    assert (payment["amount"], payment["on"], payment["reference"]) == ("1000.00", ON, "CALDER INV-0001")
    assert reread_invoice(cast, invoice)["due"] == "0.00"

    # Sent once more it is not recorded once more, and the file knows it.
    again = orla.submit_page(answer.text, RECORD, **fields)
    assert (
        again.status_code,
        "Not recorded: The bank's entry already belongs to the payment" in visible_text(again.text),
    ) == (
        200,
        True,
    )
    assert "Already recorded" in visible_text(upload_statement(orla, *rows).text)
    assert len(fetch_payments(cast)) == 1


WRONG_ROWS = {
    "no invoice": ({"invoices": " , "}, "Enter an invoice number, or untick this entry."),
    "an invoice that is none": ({"invoices": "INV-9"}, "Invoice INV-9 was not found."),
    "an invoice of any length": ({"invoices": "9" * 5000}, f"Invoice {'9' * 5000} was not found."),
    "a date that is none": ({"on": "2026-02-31"}, "Paid on must be a date, such as dd/mm/yyyy."),
    "no date": ({"on": ""}, "The date is missing."),
    "a date ahead": ({"on": "2099-01-01"}, "Paid on is in the future"),
    "another century": ({"on": "2999-01-01"}, "Paid on is outside the years 2000 to 2099."),
    "a negative amount": ({"amount": "-5"}, "The amount must be more than zero."),
    "nothing": ({"amount": "0"}, "The amount must be more than zero."),
    "an infinite amount": ({"amount": "Infinity"}, "The amount could not be read."),
    "no number": ({"amount": "NaN"}, "The amount could not be read."),
    "an amount beyond all": ({"amount": "1E999999999"}, "The amount could not be read."),
    "too many decimals": ({"amount": "0.005"}, "Amount has more than 2 decimals."),
    "nothing it is known by": ({"ref": ""}, "The bank's entry "),
    "a character nobody sees": ({"text": "Ann\x01"}, "Reference contains a tab, a line break or another"),
}


@pytest.mark.parametrize("several", [False, True], ids=["one invoice", "several"])
@pytest.mark.parametrize("what", WRONG_ROWS)
def test_a_row_that_cannot_be_recorded_says_why_and_the_others_are(
    server: RunningServer, cast: Cast, what: str, *, several: bool
) -> None:
    orla, customer = sign_in_new_person(server, cast, Role.OFFICE), make_customer(cast)
    for _ in range(2):
        issue_invoice(cast, make_invoice(cast, customerId=customer))
    values, why = WRONG_ROWS[what]
    named = {"invoices": "INV-0001 INV-0002"} if several else {}
    answer = send_rows(orla, make_row(1, **named | values), make_row(2, text="Ben"))
    assert answer.status_code == 200
    assert f"Not recorded: {why}" in visible_text(answer.text)
    assert [one["reference"] for one in fetch_payments(cast)] == ["Ben"]


def test_a_long_text_is_shortened(server: RunningServer, cast: Cast) -> None:
    issue_invoice(cast)
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    page = upload_statement(orla, f"{ON};INV-0001 {'long ' * 80};1000.00").text
    assert "Not recorded" not in visible_text(orla.submit_page(page, RECORD, **read_row_fields(page)).text)
    [payment] = fetch_payments(cast)
    assert (payment["reference"][:13], len(payment["reference"])) == ("INV-0001 long", 200)


def test_several_invoices_are_paid_in_their_order_and_one_named_twice_is_one(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    for _ in range(2):
        issue_invoice(cast, make_invoice(cast, customerId=customer))
    send_rows(
        sign_in_new_person(server, cast, Role.OFFICE), make_row(amount="1200.5", invoices="INV-0002, INV-0001;INV-0002")
    )
    [payment] = fetch_payments(cast)
    shares = {one["invoiceNumber"]: one["amount"] for one in payment["allocations"]}
    assert shares == {"INV-0002": "1000.00", "INV-0001": "200.50"}


def test_a_draft_among_several_is_told_and_of_a_void_one_nothing_is_due(server: RunningServer, cast: Cast) -> None:
    orla, customer = sign_in_new_person(server, cast, Role.OFFICE), make_customer(cast)
    draft, void, other = (make_invoice(cast, customerId=customer) for _ in range(3))
    void_issued(cast, issue_invoice(cast, void))
    issue_invoice(cast, other)
    assert "Not recorded" in visible_text(send_rows(orla, make_row(invoices=f"{draft['id']} {other['id']}")).text)
    assert "Recorded" in visible_text(send_rows(orla, make_row(invoices=f"{void['id']} {other['id']}")).text)
    [payment] = fetch_payments(cast)
    assert [one["invoiceId"] for one in payment["allocations"]] == [other["id"]]


def test_an_invoice_that_is_paid_is_told(server: RunningServer, cast: Cast) -> None:
    pay_invoice(cast, issue_invoice(cast))
    assert "Not recorded" in visible_text(send_rows(sign_in_new_person(server, cast, Role.OFFICE), make_row()).text)
    assert len(fetch_payments(cast)) == 1


def test_a_row_that_cannot_be_read_stands_beside_the_others_and_cannot_be_ticked(
    server: RunningServer, cast: Cast
) -> None:
    issue_invoice(cast)
    bad = [f"{ON};Ann;{amount}" for amount in ("1.234", "0.005", "9" * 20, "1E999999999")]
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    answer = upload_statement(orla, *bad, "someday;Ben;5", f"{ON};INV-0001;1000")
    text = visible_text(answer.text)
    assert (answer.status_code, text.count("Cannot be read"), text.count("more than 2 decimals")) == (200, 5, 2)
    assert "The date can't be read." in text
    assert answer.text.count('type="checkbox"') == 1
    assert read_row_fields(answer.text)["invoices 6"] == "INV-0001"
    # What cannot be recorded stands there until someone has looked after it.
    recorded = orla.submit_page(answer.text, RECORD, **read_row_fields(answer.text)).text
    again = visible_text(recorded)
    assert (again.count("Recorded"), again.count("Cannot be read"), "The date can't be read." in again) == (2, 5, True)
    assert (len(fetch_payments(cast)), recorded.count('type="checkbox"')) == (1, 0)


@pytest.mark.parametrize(("country", "written"), [("GB", "1,000"), ("DE", "1.000")])
def test_a_thousand_is_written_as_in_the_organisation_s_country(
    server: RunningServer, cast: Cast, country: str, written: str
) -> None:
    issue_invoice(cast)
    cast.perform(update_organisation, country=country)
    page = upload_statement(sign_in_new_person(server, cast, Role.OFFICE), f"{ON};INV-0001;{written}").text
    assert (read_row_fields(page)["amount 1"], read_row_fields(page)["record 1"]) == ("1000.00", "on")


def test_no_customer_is_ticked_by_a_word_of_many(server: RunningServer, cast: Cast) -> None:
    issue_invoice(cast, make_invoice(cast, customerId=make_customer(cast, "Bauer GmbH")))
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    page = upload_statement(orla, f"{ON};HOLLER GMBH;1000").text
    assert ("by amount" in visible_text(page), "record 1" in read_row_fields(page)) == (True, False)
    assert read_row_fields(upload_statement(orla, f"{ON};BAUER;1000").text)["record 1"] == "on"


@pytest.mark.parametrize(
    ("rows", "headings", "told"),
    [
        ([f"{ON};Rent;(900.00)"], "Date;Description;Amount", "The file has no incoming payments."),
        ([f"{ON};Rent;900"], "Date;Description;Number", "No column found for the amount."),
        ([], "Date;Description;Amount", "The file has headings but no rows."),
    ],
)
def test_a_file_of_which_nothing_is_shown_says_why(
    server: RunningServer, cast: Cast, rows: list[str], headings: str, told: str
) -> None:
    answer = upload_statement(sign_in_new_person(server, cast, Role.OFFICE), *rows, headings=headings)
    assert (answer.status_code, told in visible_text(answer.text)) == (422, True)


def test_so_many_are_shown_and_can_be_recorded_at_once(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    page = upload_statement(orla, *[f"{ON};Someone {number};5" for number in range(501)]).text
    assert "Only the first 500 entries are shown. Upload 1 more in another file." in visible_text(page)
    fields = read_row_fields(page) | {"record 500": "on"}
    assert "Enter an invoice number" in visible_text(orla.submit_page(page, RECORD, **fields).text)


def test_something_has_to_be_ticked(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    page = upload_statement(orla, f"{ON};Someone;12.00", f"{ON};Ben;5").text
    typed = read_row_fields(page) | {"invoices 1": "INV-77"}
    answer = orla.submit_page(page, RECORD, **typed)
    assert (answer.status_code, "Select at least one entry to record." in visible_text(answer.text)) == (422, True)
    assert read_row_fields(answer.text) == typed
    # Without any row, the file is asked for, and goes where files go.
    answer = send_rows(orla, {"on 1": ON})
    assert (answer.status_code, f'action="{PATH}" enctype' in answer.text) == (422, True)


def test_what_was_not_recorded_stands_there_again_to_be_put_right(server: RunningServer, cast: Cast) -> None:
    issue_invoice(cast)
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    page = upload_statement(orla, f"{ON};INV-0001;400.00", f"{ON};Ann;12.00", f"{ON};Ben;1234.50").text
    typed = read_row_fields(page) | {
        "record 1": "on",
        "record 2": "on",
        "invoices 2": "INV-0010",
        "invoices 3": "perhaps INV-0001",
    }
    answer = orla.submit_page(page, RECORD, **typed)
    text = visible_text(answer.text)
    assert "Some payments could not be recorded." in text
    assert "1,234.50" in text
    left = read_row_fields(answer.text)
    assert [left["text 1"], left["invoices 1"], left.get("record 1")] == ["Ann", "INV-0010", "on"]
    assert [left["text 2"], left["invoices 2"], left.get("record 2")] == ["Ben", "perhaps INV-0001", None]
    done = orla.submit_page(answer.text, RECORD, **left | {"invoices 1": "INV-0001"})
    assert "Some payments could not" not in visible_text(done.text)
    assert sorted(one["amount"] for one in fetch_payments(cast)) == ["12.00", "400.00"]


def test_it_is_for_whoever_records_payments_and_not_while_lapsed(server: RunningServer, cast: Cast) -> None:
    member, orla = sign_in_new_person(server, cast, Role.MEMBER), sign_in_new_person(server, cast, Role.OFFICE)
    assert member.get(PATH).status_code == 403
    assert member.submit_page(member.get("/settings/account").text, RECORD, **make_row()).status_code == 403
    page = orla.get(PATH).text
    cast.lapse()
    assert orla.submit_page(page, RECORD, **make_row()).status_code == 402


def test_a_workbook_that_becomes_large_is_refused(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    fields = {name: hidden_value(orla.get(PATH).text, name) for name in ("csrf", "once")}
    content = hostile.make_workbook_with_repeated_string(52_000, 32_000)
    answer = orla.upload(PATH, fields, file=("statement.xlsx", content))
    assert answer.status_code == 422
    assert "more than 10 million characters. Split it" in visible_text(answer.text)
