import pytest
from markupsafe import escape

from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.message_format import PageFormat, problem_sentence
from mainstay.values.email_address import NOT_AN_ADDRESS
from mainstay.values.fields import NOT_A_DATE, NOT_AN_ID
from mainstay.values.message import (
    Amount,
    CalendarDate,
    Choice,
    DecimalNumber,
    FieldName,
    LocalMoment,
    LocalPeriod,
    Message,
    MessageValue,
    PossibleChoices,
)
from mainstay.values.reader_language import ReaderLanguage
from mainstay.vocabulary.validation import EMPTY, NOT_ONE_OF, PROBLEMS, REQUIRED

LONDON, BERLIN = DisplaySettings("Europe/London", "GB", "GBP"), DisplaySettings("Europe/Berlin", "DE", "EUR")
START, END = "2026-11-16T08:30:00.000Z", "2026-11-16T10:00:00.000Z"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Amount("1548.00", "GBP"), "£1,548.00"),
        (DecimalNumber("1234.50"), "1,234.5"),
        (CalendarDate("2026-11-30"), "30 Nov 2026"),
        (LocalMoment(START, "Europe/London"), "16 Nov 2026, 08:30"),
        (LocalMoment(START, "America/New_York"), "16 Nov 2026, 03:30 (New York)"),
        (LocalPeriod(START, END, "Europe/London"), "16 Nov 2026, 08:30\N{EN DASH}10:00"),
        (FieldName("siteId"), "“Work address”"),
        (FieldName("jobId"), "“Job”"),
        (Choice("in_progress"), "in progress"),
        (PossibleChoices(("work", "site_visit")), "Work or Site visit"),
    ],
)
def test_people_get_values_as_they_write_them(value: MessageValue, text: str) -> None:
    assert PageFormat(LONDON, {"siteId": "Work address"}).render(Message("{value}", value=value)) == text


def test_each_country_writes_its_own() -> None:
    assert PageFormat(BERLIN).render(Message("{due}", due=Amount("1548.00", "EUR"))) == "1.548,00\N{NO-BREAK SPACE}€"


def test_what_only_programs_need_is_left_out() -> None:
    message = Message("Choose a site.", for_programs=Message("list_sites shows them."))
    assert PageFormat(LONDON).render(message) == "Choose a site."


def test_a_message_is_shown_in_the_language_of_the_person() -> None:
    class Shouted(ReaderLanguage):
        def translate(self, text: str) -> str:
            return text.replace("is archived", "IS ARCHIVED")

        def translate_count(self, one: str, several: str, count: int) -> str:
            return (one if count == 1 else several).upper().replace("{COUNT}", "{count}")

    shouting = PageFormat(LONDON._replace(language=Shouted()))
    assert shouting.render(Message("{name} is archived.", name="This is archived")) == "This is archived IS ARCHIVED."
    assert shouting.render(Message("{count} visit", plural="{count} visits", count=2)) == "2 VISITS"


@pytest.mark.parametrize(
    ("label", "message", "sentence"),
    [
        ("Name", Message(REQUIRED), "Enter a name."),
        ("Email", Message(EMPTY), "Enter an email."),
        ("VAT number", Message(REQUIRED), "Enter a VAT number."),
        ("Address", Message(REQUIRED), "Enter an address."),
        ("Lines", Message(REQUIRED), "Enter lines."),
        ("Your name", Message(REQUIRED), "Enter your name."),
        ("Due date", Message(NOT_A_DATE), "Due date must be a date, such as dd/mm/yyyy."),
        ("Email", Message(NOT_AN_ADDRESS), "Enter a valid email, e.g. kim@example.com."),
        ("Lead", Message(NOT_AN_ID, record="a person"), "Lead was not found. Choose one from the list."),
        ("Kind", Message(NOT_ONE_OF, choices=PossibleChoices(("work", "other"))), "Choose Work or Other for kind."),
        ("Due date", Message("is before {field}", field=FieldName("issuedOn")), "Due date is before “Issued on”."),
        ("{label}", Message(REQUIRED), "Enter a {label}."),
    ],
)
def test_a_problem_says_what_to_do(label: str, message: Message, sentence: str) -> None:
    assert problem_sentence(label, PageFormat(LONDON).render_problem(message)) == sentence


def test_a_label_of_a_template_is_escaped_once() -> None:
    assert problem_sentence(escape("Customer's order number"), "is wrong") == "Customer's order number is wrong."


def test_limits_of_a_duration_are_hours() -> None:
    problem = PageFormat(LONDON).render_problem(Message(PROBLEMS["less_than_equal"], le=1440), is_duration=True)
    assert problem_sentence("Time", problem) == "Time must be 24:00 or less."
