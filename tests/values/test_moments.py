from datetime import UTC, date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainstay.values.moments import (
    Period,
    from_wall_time,
    is_time_zone,
    local_date,
    moment_text,
    parse_moment,
    system_clock,
)

BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
SUMMER, WINTER = timedelta(hours=2), timedelta(hours=1)

zones = st.sampled_from([BERLIN, NEW_YORK, LORD_HOWE, "Pacific/Apia", "Asia/Kathmandu", "UTC"])
milliseconds = st.integers(-2_000_000_000_000, 7_000_000_000_000)
instants = milliseconds.map(lambda count: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=count))
moments = st.builds(lambda instant, zone: instant.astimezone(ZoneInfo(zone)), instants, zones)


def parse_utc(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def naive_now() -> datetime:
    return system_clock().replace(tzinfo=None)


def test_the_system_clock_tells_utc() -> None:
    assert system_clock().tzinfo is UTC


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (parse_utc("2026-11-15T10:30:50.123456"), "2026-11-15T10:30:50.123Z"),
        (parse_utc("2026-11-15T10:30:50.999999"), "2026-11-15T10:30:50.999Z"),
        (parse_utc("2026-11-15T00:00:00"), "2026-11-15T00:00:00.000Z"),
        (parse_utc("0001-01-01T00:00:00"), "0001-01-01T00:00:00.000Z"),
        (datetime(2026, 11, 15, 11, 30, 50, 7000, tzinfo=ZoneInfo(BERLIN)), "2026-11-15T10:30:50.007Z"),
        (datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=45))), "2025-12-31T18:15:00.000Z"),
    ],
)
def test_a_moment_is_written_in_utc_with_milliseconds(moment: datetime, text: str) -> None:
    assert moment_text(moment) == text


@given(moments, moments)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    assert (moment_text(one) < moment_text(other)) == (one.astimezone(UTC) < other.astimezone(UTC))


@given(moments)
def test_a_written_moment_reads_back_the_same(moment: datetime) -> None:
    assert parse_moment(moment_text(moment)) == moment.astimezone(UTC)


def test_a_moment_without_a_zone_is_refused_everywhere() -> None:
    with pytest.raises(ValueError, match="needs a time zone"):
        moment_text(naive_now())
    with pytest.raises(ValueError, match="needs a time zone"):
        local_date(naive_now(), BERLIN)
    with pytest.raises(ValueError, match="needs a time zone"):
        Period(naive_now(), system_clock() + timedelta(days=1))
    with pytest.raises(ValueError, match="needs a time zone"):
        Period(system_clock() - timedelta(days=1), naive_now())


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-15T10:30:50Z", parse_utc("2026-11-15T10:30:50")),
        ("2026-11-15T10:30:50.1Z", parse_utc("2026-11-15T10:30:50.100000")),
        ("2026-11-15T10:30:50.123456789Z", parse_utc("2026-11-15T10:30:50.123456")),
        ("2026-11-15T11:30:50+01:00", parse_utc("2026-11-15T10:30:50")),
        ("2026-11-15T05:00:50-05:30", parse_utc("2026-11-15T10:30:50")),
        ("2026-11-15T10:30:50-00:00", parse_utc("2026-11-15T10:30:50")),
        ("2026-11-15t10:30:50z", parse_utc("2026-11-15T10:30:50")),
        ("2024-02-29T00:00:00Z", parse_utc("2024-02-29T00:00:00")),
    ],
)
def test_an_rfc_3339_moment_is_read_into_utc(text: str, moment: datetime) -> None:
    read = parse_moment(text)

    assert read == moment
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-15",
        "10:30:50Z",
        "2026-11-15T10:30:50",
        "2026-11-15T10:30Z",
        "2026-11-15 10:30:50Z",
        "2026-11-15T10:30:50 Z",
        " 2026-11-15T10:30:50Z",
        "2026-11-15T10:30:50Z\n",
        "2026-11-15T10:30:50.Z",
        "2026-11-15T10:30:50,5Z",
        "2026-11-15T10:30:50.1234567890Z",
        "2026-11-15T10:30:50+0100",
        "2026-11-15T10:30:50+01",
        "2026-11-15T10:30:50+24:00",
        "2026-11-15T10:30:50+01:60",
        "2026-11-15T10:30:50+01:00:00",
        "2026-11-15T24:00:00Z",
        "2026-11-15T10:60:00Z",
        "2026-11-15T10:30:60Z",
        "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "20261115T103050Z",
        "2026-W46-7T10:30:50Z",
        "-2026-11-15T10:30:50Z",
        "1763202650",
        "\uff12026-11-15T10:30:50Z",
        "\ud800",
    ],
)
def test_a_moment_in_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError) as refused:
        parse_moment(text)

    assert str(refused.value).startswith(("Write a moment such as", "There is no such", "The moment lies outside"))


