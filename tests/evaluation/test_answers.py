"""Figures and names are found however an agent writes them, and not where they are not."""

from datetime import date, time

import pytest

from mainstay.evaluation.answers import says_amount, says_day, says_duration, says_text, says_time


@pytest.mark.parametrize(
    "answer",
    ["£1,548.00 in all.", "1548", "It is 1 548.00 GBP", "**£1,548**", "12 invoices, 1548.00.", "a loss of -1,548.00"],
)
def test_an_amount_is_found(answer: str) -> None:
    assert says_amount(answer, "1548.00")


@pytest.mark.parametrize("answer", ["£1,548.01", "15480", "£548.00", "1.548", "INV-11548", "", "£21,548.00"])
def test_another_amount_is_not_taken_for_it(answer: str) -> None:
    assert not says_amount(answer, "1548.00")


@pytest.mark.parametrize(
    "answer",
    ["2026-12-13", "13 December", "13th of December", "Dec 13", "December 13th", "12 to 13 December 2026", "13/12/2026",
     "Sunday the 13th of December", "December 12 to 13", "12-13 Dec"],
)  # fmt: skip
def test_a_day_is_found(answer: str) -> None:
    assert says_day(answer, date(2026, 12, 13))


@pytest.mark.parametrize("answer", ["2026-12-14", "3 December", "13 November", "December 2013", "113 December"])
def test_another_day_is_not_taken_for_it(answer: str) -> None:
    assert not says_day(answer, date(2026, 12, 13))


@pytest.mark.parametrize(
    ("at", "answer"),
    [
        (time(13, 15), "13:15"),
        (time(13, 15), "1:15 pm"),
        (time(13, 15), "1.15pm"),
        (time(9), "9 am"),
        (time(9), "09:00"),
        (time(9), "9:00 a.m."),
    ],
)
def test_a_time_is_found(at: time, answer: str) -> None:
    assert says_time(answer, at)


@pytest.mark.parametrize("answer", ["1:15 am", "11:15 pm", "13:45", "15:13", "1 pm", "1:15"])
def test_another_time_is_not_taken_for_it(answer: str) -> None:
    assert not says_time(answer, time(13, 15))


@pytest.mark.parametrize(
    ("minutes", "answer"),
    [
        (390, "6:30"),
        (390, "6.5 hours"),
        (390, "6.50 h"),
        (390, "6 h 30 min"),
        (390, "6 hours and 30 minutes"),
        (390, "390 minutes"),
        (390, "6½ hours"),
        (780, "13 hours"),
        (780, "13:00"),
        (780, "13.00 hours"),
    ],
)
def test_a_duration_is_found(minutes: int, answer: str) -> None:
    assert says_duration(answer, minutes)


@pytest.mark.parametrize("answer", ["6 hours", "16:30", "6 h 45 min", "3 h 15 min", "1390 minutes", "30 minutes"])
def test_another_duration_is_not_taken_for_it(answer: str) -> None:
    assert not says_duration(answer, 390)


def test_a_name_is_found_whatever_its_case_and_apostrophe() -> None:
    assert says_text("It was maureen  TATE of Saddler\u2019s Row.", "Saddler's Row")
    assert not says_text("It was Maureen.", "Maureen Tate")


def test_an_hour_of_the_evening_is_not_taken_for_the_morning() -> None:
    assert not says_time("9:00 pm", time(9))
