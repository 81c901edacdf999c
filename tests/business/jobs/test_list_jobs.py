from typing import Any

import orjson
import pytest

from business.jobs.test_get_job import OFFICE_ONLY
from mainstay.business.jobs.operations import change_job_status, list_jobs
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid
from support.cast import Cast
from support.customers import make_customer, make_job, make_site

OFFICE_STAGES = ["toInvoice", "invoiced", "paid", "closed"]
FIELD_ROLES = pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])


def list_titles(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [job["title"] for job in cast.perform(list_jobs, role, **given)["data"]]


def make_jobs(cast: Cast, *assigned: Role) -> dict[str, Any]:
    """Create a job of each status that needs no other area; return the ids to filter by."""
    customer, other = make_customer(cast), make_customer(cast, "Ryburn")
    site = make_site(cast, customer)
    steps = {"open": [], "inProgress": ["inProgress"], "onHold": ["onHold"], "done": ["done"]}
    for number, (status, moves) in enumerate({**steps, "closed": ["done", "closed"]}.items()):
        due = {"dueOn": f"2026-11-{20 - number}"} if status != "inProgress" else {}
        job = make_job(cast, customer, *assigned, title=status, siteId=site, priority="high", **due)["id"]
        for move in moves:
            cast.perform(change_job_status, jobId=job, status=move)
    make_job(cast, other, *assigned, title="enquiry", status="enquiry", leadPersonId=cast.people[Role.OFFICE])
    return {"customer": customer, "other": other, "site": site, "lead": cast.people[Role.OFFICE]}


def filters_and_titles(known: dict[str, Any]) -> list[tuple[dict[str, Any], list[str]]]:
    """Return filters of the list, each with the titles it must find."""
    of_site = ["closed", "done", "onHold", "inProgress", "open"]
    return [
        ({}, ["enquiry", *of_site]),
        ({"status": "live"}, ["enquiry", "done", "onHold", "inProgress", "open"]),
        *[({"status": status}, [status]) for status in ("open", "inProgress", "onHold", "done", "closed", "enquiry")],
        ({"status": "cancelled"}, []),
        ({"stage": "toSchedule"}, ["open"]),
        ({"stage": "toInvoice"}, ["done"]),
        ({"stage": "closed"}, ["closed"]),
        ({"priority": "high"}, of_site),
        ({"priority": "urgent"}, []),
        ({"customerId": known["other"]}, ["enquiry"]),
        ({"siteId": known["site"]}, of_site),
        ({"leadPersonId": known["lead"]}, ["enquiry"]),
        ({"customerId": known["customer"], "status": "live", "priority": "high"}, of_site[1:]),
        ({"order": "due"}, ["closed", "done", "onHold", "open"]),
        ({"order": "due", "status": "live"}, ["done", "onHold", "open"]),
        ({"text": "ryburn"}, ["enquiry"]),
        ({"text": "weir done"}, ["done"]),
        ({"text": "calder", "status": "live"}, of_site[1:]),
        ({"text": "calder", "order": "due"}, ["closed", "done", "onHold", "open"]),
    ]


def test_it_is_narrowed_and_ordered_as_asked(cast: Cast) -> None:
    for given, expected in filters_and_titles(make_jobs(cast)):
        assert list_titles(cast, **given) == expected, given


@FIELD_ROLES
def test_the_field_narrows_its_own_just_so(cast: Cast, role: Role) -> None:
    known = make_jobs(cast, role)
    make_job(cast, known["customer"], title="of others", priority="high", dueOn="2026-11-01", siteId=known["site"])
    for given, expected in filters_and_titles(known):
        if given.get("stage") not in OFFICE_STAGES:
            assert list_titles(cast, role, **given) == expected, given
    assert list_titles(cast, role, text="others") == []
    assert list_titles(cast, text="others") == ["of others"]


@FIELD_ROLES
@pytest.mark.parametrize("at", OFFICE_STAGES)
def test_the_field_cannot_ask_how_far_the_money_is(cast: Cast, role: Role, at: str) -> None:
    make_job(cast, make_customer(cast), role)
    with pytest.raises(Forbidden, match=f"^You can't filter by the stage {at}. Filter by status instead."):
        cast.perform(list_jobs, role, stage=at)


@FIELD_ROLES
def test_the_field_is_told_no_step_of_the_office(cast: Cast, role: Role) -> None:
    make_jobs(cast, role)
    known = {job["title"]: (job["stage"], job["nextAction"]) for job in cast.perform(list_jobs, role)["data"]}
    assert known == {
        "enquiry": ("enquiry", None),
        "open": ("toSchedule", None),
        "inProgress": ("inProgress", "Finish the work"),
        "onHold": ("onHold", "Resume the job"),
        "done": (None, None),
        "closed": (None, None),
    }


@FIELD_ROLES
def test_the_field_is_shown_no_price_and_nothing_of_the_office(cast: Cast, role: Role) -> None:
    make_job(cast, make_customer(cast), role, dueOn="2026-11-20", **OFFICE_ONLY)
    for given in ({}, {"order": "due"}, {"text": "boiler"}):
        (result,) = cast.perform(list_jobs, role, **given)["data"]
        assert {name: result[name] for name in OFFICE_ONLY} == dict.fromkeys(OFFICE_ONLY)


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
@pytest.mark.parametrize("more", [{}, {"order": "due"}, {"text": "boiler"}, {"text": "boiler", "order": "due"}])
def test_page_by_page_every_job_comes_once(cast: Cast, role: Role, more: dict[str, object]) -> None:
    customer = make_customer(cast)
    made = [make_job(cast, customer, Role.MEMBER, dueOn=f"2026-11-1{number % 3}")["id"] for number in range(7)]
    seen: list[str] = []
    page = cast.perform(list_jobs, role, limit=3, **more)
    while True:
        seen += [job["id"] for job in page["data"]]
        if not page["hasMore"]:
            break
        page = cast.perform(list_jobs, role, limit=3, startingAfter=seen[-1], **more)
    assert sorted(seen) == sorted(made)
    assert len(seen) == len(made)


@pytest.mark.parametrize(
    "text",
    ["J-0001", "j-0001", "0001", "boil", "REPLACE boiler", "hx62ag", "hx6 2ag", "weir", "cälder", "winter", "7 po"],
)
def test_a_job_is_found_by_number_words_address_customer_and_tags(cast: Cast, text: str) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, siteId=make_site(cast, customer), tags=["Winter"], customerOrderNumber="PO 7")
    make_job(cast, make_customer(cast, "Ryburn"), title="Mend the roof")
    assert [found["id"] for found in cast.perform(list_jobs, text=text)["data"]] == [job["id"]]


