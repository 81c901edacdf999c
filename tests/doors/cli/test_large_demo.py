"""`demo --large`: a firm with very much of everything, made as people make it, day by day; here with less of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from mainstay.business.jobs.model import JobProgress, stage_of
from mainstay.business.jobs.store import JOBS
from mainstay.composition import open_files, open_link_maker, open_signer
from mainstay.demo.year import DemoSize, DemoYear
from mainstay.doors.cli import demo
from mainstay.doors.cli.operator import Operator
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.actor import operator_actor
from support.browser_session import BrowserSession, visible_text
from support.servers import RunningServer

REDUCED_DEMO = demo.LARGE_FIRM._replace(
    name="Hartley & Daughters, a part of the Group",
    crew=2,
    size=DemoSize(130, 160, 110, timedelta(days=90), timedelta(days=90), (1, 1, 1, 2), 20),
)

SMALLEST_SIZE = DemoSize(3, 30, 20, timedelta(days=80), timedelta(days=80), (1,), 20)


def open_operator(server: RunningServer, performer: Performer) -> Operator:
    settings = server.settings
    signer, link_maker = partial(open_signer, settings), partial(open_link_maker, settings)
    return Operator(performer, signer, server.url, open_files(settings), link_maker)


@pytest.fixture(scope="module")
def demo_outcomes() -> dict[str, JsonObject]:
    """What was made, once for all of these tests: it takes a while."""
    return {}


@pytest.fixture
def firm(server: RunningServer, performer: Performer, demo_outcomes: dict[str, JsonObject]) -> JsonObject:
    if not demo_outcomes:
        demo_outcomes["firm"] = demo.make_demo(open_operator(server, performer), REDUCED_DEMO)
    return demo_outcomes["firm"]


def read_rows(performer: Performer, firm: JsonObject, sql: str) -> list[Any]:
    with performer.database.read_transaction(firm["organisation"]["id"]) as db:
        return list(db.all(sql))


def test_what_is_kept_of_each_job_is_what_follows_from_its_visits_and_hours(
    performer: Performer, firm: JsonObject
) -> None:
    jobs = read_rows(
        performer,
        firm,
        "SELECT id, stage, next_action, next_visit_at, running_timers, status, billing, planned_visits, quoting,"
        " invoiced, owed FROM job WHERE organisation_id = :organisation",
    )
    assert len(jobs) == REDUCED_DEMO.size.jobs
    assert len({performer for _, performer, *_ in jobs}) > 5
    planned = read_rows(
        performer,
        firm,
        "SELECT job_id, count(*), min(begins_at) FROM visit WHERE organisation_id = :organisation"
        " AND status = 'planned' AND job_id IS NOT NULL GROUP BY job_id",
    )
    ahead = {job: (count, first) for job, count, first in planned}
    running = read_rows(
        performer,
        firm,
        "SELECT job_id FROM time_entry WHERE organisation_id = :organisation AND status = 'running'",
    )
    assert ahead
    for job, at, next_action, first, timers, *progress in jobs:
        known = JobProgress(*progress)
        assert (at, next_action) == stage_of(known)
        assert (known.planned_visits, first) == ahead.get(job, (0, None))
        assert timers == running.count((job,))


def test_every_job_is_found_by_its_words_and_by_no_others(performer: Performer, firm: JsonObject) -> None:
    organisation = firm["organisation"]["id"]
    jobs = "WHERE organisation_id = :organisation AND kind = 'job'"
    kept = " UNION ALL ".join(
        f"SELECT record_id, word FROM {name} {jobs}" for name in ("search_word", "search_fresh_word")
    )
    before = sorted(read_rows(performer, firm, kept))
    assert len({record for record, _ in before}) == REDUCED_DEMO.size.jobs
    with performer.database.write_transaction(organisation, keep=False) as db:
        ctx = Context(db, operator_actor(organisation), RequestDetails("r"), performer.clock)
        for job in {str(record) for record, _ in before}:
            JOBS.refresh_search(ctx, job)
        assert sorted(db.all(kept)) == before


def test_those_who_see_a_job_are_its_own_people(performer: Performer, firm: JsonObject) -> None:
    of = "WHERE {0}.organisation_id = :organisation"
    leads = f"SELECT job.id, job.lead_person_id FROM job {of.format('job')} AND job.lead_person_id IS NOT NULL"
    visited = (
        f"SELECT visit.job_id, visit.person_id FROM visit {of.format('visit')}"
        " AND visit.status <> 'cancelled' AND visit.person_id IS NOT NULL AND visit.job_id IS NOT NULL"
    )
    seen = read_rows(performer, firm, f"SELECT own_job.id, own_job.person_id FROM own_job {of.format('own_job')}")
    assert set(seen) == {*read_rows(performer, firm, leads), *read_rows(performer, firm, visited)}


def test_lists_search_and_pages_show_it(server: RunningServer, firm: JsonObject) -> None:
    key = firm["keys"]["readOnly"]
    live = server.request("GET", "/api/v1/jobs?status=live&limit=100", key).json()["data"]
    assert {job["stage"] for job in live} >= {"enquiry", "toInvoice"}
    found = server.request("GET", f"/api/v1/search?text={live[0]['number']}", key).json()["hits"]
    assert found[0]["id"] == live[0]["id"]

    session = BrowserSession(server)
    session.submit_form("/sign-in", email="priya@hartley.example", password=demo.DEMO_PASSWORD)
    # One sign-in opens every firm of the demo.
    session.submit_form("/", "/organisation", organisation=firm["organisation"]["id"])
    assert live[0]["title"] in visible_text(session.get(f"/jobs/{live[0]['id']}").text)
    assert session.get("/schedule").status_code == 200


def test_it_tells_how_far_it_is_and_is_made_once(
    server: RunningServer,
    performer: Performer,
    firm: JsonObject,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = demo.make_demo(open_operator(server, performer), REDUCED_DEMO)
    assert again["organisation"] == firm["organisation"]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(demo, "_PROGRESS_EVERY", 15)
    demo.make_demo(
        open_operator(server, performer), REDUCED_DEMO._replace(name="Hartley & Daughters, told of", size=SMALLEST_SIZE)
    )
    # What the doors within this process log is not told by it.
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("{")]
    assert len(lines) == 2
    assert lines[-1] == "30 of 30 jobs"


def test_at_a_weekend_only_one_is_at_work(server: RunningServer, performer: Performer) -> None:
    saturday = datetime(2027, 6, 5, 12, tzinfo=UTC)
    firm = REDUCED_DEMO._replace(name="Hartley & Daughters on call", size=SMALLEST_SIZE)
    made = demo.make_demo(open_operator(server, replace(performer, clock=lambda: saturday)), firm)
    of = "WHERE organisation_id = :organisation"
    today = f"SELECT person_id FROM visit {of} AND starts_at LIKE '2027-06-05%'"
    timers = f"SELECT person_id FROM time_entry {of} AND ended_at IS NULL"
    assert {*read_rows(performer, made, today)} == {*read_rows(performer, made, timers)} != set()


def test_what_was_broken_off_is_not_taken_for_the_whole(
    server: RunningServer, performer: Performer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(*_: object) -> None:
        raise KeyboardInterrupt

    size = DemoSize(3, 30, 20, timedelta(days=80), timedelta(days=80), (1,), 20)
    fresh = REDUCED_DEMO._replace(name="Hartley & Daughters, broken off", size=size)
    with monkeypatch.context() as patched:
        patched.setattr(DemoYear, "_fill_today", break_off)
        with pytest.raises(KeyboardInterrupt):
            demo.make_demo(open_operator(server, performer), fresh)
    made = demo.make_demo(open_operator(server, performer), fresh)
    with performer.database.read_transaction("*") as db:
        called = db.all("SELECT id, name FROM organisation WHERE name LIKE 'Hartley & Daughters, broken off%'")
    names = {record_id == made["organisation"]["id"]: name for record_id, name in called}
    assert names == {False: f"{fresh.name} (not finished)", True: fresh.name}
