"""Invoices that are not paid in time become overdue at the organisation's midnight, with one event each."""

from datetime import UTC, date, datetime, timedelta

import pytest

from mainstay.business.organisation.operations import update_organisation
from support.cast import Cast
from support.customers import run_all_tasks
from support.hours import cast_at as at_noon
from support.invoices import (
    begin_day,
    credit_issued,
    issue_invoice,
    make_invoice,
    pay_invoice,
    reread_invoice,
    void_issued,
)
from support.quotes import cast_at, cast_later
from support.recorded_statements import count_reads
from support.stored_state import list_events_of


def list_overdue_numbers(cast: Cast) -> list[str]:
    return [event["data"]["object"]["number"] for event in list_events_of(cast) if event["type"] == "invoice.overdue"]


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
    sent, part = (issue_invoice(cast, make_invoice(cast, dueOn="2031-07-31")) for _ in range(2))
    pay_invoice(cast, part, "1")
    before, after = (cast_at(cast, midnight + timedelta(seconds=seconds)) for seconds in (-1, 0))
    assert [reread_invoice(before, invoice)["status"] for invoice in (sent, part)] == ["sent", "partPaid"]
    assert [reread_invoice(after, invoice)["status"] for invoice in (sent, part)] == ["overdue", "overdue"]


def test_where_midnight_does_not_exist_it_is_the_first_moment_of_the_day(cast: Cast) -> None:
    # In Santiago clocks go from 24:00 to 1:00 in the night to 5 September 2027.
    cast.perform(update_organisation, timeZone="America/Santiago")
    sent = issue_invoice(cast, make_invoice(cast, dueOn="2027-09-04"))
    first = datetime(2027, 9, 5, 4, tzinfo=UTC)
    assert reread_invoice(cast_at(cast, first - timedelta(seconds=1)), sent)["status"] == "sent"
    assert reread_invoice(cast_at(cast, first), sent)["status"] == "overdue"


def test_it_is_told_once(cast: Cast) -> None:
    noon = at_noon(cast)
    issue_invoice(noon)
    begin_day(noon, date(2026, 11, 16))
    assert list_overdue_numbers(cast) == []
    for days in (15, 16, 17):
        begin_day(cast_later(noon, days=days), date(2026, 12, days - 14))
    assert list_overdue_numbers(cast) == ["INV-0001"]
    assert list_events_of(cast)[-1]["data"]["object"]["status"] == "overdue"


def test_what_is_settled_is_never_overdue(cast: Cast) -> None:
    noon = at_noon(cast)
    make_invoice(noon)
    settled = [issue_invoice(noon) for _ in range(3)]
    pay_invoice(noon, settled[0])
    void_issued(noon, settled[1])
    credit_issued(noon, settled[2])
    late = cast_later(noon, days=60)
    begin_day(late, date(2027, 1, 15))
    assert list_overdue_numbers(cast) == []
    assert [reread_invoice(late, invoice)["status"] for invoice in settled] == ["paid", "void", "credited"]


def test_one_that_is_to_be_paid_again_is_overdue_again_and_told_when_it_was_not(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issue_invoice(noon)
    late = cast_later(noon, days=20)
    pay_invoice(late, sent, "400")
    begin_day(late, date(2026, 12, 6))
    pay_invoice(late, sent)
    assert reread_invoice(late, sent)["status"] == "paid"
    assert list_overdue_numbers(cast) == ["INV-0001"]


def test_in_another_time_zone_it_is_overdue_at_the_midnight_there(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="UTC")
    sent = issue_invoice(cast, make_invoice(cast, dueOn="2031-01-31"))
    cast.perform(update_organisation, timeZone="Pacific/Auckland")
    run_all_tasks(cast)
    night = cast_at(cast, datetime(2031, 1, 31, 11, 30, tzinfo=UTC))
    assert reread_invoice(night, sent)["status"] == "overdue"
    begin_day(night, date(2031, 2, 1))
    assert list_overdue_numbers(cast) == ["INV-0001"]
    next_night = cast_later(night, days=1)
    next_night.perform(update_organisation, timeZone="America/New_York")
    run_all_tasks(next_night)
    # The event that was emitted stays.
    begin_day(next_night, date(2031, 2, 2))
    assert list_overdue_numbers(cast) == ["INV-0001"]


def test_however_many_there_are_they_are_read_at_once(cast: Cast) -> None:
    for _ in range(3):
        issue_invoice(cast, make_invoice(cast, dueOn="2031-07-31"))
    after = cast_at(cast, datetime(2031, 8, 1, tzinfo=UTC))
    assert count_reads(after, "invoice", lambda watched: begin_day(watched, date(2031, 8, 1))) == 1
    assert list_overdue_numbers(cast) == ["INV-0001", "INV-0002", "INV-0003"]
