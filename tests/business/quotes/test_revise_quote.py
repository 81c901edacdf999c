import pytest

from mainstay.business.jobs.operations import get_job
from mainstay.business.organisation.settings import update_settings
from mainstay.business.quotes.operations import get_quote, list_quotes, revise_quote, update_quote
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job
from support.quotes import BOILER, accept_quote, edit_quote, issue_quote, make_quote
from support.stored_state import list_events_of, operations_on, read_last_event


def revise(cast: Cast, quote: dict[str, object]) -> dict[str, object]:
    return cast.perform(revise_quote, Role.OFFICE, quoteId=quote["id"])


def test_the_next_revision_is_a_draft_with_the_same_number(cast: Cast) -> None:
    first = issue_quote(cast, make_quote(cast, deposit={"percent": "30"}, terms="Ours"))
    second = revise(cast, first)
    assert (second["number"], second["revision"], second["status"]) == (first["number"], 2, "draft")
    kept_fields = ("customerId", "title", "lines", "net", "total", "deposit", "terms", "currency")
    assert {name: second[name] for name in kept_fields} == {name: first[name] for name in kept_fields}
    assert (second["issuedOn"], second["sentAt"], second["validUntil"]) == (None, None, None)
    assert read_last_event(cast)["type"] == "quote.created"
    assert operations_on(cast, str(first["id"]))[-1] == operations_on(cast, str(second["id"]))[-1] == "revise_quote"


def test_a_number_alone_finds_the_newest_revision(cast: Cast) -> None:
    first = issue_quote(cast)
    second = revise(cast, first)
    assert cast.perform(get_quote, quoteId="Q-0001")["id"] == second["id"]
    assert cast.perform(get_quote, quoteId="Q-0001/1")["id"] == first["id"]


@pytest.mark.parametrize("number", ["1", "q1", "Q-1", "0001", "q 0001"])
def test_every_way_to_write_the_number_finds_the_newest_revision(cast: Cast, number: str) -> None:
    first = issue_quote(cast)
    other = make_quote(cast)
    assert cast.perform(get_quote, quoteId=number)["id"] == first["id"]
    second = issue_quote(cast, revise(cast, first))
    assert cast.perform(get_quote, quoteId=number)["id"] == second["id"]
    third = revise(cast, second)
    assert cast.perform(get_quote, quoteId=number)["id"] == third["id"]
    assert cast.perform(get_quote, quoteId="2")["id"] == other["id"]
    for quote, number_of_revision in ((first, "q-0001/1"), (second, " Q-0001/2")):
        assert {cast.perform(get_quote, quoteId=name)["id"] for name in (number_of_revision, quote["id"])} == {
            quote["id"]
        }
    for unknown in ("3", "q-1/1", "-"):
        with pytest.raises(NotFound):
            cast.perform(get_quote, quoteId=unknown)


@pytest.mark.parametrize("prefix", ["Q-", "26/", "26/Q-", "2026-"])
def test_a_revision_is_found_with_a_hyphen_in_place_of_each_slash(cast: Cast, prefix: str) -> None:
    cast.perform(update_settings, quoteNumbers={"prefix": prefix})
    first = issue_quote(cast)
    second = issue_quote(cast, revise(cast, first))
    third = revise(cast, second)
    number = first["number"].replace("/", "-")
    names = {number: third, f"{number}-1": first, f" {number.lower()}-2": second}
    for name, quote in names.items():
        assert cast.perform(get_quote, quoteId=name)["id"] == quote["id"]
    for unknown in (f"{number}-3", f"{number}-01", f"{number}-", f"{number}-1-1"):
        with pytest.raises(NotFound):
            cast.perform(get_quote, quoteId=unknown)


def test_a_revision_is_preferred_to_a_quote_whose_number_has_the_same_digits(cast: Cast) -> None:
    cast.perform(update_settings, quoteNumbers={"next": 1234})
    first = issue_quote(cast)
    revise(cast, first)
    cast.perform(update_settings, quoteNumbers={"next": 12341})
    other = make_quote(cast)
    assert cast.perform(get_quote, quoteId="Q-1234-1")["id"] == first["id"]
    assert cast.perform(get_quote, quoteId="Q-12341")["id"] == other["id"]


def test_a_search_without_the_zeros_of_the_number_finds_every_revision(cast: Cast) -> None:
    first = issue_quote(cast)
    revisions = [first, revise(cast, first)]
    make_quote(cast, title="Another")
    found = cast.perform(list_quotes, text="q1")["data"]
    assert {one["id"] for one in found} == {one["id"] for one in revisions}


def test_a_revision_supersedes_the_one_before_when_it_is_sent(cast: Cast) -> None:
    first = issue_quote(cast)
    second = revise(cast, first)
    assert cast.perform(get_quote, quoteId=first["id"])["status"] == "sent"
    issue_quote(cast, second)
    assert cast.perform(get_quote, quoteId=first["id"])["status"] == "superseded"
    assert [event["type"] for event in list_events_of(cast)][-2:] == ["quote.superseded", "quote.sent"]
    with pytest.raises(Blocked, match=r"^Q-0001 was replaced by a later revision\.$"):
        accept_quote(cast, first)
    accept_quote(cast, second)


def test_a_revision_for_another_job_ends_the_quoting_of_the_first_job(cast: Cast) -> None:
    customer = make_customer(cast, email="ann@calder.example")
    jobs = [make_job(cast, customer, status="enquiry") for _ in range(2)]
    first = issue_quote(cast, make_quote(cast, jobId=jobs[0]["id"]))

    def stages() -> list[str]:
        return [cast.perform(get_job, jobId=job["id"])["stage"] for job in jobs]

    second = cast.perform(update_quote, quoteId=revise(cast, first)["id"], jobId=jobs[1]["id"])
    assert stages() == ["quoting", "enquiry"]
    issue_quote(cast, second)
    assert stages() == ["enquiry", "quoting"]
    third = cast.perform(update_quote, quoteId=revise(cast, second)["id"], jobId=None)
    issue_quote(cast, third)
    assert stages() == ["enquiry", "enquiry"]


def test_a_revision_does_not_copy_the_earlier_answer(cast: Cast) -> None:
    first = issue_quote(cast)
    cast.perform(withdraw_quote, quoteId=first["id"], confirmed=True)
    second = edit_quote(cast, revise(cast, first), {"edit": "add", **BOILER})
    assert second["net"] == "2000.00"
    assert (second["withdrawReason"], second["declineReason"], second["acceptance"]) == (None, None, None)


def test_only_the_newest_revision_can_be_revised(cast: Cast) -> None:
    first = issue_quote(cast)
    revise(cast, first)
    with pytest.raises(Blocked, match=r"^Q-0001 has a later revision\. Edit or revise that one\.$"):
        revise(cast, first)


def test_neither_a_draft_nor_an_accepted_quote_can_be_revised(cast: Cast) -> None:
    draft = make_quote(cast)
    with pytest.raises(Blocked, match=r"^Q-0001 is a draft\. Edit it instead\.$"):
        revise(cast, draft)
    agreed = accept_quote(cast, issue_quote(cast, draft))
    with pytest.raises(Blocked, match=r"^Q-0001 was accepted\. Create a new quote for changes\.$"):
        revise(cast, agreed)
