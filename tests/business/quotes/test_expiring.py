from datetime import UTC, date, datetime, timedelta

from cast import Cast
from evidence import events
from mainstay.business.jobs.operations import get_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.quotes.expiring import TIMERS
from mainstay.business.quotes.operations import get_quote
from quoting import a_draft, accepted, at, later, sent
from recording import readings
from trade import a_customer, a_job, work_off


def begin_day(cast: Cast, day: date) -> None:
    [timer] = TIMERS
    cast.stage.begin_day(timer, cast.organisation, day)


def told(cast: Cast) -> list[str]:
    return [event["data"]["object"]["number"] for event in events(cast) if event["type"] == "quote.expired"]


def test_it_expires_at_the_organisation_s_midnight(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="America/New_York")
    quote = sent(cast, a_draft(cast, validUntil="2031-07-31"))
    midnight = datetime(2031, 8, 1, 4, 0, tzinfo=UTC)
    states = [
        at(cast, midnight + timedelta(seconds=seconds)).perform(get_quote, quoteId=quote["id"])["status"]
        for seconds in (-1, 0)
    ]
    assert states == ["sent", "expired"]


def test_it_is_told_once_and_its_job_waits_no_more(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast, email="a@b.example"), status="enquiry")
    sent(cast, a_draft(cast, jobId=job["id"]))
    answered = sent(cast)
    accepted(cast, answered)
    begin_day(cast, date(2031, 1, 1))
    assert told(cast) == []
    after = later(cast, days=40)
    for day in (1, 2):
        begin_day(after, date(2031, 2, day))
    assert told(cast) == ["Q-0001"]
    assert events(cast)[-1]["data"]["object"]["status"] == "expired"
    assert cast.perform(get_job, jobId=job["id"])["stage"] == "enquiry"


def test_in_another_time_zone_it_expires_at_the_midnight_there(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="UTC")
    quote = sent(cast, a_draft(cast, validUntil="2031-01-31"))
    cast.perform(update_organisation, timeZone="Pacific/Auckland")
    work_off_but_mail(cast)
    night = at(cast, datetime(2031, 1, 31, 11, 30, tzinfo=UTC))
    assert night.perform(get_quote, quoteId=quote["id"])["status"] == "expired"


def work_off_but_mail(cast: Cast) -> None:
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("DELETE FROM outbox WHERE organisation_id = :organisation AND kind IN ('mail', 'print')")
    work_off(cast)


def test_however_many_there_are_they_are_read_at_once(cast: Cast) -> None:
    for _ in range(3):
        sent(cast)
    after = later(cast, days=40)
    assert readings(after, "quote", lambda watched: begin_day(watched, date(2031, 2, 1))) == 1
    assert told(cast) == ["Q-0001", "Q-0002", "Q-0003"]
