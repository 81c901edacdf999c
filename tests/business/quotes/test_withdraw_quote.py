from typing import Any

import pytest

from mainstay.business.jobs.operations import get_job
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden
from support.cast import Cast
from support.customers import make_customer, make_job
from support.quotes import accept_quote, cast_later, issue_quote, make_quote
from support.stored_state import read_last_event


def withdraw(cast: Cast, quote: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(withdraw_quote, Role.OFFICE, **{"quoteId": quote["id"], "confirmed": True, **given})


def test_what_was_sent_is_taken_back_and_its_job_waits_no_more(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast, email="a@b.example"), status="enquiry")
    quote = issue_quote(cast, make_quote(cast, jobId=job["id"]))
    preview = withdraw(cast, quote, confirmed=False)
    assert (
        preview["effects"][0]
        == "Calder Property will no longer be able to accept it. Their link will say that it was withdrawn."
    )
    after = withdraw(cast, quote, reason="Miscalculated.")
    assert (after["status"], after["withdrawReason"]) == ("withdrawn", "Miscalculated.")
    assert read_last_event(cast)["type"] == "quote.withdrawn"
    assert cast.perform(get_job, jobId=job["id"])["stage"] == "enquiry"
    assert after["availableActions"] == ["revise_quote"]


def test_a_draft_is_dropped_and_so_is_one_that_expired(cast: Cast) -> None:
    assert withdraw(cast, make_quote(cast))["status"] == "withdrawn"
    assert withdraw(cast_later(cast, days=40), issue_quote(cast))["status"] == "withdrawn"


def test_an_agreement_stays(cast: Cast) -> None:
    quote = accept_quote(cast, issue_quote(cast))
    with pytest.raises(Blocked, match=r"^Q-0001 was already accepted\. It can't be withdrawn\.$"):
        withdraw(cast, quote)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_withdraws_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(withdraw_quote, role, quoteId=make_quote(cast)["id"], confirmed=True)
