"""People are told by mail what others changed of their visits in the next days: some minutes later, all at once."""

from typing import Any

import orjson
import pytest

from cast import EMAILS, Cast
from evidence import history, mailed_about, mails
from labour import at
from mainstay.business.jobs.operations import update_job
from mainstay.business.people.standing import remove_person
from mainstay.business.schedule.cancelling import cancel_job
from mainstay.business.schedule.operations import cancel_visit, move_visit, plan_visit, set_visit_status
from mainstay.business.schedule.planning import plan_schedule
from mainstay.business.schedule.telling import CHORES, GATHERED
from mainstay.kernel.context import Envelope
from mainstay.ledger.outbox_queue import Work
from mainstay.terms.actor import Door
from mainstay.terms.rights import Role
from mainstay.values.moments import moment_text, parse_moment
from recording import readings
from scheduling import DAY, make_job, plan

EVENING = "2038-01-10T20:00:00Z"


@pytest.fixture
def firm(cast: Cast) -> Cast:
    """The evening before the day on which things are planned."""
    return at(cast, EVENING)


def chores(cast: Cast) -> list[tuple[Work, str]]:
    """What waits to be told, and when it is due."""
    with cast.stage.database.reading(cast.organisation) as rows:
        found = rows.all(
            "SELECT id, payload, due_at FROM outbox WHERE organisation_id = :organisation"
            " AND kind = 'tell_of_schedule' ORDER BY id"
        )
    return [
        (Work(str(identity), cast.organisation, "tell_of_schedule", orjson.loads(str(payload)), 1), str(due))
        for identity, payload, due in found
    ]


def told(cast: Cast) -> list[dict[str, str]]:
    """Let the minutes pass; the mails that are there then."""
    for work, due in chores(cast):
        assert due == moment_text(parse_moment(EVENING) + GATHERED)
        cast.stage.do_chore(CHORES[0], work)
        # As often as it is tried, it is done once.
        cast.stage.do_chore(CHORES[0], work)
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("DELETE FROM outbox WHERE organisation_id = :organisation AND kind = 'tell_of_schedule'")
    return mails(cast)


def test_whoever_gets_a_visit_is_told_where_and_when(firm: Cast) -> None:
    job = make_job(firm)
    plan(firm, jobId=job["id"])
    assert mails(firm) == []
    (mail,) = told(firm)
    assert mail["to"] == EMAILS[Role.MEMBER]
    assert mail["subject"] == "Your schedule has changed"
    assert mail["text"].startswith("Hello Mia Member,\n\nOlivia Owner changed your schedule.\n\n")
    assert f"New: {job['number']} Mend the roof\n  11 January 2038, 10:00 to 11:00\n" in mail["text"]
    assert mail["text"].endswith("/schedule\n")
    person = firm.people[Role.MEMBER]
    assert mailed_about(firm, person) == [(EMAILS[Role.MEMBER], "Your schedule has changed", "queued")]
    assert history(firm, person)[-1] == "tell_of_schedule"


def test_times_are_those_of_the_clocks_at_the_site(firm: Cast) -> None:
    plan(firm, jobId=make_job(firm, zone="Europe/Berlin")["id"])
    assert ", 10:00 to 11:00 (Europe/Berlin)" in told(firm)[0]["text"]


@pytest.mark.parametrize("table", ["visit", "organisation"])
def test_many_changes_are_looked_up_at_once(firm: Cast, table: str) -> None:
    plan(firm)
    few = readings(firm, table, told)
    for hour in ("12", "14", "16"):
        plan(firm, times=(f"{hour}:00", f"{hour}:30"))
    assert readings(firm, table, told) == few


def test_many_changes_are_one_mail_that_tells_the_last_of_each(firm: Cast) -> None:
    first, second, third = (plan(firm, times=(f"{hour}:00", f"{hour}:30")) for hour in ("08", "10", "12"))
    told(firm)
    firm.perform(move_visit, visitId=first["id"], startsAt=f"{DAY}T14:00", endsAt=f"{DAY}T14:30")
    firm.perform(move_visit, Role.OFFICE, visitId=first["id"], startsAt=f"{DAY}T15:00", endsAt=f"{DAY}T15:30")
    firm.perform(cancel_visit, visitId=second["id"])
    firm.perform(move_visit, visitId=third["id"], personId=firm.people[Role.SUBCONTRACTOR])
    assert len(chores(firm)) == 2
    new = {mail["to"]: mail["text"] for mail in told(firm)[1:]}
    assert set(new) == {EMAILS[Role.MEMBER], EMAILS[Role.SUBCONTRACTOR]}
    text = new[EMAILS[Role.MEMBER]]
    assert "Olivia Owner and Orla Office changed" in text
    assert "  was 11 January 2038, 08:00 to 08:30\n  now 11 January 2038, 15:00 to 15:30\n" in text
    assert "14:00" not in text
    assert text.count("No longer yours:") == 2
    assert "New: " in new[EMAILS[Role.SUBCONTRACTOR]]


