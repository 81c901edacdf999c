"""A form that someone else was faster than: saved again, it changes what was typed into it, and nothing else."""

from typing import Any

import httpx2
import pytest

from doors.office.test_late_forms import end_session, sign_in_again
from doors.office.test_quotes import fields_of
from mainstay.business.customers.operations import get_customer, update_customer
from mainstay.business.jobs.operations import get_job, update_job
from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.business.purchasing.bills import get_bill, update_bill
from mainstay.business.quotes.operations import get_quote
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, add_new_person, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import ADDRESS, make_customer, make_job
from support.purchases import make_bill
from support.quotes import BOILER, WARRANTY, edit_quote, make_quote
from support.servers import RunningServer

TOO_LATE = "Someone else changed this after you opened it, so nothing was saved."
CHANGED_BY_BOTH = "You both changed:"


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_new_person(server, cast)


def form_of(page: str) -> dict[str, str]:
    """What the form on a page would send as it stands."""
    return fields_of(page.partition("<main")[2])


def send_again(session: BrowserSession, path: str, refused: httpx2.Response, **typed: str) -> str:
    """Save what stands in a form that was refused; what the page said that refused it."""
    assert refused.status_code == httpx2.codes.CONFLICT
    saved = session.post(path, form_of(refused.text) | typed)
    assert saved.status_code == httpx2.codes.SEE_OTHER, visible_text(saved.text)
    return visible_text(refused.text)


def read_customer(cast: Cast, customer: str, *names: str) -> list[Any]:
    found = cast.perform(get_customer, customerId=customer)
    return [found[name] for name in names]


def test_what_one_has_not_touched_is_as_the_other_left_it(session: BrowserSession, cast: Cast) -> None:
    customer = make_customer(cast, phone="1", email="old@calder.example", billingAddress=ADDRESS)
    path = f"/customers/{customer}/edit"
    begun = form_of(session.get(path).text)
    other = {**ADDRESS, "city": "Leeds"}
    cast.perform(update_customer, customerId=customer, phone="2", email=None, billingAddress=other)
    street = {"billingAddress.line1": "1 Own Street"}
    refused = session.post(path, begun | {"notes": "Has a dog", **street})
    shown = form_of(refused.text)
    assert (shown["phone"], shown["email"], shown["notes"]) == ("2", "", "Has a dog")
    assert read_customer(cast, customer, "phone", "notes") == ["2", None]

    said = send_again(session, path, refused)
    assert TOO_LATE in said
    assert CHANGED_BY_BOTH not in said
    kept = read_customer(cast, customer, "phone", "email", "notes", "billingAddress")
    assert kept == ["2", None, "Has a dog", {**other, "line1": "1 Own Street"}]


def test_what_both_changed_is_named_and_one_s_own_stands(session: BrowserSession, cast: Cast) -> None:
    customer = make_customer(cast, phone="1", email="old@calder.example")
    path = f"/customers/{customer}/edit"
    begun = form_of(session.get(path).text)
    cast.perform(update_customer, customerId=customer, phone="2", email="new@calder.example", notes="Theirs")
    # Who has typed the same has nothing to fear.
    refused = session.post(path, begun | {"phone": "3", "email": "new@calder.example"})
    said = send_again(session, path, refused)
    assert f"{CHANGED_BY_BOTH} Phone. Your version is shown" in said
    assert read_customer(cast, customer, "phone", "email", "notes") == ["3", "new@calder.example", "Theirs"]


def test_who_is_overtaken_again_is_told_again(session: BrowserSession, cast: Cast) -> None:
    customer = make_customer(cast, phone="1")
    path = f"/customers/{customer}/edit"
    begun = form_of(session.get(path).text)
    cast.perform(update_customer, customerId=customer, phone="2")
    first = session.post(path, begun | {"notes": "Mine"})
    cast.perform(update_customer, customerId=customer, phone="3", notes="Theirs")
    second = session.post(path, form_of(first.text))
    assert f"{CHANGED_BY_BOTH} Notes." in send_again(session, path, second)
    assert read_customer(cast, customer, "phone", "notes") == ["3", "Mine"]


