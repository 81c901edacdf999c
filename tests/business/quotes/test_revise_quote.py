import pytest

from cast import Cast
from evidence import events, history, last_event
from mainstay.business.jobs.operations import get_job
from mainstay.business.organisation.settings import update_settings
from mainstay.business.quotes.operations import get_quote, list_quotes, revise_quote, update_quote
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.terms.refusal import Blocked, NotFound
from mainstay.terms.rights import Role
from quoting import BOILER, a_draft, accepted, edited, sent
from trade import a_customer, a_job


def revised(cast: Cast, quote: dict[str, object]) -> dict[str, object]:
    return cast.perform(revise_quote, Role.OFFICE, quoteId=quote["id"])


def test_the_next_revision_is_a_draft_with_the_same_number(cast: Cast) -> None:
    first = sent(cast, a_draft(cast, deposit={"percent": "30"}, terms="Ours"))
    second = revised(cast, first)
    assert (second["number"], second["revision"], second["status"]) == (first["number"], 2, "draft")
    same = ("customerId", "title", "lines", "net", "total", "deposit", "terms", "currency")
    assert {name: second[name] for name in same} == {name: first[name] for name in same}
    assert (second["issuedOn"], second["sentAt"], second["validUntil"]) == (None, None, None)
    assert last_event(cast)["type"] == "quote.created"
    assert history(cast, str(first["id"]))[-1] == history(cast, str(second["id"]))[-1] == "revise_quote"


def test_by_its_number_the_newest_is_meant_and_the_others_by_theirs(cast: Cast) -> None:
    first = sent(cast)
    second = revised(cast, first)
    assert cast.perform(get_quote, quoteId="Q-0001")["id"] == second["id"]
    assert cast.perform(get_quote, quoteId="Q-0001/1")["id"] == first["id"]


@pytest.mark.parametrize("number", ["1", "q1", "Q-1", "0001", "q 0001"])
def test_however_its_number_is_written_the_newest_is_meant(cast: Cast, number: str) -> None:
    first = sent(cast)
    other = a_draft(cast)
    assert cast.perform(get_quote, quoteId=number)["id"] == first["id"]
    second = sent(cast, revised(cast, first))
    assert cast.perform(get_quote, quoteId=number)["id"] == second["id"]
    third = revised(cast, second)
    assert cast.perform(get_quote, quoteId=number)["id"] == third["id"]
    assert cast.perform(get_quote, quoteId="2")["id"] == other["id"]
    for quote, called in ((first, "q-0001/1"), (second, " Q-0001/2")):
        assert {cast.perform(get_quote, quoteId=name)["id"] for name in (called, quote["id"])} == {quote["id"]}
    for unknown in ("3", "q-1/1", "-"):
        with pytest.raises(NotFound):
            cast.perform(get_quote, quoteId=unknown)


@pytest.mark.parametrize("prefix", ["Q-", "26/", "26/Q-", "2026-"])
def test_a_revision_is_named_in_a_path_where_a_slash_would_part_it(cast: Cast, prefix: str) -> None:
    cast.perform(update_settings, quoteNumbers={"prefix": prefix})
    first = sent(cast)
    second = sent(cast, revised(cast, first))
    third = revised(cast, second)
    number = first["number"].replace("/", "-")
    names = {number: third, f"{number}-1": first, f" {number.lower()}-2": second}
    for name, quote in names.items():
        assert cast.perform(get_quote, quoteId=name)["id"] == quote["id"]
    for unknown in (f"{number}-3", f"{number}-01", f"{number}-", f"{number}-1-1"):
        with pytest.raises(NotFound):
            cast.perform(get_quote, quoteId=unknown)


def test_a_revision_is_meant_before_a_number_that_is_written_otherwise(cast: Cast) -> None:
    cast.perform(update_settings, quoteNumbers={"next": 1234})
    first = sent(cast)
    revised(cast, first)
    cast.perform(update_settings, quoteNumbers={"next": 12341})
    other = a_draft(cast)
    assert cast.perform(get_quote, quoteId="Q-1234-1")["id"] == first["id"]
    assert cast.perform(get_quote, quoteId="Q-12341")["id"] == other["id"]


def test_every_revision_is_found_by_the_number_without_its_zeros(cast: Cast) -> None:
    first = sent(cast)
    revisions = [first, revised(cast, first)]
    a_draft(cast, title="Another")
    found = cast.perform(list_quotes, text="q1")["data"]
    assert {one["id"] for one in found} == {one["id"] for one in revisions}


def test_the_one_before_counts_until_the_next_is_sent(cast: Cast) -> None:
    first = sent(cast)
    second = revised(cast, first)
    assert cast.perform(get_quote, quoteId=first["id"])["status"] == "sent"
    sent(cast, second)
    assert cast.perform(get_quote, quoteId=first["id"])["status"] == "superseded"
    assert [event["type"] for event in events(cast)][-2:] == ["quote.superseded", "quote.sent"]
    with pytest.raises(Blocked, match=r"^Q-0001 was replaced by a later revision\.$"):
        accepted(cast, first)
    accepted(cast, second)


def test_a_job_that_a_later_revision_is_not_for_waits_for_no_answer(cast: Cast) -> None:
    customer = a_customer(cast, email="ann@calder.example")
    jobs = [a_job(cast, customer, status="enquiry") for _ in range(2)]
    first = sent(cast, a_draft(cast, jobId=jobs[0]["id"]))

    def stages() -> list[str]:
        return [cast.perform(get_job, jobId=job["id"])["stage"] for job in jobs]

    second = cast.perform(update_quote, quoteId=revised(cast, first)["id"], jobId=jobs[1]["id"])
    assert stages() == ["quoting", "enquiry"]
    sent(cast, second)
    assert stages() == ["enquiry", "quoting"]
    third = cast.perform(update_quote, quoteId=revised(cast, second)["id"], jobId=None)
    sent(cast, third)
    assert stages() == ["enquiry", "enquiry"]


def test_what_an_earlier_answer_was_is_not_taken_over(cast: Cast) -> None:
    first = sent(cast)
    cast.perform(withdraw_quote, quoteId=first["id"], confirmed=True)
    second = edited(cast, revised(cast, first), {"edit": "add", **BOILER})
    assert second["net"] == "2000.00"
    assert (second["withdrawReason"], second["declineReason"], second["acceptance"]) == (None, None, None)


def test_there_is_one_newest_revision(cast: Cast) -> None:
    first = sent(cast)
    revised(cast, first)
    with pytest.raises(Blocked, match=r"^There is a later revision of Q-0001\. Change or revise that one\.$"):
        revised(cast, first)


def test_a_draft_is_changed_and_an_agreement_stays(cast: Cast) -> None:
    draft = a_draft(cast)
    with pytest.raises(Blocked, match=r"^Q-0001 is a draft\. Change it as it is\.$"):
        revised(cast, draft)
    agreed = accepted(cast, sent(cast, draft))
    with pytest.raises(Blocked, match=r"^Q-0001 was accepted\. Draft another quote for what is to be different\.$"):
        revised(cast, agreed)