def test_nothing_is_told_of_what_is_as_it_was(firm: Cast) -> None:
    visit = plan(firm)
    told(firm)
    back = {"startsAt": visit["startsAt"], "endsAt": visit["endsAt"]}
    firm.perform(move_visit, visitId=visit["id"], startsAt=f"{DAY}T14:00", endsAt=f"{DAY}T15:00")
    firm.perform(move_visit, visitId=visit["id"], **back)
    firm.perform(update_job, jobId=visit["jobId"], title="Mend the whole roof")
    assert len(told(firm)) == 1
    # Planned and called off within the minutes; and other notes are no other time.
    other = plan(firm, times=("16:00", "17:00"))
    firm.perform(cancel_visit, visitId=other["id"])
    firm.perform(move_visit, visitId=visit["id"], notes="Bring the ladder.")
    assert len(told(firm)) == 1


def test_nobody_is_told_what_they_did_themselves_or_do_already(firm: Cast) -> None:
    plan(firm, Role.OWNER)
    assert chores(firm) == []
    visit = plan(firm, Role.MEMBER)
    firm.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="started")
    assert told(firm) == []


@pytest.mark.parametrize(
    ("day", "mailed"), [("2038-01-09", 0), ("2038-01-10", 1), ("2038-01-17", 1), ("2038-01-18", 0)]
)
def test_only_what_is_about_today_or_the_next_seven_days_is_told(firm: Cast, day: str, mailed: int) -> None:
    plan(firm, on=day)
    assert len(told(firm)) == mailed


def test_a_visit_that_comes_nearer_or_goes_far_is_told(firm: Cast) -> None:
    visit = plan(firm, on="2038-03-01")
    firm.perform(move_visit, visitId=visit["id"], on=DAY)
    assert "was any time on 1 March 2038\n  now any time on 11 January 2038" in told(firm)[0]["text"]
    firm.perform(move_visit, visitId=visit["id"], on="2038-04-01")
    assert "now any time on 1 April 2038" in told(firm)[1]["text"]


def test_a_plan_tells_before_who_is_written_to_and_writes_to_each_once(firm: Cast) -> None:
    visits = [plan(firm, times=times) for times in (("08:00", "09:00"), ("10:00", "11:00"))]
    told(firm)
    sub = firm.people[Role.SUBCONTRACTOR]
    changes: list[dict[str, Any]] = [{"change": "move", "visitId": one["id"], "personId": sub} for one in visits]
    preview = firm.perform(plan_schedule, changes=changes)
    assert [one for one in preview["effects"] if "told by mail" in one] == [
        "Mia Member is told by mail.",
        "Sam Subcontractor is told by mail.",
    ]
    assert chores(firm) == []
    firm.perform(plan_schedule, changes=changes, confirmed=True)
    member, other = told(firm)[1:]
    assert sorted([member["to"], other["to"]]) == sorted([EMAILS[Role.MEMBER], EMAILS[Role.SUBCONTRACTOR]])
    assert {mail["text"].count("No longer yours") + mail["text"].count("New: ") for mail in (member, other)} == {2}


def test_a_job_that_is_called_off_is_told_to_those_who_would_have_gone(firm: Cast) -> None:
    visit = plan(firm)
    told(firm)
    preview = firm.perform(cancel_job, jobId=visit["jobId"], reason="The house is sold.")
    assert "Mia Member is told by mail." in preview["effects"]
    firm.perform(cancel_job, jobId=visit["jobId"], reason="The house is sold.", confirmed=True)
    assert "No longer yours" in told(firm)[1]["text"]


def test_whoever_has_left_meanwhile_is_not_written_to(firm: Cast) -> None:
    plan(firm)
    firm.perform(remove_person, personId=firm.people[Role.MEMBER], confirmed=True)
    assert told(firm) == []


def test_what_the_one_who_runs_the_server_does_is_told_nobody(firm: Cast) -> None:
    job = make_job(firm)
    given = {"jobId": job["id"], "personIds": [firm.people[Role.MEMBER]], "on": DAY}
    firm.stage.perform(plan_visit, firm.actor(Role.OFFICE, door=Door.CLI), orjson.dumps(given), Envelope("req_cli"))
    assert chores(firm) == []


def test_after_a_mail_the_next_change_is_told_again(firm: Cast) -> None:
    visit = plan(firm)
    told(firm)
    firm.perform(cancel_visit, visitId=visit["id"])
    assert len(chores(firm)) == 1
    assert "No longer yours" in told(firm)[1]["text"]
