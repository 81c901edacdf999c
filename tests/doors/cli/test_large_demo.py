"""`demo --large`: a firm with very much of everything, made as people make it, day by day; here with less of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from mainstay.business.jobs.model import Standing, stage_of
from mainstay.business.jobs.store import JOBS
from mainstay.doors.cli import demo
from mainstay.doors.cli.demo_year import Size, Year
from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import Outcome
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.perform import Stage
from mainstay.staging import open_files, open_link_maker, open_signer
from mainstay.terms.actor import operator
from running import RunningServer
from visiting import Visit, words

FEWER = demo.LARGE._replace(
    name="Hartley & Daughters, a part of the Group",
    crew=2,
    size=Size(130, 160, 110, timedelta(days=90), timedelta(days=90), (1, 1, 1, 2), 20),
)

FEWEST = Size(3, 30, 20, timedelta(days=80), timedelta(days=80), (1,), 20)


def hands(server: RunningServer, stage: Stage) -> Operator:
    settings = server.settings
    signer, link_maker = partial(open_signer, settings), partial(open_link_maker, settings)
    return Operator(stage, signer, server.url, open_files(settings), link_maker)


@pytest.fixture(scope="module")
def made() -> dict[str, Outcome]:
    """What was made, once for all of these tests: it takes a while."""
    return {}


@pytest.fixture
def firm(server: RunningServer, stage: Stage, made: dict[str, Outcome]) -> Outcome:
    if not made:
        made["firm"] = demo.make(hands(server, stage), FEWER)
    return made["firm"]


def rows_of(stage: Stage, firm: Outcome, sql: str) -> list[Any]:
    with stage.database.reading(firm["organisation"]["id"]) as rows:
        return list(rows.all(sql))


def test_what_is_kept_of_each_job_is_what_follows_from_its_visits_and_hours(stage: Stage, firm: Outcome) -> None:
    jobs = rows_of(
        stage,
        firm,
        "SELECT id, stage, next_action, next_visit_at, running_timers, status, billing, planned_visits, quoting,"
        " invoiced, owed FROM job WHERE organisation_id = :organisation",
    )
    assert len(jobs) == FEWER.size.jobs
    assert len({stage for _, stage, *_ in jobs}) > 5
    planned = rows_of(
        stage,
        firm,
        "SELECT job_id, count(*), min(begins_at) FROM visit WHERE organisation_id = :organisation"
        " AND status = 'planned' AND job_id IS NOT NULL GROUP BY job_id",
    )
    ahead = {job: (count, first) for job, count, first in planned}
    running = rows_of(
        stage,
        firm,
        "SELECT job_id FROM time_entry WHERE organisation_id = :organisation AND status = 'running'",
    )
    assert ahead
    for job, at, next_action, first, timers, *standing in jobs:
        known = Standing(*standing)
        assert (at, next_action) == stage_of(known)
        assert (known.planned_visits, first) == ahead.get(job, (0, None))
        assert timers == running.count((job,))


def test_every_job_is_found_by_its_words_and_by_no_others(stage: Stage, firm: Outcome) -> None:
    organisation = firm["organisation"]["id"]
    jobs = "WHERE organisation_id = :organisation AND kind = 'job'"
    kept = " UNION ALL ".join(
        f"SELECT record_id, word FROM {name} {jobs}" for name in ("search_word", "search_fresh_word")
    )
    before = sorted(rows_of(stage, firm, kept))
    assert len({record for record, _ in before}) == FEWER.size.jobs
    with stage.database.changing(organisation, keep=False) as rows:
        ctx = Context(rows, operator(organisation), Envelope("r"), stage.clock)
        for job in {str(record) for record, _ in before}:
            JOBS.reword(ctx, job)
        assert sorted(rows.all(kept)) == before


def test_those_who_see_a_job_are_its_own_people(stage: Stage, firm: Outcome) -> None:
    of = "WHERE {0}.organisation_id = :organisation"
    led = f"SELECT job.id, job.lead_person_id FROM job {of.format('job')} AND job.lead_person_id IS NOT NULL"
    visited = (
        f"SELECT visit.job_id, visit.person_id FROM visit {of.format('visit')}"
        " AND visit.status <> 'cancelled' AND visit.person_id IS NOT NULL AND visit.job_id IS NOT NULL"
    )
    seen = rows_of(stage, firm, f"SELECT own_job.id, own_job.person_id FROM own_job {of.format('own_job')}")
    assert set(seen) == {*rows_of(stage, firm, led), *rows_of(stage, firm, visited)}


def test_lists_search_and_pages_show_it(server: RunningServer, firm: Outcome) -> None:
    key = firm["keys"]["readOnly"]
    live = server.request("GET", "/api/v1/jobs?status=live&limit=100", key).json()["data"]
    assert {job["stage"] for job in live} >= {"enquiry", "toInvoice"}
    found = server.request("GET", f"/api/v1/search?text={live[0]['number']}", key).json()["hits"]
    assert found[0]["id"] == live[0]["id"]

    visiting = Visit(server)
    visiting.submit("/sign-in", email="priya@hartley.example", password=demo.PASSWORD)
    # One sign-in opens every firm of the demo.
    visiting.submit("/", "/organisation", organisation=firm["organisation"]["id"])
    assert live[0]["title"] in words(visiting.get(f"/jobs/{live[0]['id']}").text)
    assert visiting.get("/schedule").status_code == 200


def test_it_tells_how_far_it_is_and_is_made_once(
    server: RunningServer,
    stage: Stage,
    firm: Outcome,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = demo.make(hands(server, stage), FEWER)
    assert again["organisation"] == firm["organisation"]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(demo, "_TOLD_EVERY", 15)
    demo.make(hands(server, stage), FEWER._replace(name="Hartley & Daughters, told of", size=FEWEST))
    # What the doors within this process log is not told by it.
    told = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("{")]
    assert len(told) == 2
    assert told[-1] == "30 of 30 jobs"


def test_at_a_weekend_only_one_is_at_work(server: RunningServer, stage: Stage) -> None:
    saturday = datetime(2027, 6, 5, 12, tzinfo=UTC)
    firm = FEWER._replace(name="Hartley & Daughters on call", size=FEWEST)
    made = demo.make(hands(server, replace(stage, clock=lambda: saturday)), firm)
    of = "WHERE organisation_id = :organisation"
    today = f"SELECT person_id FROM visit {of} AND starts_at LIKE '2027-06-05%'"
    timers = f"SELECT person_id FROM time_entry {of} AND ended_at IS NULL"
    assert {*rows_of(stage, made, today)} == {*rows_of(stage, made, timers)} != set()


def test_what_was_broken_off_is_not_taken_for_the_whole(
    server: RunningServer, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(*_: object) -> None:
        raise KeyboardInterrupt

    size = Size(3, 30, 20, timedelta(days=80), timedelta(days=80), (1,), 20)
    fresh = FEWER._replace(name="Hartley & Daughters, broken off", size=size)
    with monkeypatch.context() as patched:
        patched.setattr(Year, "_today", break_off)
        with pytest.raises(KeyboardInterrupt):
            demo.make(hands(server, stage), fresh)
    made = demo.make(hands(server, stage), fresh)
    with stage.database.reading("*") as rows:
        called = rows.all("SELECT id, name FROM organisation WHERE name LIKE 'Hartley & Daughters, broken off%'")
    names = {identity == made["organisation"]["id"]: name for identity, name in called}
    assert names == {False: f"{fresh.name} (not finished)", True: fresh.name}