def test_for_a_page_they_are_counted_as_they_are_seen(cast: Cast) -> None:
    customer = make_customer(cast)
    for number in range(3):
        make_job(cast, customer, *([Role.MEMBER] if number else []))
    for role, count in ((Role.OFFICE, 3), (Role.MEMBER, 2), (Role.SUBCONTRACTOR, 0)):
        answer = cast.answer(list_jobs, role, RequestDetails("r", with_actions=True), limit=1)
        assert orjson.loads(answer.body)["count"] == count


def test_a_stranger_s_are_not_listed(cast: Cast, other_cast: Cast) -> None:
    customer = make_customer(other_cast)
    make_job(other_cast, customer)
    queries: list[dict[str, Any]] = [{}, {"customerId": customer}, {"text": "boiler"}, {"status": "live"}]
    for given in queries:
        assert list_titles(cast, **given) == []


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"status": "scheduled"}, "status: is not one of 'live'"),
        ({"stage": "open"}, "stage: is not one of 'enquiry'"),
        ({"customerId": "Calder"}, "customerId: is not the id of a customer"),
        ({"text": "x"}, "text: is too short"),
        ({"order": "due", "startingAfter": new_id("job")}, "startingAfter: is not a record of this list"),
        ({"startingAfter": "J-0001"}, "startingAfter: is not the id of a job"),
        ({"due": "2026"}, "due: is not known here"),
    ],
    ids=["status", "stage", "customer", "text", "nobody's", "number", "unknown"],
)
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid, match=f"^{text}"):
        cast.perform(list_jobs, **wrong)
