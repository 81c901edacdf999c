from datetime import UTC, date, datetime, timedelta

from mainstay.business.jobs.operations import get_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.quotes.expiry import TIMERS
from mainstay.business.quotes.operations import get_quote
from support.cast import Cast
from support.customers import make_customer, make_job, run_all_tasks
from support.quotes import accept_quote, cast_at, cast_later, issue_quote, make_quote
from support.recorded_statements import count_reads
from support.stored_state import list_events_of


def begin_day(cast: Cast, day: date) -> None:
    [timer] = TIMERS
    cast.performer.run_daily_timer(timer, cast.organisation, day)


def list_expired_numbers(cast: Cast) -> list[str]:
    return [event["data"]["object"]["number"] for event in list_events_of(cast) if event["type"] == "quote.expired"]


def test_it_expires_at_the_organisation_s_midnight(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="America/New_York")
    quote = issue_quote(cast, make_quote(cast, validUntil="2031-07-31"))
    midnight = datetime(2031, 8, 1, 4, 0, tzinfo=UTC)
    states = [
        cast_at(cast, midnight + timedelta(seconds=seconds)).perform(get_quote, quoteId=quote["id"])["status"]
        for seconds in (-1, 0)
    ]
    assert states == ["sent", "expired"]


def test_it_is_told_once_and_its_job_waits_no_more(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast, email="a@b.example"), status="enquiry")
    issue_quote(cast, make_quote(cast, jobId=job["id"]))
    answered = issue_quote(cast)
    accept_quote(cast, answered)
    begin_day(cast, date(2031, 1, 1))
    assert list_expired_numbers(cast) == []
    after = cast_later(cast, days=40)
    for day in (1, 2):
        begin_day(after, date(2031, 2, day))
    assert list_expired_numbers(cast) == ["Q-0001"]
    assert list_events_of(cast)[-1]["data"]["object"]["status"] == "expired"
    assert cast.perform(get_job, jobId=job["id"])["stage"] == "enquiry"


def test_in_another_time_zone_it_expires_at_the_midnight_there(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="UTC")
    quote = issue_quote(cast, make_quote(cast, validUntil="2031-01-31"))
    cast.perform(update_organisation, timeZone="Pacific/Auckland")
    run_tasks_except_mail(cast)
    night = cast_at(cast, datetime(2031, 1, 31, 11, 30, tzinfo=UTC))
    assert night.perform(get_quote, quoteId=quote["id"])["status"] == "expired"


def run_tasks_except_mail(cast: Cast) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("DELETE FROM outbox WHERE organisation_id = :organisation AND kind IN ('mail', 'print')")
    run_all_tasks(cast)


def test_however_many_there_are_they_are_read_at_once(cast: Cast) -> None:
    for _ in range(3):
        issue_quote(cast)
    after = cast_later(cast, days=40)
    assert count_reads(after, "quote", lambda watched: begin_day(watched, date(2031, 2, 1))) == 1
    assert list_expired_numbers(cast) == ["Q-0001", "Q-0002", "Q-0003"]
