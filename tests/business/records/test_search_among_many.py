"""Searching thousands of records reads no more than it shows, on both engines, and goes on page by page."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from mainstay.business.customers.operations import list_customers
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.records.search import search
from mainstay.changes import search_words
from mainstay.changes.search_words import RecordWords
from mainstay.composition import open_performer
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseHandle
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.list_queries import COUNT_LIMIT
from mainstay.vocabulary.permissions import Role
from support.cast import Cast, make_cast
from support.customers import make_customer, make_job
from support.installations import Installations
from support.query_plans import PARAMETER, find_full_scans
from support.recorded_statements import RecordedStatement, RecordingDatabase

# More than are looked at in any case.
MANY = 6_000
# As many as are counted and looked up where more has to hold than one word says, of several words, and of one's own.
SCANNED, SCANNED_OF_SEVERAL, SCANNED_FOR_OWN = 2_000, 5_000, 400
# What each record has to itself.
TABLES = {"customer": ["id"], "job": ["id", "customer_id", "number"]}


@pytest.fixture(scope="module")
def crowded_cast(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    """An organisation with thousands of customers and jobs that share a word; a few have another word too."""
    folder: Path = tmp_path_factory.mktemp("crowd")
    performer = open_performer(installations.make_with_accounts(engine, folder))
    cast = make_cast(performer)
    customer = make_customer(cast, "Calder Property")
    make_job(cast, customer, Role.MEMBER, dueOn="2026-11-20")
    with performer.database.write_transaction(cast.organisation) as db:
        for table, own in TABLES.items():
            same = ", ".join(name for name in columns_of(cast, table) if name not in own)
            values = ", ".join([identity_sql(cast, table), identity_sql(cast, "customer"), "'X-' || n"][: len(own)])
            db.run(
                f"INSERT INTO {table} ({', '.join(own)}, {same}) {SERIES} SELECT {values}, {same}"
                f" FROM {table}, series WHERE organisation_id = :organisation"
            )
            db.run(
                f"INSERT INTO search_record (organisation_id, kind, record_id, words) {SERIES} SELECT :organisation,"
                f" '{table}', {identity_sql(cast, table)}, CASE n % 1000 WHEN 0 THEN :rarely ELSE :mostly"
                " END FROM series",
                mostly='["boiler","property"]',
                rarely='["boiler","property","rare"]',
            )
            for word, every in (("boiler", 1), ("property", 1), ("rare", 1000)):
                db.run(
                    f"INSERT INTO search_word (organisation_id, kind, word, record_id) {SERIES}"
                    f" SELECT :organisation, '{table}', '{word}', {identity_sql(cast, table)} FROM series"
                    f" WHERE n % {every} = 0"
                )
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("ANALYZE")
    yield cast
    performer.database.close()


def add_word(db: DatabaseHandle, number: int, word: str) -> None:
    """Add a word by which one of the jobs is found."""
    job = f"job_{number:026}"
    search_words.update_words(db, "job", job, RecordWords(search_words.read_words(db, "job", job).all_words | {word}))


SERIES = f"WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < {MANY})"


def identity_sql(cast: Cast, table: str) -> str:
    """Return the SQL for the id of the n-th record, which is older than any made today."""
    padded = "printf('%026d', n)" if cast.performer.database.engine == "sqlite" else "lpad(CAST(n AS text), 26, '0')"
    return f"'{table}_' || {padded}"


def columns_of(cast: Cast, table: str) -> list[str]:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        if cast.performer.database.engine == "sqlite":
            return [str(row[1]) for row in db.all(f"PRAGMA table_info({table})")]
        sql = "SELECT column_name FROM information_schema.columns WHERE table_name = :name"
        return [str(name) for (name,) in db.all(sql, name=table)]


def run_recorded(
    cast: Cast, operation: Operation, role: Role = Role.OFFICE, **given: Any
) -> tuple[Any, list[RecordedStatement]]:
    """Perform a read; return its answer and the statements it ran."""
    database = RecordingDatabase(cast.performer.database)
    performer = replace(cast.performer, database=database)
    answer = performer.perform(operation, cast.actor(role), orjson.dumps(given), RequestDetails("r"))
    return orjson.loads(answer.body), database.statements


@pytest.mark.parametrize("text", ["property", "boiler property"])
@pytest.mark.parametrize("operation", [list_jobs, list_customers], ids=lambda operation: operation.name)
def test_a_common_word_gives_everything_page_by_page(crowded_cast: Cast, operation: Operation, text: str) -> None:
    seen: list[str] = []
    page, _ = run_recorded(crowded_cast, operation, limit=100, text=text)
    while True:
        seen += [record["id"] for record in page["data"]]
        assert seen == sorted({*seen}, reverse=True)
        if not page["hasMore"]:
            break
        page, _ = run_recorded(crowded_cast, operation, limit=100, startingAfter=seen[-1], text=text)
    assert len(seen) >= MANY


@pytest.mark.parametrize("text", ["property", "boiler property"])
def test_on_a_page_of_the_office_they_are_counted_wherever_one_is(crowded_cast: Cast, text: str) -> None:
    place = f"job_{MANY // 2:026}"
    for after in ({}, {"startingAfter": place}):
        answer = crowded_cast.answer(
            list_jobs, Role.OFFICE, RequestDetails("r", with_actions=True), text=text, limit=5, **after
        )
        page = orjson.loads(answer.body)
        assert page["count"] == COUNT_LIMIT
        assert page["hasMore"] is True
    assert page["data"][0]["id"] == f"job_{MANY // 2 - 1:026}"


@pytest.mark.parametrize("text", ["boiler rare", "rare", "rar boil"])
def test_a_rare_word_is_found_however_common_the_other_is(crowded_cast: Cast, text: str) -> None:
    for operation in (list_jobs, list_customers):
        page, _ = run_recorded(crowded_cast, operation, text=text)
        assert [int(record["id"][-26:]) for record in page["data"]] == [n * 1000 for n in range(MANY // 1000, 0, -1)]


@pytest.mark.parametrize("text", ["boiler", "boil", "boiler property"])
def test_what_is_old_is_found_among_many_that_are_newer(crowded_cast: Cast, text: str) -> None:
    [oldest, second] = [f"job_{number:026}" for number in (1, 2)]
    with crowded_cast.performer.database.write_transaction(crowded_cast.organisation) as db:
        db.run("UPDATE job SET status = 'onHold', due_on = '2020-01-01' WHERE id = :id", id=oldest)
        db.run("UPDATE job SET due_on = '2020-01-02' WHERE id = :id", id=second)
    held, _ = run_recorded(crowded_cast, list_jobs, text=text, status="onHold")
    assert [job["id"] for job in held["data"]] == [oldest]
    by_due, _ = run_recorded(crowded_cast, list_jobs, text=text, order="due", limit=2)
    assert [job["id"] for job in by_due["data"]] == [oldest, second]


def test_of_many_words_that_begin_alike_none_is_forgotten(crowded_cast: Cast) -> None:
    with crowded_cast.performer.database.write_transaction(crowded_cast.organisation) as db:
        for number in range(1, 31):
            add_word(db, number, f"qu{number:02}")
    page, _ = run_recorded(crowded_cast, list_jobs, text="qu", limit=100)
    assert [int(job["id"][-26:]) for job in page["data"]] == [*range(30, 0, -1)]
    found, _ = run_recorded(crowded_cast, search, text="qu", limit=20)
    assert [int(hit["id"][-26:]) for hit in found["hits"]] == [*range(30, 10, -1)]
    assert found["hasMore"] is True


QUERIES: list[tuple[Operation, dict[str, Any]]] = [
    (search, {"text": "boiler"}),
    (search, {"text": "property boil"}),
    (search, {"text": "rare boiler"}),
    (search, {"text": "X-17"}),
    (list_jobs, {"text": "boiler"}),
    (list_jobs, {"text": "boil", "status": "open"}),
    (list_jobs, {"text": "boiler", "order": "due"}),
    (list_jobs, {"text": "rare boiler", "startingAfter": "job_" + "0" * 22 + "2000"}),
    (list_customers, {"text": "boiler", "order": "name"}),
    (list_customers, {"text": "boiler", "startingAfter": "customer_" + "0" * 22 + "2000"}),
]
EACH_QUERY = pytest.mark.parametrize(
    ("operation", "given"), QUERIES, ids=[f"{operation.name} {given}" for operation, given in QUERIES]
)


@EACH_QUERY
@pytest.mark.only_on("sqlite")
def test_nothing_is_read_whole(crowded_cast: Cast, operation: Operation, given: dict[str, Any]) -> None:
    _, statements = run_recorded(crowded_cast, operation, **given)
    for statement in statements:
        bound = {name: value for name, value in statement.given.items() if name not in {"organisation", "me"}}
        with crowded_cast.performer.database.read_transaction(crowded_cast.organisation) as db:
            db.me = crowded_cast.people[Role.OFFICE]
            steps = [str(row[3]) for row in db.all(f"EXPLAIN QUERY PLAN {statement.sql}", **bound)]
        if "1 = 0" not in statement.sql:
            assert find_full_scans(steps) == [], statement.sql
            # Records are looked up one by one.
            assert [step for step in steps if "search_word" in step or "id=?)" in step], steps


@EACH_QUERY
@pytest.mark.only_on("postgresql")
def test_no_more_is_read_than_is_looked_at(crowded_cast: Cast, operation: Operation, given: dict[str, Any]) -> None:
    _, statements = run_recorded(crowded_cast, operation, **given)
    most = SCANNED_OF_SEVERAL if " " in given["text"] else SCANNED
    for statement in statements:
        for generic in (False, True):
            assert count_rows_read(crowded_cast, statement, generic=generic) <= most, statement.sql


def count_rows_read(cast: Cast, statement: RecordedStatement, role: Role = Role.OFFICE, *, generic: bool) -> int:
    """Return how many rows the busiest step of a statement read, with a custom or a generic plan."""
    bound = {name: value for name, value in statement.given.items() if name not in {"organisation", "me"}}
    with cast.performer.database.read_transaction(cast.organisation) as db:
        db.me = cast.people[role]
        # As where the tables are too large to be read whole.
        db.run("SET LOCAL enable_seqscan = off")
        db.run(f"SET LOCAL plan_cache_mode = 'force_{'generic' if generic else 'custom'}_plan'")
        (plan_row,) = db.all(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.sql}", **bound)
    plan_json: Any = plan_row[0]
    return largest_step((orjson.loads(plan_json) if isinstance(plan_json, str) else plan_json)[0]["Plan"])


def largest_step(step: dict[str, Any]) -> int:
    """Return the most rows a step read, without subplans, which run for each record found."""
    removed = sum(value for name, value in step.items() if name.startswith("Rows Removed"))
    own = int((step["Actual Rows"] + removed) * step["Actual Loops"])
    return max([own, *(largest_step(inner) for inner in step.get("Plans", []) if "Subplan Name" not in inner)])


@pytest.mark.parametrize("text", ["boiler", "boiler property", "J-0001"])
def test_someone_with_few_jobs_is_not_kept_waiting_by_the_many(crowded_cast: Cast, text: str) -> None:
    found, statements = run_recorded(crowded_cast, search, Role.MEMBER, text=text)
    assert [hit["title"] for hit in found["hits"] if hit["object"] == "job"] == ["J-0001 Replace the boiler"]
    if crowded_cast.performer.database.engine == "postgresql":
        assert (
            max(count_rows_read(crowded_cast, statement, Role.MEMBER, generic=True) for statement in statements)
            <= SCANNED_FOR_OWN
        )


# The numbers of those of the jobs that someone sees: of all times, only of long ago, and few.
OWN_JOB_RANGES = [range(3, MANY, 3), range(1, 1001), range(1000, MANY, 1000)]


@pytest.fixture(params=OWN_JOB_RANGES, ids=["of all times", "of long ago", "few"])
def own_jobs(crowded_cast: Cast, request: pytest.FixtureRequest) -> Iterator[range]:
    """The numbers of the jobs that a subcontractor sees, among thousands with the same word."""
    numbers: range = request.param
    person = crowded_cast.people[Role.SUBCONTRACTOR]
    copied = "status, stage, priority, customer_id"
    with crowded_cast.performer.database.write_transaction(crowded_cast.organisation) as db:
        db.run(
            f"INSERT INTO own_job (organisation_id, person_id, id, assigned, {copied})"
            f" {SERIES} SELECT :organisation, :person, job.id, 1, {copied}"
            " FROM series JOIN job ON job.organisation_id = :organisation AND job.id ="
            f" {identity_sql(crowded_cast, 'job')}"
            f" WHERE n >= {numbers.start} AND n < {numbers.stop} AND (n - {numbers.start}) % {numbers.step} = 0",
            person=person,
        )
    yield numbers
    with crowded_cast.performer.database.write_transaction(crowded_cast.organisation) as db:
        db.run("DELETE FROM own_job WHERE organisation_id = :organisation AND person_id = :person", person=person)


@pytest.mark.parametrize("text", ["boiler", "boil"])
def test_of_a_common_word_people_see_all_that_is_theirs(crowded_cast: Cast, own_jobs: range, text: str) -> None:
    seen: list[int] = []
    after: dict[str, str] = {}
    while True:
        envelope = RequestDetails("r", with_actions=True)
        answer = crowded_cast.answer(list_jobs, Role.SUBCONTRACTOR, envelope, text=text, limit=100, **after)
        page = orjson.loads(answer.body)
        assert page["count"] == min(len(own_jobs), COUNT_LIMIT)
        seen += [int(job["id"][-26:]) for job in page["data"]]
        if not page["hasMore"]:
            break
        after = {"startingAfter": page["data"][-1]["id"]}
    assert seen == [*reversed(own_jobs)]


@pytest.mark.parametrize("own_jobs", OWN_JOB_RANGES[:1], indirect=True)
def test_what_is_old_is_found_among_thousands_of_one_s_own(crowded_cast: Cast, own_jobs: range) -> None:
    with crowded_cast.performer.database.write_transaction(crowded_cast.organisation) as db:
        for number in range(1, SCANNED_FOR_OWN + 100):
            add_word(db, number, "attic")
    page, _ = run_recorded(crowded_cast, list_jobs, Role.SUBCONTRACTOR, text="attic boiler", limit=100)
    assert page["hasMore"] is True
    last = [number for number in own_jobs if number < SCANNED_FOR_OWN + 100]
    assert [int(job["id"][-26:]) for job in page["data"]] == [*reversed(last)][:100]


@pytest.mark.usefixtures("own_jobs")
@pytest.mark.only_on("postgresql")
def test_nobody_waits_for_what_is_theirs_among_what_is_not(crowded_cast: Cast) -> None:
    _, statements = run_recorded(crowded_cast, list_jobs, Role.SUBCONTRACTOR, text="boiler")
    for statement in statements:
        for generic in (False, True):
            read = count_rows_read(crowded_cast, statement, Role.SUBCONTRACTOR, generic=generic)
            assert read <= SCANNED_FOR_OWN, statement.sql


def test_what_a_statement_is_given_is_bound(crowded_cast: Cast) -> None:
    _, statements = run_recorded(crowded_cast, search, text="boiler property")
    assert all({*PARAMETER.findall(statement.sql)} <= statement.given.keys() for statement in statements)
