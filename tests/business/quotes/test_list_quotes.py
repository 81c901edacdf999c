from typing import Any

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import update_customer
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.business.quotes.operations import get_quote, list_quotes
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job, run_all_tasks
from support.quotes import accept_quote, cast_later, issue_quote, make_quote


def list_numbers(cast: Cast, **given: object) -> list[str]:
    return [quote["number"] for quote in cast.perform(list_quotes, Role.OFFICE, **given)["data"]]


@pytest.fixture
def all_states(cast: Cast) -> Cast:
    """One quote of each state: Q-0001 to Q-0006."""
    make_quote(cast)
    issue_quote(cast)
    accept_quote(cast, issue_quote(cast))
    declined = issue_quote(cast)
    cast.perform(record_quote_decision, quoteId=declined["id"], decision="declined", confirmed=True)
    cast.perform(withdraw_quote, quoteId=issue_quote(cast)["id"], confirmed=True)
    return cast


def test_the_newest_come_first_and_without_their_lines(all_states: Cast) -> None:
    page = all_states.perform(list_quotes, Role.OFFICE)
    assert [quote["number"] for quote in page["data"]] == [f"Q-000{number}" for number in (5, 4, 3, 2, 1)]
    whole = all_states.perform(get_quote, Role.OFFICE, quoteId="Q-0003")
    row = page["data"][2]
    assert row == {name: whole[name] for name in row}
    assert not {"lines", "taxes", "cost", "terms"} & row.keys()


def test_by_each_state(all_states: Cast) -> None:
    found = {
        state: list_numbers(all_states, status=state)
        for state in ("draft", "sent", "accepted", "declined", "withdrawn")
    }
    assert found == {
        "draft": ["Q-0001"],
        "sent": ["Q-0002"],
        "accepted": ["Q-0003"],
        "declined": ["Q-0004"],
        "withdrawn": ["Q-0005"],
    }
    assert list_numbers(all_states, status="expired") == list_numbers(all_states, status="superseded") == []


def test_time_alone_makes_it_expired(all_states: Cast) -> None:
    after = cast_later(all_states, days=32)
    assert (list_numbers(after, status="sent"), list_numbers(after, status="expired")) == ([], ["Q-0002"])
    rows: list[dict[str, Any]] = after.perform(list_quotes, Role.OFFICE)["data"]
    assert {quote["number"]: quote["status"] for quote in rows}["Q-0002"] == "expired"


def test_each_row_of_a_page_says_what_can_be_done_with_it(all_states: Cast) -> None:
    answer = all_states.performer.perform(
        list_quotes, all_states.actor(Role.OFFICE), b"{}", RequestDetails("r", with_actions=True)
    )
    assert b'"availableActions":["update_quote","send_quote","withdraw_quote"]' in answer.body
    assert b'"availableActions":["revise_quote","withdraw_quote","record_quote_decision"]' in answer.body


def test_by_customer_job_dates_and_text(cast: Cast) -> None:
    customer = make_customer(cast, "Ryburn Mills")
    job = make_job(cast, customer)
    make_quote(cast, customerId=customer, jobId=job["id"], title="New boiler")
    quote = issue_quote(cast, make_quote(cast, title="Bathroom"))
    assert list_numbers(cast, customerId=customer) == list_numbers(cast, jobId=job["number"]) == ["Q-0001"]
    assert list_numbers(cast, jobId=job["id"], status="sent") == []
    day = quote["issuedOn"]
    assert list_numbers(cast, **{"from": day, "until": day}) == ["Q-0002"]
    assert list_numbers(cast, until="2020-01-01") == list_numbers(cast, **{"from": "2099-01-01"}) == []
    for text, found in {"ryburn boil": ["Q-0001"], "Q-0002": ["Q-0002"], "bathroom": ["Q-0002"], "nothing": []}.items():
        assert list_numbers(cast, text=text) == found
    assert list_numbers(cast, text="1000.00") == list_numbers(cast, text="1000") == ["Q-0002", "Q-0001"]


def test_those_that_expire_first_come_first(cast: Cast) -> None:
    for day in ("2031-03-01", "2031-01-01", "2031-02-01"):
        issue_quote(cast, make_quote(cast, validUntil=day))
    make_quote(cast)
    assert list_numbers(cast, order="expiring", status="sent") == ["Q-0002", "Q-0003", "Q-0001"]
    assert list_numbers(cast, order="issued") == ["Q-0003", "Q-0002", "Q-0001"]
    page = cast.perform(list_quotes, order="expiring", limit=1)
    assert list_numbers(cast, order="expiring", startingAfter=page["data"][0]["id"]) == ["Q-0003", "Q-0001"]


def test_it_is_found_by_what_its_customer_is_called_now(cast: Cast) -> None:
    customer = make_customer(cast, "Ryburn Mills")
    make_quote(cast, customerId=customer)
    cast.perform(update_customer, customerId=customer, name="Luddenden Works")
    run_all_tasks(cast)
    assert (list_numbers(cast, text="ryburn"), list_numbers(cast, text="luddenden")) == ([], ["Q-0001"])


def test_it_goes_over_to_the_customer_that_theirs_goes_up_in(cast: Cast) -> None:
    customer, other = make_customer(cast), make_customer(cast, "Ryburn")
    make_quote(cast, customerId=customer)
    cast.perform(merge_customers, customerId=customer, intoCustomerId=other, confirmed=True)
    assert list_numbers(cast, customerId=other) == ["Q-0001"]


def test_another_organisation_s_are_not_there(cast: Cast, other_cast: Cast) -> None:
    quote = make_quote(cast)
    assert list_numbers(other_cast) == []
    for name in (quote["id"], quote["number"]):
        with pytest.raises(NotFound):
            other_cast.perform(get_quote, quoteId=name)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sees_none(cast: Cast, role: Role) -> None:
    quote = make_quote(cast)
    with pytest.raises(Forbidden):
        cast.perform(list_quotes, role)
    with pytest.raises(Forbidden):
        cast.perform(get_quote, role, quoteId=quote["id"])