@pytest.mark.parametrize("name", [BERLIN, NEW_YORK, LORD_HOWE, "UTC", "America/Argentina/Buenos_Aires"])
def test_an_iana_name_is_a_time_zone(name: str) -> None:
    assert is_time_zone(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Berlin",
        "europe/berlin",
        "Europe",
        "CEST",
        "+01:00",
        "../etc/passwd",
        "/etc/localtime",
        "localtime",
        "Factory",
        "Europe/Berlin\0",
        "posix/Europe/Berlin",
        "tzdata.zi",
        "\ud800",
    ],
)
def test_any_other_name_is_no_time_zone(name: str) -> None:
    assert not is_time_zone(name)
    with pytest.raises(ValueError, match="not an IANA name"):
        local_date(system_clock(), name)
    with pytest.raises(ValueError, match="not an IANA name"):
        from_wall_time(date(2026, 1, 1), time(9), name)


def test_the_local_date_is_that_of_the_place() -> None:
    moment = parse_utc("2026-06-30T22:30:00")

    assert local_date(moment, BERLIN) == date(2026, 7, 1)
    assert local_date(moment, NEW_YORK) == date(2026, 6, 30)
    assert local_date(moment, "Pacific/Kiritimati") == date(2026, 7, 1)


def test_a_local_date_beyond_the_calendar_is_refused() -> None:
    with pytest.raises(ValueError, match="outside the years"):
        local_date(parse_utc("9999-12-31T23:59:59"), BERLIN)


@pytest.mark.parametrize(
    ("day", "wall", "zone", "moment"),
    [
        (date(2026, 1, 15), time(9), BERLIN, parse_utc("2026-01-15T08:00:00")),
        (date(2026, 7, 15), time(9), BERLIN, parse_utc("2026-07-15T07:00:00")),
        (date(2026, 7, 15), time(9, 30, 15), NEW_YORK, parse_utc("2026-07-15T13:30:15")),
        (date(2026, 1, 15), time(9), LORD_HOWE, parse_utc("2026-01-14T22:00:00")),
        # The minutes beside each gap and fold are plain.
        (date(2026, 3, 29), time(1, 59), BERLIN, parse_utc("2026-03-29T00:59:00")),
        (date(2026, 3, 29), time(3), BERLIN, parse_utc("2026-03-29T01:00:00")),
        (date(2026, 10, 25), time(1, 59), BERLIN, parse_utc("2026-10-24T23:59:00")),
        (date(2026, 10, 25), time(3), BERLIN, parse_utc("2026-10-25T02:00:00")),
    ],
)
def test_a_plain_wall_time_is_one_moment(day: date, wall: time, zone: str, moment: datetime) -> None:
    found = from_wall_time(day, wall, zone)

    assert found == moment
    assert found.tzinfo is UTC
    assert from_wall_time(day, wall.replace(fold=1), zone) == moment


@pytest.mark.parametrize(
    ("day", "wall", "zone"),
    [
        (date(2026, 3, 29), time(2), BERLIN),
        (date(2026, 3, 29), time(2, 59, 59), BERLIN),
        (date(2026, 3, 8), time(2, 30), NEW_YORK),
        (date(2026, 10, 4), time(2), LORD_HOWE),
        (date(2026, 10, 4), time(2, 29), LORD_HOWE),
        (date(2011, 12, 30), time(12), "Pacific/Apia"),
    ],
)
def test_a_time_in_the_spring_gap_is_refused(day: date, wall: time, zone: str) -> None:
    with pytest.raises(ValueError, match="The clocks skip this time"):
        from_wall_time(day, wall, zone)


@pytest.mark.parametrize(
    ("day", "wall", "zone"),
    [
        (date(2026, 10, 25), time(2), BERLIN),
        (date(2026, 10, 25), time(2, 59), BERLIN),
        (date(2026, 10, 25), time(2, 30, fold=1), BERLIN),
        (date(2026, 11, 1), time(1, 30), NEW_YORK),
        (date(2026, 4, 5), time(1, 45), LORD_HOWE),
    ],
)
def test_a_time_in_the_autumn_fold_is_refused(day: date, wall: time, zone: str) -> None:
    with pytest.raises(ValueError, match="The clocks show this time twice"):
        from_wall_time(day, wall, zone)


def test_a_wall_time_with_a_zone_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone of its own"):
        from_wall_time(date(2026, 7, 15), time(9, tzinfo=UTC), BERLIN)


