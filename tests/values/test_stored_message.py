"""Messages that are stored, or come from another process, are the same when they are read again."""

import pytest

from mainstay.values.message import Amount, CalendarDate, CalendarDates, FieldName, Message, PossibleChoices
from mainstay.values.stored_message import dump_message, load_message

MESSAGES = [
    Message("Nothing to see."),
    Message("Row {row} has {name}.", row=7, name='{row} or "quotes"'),
    Message("{count} row", plural="{count} rows", count=2),
    Message("{payment} on {day}", payment=Amount("12.50", "GBP"), day=CalendarDate("2026-11-30")),
    Message("{days}", days=CalendarDates("2026-11-09", "2026-11-10")),
    Message("{reason} ({fields})", reason=Message("It is {state}.", state="void"), fields=[FieldName("siteId"), "x"]),
    Message("is not {choices}", choices=PossibleChoices(("work", "travel"))),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.template)
def test_a_stored_message_is_the_same_again(message: Message) -> None:
    assert load_message(dump_message(message)) == message


@pytest.mark.parametrize("text", ["550 no such user", "{not json", '{"other": 1}', "{}"])
def test_any_other_text_is_unchanged(text: str) -> None:
    assert load_message(text) == text
    assert dump_message(text) == text


@pytest.mark.parametrize("template", ["{name.__class__}", "{name:>9999999999}", "{name[0]}"])
def test_a_template_that_does_more_than_name_its_values_is_refused(template: str) -> None:
    stored = dump_message(Message.from_template(template, {"name": "Kim"}))
    with pytest.raises(ValueError, match="only names its values"):
        load_message(stored)
