from typing import Any

import pytest

from cast import Cast
from evidence import last_event
from mainstay.business.jobs.operations import get_job
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.terms.refusal import Blocked, Forbidden
from mainstay.terms.rights import Role
from quoting import a_draft, accepted, later, sent
from trade import a_customer, a_job


def withdrawn(cast: Cast, quote: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(withdraw_quote, Role.OFFICE, **{"quoteId": quote["id"], "confirmed": True, **given})


def test_what_was_sent_is_taken_back_and_its_job_waits_no_more(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast, email="a@b.example"), status="enquiry")
    quote = sent(cast, a_draft(cast, jobId=job["id"]))
    preview = withdrawn(cast, quote, confirmed=False)
    assert preview["effects"][0] == "Calder Property can no longer accept it: the link says that it was withdrawn."
    after = withdrawn(cast, quote, reason="Miscalculated.")
    assert (after["status"], after["withdrawReason"]) == ("withdrawn", "Miscalculated.")
    assert last_event(cast)["type"] == "quote.withdrawn"
    assert cast.perform(get_job, jobId=job["id"])["stage"] == "enquiry"
    assert after["availableActions"] == ["revise_quote"]


def test_a_draft_is_dropped_and_so_is_one_that_expired(cast: Cast) -> None:
    assert withdrawn(cast, a_draft(cast))["status"] == "withdrawn"
    assert withdrawn(later(cast, days=40), sent(cast))["status"] == "withdrawn"


def test_an_agreement_stays(cast: Cast) -> None:
    quote = accepted(cast, sent(cast))
    with pytest.raises(Blocked, match=r"^Q-0001 was accepted, so there is nothing to withdraw\.$"):
        withdrawn(cast, quote)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_withdraws_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(withdraw_quote, role, quoteId=a_draft(cast)["id"], confirmed=True)
