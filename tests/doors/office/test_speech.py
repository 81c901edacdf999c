"""What someone is refused with stands on a page in words for people: no name of an operation, a field or a value."""

import re

import pytest

from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.servers import RunningServer
from support.visits import DAY, make_site_job, plan_test_visit

INTERNAL_WORDS = re.compile(r"`|\b[a-z]+(_[a-z]+)+\b|\b[a-z]+[A-Z]\w*")
TIMES = {"startsAt": f"{DAY}T10:30", "durationMinutes": "60"}


def read_refusal(page: str) -> str:
    """What a page says is wrong."""
    return visible_text(
        " ".join(re.findall(r'(?s)role="alert">.*?</(?:p|div>\s*</div)>|<p class="(?:fault|lead)".*?</p>', page))
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (TIMES, "Choose another time or person, or allow the double booking and say why."),
        (
            {},
            "Starts is required, unless \N{LEFT DOUBLE QUOTATION MARK}All day\N{RIGHT DOUBLE QUOTATION MARK} is given.",
        ),
        (TIMES | {"durationMinutes": ""}, "Duration is required with \N{LEFT DOUBLE QUOTATION MARK}Starts"),
        (TIMES | {"allowOverlap": "on"}, "is required with \N{LEFT DOUBLE QUOTATION MARK}"),
        (TIMES | {"kind": "lunch"}, "Choose Work, Survey or Other for type."),
    ],
)
def test_a_visit_that_cannot_be_planned(server: RunningServer, cast: Cast, fields: dict[str, str], told: str) -> None:
    plan_test_visit(cast)
    who = {f"personIds {cast.people[Role.MEMBER]}": "on", "jobId": make_site_job(cast)["number"], "kind": "work"}
    page = sign_in_cast(server, cast, Role.OFFICE).submit_form("/schedule/visits/plan", **who | fields)
    assert told in read_refusal(page.text)
    assert not INTERNAL_WORDS.search(read_refusal(page.text)), read_refusal(page.text)


OPENING_QUOTE, CLOSING_QUOTE = "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"
TIME_OR_TIMES = (
    f"{OPENING_QUOTE}Time{CLOSING_QUOTE}, or {OPENING_QUOTE}Start{CLOSING_QUOTE} and {OPENING_QUOTE}End{CLOSING_QUOTE}"
)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, f"Time is required: enter {TIME_OR_TIMES}."),
        ({"on": DAY}, f"Time is required: enter {TIME_OR_TIMES}."),
        ({"startedAt": f"{DAY}T08:00"}, f"End is required: enter {TIME_OR_TIMES}."),
        ({"on": DAY, "minutes": "0"}, "Time must be 0:01 or more."),
        ({"on": DAY, "minutes": "1", "breakMinutes": "25h"}, "Break must be 24:00 or less."),
        (
            {"on": DAY, "startedAt": f"{DAY}T08:00", "endedAt": f"{DAY}T09:00"},
            f"Date can't be combined with {OPENING_QUOTE}Start{CLOSING_QUOTE} and {OPENING_QUOTE}End{CLOSING_QUOTE}.",
        ),
    ],
)
def test_hours_that_cannot_be_logged(server: RunningServer, cast: Cast, fields: dict[str, str], told: str) -> None:
    page = sign_in_cast(server, cast, Role.MEMBER).submit_form("/hours/new", **{"breakMinutes": "0"} | fields)
    assert page.status_code == 422
    assert told in read_refusal(page.text)
    assert not INTERNAL_WORDS.search(read_refusal(page.text)), read_refusal(page.text)


def test_a_list_whose_address_asks_for_what_there_is_not(server: RunningServer, cast: Cast) -> None:
    page = sign_in_cast(server, cast, Role.OFFICE).get("/jobs?priority=lunch")
    assert "Choose Low, Normal, High or Urgent for priority." in read_refusal(page.text)
    assert not INTERNAL_WORDS.search(read_refusal(page.text)), read_refusal(page.text)


def test_a_site_without_an_address(server: RunningServer, cast: Cast) -> None:
    customer = make_site_job(cast)["customerId"]
    path = f"/sites/new?customerId={customer}"
    page = sign_in_cast(server, cast, Role.OFFICE).submit_form(path, "/sites/new", customerId=customer, name="The mill")
    assert "Enter an address." in read_refusal(page.text)


def test_what_is_worth_a_look_stands_once_on_the_page_after_the_form(server: RunningServer, cast: Cast) -> None:
    make_site_job(cast)
    session = sign_in_cast(server, cast, Role.OFFICE)
    made = session.submit_form("/customers/new", name="Hill Farm", kind="company")
    page = visible_text(session.follow_redirect(made).text)
    assert "Please check: Hill Farm has the same name. If they are the same customer, merge them." in page
    assert "Please check" not in session.follow_redirect(made).text