def test_a_form_that_was_also_filled_in_wrong_knows_on_what_it_showed(session: BrowserSession, cast: Cast) -> None:
    customer = make_customer(cast, phone="1")
    path = f"/customers/{customer}/edit"
    begun = form_of(session.get(path).text)
    wrong = session.post(path, begun | {"email": "no address", "notes": "Mine"})
    assert wrong.status_code == httpx2.codes.UNPROCESSABLE_CONTENT
    cast.perform(update_customer, customerId=customer, phone="2")
    send_again(session, path, session.post(path, form_of(wrong.text) | {"email": ""}))
    assert read_customer(cast, customer, "phone", "notes") == ["2", "Mine"]


def test_a_form_that_comes_back_after_a_sign_in_knows_what_it_showed(server: RunningServer, cast: Cast) -> None:
    customer, person, session = make_customer(cast, phone="1"), add_new_person(cast), BrowserSession(server)
    session.sign_in(person)
    path = f"/customers/{customer}/edit"
    begun = form_of(session.get(path).text)
    end_session(session)
    cast.perform(update_customer, customerId=customer, phone="2")
    late = session.post(path, begun | {"notes": "Mine"}, Referer=f"{server.url}{path}")
    back = sign_in_again(session, late, person)
    send_again(session, path, session.post(path, form_of(back.text)))
    assert read_customer(cast, customer, "phone", "notes") == ["2", "Mine"]


def test_a_form_that_says_nothing_of_what_it_showed_names_all_that_differs(session: BrowserSession, cast: Cast) -> None:
    customer = make_customer(cast, phone="1")
    path = f"/customers/{customer}/edit"
    begun = form_of(session.get(path).text)
    cast.perform(update_customer, customerId=customer, phone="2")
    refused = session.post(path, begun | {"notes": "Mine", "shown": ""})
    assert f"{CHANGED_BY_BOTH} Phone, Notes." in visible_text(refused.text)


def test_who_leads_and_who_is_ticked_follows_the_other(session: BrowserSession, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER, title="Old", tags=["old"])
    path = f"/jobs/{job['id']}/edit"
    begun = form_of(session.get(path).text)
    lead, member = cast.people[Role.OFFICE], cast.people[Role.MEMBER]
    theirs = {"leadPersonId": lead, "assigned": [lead], "tags": ["new", "trade"], "customerOrderNumber": "7"}
    cast.perform(update_job, jobId=job["id"], **theirs)
    send_again(session, path, session.post(path, begun | {"title": "Mine", "customerOrderNumber": ""}))
    kept = cast.perform(get_job, jobId=job["id"])
    assert {name: kept[name] for name in theirs} == theirs
    assert (kept["title"], member in kept["assigned"]) == ("Mine", False)


def open_lines(session: BrowserSession, quote: dict[str, Any]) -> tuple[str, dict[str, str]]:
    path = f"/quotes/{quote['id']}/lines"
    return path, form_of(session.get(path).text)


def read_stored_lines(cast: Cast, quote: dict[str, Any], *names: str) -> list[tuple[Any, ...]]:
    lines = cast.perform(get_quote, quoteId=quote["id"])["lines"]
    return [tuple(line[name] for name in names) for line in lines]


