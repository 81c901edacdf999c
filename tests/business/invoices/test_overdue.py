"""Invoices that were not paid in time: overdue from the organisation's midnight on, and told once."""

from datetime import UTC, date, datetime, timedelta

import pytest

from billing import an_invoice, credited, issued, now, paid, voided
from cast import Cast
from evidence import events
from labour import at as at_noon
from mainstay.business.invoices.overdue import TIMERS
from mainstay.business.organisation.operations import update_organisation
from quoting import at, later
from recording import readings
from trade import work_off


def begin_day(cast: Cast, day: date) -> None:
    [timer] = TIMERS
    cast.stage.begin_day(timer, cast.organisation, day)


def told(cast: Cast) -> list[str]:
    return [event["data"]["object"]["number"] for event in events(cast) if event["type"] == "invoice.overdue"]


@pytest.mark.parametrize(
    ("zone", "midnight"),
    [
        ("America/New_York", datetime(2031, 8, 1, 4, tzinfo=UTC)),
        ("Europe/London", datetime(2031, 7, 31, 23, tzinfo=UTC)),
        ("Pacific/Auckland", datetime(2031, 7, 31, 12, tzinfo=UTC)),
        ("UTC", datetime(2031, 8, 1, tzinfo=UTC)),
    ],
)
def test_it_is_overdue_from_the_organisation_s_midnight_on(cast: Cast, zone: str, midnight: datetime) -> None:
    cast.perform(update_organisation, timeZone=zone)
    sent, part = (issued(cast, an_invoice(cast, dueOn="2031-07-31")) for _ in range(2))
    paid(cast, part, "1")
    before, after = (at(cast, midnight + timedelta(seconds=seconds)) for seconds in (-1, 0))
    assert [now(before, invoice)["status"] for invoice in (sent, part)] == ["sent", "partPaid"]
    assert [now(after, invoice)["status"] for invoice in (sent, part)] == ["overdue", "overdue"]


def test_where_midnight_does_not_exist_it_is_the_first_moment_of_the_day(cast: Cast) -> None:
    # In Santiago clocks go from 24:00 to 1:00 in the night to 5 September 2027.
    cast.perform(update_organisation, timeZone="America/Santiago")
    sent = issued(cast, an_invoice(cast, dueOn="2027-09-04"))
    first = datetime(2027, 9, 5, 4, tzinfo=UTC)
    assert now(at(cast, first - timedelta(seconds=1)), sent)["status"] == "sent"
    assert now(at(cast, first), sent)["status"] == "overdue"


def test_it_is_told_once(cast: Cast) -> None:
    noon = at_noon(cast)
    issued(noon)
    begin_day(noon, date(2026, 11, 16))
    assert told(cast) == []
    for days in (15, 16, 17):
        begin_day(later(noon, days=days), date(2026, 12, days - 14))
    assert told(cast) == ["INV-0001"]
    assert events(cast)[-1]["data"]["object"]["status"] == "overdue"


def test_what_is_settled_is_never_overdue(cast: Cast) -> None:
    noon = at_noon(cast)
    an_invoice(noon)
    settled = [issued(noon) for _ in range(3)]
    paid(noon, settled[0])
    voided(noon, settled[1])
    credited(noon, settled[2])
    late = later(noon, days=60)
    begin_day(late, date(2027, 1, 15))
    assert told(cast) == []
    assert [now(late, invoice)["status"] for invoice in settled] == ["paid", "void", "credited"]


def test_one_that_is_to_be_paid_again_is_overdue_again_and_told_when_it_was_not(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issued(noon)
    late = later(noon, days=20)
    paid(late, sent, "400")
    begin_day(late, date(2026, 12, 6))
    paid(late, sent)
    assert now(late, sent)["status"] == "paid"
    assert told(cast) == ["INV-0001"]


def test_in_another_time_zone_it_is_overdue_at_the_midnight_there(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="UTC")
    sent = issued(cast, an_invoice(cast, dueOn="2031-01-31"))
    cast.perform(update_organisation, timeZone="Pacific/Auckland")
    work_off(cast)
    night = at(cast, datetime(2031, 1, 31, 11, 30, tzinfo=UTC))
    assert now(night, sent)["status"] == "overdue"
    begin_day(night, date(2031, 2, 1))
    assert told(cast) == ["INV-0001"]
    next_night = later(night, days=1)
    next_night.perform(update_organisation, timeZone="America/New_York")
    work_off(next_night)
    # What was told stays told.
    begin_day(next_night, date(2031, 2, 2))
    assert told(cast) == ["INV-0001"]


def test_however_many_there_are_they_are_read_at_once(cast: Cast) -> None:
    for _ in range(3):
        issued(cast, an_invoice(cast, dueOn="2031-07-31"))
    after = at(cast, datetime(2031, 8, 1, tzinfo=UTC))
    assert readings(after, "invoice", lambda watched: begin_day(watched, date(2031, 8, 1))) == 1
    assert told(cast) == ["INV-0001", "INV-0002", "INV-0003"]
