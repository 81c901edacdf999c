"""Every list walks an index in its order, by each filter and in each order: no list sorts or reads a whole table."""

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import orjson
import pytest

from mainstay.business.jobs.operations import list_jobs
from mainstay.business.overview.job_diary import list_job_diary
from mainstay.business.records.activity import list_activity
from mainstay.business.records.history import get_history
from mainstay.catalogue import CATALOGUE
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Role, find_withheld_values
from mainstay.webhooks.deliveries import list_deliveries
from mainstay.webhooks.feed import list_events
from rules.examples import DryRun, SampleRecords
from support.query_plans import explain
from support.recorded_statements import RecordedStatement

# A list may look different to those who see less.
LISTS_BY_ROLE = [
    pytest.param(operation, role, id=f"{operation.name}-{role}")
    for operation in CATALOGUE.operations
    for role in (Role.OWNER, Role.MEMBER, Role.SUBCONTRACTOR)
    if operation.returns_page and operation.permission in ROLE_PERMISSIONS[role]
]
# The first server that tells how it would run a statement whose values it does not know.
FIRST_VERSION_WITH_GENERIC_PLANS = 160_000


# Fields that take not just anything; searching has tests of its own.
FILTER_VALUES: dict[str, list[object]] = {
    "type": [CATALOGUE.events[0].name],
    "since": ["2026-11-15T10:30:50Z"],
    "dueBefore": ["2026-11-15"],
    "decidedFrom": ["2026-11-15"],
    "text": [],
    "from": ["2026-11-15"],
    "until": ["2026-11-15"],
    "dueFrom": ["2026-11-15"],
    "dueUntil": ["2026-11-15"],
    "jobId": ["J-0001"],
    "purchaseOrderId": ["PO-0001"],
    "quoteId": ["Q-0001"],
    "invoiceId": ["INV-0001"],
    "personId": ["person_01JCDZ8Q4X0V9M2T6W3B7K5N1R"],
    "clientId": ["key_01JCDZ8Q4X0V9M2T6W3B7K5N1R"],
}


def _role_on_site(role: Role) -> Role:
    """Return the role whose records this role sees."""
    return role if role is Role.SUBCONTRACTOR else Role.MEMBER


def _find_newest_act(samples: SampleRecords, role: Role) -> str:
    """Return the newest entry of the job's history that a role sees."""
    acts = samples.cast.perform(get_history, role, recordId=samples.work_samples.job)["data"]
    return str(acts[0]["id"])


# A record of each list; in some orders, only an id that someone sees is a place.
def _find_newest_diary_entry(samples: SampleRecords, role: Role) -> str:
    """Return the newest entry of the job's diary that a role sees."""
    entries = samples.cast.perform(list_job_diary, role, jobId=samples.work_samples.job)["data"]
    return str(entries[0]["id"])


LAST_RECORDS: dict[str, Callable[[SampleRecords, Role], str]] = {
    "list_people": lambda samples, _: samples.cast.people[Role.ADMIN],
    "list_messages": lambda *_: new_id("out"),
    "list_failed_work": lambda *_: new_id("out"),
    "list_customers": lambda samples, _: samples.work_samples.customer,
    "list_equipment": lambda samples, _: samples.work_samples.equipment,
    "list_sites": lambda samples, _: samples.work_samples.site,
    "list_contacts": lambda samples, _: samples.work_samples.contact,
    "list_jobs": lambda samples, _: samples.work_samples.job,
    "list_notes": lambda samples, _: samples.work_samples.note,
    "list_visits": lambda samples, role: samples.schedule.visits[_role_on_site(role)],
    "list_time_off": lambda samples, role: samples.schedule.leave[_role_on_site(role)],
    "list_hours": lambda samples, role: samples.hours.drafts[_role_on_site(role)],
    "list_unbilled": lambda samples, _: samples.work_samples.job,
    "list_price_items": lambda samples, _: samples.prices.item,
    "list_tax_rates": lambda samples, _: samples.prices.tax,
    "list_suppliers": lambda samples, _: samples.prices.supplier,
    "list_quotes": lambda samples, _: samples.quotes.sent,
    "list_purchase_orders": lambda samples, _: samples.purchases.sent,
    "list_bills": lambda samples, _: samples.purchases.bill,
    "list_invoices": lambda samples, _: samples.invoices.sent,
    "list_statements": lambda samples, _: samples.invoices.statement,
    "list_duplicate_customers": lambda samples, _: samples.work_samples.customer,
    "list_credit_notes": lambda samples, _: samples.invoices.credit_note,
    "list_payments": lambda samples, _: samples.invoices.payment,
    "list_postings": lambda *_: f"2026-11-15.3.{new_id('credit')}.1",
    "list_documents": lambda *_: new_id("document"),
    "get_history": _find_newest_act,
    "list_saved_views": lambda samples, role: samples.views[role],
    "list_conversations": lambda samples, role: samples.talks.conversations[role],
    "list_job_diary": _find_newest_diary_entry,
    "list_activity": lambda *_: "7",
    "list_events": lambda *_: new_id("evt"),
    "list_keys": lambda *_: new_id("key"),
    "list_connections": lambda *_: new_id("connection"),
    "list_webhooks": lambda samples, _: samples.webhook,
    "list_deliveries": lambda samples, _: samples.delivery,
}


