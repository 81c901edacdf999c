"""Looking among thousands of records reads no more than it shows, on both engines, and goes on page by page."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from cast import Cast, assemble
from installations import Installations
from mainstay.backing.database import EVERY, Handle
from mainstay.business.customers.operations import list_customers
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.records.search import search
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.ledger import words
from mainstay.ledger.words import Words
from mainstay.staging import open_stage
from mainstay.terms.listed import COUNTED
from mainstay.terms.rights import Role
from planning import PARAMETER, read_whole
from recording import RecordingDatabase, Statement
from trade import a_customer, a_job

# More than are looked at in any case.
MANY = 6_000
# As many as are counted and looked up where more has to hold than one word says, of several words, and of one's own.
SCANNED, SCANNED_OF_SEVERAL, SCANNED_FOR_OWN = 2_000, 5_000, 400
# What each record has to itself.
TABLES = {"customer": ["id"], "job": ["id", "customer_id", "number"]}


@pytest.fixture(scope="module")
def crowd(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    """An organisation in which thousands of customers and jobs have a word in common, and a few another besides."""
    folder: Path = tmp_path_factory.mktemp("crowd")
    stage = open_stage(installations.furnished(engine, folder))
    cast = assemble(stage)
    customer = a_customer(cast, "Calder Property")
    a_job(cast, customer, Role.MEMBER, dueOn="2026-11-20")
    with stage.database.changing(cast.organisation) as rows:
        for table, own in TABLES.items():
            same = ", ".join(name for name in columns(cast, table) if name not in own)
            values = ", ".join([identity(cast, table), identity(cast, "customer"), "'X-' || n"][: len(own)])
            rows.run(
                f"INSERT INTO {table} ({', '.join(own)}, {same}) {SERIES} SELECT {values}, {same}"
                f" FROM {table}, series WHERE organisation_id = :organisation"
            )
            rows.run(
                f"INSERT INTO search_record (organisation_id, kind, record_id, words) {SERIES} SELECT :organisation,"
                f" '{table}', {identity(cast, table)}, CASE n % 1000 WHEN 0 THEN :rarely ELSE :mostly END FROM series",
                mostly='["boiler","property"]',
                rarely='["boiler","property","rare"]',
            )
            for word, every in (("boiler", 1), ("property", 1), ("rare", 1000)):
                rows.run(
                    f"INSERT INTO search_word (organisation_id, kind, word, record_id) {SERIES}"
                    f" SELECT :organisation, '{table}', '{word}', {identity(cast, table)} FROM series"
                    f" WHERE n % {every} = 0"
                )
    with stage.database.changing(EVERY) as rows:
        rows.run("ANALYZE")
    yield cast
    stage.database.close()


def say(rows: Handle, number: int, word: str) -> None:
    """Let one of the jobs be found by another word as well."""
    job = f"job_{number:026}"
    words.renew(rows, "job", job, Words(words.kept(rows, "job", job).every | {word}))


SERIES = f"WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < {MANY})"


def identity(cast: Cast, table: str) -> str:
    """The id of the n-th record: older than any that is made today."""
    padded = "printf('%026d', n)" if cast.stage.database.engine == "sqlite" else "lpad(CAST(n AS text), 26, '0')"
    return f"'{table}_' || {padded}"


def columns(cast: Cast, table: str) -> list[str]:
    with cast.stage.database.reading(cast.organisation) as rows:
        if cast.stage.database.engine == "sqlite":
            return [str(row[1]) for row in rows.all(f"PRAGMA table_info({table})")]
        sql = "SELECT column_name FROM information_schema.columns WHERE table_name = :name"
        return [str(name) for (name,) in rows.all(sql, name=table)]


def run(cast: Cast, operation: Operation, role: Role = Role.OFFICE, **given: Any) -> tuple[Any, list[Statement]]:
    """What is answered, and by which statements."""
    database = RecordingDatabase(cast.stage.database)
    stage = replace(cast.stage, database=database)
    answer = stage.perform(operation, cast.actor(role), orjson.dumps(given), Envelope("r"))
    return orjson.loads(answer.body), database.statements


@pytest.mark.parametrize("text", ["property", "boiler property"])
@pytest.mark.parametrize("operation", [list_jobs, list_customers], ids=lambda operation: operation.name)
def test_a_common_word_gives_everything_page_by_page(crowd: Cast, operation: Operation, text: str) -> None:
    seen: list[str] = []
    page, _ = run(crowd, operation, limit=100, text=text)
    while True:
        seen += [record["id"] for record in page["data"]]
        assert seen == sorted({*seen}, reverse=True)
        if not page["hasMore"]:
            break
        page, _ = run(crowd, operation, limit=100, startingAfter=seen[-1], text=text)
    assert len(seen) >= MANY


@pytest.mark.parametrize("text", ["property", "boiler property"])
def test_on_a_page_of_the_office_they_are_counted_wherever_one_is(crowd: Cast, text: str) -> None:
    place = f"job_{MANY // 2:026}"
    for after in ({}, {"startingAfter": place}):
        answer = crowd.answer(list_jobs, Role.OFFICE, Envelope("r", actions=True), text=text, limit=5, **after)
        page = orjson.loads(answer.body)
        assert page["count"] == COUNTED
        assert page["hasMore"] is True
    assert page["data"][0]["id"] == f"job_{MANY // 2 - 1:026}"


@pytest.mark.parametrize("text", ["boiler rare", "rare", "rar boil"])
def test_a_rare_word_is_found_however_common_the_other_is(crowd: Cast, text: str) -> None:
    for operation in (list_jobs, list_customers):
        page, _ = run(crowd, operation, text=text)
        assert [int(record["id"][-26:]) for record in page["data"]] == [n * 1000 for n in range(MANY // 1000, 0, -1)]


@pytest.mark.parametrize("text", ["boiler", "boil", "boiler property"])
def test_what_is_old_is_found_among_many_that_are_newer(crowd: Cast, text: str) -> None:
    [oldest, second] = [f"job_{number:026}" for number in (1, 2)]
    with crowd.stage.database.changing(crowd.organisation) as rows:
        rows.run("UPDATE job SET status = 'onHold', due_on = '2020-01-01' WHERE id = :id", id=oldest)
        rows.run("UPDATE job SET due_on = '2020-01-02' WHERE id = :id", id=second)
    held, _ = run(crowd, list_jobs, text=text, status="onHold")
    assert [job["id"] for job in held["data"]] == [oldest]
    by_due, _ = run(crowd, list_jobs, text=text, order="due", limit=2)
    assert [job["id"] for job in by_due["data"]] == [oldest, second]


def test_of_many_words_that_begin_alike_none_is_forgotten(crowd: Cast) -> None:
    with crowd.stage.database.changing(crowd.organisation) as rows:
        for number in range(1, 31):
            say(rows, number, f"qu{number:02}")
    page, _ = run(crowd, list_jobs, text="qu", limit=100)
    assert [int(job["id"][-26:]) for job in page["data"]] == [*range(30, 0, -1)]
    found, _ = run(crowd, search, text="qu", limit=20)
    assert [int(hit["id"][-26:]) for hit in found["hits"]] == [*range(30, 10, -1)]
    assert found["hasMore"] is True


ASKINGS: list[tuple[Operation, dict[str, Any]]] = [
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
ASKED = pytest.mark.parametrize(
    ("operation", "given"), ASKINGS, ids=[f"{operation.name} {given}" for operation, given in ASKINGS]
)


@ASKED
@pytest.mark.only_on("sqlite")
def test_nothing_is_read_whole(crowd: Cast, operation: Operation, given: dict[str, Any]) -> None:
    _, statements = run(crowd, operation, **given)
    for statement in statements:
        bound = {name: value for name, value in statement.given.items() if name not in {"organisation", "me"}}
        with crowd.stage.database.reading(crowd.organisation) as rows:
            rows.me = crowd.people[Role.OFFICE]
            steps = [str(row[3]) for row in rows.all(f"EXPLAIN QUERY PLAN {statement.sql}", **bound)]
        if "1 = 0" not in statement.sql:
            assert read_whole(steps) == [], statement.sql
            # Records are looked up one by one.
            assert [step for step in steps if "search_word" in step or "id=?)" in step], steps


@ASKED
@pytest.mark.only_on("postgresql")
def test_no_more_is_read_than_is_looked_at(crowd: Cast, operation: Operation, given: dict[str, Any]) -> None:
    _, statements = run(crowd, operation, **given)
    most = SCANNED_OF_SEVERAL if " " in given["text"] else SCANNED
    for statement in statements:
        for generic in (False, True):
            assert rows_read(crowd, statement, generic=generic) <= most, statement.sql


def rows_read(cast: Cast, statement: Statement, role: Role = Role.OFFICE, *, generic: bool) -> int:
    """How many rows the busiest step of a statement read, planned for its values or for any."""
    bound = {name: value for name, value in statement.given.items() if name not in {"organisation", "me"}}
    with cast.stage.database.reading(cast.organisation) as rows:
        rows.me = cast.people[role]
        # As where the tables are too large to be read whole.
        rows.run("SET LOCAL enable_seqscan = off")
        rows.run(f"SET LOCAL plan_cache_mode = 'force_{'generic' if generic else 'custom'}_plan'")
        (told,) = rows.all(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.sql}", **bound)
    whole: Any = told[0]
    return busiest((orjson.loads(whole) if isinstance(whole, str) else whole)[0]["Plan"])


def busiest(step: dict[str, Any]) -> int:
    """But for what is told of each record that was found: a few of them are asked for alone, many together."""
    removed = sum(value for name, value in step.items() if name.startswith("Rows Removed"))
    own = int((step["Actual Rows"] + removed) * step["Actual Loops"])
    return max([own, *(busiest(inner) for inner in step.get("Plans", []) if "Subplan Name" not in inner)])


@pytest.mark.parametrize("text", ["boiler", "boiler property", "J-0001"])
def test_someone_with_few_jobs_is_not_kept_waiting_by_the_many(crowd: Cast, text: str) -> None:
    found, statements = run(crowd, search, Role.MEMBER, text=text)
    assert [hit["title"] for hit in found["hits"] if hit["object"] == "job"] == ["J-0001 Replace the boiler"]
    if crowd.stage.database.engine == "postgresql":
        assert (
            max(rows_read(crowd, statement, Role.MEMBER, generic=True) for statement in statements) <= SCANNED_FOR_OWN
        )


# The numbers of those of the jobs that someone sees: of all times, only of long ago, and few.
OWNED = [range(3, MANY, 3), range(1, 1001), range(1000, MANY, 1000)]


@pytest.fixture(params=OWNED, ids=["of all times", "of long ago", "few"])
def owned(crowd: Cast, request: pytest.FixtureRequest) -> Iterator[range]:
    """Those that a subcontractor sees, among thousands that have the same word."""
    numbers: range = request.param
    person = crowd.people[Role.SUBCONTRACTOR]
    copied = "status, stage, priority, customer_id"
    with crowd.stage.database.changing(crowd.organisation) as rows:
        rows.run(
            f"INSERT INTO own_job (organisation_id, person_id, id, assigned, {copied})"
            f" {SERIES} SELECT :organisation, :person, job.id, 1, {copied}"
            f" FROM series JOIN job ON job.organisation_id = :organisation AND job.id = {identity(crowd, 'job')}"
            f" WHERE n >= {numbers.start} AND n < {numbers.stop} AND (n - {numbers.start}) % {numbers.step} = 0",
            person=person,
        )
    yield numbers
    with crowd.stage.database.changing(crowd.organisation) as rows:
        rows.run("DELETE FROM own_job WHERE organisation_id = :organisation AND person_id = :person", person=person)


@pytest.mark.parametrize("text", ["boiler", "boil"])
def test_of_a_common_word_people_see_all_that_is_theirs(crowd: Cast, owned: range, text: str) -> None:
    seen: list[int] = []
    after: dict[str, str] = {}
    while True:
        envelope = Envelope("r", actions=True)
        answer = crowd.answer(list_jobs, Role.SUBCONTRACTOR, envelope, text=text, limit=100, **after)
        page = orjson.loads(answer.body)
        assert page["count"] == min(len(owned), COUNTED)
        seen += [int(job["id"][-26:]) for job in page["data"]]
        if not page["hasMore"]:
            break
        after = {"startingAfter": page["data"][-1]["id"]}
    assert seen == [*reversed(owned)]


@pytest.mark.parametrize("owned", OWNED[:1], indirect=True)
def test_what_is_old_is_found_among_thousands_of_one_s_own(crowd: Cast, owned: range) -> None:
    with crowd.stage.database.changing(crowd.organisation) as rows:
        for number in range(1, SCANNED_FOR_OWN + 100):
            say(rows, number, "attic")
    page, _ = run(crowd, list_jobs, Role.SUBCONTRACTOR, text="attic boiler", limit=100)
    assert page["hasMore"] is True
    last = [number for number in owned if number < SCANNED_FOR_OWN + 100]
    assert [int(job["id"][-26:]) for job in page["data"]] == [*reversed(last)][:100]


@pytest.mark.usefixtures("owned")
@pytest.mark.only_on("postgresql")
def test_nobody_waits_for_what_is_theirs_among_what_is_not(crowd: Cast) -> None:
    _, statements = run(crowd, list_jobs, Role.SUBCONTRACTOR, text="boiler")
    for statement in statements:
        for generic in (False, True):
            read = rows_read(crowd, statement, Role.SUBCONTRACTOR, generic=generic)
            assert read <= SCANNED_FOR_OWN, statement.sql


def test_what_a_statement_is_given_is_bound(crowd: Cast) -> None:
    _, statements = run(crowd, search, text="boiler property")
    assert all({*PARAMETER.findall(statement.sql)} <= statement.given.keys() for statement in statements)