def test_a_wall_time_beyond_the_calendar_is_refused() -> None:
    with pytest.raises(ValueError, match="outside the years"):
        from_wall_time(date(1, 1, 1), time(0), BERLIN)


def check_found_again(moment: datetime, zone: str) -> None:
    """Check that a moment is found again from its wall time, unless the clocks show that time twice."""
    local = moment.astimezone(ZoneInfo(zone))

    if local.replace(fold=0).utcoffset() == local.replace(fold=1).utcoffset():
        assert from_wall_time(local.date(), local.time(), zone) == moment
    else:
        with pytest.raises(ValueError, match="twice"):
            from_wall_time(local.date(), local.time(), zone)


@given(instants, zones)
def test_every_moment_is_found_again_from_its_wall_time(moment: datetime, zone: str) -> None:
    check_found_again(moment, zone)


@given(
    st.integers(0, 60 * 48),
    st.sampled_from(
        [(BERLIN, "2026-10-24T00:00:00"), (NEW_YORK, "2026-10-31T12:00:00"), (LORD_HOWE, "2026-04-04T00:00:00")]
    ),
)
def test_every_minute_around_the_folds_is_found_again(minute: int, fold: tuple[str, str]) -> None:
    zone, start = fold
    moment = parse_utc(start) + timedelta(minutes=minute)
    check_found_again(moment, zone)
    assert local_date(moment, zone) == moment.astimezone(ZoneInfo(zone)).date()


def make_period(start: str, end: str) -> Period:
    return Period(parse_utc(f"2026-01-01T{start}:00"), parse_utc(f"2026-01-01T{end}:00"))


def test_a_period_that_does_not_end_after_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="ends after it starts"):
        make_period("10:00", "10:00")
    with pytest.raises(ValueError, match="ends after it starts"):
        make_period("10:00", "09:59")


def test_periods_that_touch_do_not_overlap() -> None:
    assert not make_period("10:00", "11:00").overlaps(make_period("11:00", "12:00"))
    assert not make_period("11:00", "12:00").overlaps(make_period("10:00", "11:00"))


@pytest.mark.parametrize(
    ("start", "end"), [("10:00", "11:00"), ("09:00", "10:01"), ("10:59", "12:00"), ("10:15", "10:30")]
)
def test_periods_that_share_a_moment_overlap(start: str, end: str) -> None:
    assert make_period("10:00", "11:00").overlaps(make_period(start, end))
    assert make_period(start, end).overlaps(make_period("10:00", "11:00"))


def test_minutes_are_whole() -> None:
    start = parse_utc("2026-01-01T10:00:00")

    assert Period(start, start + timedelta(seconds=59)).minutes == 0
    assert Period(start, start + timedelta(seconds=119)).minutes == 1


@pytest.mark.parametrize(
    ("day", "zone", "minutes"),
    [
        (date(2026, 10, 25), BERLIN, 25 * 60),
        (date(2026, 3, 29), BERLIN, 23 * 60),
        (date(2026, 11, 1), NEW_YORK, 25 * 60),
        (date(2026, 4, 5), LORD_HOWE, 24 * 60 + 30),
        (date(2026, 10, 4), LORD_HOWE, 23 * 60 + 30),
        (date(2026, 7, 15), BERLIN, 24 * 60),
    ],
)
def test_the_minutes_of_a_day_are_those_that_really_pass(day: date, zone: str, minutes: int) -> None:
    midnight = datetime.combine(day, time(0), ZoneInfo(zone))

    assert Period(midnight, midnight + timedelta(days=1)).minutes == minutes


def test_a_period_can_lie_within_one_repeated_wall_time() -> None:
    first = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo(BERLIN))

    assert Period(first, first.replace(fold=1)).minutes == 60


def test_the_same_period_told_in_two_zones_is_equal() -> None:
    hour = make_period("10:00", "11:00")
    in_berlin = Period(hour.starts_at.astimezone(ZoneInfo(BERLIN)), hour.ends_at.astimezone(ZoneInfo(BERLIN)))

    assert in_berlin == hour
    assert hash(in_berlin) == hash(hour)


periods = st.builds(
    lambda start, length: Period(start, start + timedelta(minutes=length)), instants, st.integers(1, 1_440)
)


@given(periods, st.integers(-2_000, 2_000))
def test_two_periods_overlap_when_the_later_start_lies_before_the_earlier_end(one: Period, shift: int) -> None:
    other = Period(one.starts_at + timedelta(minutes=shift), one.starts_at + timedelta(minutes=shift + 60))

    later, earlier = max(one.starts_at, other.starts_at), min(one.ends_at, other.ends_at)
    assert one.overlaps(other) == (later < earlier)
    assert one.overlaps(other) == other.overlaps(one)