def test_what_is_named_here_is_asked_for() -> None:
    lists = [operation for operation in CATALOGUE.operations if operation.returns_page]
    asked = {name for operation in lists for name in operation.input.model_json_schema(by_alias=True)["properties"]}
    assert FILTER_VALUES.keys() <= asked
    assert LAST_RECORDS.keys() == {operation.name for operation in lists}


def choose_values(name: str, part: dict[str, Any], schema: dict[str, Any]) -> list[object]:
    """Return the values to filter a field by: all values of an enum, or one that the schema allows."""
    if name in FILTER_VALUES:
        return FILTER_VALUES[name]
    for option in part.get("anyOf", [part]):
        of_option = schema["$defs"][option["$ref"].rpartition("/")[2]] if "$ref" in option else option
        if "enum" in of_option:
            return [*of_option["enum"]]
        if of_option.get("type") == "boolean":
            return [True, False]
    # An id of whatever it is that the field names.
    return [new_id(name.removesuffix("Id").lower().removeprefix("lead"))] if name.endswith("Id") else ["x"]


def make_inputs(operation: Operation, role: Role, last: str, needed: dict[str, object]) -> Iterator[dict[str, object]]:
    """Yield the inputs of a list: plain, by each filter and in each order; each from the start and after a record."""
    schema = operation.input.model_json_schema(by_alias=True)
    fields = operation.input.model_fields
    denied = {
        fields[name].alias for name, right in operation.field_permissions.items() if right not in ROLE_PERMISSIONS[role]
    }
    names = [name for name in schema["properties"] if name not in {"limit", "startingAfter", *needed, *denied}]
    withheld_values = {
        field.alias: find_withheld_values(field.metadata, ROLE_PERMISSIONS[role]) for field in fields.values()
    }
    single_filters = [
        {name: value}
        for name in names
        for value in choose_values(name, schema["properties"][name], schema)
        if value not in withheld_values[name]
    ]
    for filter_, start in product([{}, *single_filters], [{}, {"startingAfter": last}]):
        yield needed | filter_ | start


def record_list_statements(dry_run: DryRun, operation: Operation, role: Role) -> list[RecordedStatement]:
    dry_run.database.statements.clear()
    last, actor = LAST_RECORDS[operation.name](dry_run.open, role), dry_run.open.cast.actor(role)
    for given in make_inputs(operation, role, last, dry_run.open.example_input(operation)):
        for actions in (False, True):
            request = RequestDetails("req_1", with_actions=actions)
            dry_run.performer.perform(operation, actor, orjson.dumps(given), request)
    return list({statement.sql: statement for statement in dry_run.database.statements}.values())


STEP_OF_PARTS = re.compile(r"SUBQUERY( \d+)?$|^(CO-ROUTINE|SCAN) (found|cut)$|^(COMPOUND QUERY|UNION ALL)$")
# What is done with the records of one job, and with the changes of those: they are put together and grouped.
STEP_WITHIN_A_JOB = re.compile(
    r"(MATERIALIZE|SCAN|CO-ROUTINE) (belonging|shown|found)|SCAN CONSTANT ROW|USE TEMP B-TREE FOR (GROUP|ORDER) BY"
)


def may_sort(statement: RecordedStatement) -> bool:
    """Whether a statement may sort, because it sorts few rows: own jobs, time off, allocations."""
    few = r"own_\w+ AS mine|time_off AS away|FROM allocation WHERE"
    looked_up = "IN (SELECT" in statement.sql and re.search(few, statement.sql)
    return ("|| ''" in statement.sql and bool(looked_up)) or is_of_one_job(statement)


