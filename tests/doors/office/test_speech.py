"""What someone is refused with stands on a page in words for people: no name of an operation, a field or a value."""

import re

import pytest

from cast import Cast
from mainstay.terms.rights import Role
from running import RunningServer
from scheduling import DAY, make_job, plan
from visiting import visit_as, words

OURS = re.compile(r"`|\b[a-z]+(_[a-z]+)+\b|\b[a-z]+[A-Z]\w*")
TIMES = {"startsAt": f"{DAY}T10:30", "endsAt": f"{DAY}T11:30"}


def said(page: str) -> str:
    """What a page says is wrong."""
    return words(
        " ".join(re.findall(r'(?s)role="alert">.*?</(?:p|div>\s*</div)>|<p class="(?:fault|lead)".*?</p>', page))
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (TIMES, "Choose another time or person, or allow the overlap and say why."),
        ({}, "Begins is required, or a date for any time of it."),
        (TIMES | {"endsAt": f"{DAY}T10:00"}, "Ends is not after \N{LEFT DOUBLE QUOTATION MARK}Begins"),
        (TIMES | {"allowOverlap": "on"}, "is required with \N{LEFT DOUBLE QUOTATION MARK}"),
        (TIMES | {"kind": "lunch"}, "Kind is not one of Work"),
    ],
)
def test_a_visit_that_cannot_be_planned(server: RunningServer, cast: Cast, fields: dict[str, str], told: str) -> None:
    plan(cast)
    who = {f"personIds {cast.people[Role.MEMBER]}": "on", "jobId": make_job(cast)["number"], "kind": "work"}
    page = visit_as(server, cast, Role.OFFICE).submit("/schedule/visits/plan", **who | fields)
    assert told in said(page.text)
    assert not OURS.search(said(page.text)), said(page.text)


OPENED, CLOSED = "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"
BOTH = f"{OPENED}Date{CLOSED} and {OPENED}Time{CLOSED}, or {OPENED}From{CLOSED} and {OPENED}Until{CLOSED}"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, f"Date is required: give {BOTH}."),
        ({"on": DAY}, f"Time is required: give {BOTH}."),
        ({"startedAt": f"{DAY}T08:00"}, f"Until is required: give {OPENED}From{CLOSED} and"),
        ({"on": DAY, "minutes": "0"}, "Time is shorter than 0:01."),
        ({"on": DAY, "minutes": "1", "breakMinutes": "25h"}, "Break is longer than 24:00."),
        (
            {"on": DAY, "startedAt": f"{DAY}T08:00", "endedAt": f"{DAY}T09:00"},
            f"Date follows from {OPENED}From{CLOSED} and {OPENED}Until{CLOSED}; give either those, or {OPENED}Date",
        ),
    ],
)
def test_hours_that_cannot_be_logged(server: RunningServer, cast: Cast, fields: dict[str, str], told: str) -> None:
    page = visit_as(server, cast, Role.MEMBER).submit("/hours/new", **{"breakMinutes": "0"} | fields)
    assert page.status_code == 422
    assert told in said(page.text)
    assert not OURS.search(said(page.text)), said(page.text)


def test_a_list_whose_address_asks_for_what_there_is_not(server: RunningServer, cast: Cast) -> None:
    page = visit_as(server, cast, Role.OFFICE).get("/jobs?priority=lunch")
    assert "Priority is not one of Low" in said(page.text)
    assert not OURS.search(said(page.text)), said(page.text)


def test_a_site_without_an_address(server: RunningServer, cast: Cast) -> None:
    customer = make_job(cast)["customerId"]
    path = f"/sites/new?customerId={customer}"
    page = visit_as(server, cast, Role.OFFICE).submit(path, "/sites/new", customerId=customer, name="The mill")
    assert "Address is required" in said(page.text)


def test_what_is_worth_a_look_stands_once_on_the_page_after_the_form(server: RunningServer, cast: Cast) -> None:
    make_job(cast)
    visiting = visit_as(server, cast, Role.OFFICE)
    made = visiting.submit("/customers/new", name="Hill Farm", kind="company")
    page = visiting.follow(made)
    assert "Worth a look: Hill Farm has the same name. If they are one, merge the two." in words(page.text)
    assert "Worth a look" not in visiting.follow(made).text
