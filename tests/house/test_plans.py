"""Every list walks an index in its order, by each filter and in each order: no list sorts or reads a whole table."""

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import orjson
import pytest

from house.examples import Exhibit, Trial
from mainstay.backing.database import EVERY
from mainstay.business.records.activity import list_activity
from mainstay.business.records.history import get_history
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.terms.rights import RIGHTS, Role, withheld
from mainstay.values.ids import new_id
from mainstay.webhooks.deliveries import list_deliveries
from mainstay.webhooks.feed import list_events
from planning import plan
from recording import Statement

# A list may look different to those who see less.
LISTS_BY_ROLE = [
    pytest.param(operation, role, id=f"{operation.name}-{role}")
    for operation in CATALOGUE.operations
    for role in (Role.OWNER, Role.MEMBER, Role.SUBCONTRACTOR)
    if operation.lists and operation.right in RIGHTS[role]
]
# The first server that tells how it would run a statement whose values it does not know.
GENERIC_SINCE = 160_000


# Fields that take not just anything; searching has tests of its own.
NAMED: dict[str, list[object]] = {
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


def _of_field(role: Role) -> Role:
    """Whose record is seen by a role that sees its own."""
    return role if role is Role.SUBCONTRACTOR else Role.MEMBER


def _seen_of_job(exhibit: Exhibit, role: Role) -> str:
    """The newest act on the job that a role sees."""
    acts = exhibit.cast.perform(get_history, role, recordId=exhibit.business.job)["data"]
    return str(acts[0]["id"])


# A record of each list; in some orders, only an id that someone sees is a place.
LAST: dict[str, Callable[[Exhibit, Role], str]] = {
    "list_people": lambda exhibit, _: exhibit.cast.people[Role.ADMIN],
    "list_messages": lambda *_: new_id("out"),
    "list_failed_work": lambda *_: new_id("out"),
    "list_customers": lambda exhibit, _: exhibit.business.customer,
    "list_sites": lambda exhibit, _: exhibit.business.site,
    "list_contacts": lambda exhibit, _: exhibit.business.contact,
    "list_jobs": lambda exhibit, _: exhibit.business.job,
    "list_notes": lambda exhibit, _: exhibit.business.note,
    "list_visits": lambda exhibit, role: exhibit.schedule.visits[_of_field(role)],
    "list_time_off": lambda exhibit, role: exhibit.schedule.leave[_of_field(role)],
    "list_hours": lambda exhibit, role: exhibit.hours.drafts[_of_field(role)],
    "list_unbilled": lambda exhibit, _: exhibit.business.job,
    "list_price_items": lambda exhibit, _: exhibit.prices.item,
    "list_tax_rates": lambda exhibit, _: exhibit.prices.tax,
    "list_suppliers": lambda exhibit, _: exhibit.prices.supplier,
    "list_quotes": lambda exhibit, _: exhibit.quotes.sent,
    "list_purchase_orders": lambda exhibit, _: exhibit.purchases.sent,
    "list_bills": lambda exhibit, _: exhibit.purchases.bill,
    "list_invoices": lambda exhibit, _: exhibit.invoices.sent,
    "list_statements": lambda exhibit, _: exhibit.invoices.statement,
    "list_duplicate_customers": lambda exhibit, _: exhibit.business.customer,
    "list_credit_notes": lambda exhibit, _: exhibit.invoices.credit_note,
    "list_payments": lambda exhibit, _: exhibit.invoices.payment,
    "list_postings": lambda *_: f"2026-11-15.3.{new_id('credit')}.1",
    "list_documents": lambda *_: new_id("document"),
    "get_history": _seen_of_job,
    "list_activity": lambda *_: "7",
    "list_events": lambda *_: new_id("evt"),
    "list_keys": lambda *_: new_id("key"),
    "list_connections": lambda *_: new_id("connection"),
    "list_webhooks": lambda exhibit, _: exhibit.webhook,
    "list_deliveries": lambda exhibit, _: exhibit.delivery,
}


def test_what_is_named_here_is_asked_for() -> None:
    lists = [operation for operation in CATALOGUE.operations if operation.lists]
    asked = {name for operation in lists for name in operation.input.model_json_schema(by_alias=True)["properties"]}
    assert NAMED.keys() <= asked
    assert LAST.keys() == {operation.name for operation in lists}


def values_of(name: str, part: dict[str, Any], whole: dict[str, Any]) -> list[object]:
    """The values of a field by which a list looks different: every one of a few, else one that the schema allows."""
    if name in NAMED:
        return NAMED[name]
    for option in part.get("anyOf", [part]):
        of_option = whole["$defs"][option["$ref"].rpartition("/")[2]] if "$ref" in option else option
        if "enum" in of_option:
            return [*of_option["enum"]]
        if of_option.get("type") == "boolean":
            return [True, False]
    # An id of whatever it is that the field names.
    return [new_id(name.removesuffix("Id").lower().removeprefix("lead"))] if name.endswith("Id") else ["x"]


def askings(operation: Operation, role: Role, last: str, needed: dict[str, object]) -> Iterator[dict[str, object]]:
    """The list as it is, then by each filter alone and in each order; each from the beginning and behind a record."""
    schema = operation.input.model_json_schema(by_alias=True)
    fields = operation.input.model_fields
    denied = {fields[name].alias for name, right in operation.needs.items() if right not in RIGHTS[role]}
    names = [name for name in schema["properties"] if name not in {"limit", "startingAfter", *needed, *denied}]
    kept_back = {field.alias: withheld(field.metadata, RIGHTS[role]) for field in fields.values()}
    alone = [
        {name: value}
        for name in names
        for value in values_of(name, schema["properties"][name], schema)
        if value not in kept_back[name]
    ]
    for asked, behind in product([{}, *alone], [{}, {"startingAfter": last}]):
        yield needed | asked | behind


def listed(trial: Trial, operation: Operation, role: Role) -> list[Statement]:
    trial.database.statements.clear()
    last, actor = LAST[operation.name](trial.open, role), trial.open.cast.actor(role)
    for given in askings(operation, role, last, trial.open.input(operation)):
        for actions in (False, True):
            envelope = Envelope("req_1", actions=actions)
            trial.stage.perform(operation, actor, orjson.dumps(given), envelope)
    return list({statement.sql: statement for statement in trial.database.statements}.values())


def sorts(statement: Statement) -> bool:
    """Whether a few are sorted, for which no index is: of one's own jobs, around a leave, paid on an invoice."""
    few = r"own_\w+ AS mine|time_off AS away|FROM allocation WHERE"
    looked_up = "IN (SELECT" in statement.sql and re.search(few, statement.sql)
    return "|| ''" in statement.sql and bool(looked_up)


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(("operation", "role"), LISTS_BY_ROLE)
def test_a_list_walks_an_index_whatever_it_is_narrowed_by(trial: Trial, operation: Operation, role: Role) -> None:
    statements = listed(trial, operation, role)
    assert statements
    for statement in statements:
        # What a subquery does is told in steps of its own. What is counted was found before, at most a hundred, and
        # what is cut out of one's own is no more than a page.
        found = plan(trial.database.inner, statement)
        steps = [step for step in found if not re.search(r"SUBQUERY \d+$|^(CO-ROUTINE|SCAN) (found|cut)$", step)]
        if sorts(statement):
            # As many as there are are sorted, and again the page that is cut out of them.
            steps = [step for step in steps if step != "USE TEMP B-TREE FOR ORDER BY"]
        assert not [step for step in steps if "TEMP B-TREE" in step or step.startswith("SCAN")], statement.sql
        assert all("USING" in step and ("INDEX" in step or "PRIMARY KEY" in step) for step in steps), statement.sql


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize(("operation", "role"), LISTS_BY_ROLE)
def test_a_prepared_list_walks_an_index_too(trial: Trial, operation: Operation, role: Role) -> None:
    with trial.database.inner.reading(EVERY) as rows:
        version = rows.one("SELECT current_setting('server_version_num')")
    if version is None or int(version[0] or 0) < GENERIC_SINCE:
        pytest.skip("this PostgreSQL does not tell generic plans")
    statements = listed(trial, operation, role)
    assert statements
    for statement in statements:
        steps = plan(trial.database.inner, statement)
        assert [step for step in steps if "Index" in step], statement.sql
        unwanted = "Seq Scan" if sorts(statement) else "Seq Scan|Sort"
        assert not [step for step in steps if re.search(unwanted, step)], "\n".join([statement.sql, *steps])


@pytest.mark.only_on("postgresql")
def test_names_are_in_the_order_of_the_embedded_database_whatever_the_language_of_the_server(trial: Trial) -> None:
    # Moments, dates and ids are in the same order by the rules of any language; names are not.
    orders = [
        (table, order.column)
        for listing, _ in CATALOGUE.listings.values()
        for table in (listing.table, *([listing.own.granted] if listing.own and listing.own.granted else []))
        for order in listing.orders.values()
        if not re.search("^id$|_at$|_on$|_date$", order.column)
    ]
    assert {("person", "name_folded"), ("customer", "name_folded"), ("own_customer", "name_folded")} <= {*orders}
    with trial.database.inner.reading(EVERY) as rows:
        known = rows.all("SELECT table_name, column_name, collation_name FROM information_schema.columns")
    collations = {(table, column): collation for table, column, collation in known}
    assert {order: collations[order] for order in orders} == dict.fromkeys(orders, "C")


@pytest.mark.only_on("sqlite")
def test_an_order_walks_the_index_of_its_own(trial: Trial) -> None:
    found = {
        name: {
            step for statement in listed(trial, operation, Role.OWNER) for step in plan(trial.database.inner, statement)
        }
        for operation in CATALOGUE.operations
        for name in [operation.name]
        if operation.lists
    }
    assert any("person_by_name" in step for step in found["list_people"])


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("operation", "narrowed", "searched"),
    [
        (list_deliveries, {}, "(organisation_id=? AND webhook_id=?)"),
        (list_deliveries, {"status": "failed"}, "(organisation_id=? AND webhook_id=? AND status=?)"),
        (list_deliveries, {"status": "retrying"}, "(organisation_id=? AND webhook_id=? AND status=?)"),
        (list_activity, {"personId": NAMED["personId"][0]}, "(organisation_id=? AND person_id=?)"),
        (list_activity, {"clientId": NAMED["clientId"][0]}, "(organisation_id=? AND client_id=?)"),
        (list_activity, {"actedBy": "operator"}, "(organisation_id=? AND acted_by=?)"),
        (list_activity, {"actedBy": "app", "from": "2026-11-15"}, "(organisation_id=? AND acted_by=? AND at>?)"),
        (list_activity, {"actedBy": "agent"}, "audit_by_agents (organisation_id=?)"),
        (list_activity, {"actedBy": "agent", "until": "2026-11-15"}, "audit_by_agents (organisation_id=? AND at<?)"),
        (list_activity, {"until": "2026-11-15"}, "(organisation_id=? AND at<?)"),
        (list_events, {"type": CATALOGUE.events[0].name}, "(organisation_id=? AND type=?)"),
    ],
)
def test_what_may_be_rare_among_very_many_is_not_looked_for_among_the_others(
    trial: Trial, operation: Operation, narrowed: dict[str, object], searched: str
) -> None:
    trial.database.statements.clear()
    given = orjson.dumps(trial.open.input(operation) | narrowed)
    trial.stage.perform(operation, trial.open.cast.actor(Role.OWNER), given, Envelope("req_1"))
    steps = [step for one in trial.database.statements for step in plan(trial.database.inner, one)]
    assert [step for step in steps if searched in step]