def is_of_one_job(statement: RecordedStatement) -> bool:
    """Whether a statement starts from what belongs to one job, which is grouped and sorted."""
    return statement.sql.startswith("WITH belonging AS (")


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(("operation", "role"), LISTS_BY_ROLE)
def test_a_list_walks_an_index_whatever_it_is_narrowed_by(dry_run: DryRun, operation: Operation, role: Role) -> None:
    statements = record_list_statements(dry_run, operation, role)
    assert statements
    for statement in statements:
        # What a subquery or a part of a union does is told in steps of its own. What is counted was found before, at
        # most a hundred, and what is cut out of one's own is no more than a page.
        found = explain(dry_run.database.inner, statement)
        steps = [step for step in found if not STEP_OF_PARTS.search(step)]
        if may_sort(statement):
            # As many as there are are sorted, and again the page that is cut out of them.
            steps = [step for step in steps if step != "USE TEMP B-TREE FOR ORDER BY"]
        if is_of_one_job(statement):
            steps = [step for step in steps if not STEP_WITHIN_A_JOB.fullmatch(step)]
        assert not [step for step in steps if "TEMP B-TREE" in step or step.startswith("SCAN")], statement.sql
        assert all("USING" in step and ("INDEX" in step or "PRIMARY KEY" in step) for step in steps), statement.sql


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize(("operation", "role"), LISTS_BY_ROLE)
def test_a_prepared_list_walks_an_index_too(dry_run: DryRun, operation: Operation, role: Role) -> None:
    with dry_run.database.inner.read_transaction(ALL_ORGANISATIONS) as db:
        version = db.one("SELECT current_setting('server_version_num')")
    if version is None or int(version[0] or 0) < FIRST_VERSION_WITH_GENERIC_PLANS:
        pytest.skip("this PostgreSQL does not tell generic plans")
    statements = record_list_statements(dry_run, operation, role)
    assert statements
    for statement in statements:
        steps = explain(dry_run.database.inner, statement)
        assert [step for step in steps if "Index" in step], statement.sql
        unwanted = "Seq Scan" if may_sort(statement) else "Seq Scan|Sort"
        assert not [step for step in steps if re.search(unwanted, step)], "\n".join([statement.sql, *steps])


@pytest.mark.only_on("postgresql")
def test_names_are_in_the_order_of_the_embedded_database_whatever_the_language_of_the_server(dry_run: DryRun) -> None:
    # Moments, dates and ids are in the same order by the rules of any language; names are not.
    orders = [
        (table, order.column)
        for listing, _ in CATALOGUE.record_stores.values()
        for table in (
            listing.table,
            *([listing.visibility.grant_table] if listing.visibility and listing.visibility.grant_table else []),
        )
        for order in listing.orders.values()
        if not re.search("^id$|_at$|_on$|_date$", order.column)
    ]
    assert {("person", "name_folded"), ("customer", "name_folded"), ("own_customer", "name_folded")} <= {*orders}
    with dry_run.database.inner.read_transaction(ALL_ORGANISATIONS) as db:
        known = db.all("SELECT table_name, column_name, collation_name FROM information_schema.columns")
    collations = {(table, column): collation for table, column, collation in known}
    assert {order: collations[order] for order in orders} == dict.fromkeys(orders, "C")


@pytest.mark.only_on("sqlite")
def test_an_order_walks_the_index_of_its_own(dry_run: DryRun) -> None:
    found = {
        name: {
            step
            for statement in record_list_statements(dry_run, operation, Role.OWNER)
            for step in explain(dry_run.database.inner, statement)
        }
        for operation in CATALOGUE.operations
        for name in [operation.name]
        if operation.returns_page
    }
    assert any("person_by_name" in step for step in found["list_people"])


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("operation", "narrowed", "searched"),
    [
        (list_deliveries, {}, "(organisation_id=? AND webhook_id=?)"),
        (list_deliveries, {"status": "failed"}, "(organisation_id=? AND webhook_id=? AND status=?)"),
        (list_deliveries, {"status": "retrying"}, "(organisation_id=? AND webhook_id=? AND status=?)"),
        (list_activity, {"personId": FILTER_VALUES["personId"][0]}, "(organisation_id=? AND person_id=?)"),
        (list_activity, {"clientId": FILTER_VALUES["clientId"][0]}, "(organisation_id=? AND client_id=?)"),
        (list_activity, {"actedBy": "operator"}, "(organisation_id=? AND acted_by=?)"),
        (list_activity, {"actedBy": "app", "from": "2026-11-15"}, "(organisation_id=? AND acted_by=? AND at>?)"),
        (list_activity, {"actedBy": "agent"}, "audit_by_agents (organisation_id=?)"),
        (list_activity, {"actedBy": "agent", "until": "2026-11-15"}, "audit_by_agents (organisation_id=? AND at<?)"),
        (list_activity, {"until": "2026-11-15"}, "(organisation_id=? AND at<?)"),
        (list_events, {"type": CATALOGUE.events[0].name}, "(organisation_id=? AND type=?)"),
        # The tray of the schedule: those that are due among all that wait for a visit.
        (list_jobs, {"stage": "toSchedule", "status": "live", "order": "due"}, "job_that_is_live_by_due"),
    ],
)
def test_what_may_be_rare_among_very_many_is_not_looked_for_among_the_others(
    dry_run: DryRun, operation: Operation, narrowed: dict[str, object], searched: str
) -> None:
    dry_run.database.statements.clear()
    given = orjson.dumps(dry_run.open.example_input(operation) | narrowed)
    dry_run.performer.perform(operation, dry_run.open.cast.actor(Role.OWNER), given, RequestDetails("req_1"))
    steps = [step for one in dry_run.database.statements for step in explain(dry_run.database.inner, one)]
    assert [step for step in steps if searched in step]
