import pytest

from mainstay.business.hours.approval import review_hours
from mainstay.business.hours.operations import get_time_entry
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound
from support.cast import EMAILS, Cast
from support.hours import cast_at, make_time_entry, mark_entry_billed, set_organisation_columns
from support.stored_state import emails_about, operations_on, waiting_emails


def status_and_note(cast: Cast, entry: dict[str, object]) -> tuple[str, str | None]:
    found = cast.perform(get_time_entry, timeEntryId=entry["id"])
    return found["status"], found["reviewNote"]


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_several_are_approved_at_once(cast: Cast, role: Role) -> None:
    entries = [
        make_time_entry(cast_at(cast), status="submitted"),
        make_time_entry(cast_at(cast), Role.OFFICE, status="submitted"),
    ]
    answer = cast.perform(review_hours, role, timeEntryIds=[one["id"] for one in entries], decision="approve")
    assert (answer["status"], answer["minutes"], len(answer["entries"])) == ("approved", 120, 2)
    assert [status_and_note(cast, entry) for entry in entries] == [("approved", None)] * 2
    assert operations_on(cast, str(entries[0]["id"]))[-1] == "review_hours"


def test_whoever_approves_a_very_long_entry_is_warned(cast: Cast) -> None:
    long, usual = (
        make_time_entry(cast_at(cast), on=f"2026-03-0{day}", status="submitted", minutes=minutes)
        for day, minutes in ((2, 15 * 60 + 37), (3, 12 * 60))
    )
    for given in ({"decision": "approve"}, {"decision": "unapprove"}):
        answer = cast.perform(review_hours, timeEntryIds=[long["id"], usual["id"]], **given)
        [warning] = answer["warnings"]
        assert warning.startswith("15:37 hours of Mia Member on 2026-03-02")
        assert warning.endswith(": this is more than 12 hours. Check the times.")
    answer = cast.perform(review_hours, timeEntryIds=[usual["id"]], decision="approve")
    assert answer["warnings"] == []
    # The person who rejects it is not warned.
    answer = cast.perform(review_hours, timeEntryIds=[long["id"]], decision="reject", reason="So long?")
    assert answer["warnings"] == []


def test_a_rejection_tells_why(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), status="submitted")
    with pytest.raises(Invalid, match=r"^reason: is required to reject"):
        cast.perform(review_hours, timeEntryIds=[entry["id"]], decision="reject")
    cast.perform(review_hours, timeEntryIds=[entry["id"]], decision="reject", reason="Which job?")
    assert status_and_note(cast, entry) == ("rejected", "Which job?")


def test_an_approval_can_be_taken_back(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), status="approved")
    cast.perform(review_hours, timeEntryIds=[entry["id"]], decision="unapprove")
    assert status_and_note(cast, entry) == ("submitted", None)


def test_not_when_it_is_on_an_invoice(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), status="approved")
    mark_entry_billed(cast, entry["id"])
    with pytest.raises(Conflict, match="already on an invoice"):
        cast.perform(review_hours, timeEntryIds=[entry["id"]], decision="unapprove")


@pytest.mark.parametrize(
    ("status", "decision", "told"),
    [
        ("draft", "approve", r": still a draft\. Submit it first\."),
        ("rejected", "approve", r": rejected\. Submit it again first\."),
        ("approved", "reject", r": already approved\. Undo the approval first\."),
        ("approved", "approve", r": approved, not submitted\.$"),
        ("submitted", "unapprove", r": submitted, not approved\.$"),
    ],
)
def test_all_or_none(cast: Cast, status: str, decision: str, told: str) -> None:
    good = make_time_entry(cast_at(cast), status="approved" if decision == "unapprove" else "submitted")
    entry = make_time_entry(cast_at(cast), status=status)
    before = status_and_note(cast, good)
    with pytest.raises(Conflict, match=told):
        cast.perform(review_hours, timeEntryIds=[good["id"], entry["id"]], decision=decision, reason="x")
    assert status_and_note(cast, good) == before


def test_closed_books_stay_as_they_are(cast: Cast) -> None:
    submitted, approved = (
        make_time_entry(cast_at(cast), on="2026-10-31", status=status) for status in ("submitted", "approved")
    )
    set_organisation_columns(cast, books_closed_until="2026-10-31")
    for entry, decision in ((submitted, "approve"), (submitted, "reject"), (approved, "unapprove")):
        with pytest.raises(Conflict, match="books are closed"):
            cast.perform(review_hours, timeEntryIds=[entry["id"]], decision=decision, reason="x")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_does_not_approve(cast: Cast, role: Role) -> None:
    entry = make_time_entry(cast_at(cast), role, status="submitted")
    with pytest.raises(Forbidden):
        cast.perform(review_hours, role, timeEntryIds=[entry["id"]], decision="approve")


def test_what_is_another_organisation_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), status="submitted")
    with pytest.raises(NotFound):
        other_cast.perform(review_hours, timeEntryIds=[entry["id"]], decision="approve")
    with pytest.raises(Invalid, match="timeEntryIds"):
        cast.perform(review_hours, timeEntryIds=[], decision="approve")


def test_each_whose_hours_are_rejected_is_told_once_why_and_where_to_go_on(cast: Cast) -> None:
    own, other = (
        [make_time_entry(cast_at(cast), status="submitted", minutes=minutes) for minutes in (60, 90)],
        make_time_entry(cast_at(cast), Role.SUBCONTRACTOR, status="submitted"),
    )
    reviewed = [entry["id"] for entry in (*own, other)]
    cast.perform(review_hours, Role.OFFICE, timeEntryIds=reviewed, decision="reject", reason="Which job?")
    mails_by_address = {mail["to"]: mail for mail in waiting_emails(cast)}
    assert len(waiting_emails(cast)) == 2
    mine = mails_by_address[EMAILS[Role.MEMBER]]
    assert mine["subject"] == "Some of your hours were not approved"
    assert mine["text"].startswith(
        "Hello Mia Member,\n\nOrla Office did not approve some of your hours:\n\nWhich job?\n"
    )
    for entry, length in zip(own, ("1:00", "1:30"), strict=True):
        assert f"16 November 2026, {length}, no job\n  {cast.performer.base_url}/hours/{entry['id']}" in mine["text"]
    assert other["id"] not in mine["text"]
    assert other["id"] in mails_by_address[EMAILS[Role.SUBCONTRACTOR]]["text"]
    assert emails_about(cast, cast.people[Role.MEMBER]) == [(mine["to"], mine["subject"], "queued")]


def test_nobody_is_told_of_an_approval_nor_of_what_they_reject_themselves(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), status="submitted")
    cast.perform(review_hours, timeEntryIds=[entry["id"]], decision="approve")
    own = make_time_entry(cast_at(cast), Role.OFFICE, status="submitted")
    cast.perform(review_hours, Role.OFFICE, timeEntryIds=[own["id"]], decision="reject", reason="Mine.")
    assert waiting_emails(cast) == []
