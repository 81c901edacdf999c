import pytest

from mainstay.values.message import (
    Amount,
    CalendarDate,
    Choice,
    DecimalNumber,
    Duration,
    FieldName,
    FileSize,
    LocalMoment,
    LocalPeriod,
    Message,
    MessageValue,
    PossibleChoices,
    message_of,
)

START, END = "2026-11-16T08:30:00.000Z", "2026-11-16T10:00:00.000Z"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Kim {name}", "Kim {name}"),
        (12, "12"),
        (Amount("1548.00", "GBP"), "1548.00 GBP"),
        (DecimalNumber("2.50"), "2.50"),
        (CalendarDate("2026-11-30"), "2026-11-30"),
        (LocalMoment(START, "Europe/Berlin"), "2026-11-16T09:30 (Europe/Berlin)"),
        (LocalPeriod(START, END, "Europe/London"), "2026-11-16 from 08:30 to 10:00 (Europe/London)"),
        (Duration(95), "1:35"),
        (FileSize(3_400_000), "3.4 MB"),
        (FieldName("siteId"), "siteId"),
        (Choice("in_progress"), "in_progress"),
        (PossibleChoices(("work", "travel", "other")), "'work', 'travel' or 'other'"),
        (["Grace", "Ben", "Tom"], "Grace, Ben and Tom"),
        (Message("{day} at {place}", day=CalendarDate("2026-11-30"), place="Hove"), "2026-11-30 at Hove"),
    ],
)
def test_programs_get_values_as_they_send_them(value: MessageValue, text: str) -> None:
    assert str(Message("It is {value}.", value=value)) == f"It is {text}."


def test_the_count_decides_between_the_two_templates() -> None:
    texts = [str(Message("{count} visit", plural="{count} visits", count=count)) for count in (0, 1, 2)]
    assert texts == ["0 visits", "1 visit", "2 visits"]


def test_what_only_programs_need_follows_as_a_sentence_or_as_a_clause() -> None:
    hint = Message("list_sites shows them")
    assert str(Message("Choose a site.", for_programs=hint)) == "Choose a site. list_sites shows them"
    assert str(Message("is archived", for_programs=hint)) == "is archived; list_sites shows them"


def test_messages_are_equal_if_template_and_values_are() -> None:
    first, second = (Message("{name} is archived.", name=name) for name in ("Kim", "Lee"))
    assert first == Message("{name} is archived.", name="Kim")
    assert first != second
    assert len({first, Message("{name} is archived.", name="Kim"), second}) == 2


def test_what_an_error_says_to_people_is_a_message() -> None:
    message = Message("is archived")
    assert message_of(ValueError(message)) is message
    assert message_of(ValueError("invalid literal for int()")) == Message("is not valid")
    assert str(ValueError(message)) == "is archived"