def test_lines_that_one_has_not_touched_are_as_the_other_left_them(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    boiler, warranty = (line["id"] for line in quote["lines"])
    path, begun = open_lines(session, quote)
    edit_quote(
        cast,
        quote,
        {"edit": "set", "lineId": boiler, "description": "Better boiler", "optional": True},
        {"edit": "set", "lineId": warranty, "optional": False},
        {"edit": "add", "description": "Flue", "unitPrice": "50", "optional": True},
    )
    refused = session.post(
        path, begun | {f"{warranty} quantity": "2", "new description": "Mine", "new unitPrice": "1", "do": "save"}
    )
    said = send_again(session, path, refused, do="save")
    assert TOO_LATE in said
    assert CHANGED_BY_BOTH not in said
    assert read_stored_lines(cast, quote, "description", "quantity", "optional") == [
        ("Better boiler", "1.00", True),
        ("Warranty, 5 years", "2.00", False),
        ("Flue", "1.00", True),
        ("Mine", "1.00", False),
    ]


def test_what_both_changed_of_a_line_is_named(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    boiler, warranty = (line["id"] for line in quote["lines"])
    path, begun = open_lines(session, quote)
    edit_quote(cast, quote, {"edit": "set", "lineId": warranty, "unitPrice": "300", "description": "Warranty, 6 years"})
    typed = begun | {f"{warranty} unitPrice": "250", f"{boiler} cost": "710", "do": "save"}
    # A box that is no longer ticked is a change too.
    del typed[f"{warranty} optional"]
    said = send_again(session, path, session.post(path, typed), do="save")
    assert f"{CHANGED_BY_BOTH} Price in line 2." in said
    assert read_stored_lines(cast, quote, "description", "unitPrice", "cost", "optional") == [
        ("Combi boiler", "1000.00", "710.00", False),
        ("Warranty, 6 years", "250.00", None, False),
    ]


def test_who_changed_a_line_that_is_gone_is_told(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast, lines=[BOILER, WARRANTY])
    boiler, warranty = (line["id"] for line in quote["lines"])
    path, begun = open_lines(session, quote)
    edit_quote(cast, quote, {"edit": "remove", "lineId": warranty})
    refused = session.post(path, begun | {f"{warranty} description": "Warranty, 7 years", "do": "done"})
    said = send_again(session, path, refused)
    assert "Someone else removed what you edited: Warranty, 7 years." in said
    assert read_stored_lines(cast, quote, "id") == [(boiler,)]


def test_who_takes_out_a_line_twice_by_one_form_is_not_told_of_others(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    boiler = quote["lines"][0]["id"]
    path, begun = open_lines(session, quote)
    typed = begun | {f"{boiler} description": "Typed before", "do": f"remove {boiler}"}
    assert [session.post(path, typed).status_code for _ in range(2)] == [303, 303]


def test_lines_of_a_bill_are_as_the_other_left_them(session: BrowserSession, cast: Cast) -> None:
    pipe: dict[str, Any] = {"description": "Pipe", "unitPrice": "10"}
    bill = make_bill(cast, lines=[pipe, pipe, pipe], total="30.00")
    first, second, third = (line["id"] for line in bill["lines"])
    path = f"/purchasing/bills/{bill['id']}/lines"
    begun = form_of(session.get(path).text)
    theirs: list[dict[str, object]] = [
        {"edit": "set", "lineId": first, "unitPrice": "11"},
        {"edit": "set", "lineId": second, "unitPrice": "12"},
        {"edit": "remove", "lineId": third},
    ]
    cast.perform(update_bill, billId=bill["id"], edits=theirs, total="23.00")
    typed = {f"{first} unitPrice": "10.50", f"{second} description": "Own pipe", f"{third} description": "Gone pipe"}
    typed |= {"new description": "New pipe"}
    refused = session.post(path, begun | typed | {"do": "save"})
    said = visible_text(refused.text)
    for expected in (TOO_LATE, f"{CHANGED_BY_BOTH} Price in line 1.", "removed what you edited: Gone pipe."):
        assert expected in said
    send_again(session, path, refused, do="save", **{f"{first} unitPrice": "11", "new unitPrice": "0"})
    kept = cast.perform(get_bill, billId=bill["id"])
    assert [(line["description"], line["unitPrice"]) for line in kept["lines"]] == [
        ("Pipe", "11.00"),
        ("Own pipe", "12.00"),
        ("New pipe", "0.00"),
    ]
    assert kept["total"] == "23.00"


def test_words_of_a_mail_are_as_the_other_left_them(session: BrowserSession, cast: Cast) -> None:
    path = "/settings/mail-texts/invoice"
    old, new = {"subject": "Old", "text": "Pay"}, {"subject": "New", "text": "Pay"}
    cast.perform(update_settings, mailTexts={"invoice": old})
    begun = form_of(session.get(path).text)
    cast.perform(update_settings, mailTexts={"invoice": new})
    send_again(session, path, session.post(path, begun | {"mailTexts.invoice.text": "Please pay"}))
    kept = cast.perform(get_settings)["mailTexts"]["invoice"]
    assert (kept["subject"], kept["text"]) == ("New", "Please pay")
