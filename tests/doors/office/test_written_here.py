"""What operations say to programs and people alike has dates, times and amounts on a page as people write them."""

import pytest

from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.localised_text import localise_text
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.invoices import make_invoice
from support.servers import RunningServer
from support.visits import DAY, make_site_job, plan_test_visit

LONDON, BERLIN = DisplaySettings("Europe/London", "GB"), DisplaySettings("Europe/Berlin", "DE")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("7186.14 GBP, valid until 2026-12-16.", "£7,186.14, valid until 16 Dec 2026."),
        ("-1234.5 EUR", "\N{MINUS SIGN}€1,234.50"),
        ("1000000 JPY", "JP¥1,000,000"),
        (
            "Tom is at J-0271 on 2026-11-16 from 08:30 to 11:45 (Europe/London).",
            "Tom is at J-0271 on 16 Nov 2026 from 08:30 to 11:45.",
        ),
        ("at 08:30 (America/New_York)", "at 08:30 (New York time)"),
        ("from 2026-11-16T08:00 until 2026-07-16T09:00:00Z", "from 16 Nov 2026, 08:00 until 16 Jul 2026, 10:00"),
        ("since 2026-07-16T09:00:00.123+02:00", "since 16 Jul 2026, 08:00"),
    ],
)
def test_dates_times_and_amounts_are_as_people_write_them(text: str, told: str) -> None:
    assert localise_text(text, LONDON) == told


def test_each_country_writes_its_own() -> None:
    assert (
        localise_text("7186.14 EUR (Europe/Berlin) (Europe/London)", BERLIN)
        == "7.186,14\N{NO-BREAK SPACE}€ (London time)"
    )
    assert localise_text("7186.14 EUR", DisplaySettings("UTC")) == "7186.14 EUR"


@pytest.mark.parametrize(
    "text",
    [
        "is not a date such as 2026-11-15",
        "is not a time such as 2026-11-15T10:30, or 2026-11-15T10:30:00Z",
        "No \N{LEFT DOUBLE QUOTATION MARK}Service of 2026-11-15, 1000.00 GBP\N{RIGHT DOUBLE QUOTATION MARK} is there.",
        'The reason is "since 2026-11-15".',
        "The email says:\nDue on 2026-11-15: 1000.00 GBP",
        "PO-2026-11-15, 2026-11-15-A and /2026-11-15/ are numbers, 2026-13-45 is no date",
        "2026-02-30T10:00Z, 1234.50 ABC and v1.1000.00 GBP are nothing",
        "(see Above) and (a/b)",
    ],
)
def test_what_someone_typed_and_what_is_no_date_stays(text: str) -> None:
    assert localise_text(text, LONDON) == text


def test_what_was_typed_stays_where_it_is_said_again() -> None:
    typed = ["Service of 2026-11-15", "2026-11-30"]
    text = localise_text("Service of 2026-11-15 is due on 2026-11-30.", LONDON, typed)
    assert text == "Service of 2026-11-15 is due on 30 Nov 2026."


def test_a_form_with_a_picker_shows_no_example_of_how_a_time_is_written(server: RunningServer, cast: Cast) -> None:
    form = visible_text(sign_in_cast(server, cast, Role.MEMBER).get("/time-off/request").text)
    assert "Only for part of a day" in form
    assert "2026-11-15" not in form


def test_a_preview_and_a_clash_are_told_so_on_pages(server: RunningServer, cast: Cast) -> None:
    office = sign_in_cast(server, cast, Role.OFFICE)
    invoice = make_invoice(cast, dueOn="2038-11-30")
    preview = visible_text(office.get(f"/invoices/{invoice['id']}/send").text)
    assert "£1,000.00, due on 30 Nov 2038." in preview
    plan_test_visit(cast)
    who = {f"personIds {cast.people[Role.MEMBER]}": "on", "jobId": make_site_job(cast)["number"], "kind": "work"}
    times = {"startsAt": f"{DAY}T10:30", "durationMinutes": "60"}
    clash = visible_text(office.submit_form("/schedule/visits/plan", **who | times).text)
    assert "on 11 Jan 2038, 10:00\N{EN DASH}11:00. Choose" in clash
    assert "Europe/London)" not in clash
