"""People are emailed what others changed in their visits of the next days: some minutes later, in one email."""

from typing import Any

import orjson
import pytest

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import update_job
from mainstay.business.people.roles import remove_person
from mainstay.business.schedule.emails import COLLECTION_DELAY, TASK_KINDS
from mainstay.business.schedule.job_cancellation import cancel_job
from mainstay.business.schedule.operations import cancel_visit, move_visit, plan_visit
from mainstay.business.schedule.planning import plan_schedule
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.kernel.context import RequestDetails
from mainstay.values.moments import moment_text, parse_moment
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.cast import EMAILS, Cast
from support.hours import cast_at
from support.recorded_statements import count_reads
from support.stored_state import emails_about, operations_on, waiting_emails
from support.visits import DAY, make_site_job, plan_test_visit

EVENING = "2038-01-10T20:00:00Z"


@pytest.fixture
def evening_cast(cast: Cast) -> Cast:
    """The cast on the evening before the day for which visits are planned."""
    return cast_at(cast, EVENING)


def list_tasks(cast: Cast) -> list[tuple[LeasedTask, str]]:
    """Return the waiting tasks that announce changes, and when each is due."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.all(
            "SELECT id, payload, due_at FROM outbox WHERE organisation_id = :organisation"
            " AND kind = 'tell_of_schedule' ORDER BY id"
        )
    return [
        (LeasedTask(str(record_id), cast.organisation, "tell_of_schedule", orjson.loads(str(payload)), 1), str(due))
        for record_id, payload, due in found
    ]


def send_mails(cast: Cast) -> list[dict[str, str]]:
    """Run the tasks when they are due; return the emails."""
    for work, due in list_tasks(cast):
        assert due == moment_text(parse_moment(EVENING) + COLLECTION_DELAY)
        cast.performer.run_task(TASK_KINDS[0], work)
        # As often as it is tried, it is done once.
        cast.performer.run_task(TASK_KINDS[0], work)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("DELETE FROM outbox WHERE organisation_id = :organisation AND kind = 'tell_of_schedule'")
    return waiting_emails(cast)


def test_whoever_gets_a_visit_is_told_where_and_when(evening_cast: Cast) -> None:
    job = make_site_job(evening_cast)
    plan_test_visit(evening_cast, jobId=job["id"])
    assert waiting_emails(evening_cast) == []
    (mail,) = send_mails(evening_cast)
    assert mail["to"] == EMAILS[Role.MEMBER]
    assert mail["subject"] == "Your schedule has changed"
    assert mail["text"].startswith("Hello Mia Member,\n\nOlivia Owner changed your schedule.\n\n")
    assert f"New: {job['number']} Mend the roof\n  11 January 2038, 10:00 to 11:00\n" in mail["text"]
    assert mail["text"].endswith("/schedule\n")
    person = evening_cast.people[Role.MEMBER]
    assert emails_about(evening_cast, person) == [(EMAILS[Role.MEMBER], "Your schedule has changed", "queued")]
    assert operations_on(evening_cast, person)[-1] == "tell_of_schedule"


def test_times_are_those_of_the_clocks_at_the_site(evening_cast: Cast) -> None:
    plan_test_visit(evening_cast, jobId=make_site_job(evening_cast, zone="Europe/Berlin")["id"])
    assert ", 10:00 to 11:00 (Europe/Berlin)" in send_mails(evening_cast)[0]["text"]


@pytest.mark.parametrize("table", ["visit", "organisation"])
def test_many_changes_are_looked_up_at_once(evening_cast: Cast, table: str) -> None:
    plan_test_visit(evening_cast)
    few = count_reads(evening_cast, table, send_mails)
    for hour in ("12", "14", "16"):
        plan_test_visit(evening_cast, times=(f"{hour}:00", f"{hour}:30"))
    assert count_reads(evening_cast, table, send_mails) == few


def test_many_changes_are_one_mail_that_tells_the_last_of_each(evening_cast: Cast) -> None:
    first, second, third = (
        plan_test_visit(evening_cast, times=(f"{hour}:00", f"{hour}:30")) for hour in ("08", "10", "12")
    )
    send_mails(evening_cast)
    evening_cast.perform(move_visit, visitId=first["id"], startsAt=f"{DAY}T14:00", endsAt=f"{DAY}T14:30")
    evening_cast.perform(move_visit, Role.OFFICE, visitId=first["id"], startsAt=f"{DAY}T15:00", endsAt=f"{DAY}T15:30")
    evening_cast.perform(cancel_visit, visitId=second["id"])
    evening_cast.perform(move_visit, visitId=third["id"], personId=evening_cast.people[Role.SUBCONTRACTOR])
    assert len(list_tasks(evening_cast)) == 2
    new = {mail["to"]: mail["text"] for mail in send_mails(evening_cast)[1:]}
    assert set(new) == {EMAILS[Role.MEMBER], EMAILS[Role.SUBCONTRACTOR]}
    text = new[EMAILS[Role.MEMBER]]
    assert "Olivia Owner and Orla Office changed" in text
    assert "  was 11 January 2038, 08:00 to 08:30\n  now 11 January 2038, 15:00 to 15:30\n" in text
    assert "14:00" not in text
    assert text.count("No longer assigned to you:") == 2
    assert "New: " in new[EMAILS[Role.SUBCONTRACTOR]]


def test_nothing_is_told_of_what_is_as_it_was(evening_cast: Cast) -> None:
    visit = plan_test_visit(evening_cast)
    send_mails(evening_cast)
    back = {"startsAt": visit["startsAt"], "endsAt": visit["endsAt"]}
    evening_cast.perform(move_visit, visitId=visit["id"], startsAt=f"{DAY}T14:00", endsAt=f"{DAY}T15:00")
    evening_cast.perform(move_visit, visitId=visit["id"], **back)
    evening_cast.perform(update_job, jobId=visit["jobId"], title="Mend the whole roof")
    assert len(send_mails(evening_cast)) == 1
    # Planned and called off within the minutes; and other notes are no other time.
    other = plan_test_visit(evening_cast, times=("16:00", "17:00"))
    evening_cast.perform(cancel_visit, visitId=other["id"])
    evening_cast.perform(move_visit, visitId=visit["id"], notes="Bring the ladder.")
    assert len(send_mails(evening_cast)) == 1


def test_nobody_is_told_what_they_did_themselves_or_do_already(evening_cast: Cast) -> None:
    plan_test_visit(evening_cast, Role.OWNER)
    assert list_tasks(evening_cast) == []
    visit = plan_test_visit(evening_cast, Role.MEMBER)
    evening_cast.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="started")
    assert send_mails(evening_cast) == []


@pytest.mark.parametrize(
    ("day", "mailed"), [("2038-01-09", 0), ("2038-01-10", 1), ("2038-01-17", 1), ("2038-01-18", 0)]
)
def test_only_what_is_about_today_or_the_next_seven_days_is_told(evening_cast: Cast, day: str, mailed: int) -> None:
    plan_test_visit(evening_cast, on=day)
    assert len(send_mails(evening_cast)) == mailed


def test_a_visit_that_comes_nearer_or_goes_far_is_told(evening_cast: Cast) -> None:
    visit = plan_test_visit(evening_cast, on="2038-03-01")
    evening_cast.perform(move_visit, visitId=visit["id"], on=DAY)
    assert "was 1 March 2038, all day\n  now 11 January 2038, all day" in send_mails(evening_cast)[0]["text"]
    evening_cast.perform(move_visit, visitId=visit["id"], on="2038-04-01")
    assert "now 1 April 2038, all day" in send_mails(evening_cast)[1]["text"]


def test_a_plan_tells_before_who_is_written_to_and_writes_to_each_once(evening_cast: Cast) -> None:
    visits = [plan_test_visit(evening_cast, times=times) for times in (("08:00", "09:00"), ("10:00", "11:00"))]
    send_mails(evening_cast)
    sub = evening_cast.people[Role.SUBCONTRACTOR]
    changes: list[dict[str, Any]] = [{"change": "move", "visitId": one["id"], "personId": sub} for one in visits]
    preview = evening_cast.perform(plan_schedule, changes=changes)
    assert [one for one in preview["effects"] if "gets an email" in one] == [
        "Mia Member gets an email.",
        "Sam Subcontractor gets an email.",
    ]
    assert list_tasks(evening_cast) == []
    evening_cast.perform(plan_schedule, changes=changes, confirmed=True)
    member, other = send_mails(evening_cast)[1:]
    assert sorted([member["to"], other["to"]]) == sorted([EMAILS[Role.MEMBER], EMAILS[Role.SUBCONTRACTOR]])
    assert {mail["text"].count("No longer assigned") + mail["text"].count("New: ") for mail in (member, other)} == {2}


def test_a_job_that_is_called_off_is_told_to_those_who_would_have_gone(evening_cast: Cast) -> None:
    visit = plan_test_visit(evening_cast)
    send_mails(evening_cast)
    preview = evening_cast.perform(cancel_job, jobId=visit["jobId"], reason="The house is sold.")
    assert "Mia Member gets an email." in preview["effects"]
    evening_cast.perform(cancel_job, jobId=visit["jobId"], reason="The house is sold.", confirmed=True)
    assert "No longer assigned to you" in send_mails(evening_cast)[1]["text"]


def test_whoever_has_left_meanwhile_is_not_written_to(evening_cast: Cast) -> None:
    plan_test_visit(evening_cast)
    evening_cast.perform(remove_person, personId=evening_cast.people[Role.MEMBER], confirmed=True)
    assert send_mails(evening_cast) == []


def test_what_the_one_who_runs_the_server_does_is_told_nobody(evening_cast: Cast) -> None:
    job = make_site_job(evening_cast)
    given = {"jobId": job["id"], "personIds": [evening_cast.people[Role.MEMBER]], "on": DAY}
    evening_cast.performer.perform(
        plan_visit, evening_cast.actor(Role.OFFICE, door=Door.CLI), orjson.dumps(given), RequestDetails("req_cli")
    )
    assert list_tasks(evening_cast) == []


def test_after_a_mail_the_next_change_is_told_again(evening_cast: Cast) -> None:
    visit = plan_test_visit(evening_cast)
    send_mails(evening_cast)
    evening_cast.perform(cancel_visit, visitId=visit["id"])
    assert len(list_tasks(evening_cast)) == 1
    assert "No longer assigned to you" in send_mails(evening_cast)[1]["text"]
