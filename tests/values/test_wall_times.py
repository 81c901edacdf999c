import pytest
from pydantic import TypeAdapter, ValidationError

from mainstay.values.moments import moment_text
from mainstay.values.wall_times import EnteredMoment, parse_entered_moment, wall_time_text

LONDON = "Europe/London"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-16T08:00", "2026-11-16T08:00:00.000Z"),
        ("2026-07-16T08:00", "2026-07-16T07:00:00.000Z"),
        ("2026-07-16T08:00:30", "2026-07-16T07:00:30.000Z"),
        ("2026-07-16T08:00Z", "2026-07-16T08:00:00.000Z"),
        ("2026-07-16T08:00:30.5+02:00", "2026-07-16T06:00:30.500Z"),
        # With an offset, an hour that the clocks show twice is one of two.
        ("2026-10-25T01:30+01:00", "2026-10-25T00:30:00.000Z"),
        ("2026-10-25T01:30+00:00", "2026-10-25T01:30:00.000Z"),
    ],
)
def test_a_time_without_an_offset_is_what_the_clocks_show(text: str, moment: str) -> None:
    assert TypeAdapter(EnteredMoment).validate_python(text) == text
    assert moment_text(parse_entered_moment(text, LONDON)) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-16",
        "08:00",
        "2026-11-16 08:00",
        "2026-13-16T08:00",
        "2026-11-16T24:00",
        "2026-02-30T08:00",
        "2026-11-16T08:00+25:00",
        "2026-11-16T08:00 ",
        "2026-11-16T08",
        "20261116T0800",
        "\uff12026-11-16T08:00",
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="is not a time such as"):
        TypeAdapter(EnteredMoment).validate_python(text)


def test_a_time_that_the_clocks_skip_is_refused_with_what_to_send() -> None:
    options = r"2026-03-29T00:30:00\+00:00 or 2026-03-29T02:30:00\+01:00"
    message = rf"^is skipped when the clocks in Europe/London go forward; send {options}$"
    with pytest.raises(ValueError, match=message):
        parse_entered_moment("2026-03-29T01:30", LONDON)


def test_a_time_that_the_clocks_show_twice_is_refused_with_what_to_send() -> None:
    options = r"2026-10-25T01:30:00\+01:00 or 2026-10-25T01:30:00\+00:00"
    message = rf"^occurs twice when the clocks in Europe/London go back; send {options}$"
    with pytest.raises(ValueError, match=message):
        parse_entered_moment("2026-10-25T01:30", LONDON)


@pytest.mark.parametrize(
    ("text", "zone"), [("0001-01-01T00:00", "Asia/Tokyo"), ("9999-12-31T23:59", "America/Los_Angeles")]
)
def test_what_lies_beyond_the_ends_of_time_is_refused(text: str, zone: str) -> None:
    with pytest.raises(ValueError, match="is outside the years 1 to 9999"):
        parse_entered_moment(text, zone)


def test_a_moment_is_told_as_the_clocks_show_it() -> None:
    assert wall_time_text("2026-07-16T07:00:30.000Z", LONDON) == "2026-07-16T08:00"
