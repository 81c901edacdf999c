"""What waits for approval is decided on as it was seen, all of it or nothing."""

import re

import pytest

from mainstay.business.hours.approval import review_hours
from mainstay.business.hours.operations import delete_hours, get_time_entry, update_hours
from mainstay.business.jobs.operations import change_job_status
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job
from support.form_fields import read_form
from support.hours import make_time_entry, set_rates
from support.servers import RunningServer

QUEUE = "/hours/approve"


def submit_entries(cast: Cast, *minutes: int) -> list[str]:
    """Entries of one day that wait."""
    day = local_date(cast.performer.clock(), "Europe/London").isoformat()
    return [str(make_time_entry(cast, status="submitted", on=day, minutes=some)["id"]) for some in minutes]


def statuses_of(cast: Cast, *entries: str) -> list[str]:
    return [cast.perform(get_time_entry, timeEntryId=one)["status"] for one in entries]


def list_ticked_entries(page: str) -> list[str]:
    return [name.removeprefix("entry ") for name in read_form(page) if name.startswith("entry ")]


def test_an_entry_of_more_than_twelve_hours_is_flagged_before_it_is_approved(server: RunningServer, cast: Cast) -> None:
    for minutes in (12 * 60, 15 * 60 + 37):
        entry = make_time_entry(cast, status="submitted", on=f"2026-03-0{minutes // 300}", minutes=minutes)
    make_time_entry(cast, Role.OFFICE, status="submitted", on="2026-03-02", minutes=60)
    page = sign_in_cast(server, cast, Role.OFFICE).get(f"{QUEUE}?person={entry['personId']}&week=2026-03-02").text
    rows = {visible_text(row): "Over 12 h" in row for row in re.findall(r"(?s)<tr>.*?</tr>", page) if "entry " in row}
    assert {text.split()[2]: flagged for text, flagged in rows.items()} == {"12:00": False, "15:37": True}
    assert "1 over 12 h" in visible_text(page)


def test_an_entry_that_was_changed_meanwhile_is_not_approved_unseen_nor_are_those_beside_it(
    server: RunningServer, cast: Cast
) -> None:
    first, second, third = submit_entries(cast, 61, 62, 63)
    session = sign_in_cast(server, cast, Role.OFFICE)
    # Its version is that of another entry then, which was changed before it was seen.
    cast.perform(update_hours, timeEntryId=third, note="Pipes")
    page = session.get(QUEUE).text
    cast.perform(update_hours, timeEntryId=first, minutes=600)
    refused = session.post(QUEUE, read_form(page) | {"decision": "approve"})
    assert refused.status_code == 409
    assert "1 entry was changed after you opened this page, so nothing was saved." in visible_text(refused.text)
    assert statuses_of(cast, first, second, third) == ["submitted"] * 3
    # It is told which, as it is now; the others are still marked, and decided on with the next click.
    [row] = [row for row in re.findall(r"(?s)<tr>.*?</tr>", refused.text) if "Changed" in row]
    assert f'name="entry {first}"' in row
    assert "10:00" in visible_text(row)
    assert list_ticked_entries(refused.text) == [second, third]
    done = session.post(QUEUE, read_form(refused.text) | {"decision": "approve"})
    assert "2 entries approved." in visible_text(session.follow_redirect(done).text)
    assert statuses_of(cast, first, second, third) == ["submitted", "approved", "approved"]


def test_the_jobs_of_approved_hours_can_be_invoiced_next(server: RunningServer, cast: Cast) -> None:
    set_rates(cast, Role.MEMBER, 20, 60)
    done, open_ = (make_job(cast, make_customer(cast), Role.MEMBER)["id"] for _ in range(2))
    for job in (done, open_):
        make_time_entry(cast, status="submitted", jobId=job, minutes=60)
    cast.perform(change_job_status, jobId=done, status="done")
    session = sign_in_cast(server, cast, Role.OFFICE)
    answer = session.post(QUEUE, read_form(session.get(QUEUE).text) | {"decision": "approve"})
    page = session.follow_redirect(answer).text
    assert re.findall(r'href="(/invoices/new\?[^"]*)"', page) == [f"/invoices/new?jobId={done}&amp;unbilled=on"]
    assert "Create invoice for J-0001" in visible_text(page)
    # What the address names is looked up as the viewer may see it.
    for jobs in ("J-9999", "x", open_):
        assert "Create invoice" not in visible_text(session.get(f"{QUEUE}?jobs={jobs}").text)


