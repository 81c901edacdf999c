from typing import Any

import pytest

from cast import Cast
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import update_customer
from mainstay.business.quotes.deciding import record_quote_decision
from mainstay.business.quotes.operations import get_quote, list_quotes
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.kernel.context import Envelope
from mainstay.terms.refusal import Forbidden, NotFound
from mainstay.terms.rights import Role
from quoting import a_draft, accepted, later, sent
from trade import a_customer, a_job, work_off


def numbers(cast: Cast, **given: object) -> list[str]:
    return [quote["number"] for quote in cast.perform(list_quotes, Role.OFFICE, **given)["data"]]


@pytest.fixture
def each(cast: Cast) -> Cast:
    """One of each state: Q-0001 to Q-0006, by their numbers."""
    a_draft(cast)
    sent(cast)
    accepted(cast, sent(cast))
    declined = sent(cast)
    cast.perform(record_quote_decision, quoteId=declined["id"], decision="declined", confirmed=True)
    cast.perform(withdraw_quote, quoteId=sent(cast)["id"], confirmed=True)
    return cast


def test_the_newest_come_first_and_without_their_lines(each: Cast) -> None:
    page = each.perform(list_quotes, Role.OFFICE)
    assert [quote["number"] for quote in page["data"]] == [f"Q-000{number}" for number in (5, 4, 3, 2, 1)]
    whole = each.perform(get_quote, Role.OFFICE, quoteId="Q-0003")
    row = page["data"][2]
    assert row == {name: whole[name] for name in row}
    assert not {"lines", "taxes", "cost", "terms"} & row.keys()


def test_by_each_state(each: Cast) -> None:
    found = {state: numbers(each, status=state) for state in ("draft", "sent", "accepted", "declined", "withdrawn")}
    assert found == {
        "draft": ["Q-0001"],
        "sent": ["Q-0002"],
        "accepted": ["Q-0003"],
        "declined": ["Q-0004"],
        "withdrawn": ["Q-0005"],
    }
    assert numbers(each, status="expired") == numbers(each, status="superseded") == []


def test_time_alone_makes_it_expired(each: Cast) -> None:
    after = later(each, days=32)
    assert (numbers(after, status="sent"), numbers(after, status="expired")) == ([], ["Q-0002"])
    rows: list[dict[str, Any]] = after.perform(list_quotes, Role.OFFICE)["data"]
    assert {quote["number"]: quote["status"] for quote in rows}["Q-0002"] == "expired"


def test_each_row_of_a_page_says_what_can_be_done_with_it(each: Cast) -> None:
    answer = each.stage.perform(list_quotes, each.actor(Role.OFFICE), b"{}", Envelope("r", actions=True))
    assert b'"availableActions":["update_quote","send_quote","withdraw_quote"]' in answer.body
    assert b'"availableActions":["revise_quote","withdraw_quote","record_quote_decision"]' in answer.body


def test_by_customer_job_dates_and_text(cast: Cast) -> None:
    customer = a_customer(cast, "Ryburn Mills")
    job = a_job(cast, customer)
    a_draft(cast, customerId=customer, jobId=job["id"], title="New boiler")
    quote = sent(cast, a_draft(cast, title="Bathroom"))
    assert numbers(cast, customerId=customer) == numbers(cast, jobId=job["number"]) == ["Q-0001"]
    assert numbers(cast, jobId=job["id"], status="sent") == []
    day = quote["issuedOn"]
    assert numbers(cast, **{"from": day, "until": day}) == ["Q-0002"]
    assert numbers(cast, until="2020-01-01") == numbers(cast, **{"from": "2099-01-01"}) == []
    for text, found in {"ryburn boil": ["Q-0001"], "Q-0002": ["Q-0002"], "bathroom": ["Q-0002"], "nothing": []}.items():
        assert numbers(cast, text=text) == found
    assert numbers(cast, text="1000.00") == numbers(cast, text="1000") == ["Q-0002", "Q-0001"]


def test_those_that_expire_first_come_first(cast: Cast) -> None:
    for day in ("2031-03-01", "2031-01-01", "2031-02-01"):
        sent(cast, a_draft(cast, validUntil=day))
    a_draft(cast)
    assert numbers(cast, order="expiring", status="sent") == ["Q-0002", "Q-0003", "Q-0001"]
    assert numbers(cast, order="issued") == ["Q-0003", "Q-0002", "Q-0001"]
    page = cast.perform(list_quotes, order="expiring", limit=1)
    assert numbers(cast, order="expiring", startingAfter=page["data"][0]["id"]) == ["Q-0003", "Q-0001"]


def test_it_is_found_by_what_its_customer_is_called_now(cast: Cast) -> None:
    customer = a_customer(cast, "Ryburn Mills")
    a_draft(cast, customerId=customer)
    cast.perform(update_customer, customerId=customer, name="Luddenden Works")
    work_off(cast)
    assert (numbers(cast, text="ryburn"), numbers(cast, text="luddenden")) == ([], ["Q-0001"])


def test_it_goes_over_to_the_customer_that_theirs_goes_up_in(cast: Cast) -> None:
    customer, other = a_customer(cast), a_customer(cast, "Ryburn")
    a_draft(cast, customerId=customer)
    cast.perform(merge_customers, customerId=customer, intoCustomerId=other, confirmed=True)
    assert numbers(cast, customerId=other) == ["Q-0001"]


def test_another_organisation_s_are_not_there(cast: Cast, stranger: Cast) -> None:
    quote = a_draft(cast)
    assert numbers(stranger) == []
    for name in (quote["id"], quote["number"]):
        with pytest.raises(NotFound):
            stranger.perform(get_quote, quoteId=name)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sees_none(cast: Cast, role: Role) -> None:
    quote = a_draft(cast)
    with pytest.raises(Forbidden):
        cast.perform(list_quotes, role)
    with pytest.raises(Forbidden):
        cast.perform(get_quote, role, quoteId=quote["id"])