def test_what_another_has_decided_on_meanwhile_is_told_and_what_is_left_is_still_there(
    server: RunningServer, cast: Cast
) -> None:
    first, second = submit_entries(cast, 61, 62)
    session = sign_in_cast(server, cast, Role.OFFICE)
    page = session.get(QUEUE).text
    cast.perform(review_hours, timeEntryIds=[first], decision="approve")
    refused = session.post(QUEUE, read_form(page) | {"decision": "reject", "reason": "Which job?"})
    assert (refused.status_code, "so nothing was saved" in visible_text(refused.text)) == (409, True)
    assert ">Which job?</textarea>" in refused.text
    assert (list_ticked_entries(refused.text), statuses_of(cast, first, second)) == (
        [second],
        ["approved", "submitted"],
    )


def test_a_form_that_is_sent_twice_is_answered_twice_and_counts_once(server: RunningServer, cast: Cast) -> None:
    entries = submit_entries(cast, 61, 62)
    session = sign_in_cast(server, cast, Role.OFFICE)
    sent = read_form(session.get(QUEUE).text) | {"decision": "approve"}
    answers = [session.post(QUEUE, sent) for _ in range(2)]
    assert [answer.headers.get("Location") for answer in answers] == [
        f"{QUEUE}?done=review_hours&decided=approve&count=2"
    ] * 2
    assert statuses_of(cast, *entries) == ["approved"] * 2
    again = session.post(QUEUE, sent | {"decision": "reject", "reason": "Which job?"})
    assert "This form was already sent with different content" in visible_text(again.text)


def test_what_was_deleted_meanwhile_counts_as_changed_and_hides_no_other_change(
    server: RunningServer, cast: Cast
) -> None:
    gone, other, third = submit_entries(cast, 61, 62, 63)
    session = sign_in_cast(server, cast, Role.OFFICE)
    page = session.get(QUEUE).text
    cast.perform(delete_hours, timeEntryId=gone, confirmed=True)
    cast.perform(update_hours, timeEntryId=other, minutes=600)
    refused = session.post(QUEUE, read_form(page) | {"decision": "approve"})
    assert refused.status_code == 409
    assert "2 entries were changed after you opened this page, so nothing was saved." in visible_text(refused.text)
    [row] = [row for row in re.findall(r"(?s)<tr>.*?</tr>", refused.text) if "Changed" in row]
    assert f'name="entry {other}"' in row
    assert (list_ticked_entries(refused.text), statuses_of(cast, other, third)) == ([third], ["submitted"] * 2)


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"decision": "reject", "reason": " "}, "Enter a reason, so the person knows what to correct."),
        ({"decision": "reject", "reason": "Which\x07job?"}, "Reason "),
        ({"decision": "reject", "reason": "x" * 100_000}, "Reason "),
        ({"decision": "perhaps"}, "Choose Approve, Reject or Unapprove for decision."),
    ],
)
def test_it_is_said_what_is_wrong_and_not_that_something_is_missing(
    server: RunningServer, cast: Cast, sent: dict[str, str], told: str
) -> None:
    submit_entries(cast, 61)
    session = sign_in_cast(server, cast, Role.OFFICE)
    refused = session.post(QUEUE, read_form(session.get(QUEUE).text) | sent)
    [problem] = re.findall(r'(?s)<p class="notice bad" role="alert">.*?</p>', refused.text)
    assert (refused.status_code, visible_text(problem).startswith(f"! {told}")) == (422, True), visible_text(problem)
