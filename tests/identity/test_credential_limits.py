"""The limits of keys and connected apps: areas, amounts and a last day; who sets them, and where they hold."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from mainstay.business.customers.operations import create_customer, update_customer
from mainstay.business.invoices.drafting.operations import update_invoice
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.overview.operations import get_overview
from mainstay.business.people.operations import get_me, invite_person, update_person
from mainstay.business.people.roles import change_role
from mainstay.business.records.notes import list_notes
from mainstay.business.records.search import search
from mainstay.business.records.undo import undo_change
from mainstay.catalogue import CATALOGUE
from mainstay.identity.authenticate import InvalidKey, InvalidToken, reread_actor
from mainstay.identity.connections import get_connection, list_connections, update_connection
from mainstay.identity.keys import get_key, list_keys, update_key
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid, NotFound
from mainstay.vocabulary.toolsets import Toolset
from rules.examples_any import make_example_input
from support.cast import Cast
from support.invoices import issue_invoice, make_invoice, reread_invoice
from support.quotes import cast_later
from support.stored_state import actor_through_app, actor_with_key, read_trail

# What commits the organisation to an amount. Everything else of programs is free, such as drafts.
COMMITTING = {
    "send_quote",
    "record_quote_decision",
    "send_purchase_order",
    "record_bill",
    "update_bill",
    "void_bill",
    "send_invoice",
    "void_invoice",
    "credit_invoice",
    "record_payment",
    "reverse_payment",
}
PROGRAM_CHANGES = [
    operation
    for operation in CATALOGUE.operations
    if operation.changes and operation.area not in {None, Toolset.PEOPLE} and operation.doors & {Door.API, Door.AGENT}
]


def limit_key(cast: Cast, by: Role = Role.OWNER, /, **limits: object) -> Actor:
    """Make a key of the owner with these limits, and return its actor."""
    key = cast.make_key()
    cast.perform(update_key, by, keyId=actor_with_key(cast, key).credential, **limits)
    return actor_with_key(cast, key)


def reread(cast: Cast, actor: Actor) -> Actor:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return reread_actor(db, actor, cast.performer.clock())


def waits(cast: Cast, actor: Actor, operation: Operation, given: dict[str, Any]) -> bool:
    """Perform an operation as a program, and return whether it waits for its person."""
    details = RequestDetails(new_id("req"))
    return cast.performer.perform(operation, actor, orjson.dumps(given), details).awaits_confirmation


# The records


def test_limits_are_set_shown_and_removed(cast: Cast) -> None:
    key = limit_key(cast, toolsets=["quotes", "customers", "quotes"], amountLimit="500", expiresOn="2090-01-31")
    expected = {"toolsets": ["customers", "quotes"], "amountLimit": "500.00", "expiresOn": "2090-01-31"}
    shown = cast.perform(get_key, keyId=key.credential)
    assert {name: shown[name] for name in expected} == expected
    [listed] = cast.perform(list_keys)["data"]
    assert {name: listed[name] for name in expected} == expected
    assert (key.toolsets, key.amount_limit) == (frozenset({Toolset.CUSTOMERS, Toolset.QUOTES}), 5_000_000)
    before = read_trail(cast)
    cast.perform(update_key, keyId=key.credential, **expected)
    assert read_trail(cast) == before

    cleared = cast.perform(update_key, keyId=key.credential, toolsets=None, amountLimit=None, expiresOn=None)
    assert (cleared["toolsets"], cleared["amountLimit"], cleared["expiresOn"]) == (None, None, None)
    assert reread(cast, key) == key._replace(toolsets=None, amount_limit=None)


@pytest.mark.parametrize(
    "limits",
    [
        {"toolsets": []},
        {"toolsets": ["keys"]},
        {"amountLimit": "-1"},
        {"amountLimit": "much"},
        {"expiresOn": "2001-01-01"},
        {"expiresOn": "tomorrow"},
    ],
)
def test_wrong_limits_are_refused(cast: Cast, limits: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        limit_key(cast, **limits)


def test_no_program_sets_limits() -> None:
    for operation in (update_key, update_connection):
        assert not {Door.API, Door.AGENT} & operation.doors


@pytest.mark.parametrize("limits", [{"toolsets": None}, {"amountLimit": "1"}, {"expiresOn": "2090-01-01"}])
def test_the_person_of_an_app_does_not_limit_it(cast: Cast, limits: dict[str, object]) -> None:
    app = actor_through_app(cast, Role.OFFICE)
    with pytest.raises(Forbidden):
        cast.perform(update_connection, Role.OFFICE, connectionId=app.credential, **limits)
    # The switch is theirs, as before.
    cast.perform(update_connection, Role.OFFICE, connectionId=app.credential, confirmsInOffice=True)
    for role in (Role.OWNER, Role.ADMIN):
        cast.perform(update_connection, role, connectionId=app.credential, amountLimit="1")


LIMITS = {"toolsets": ["customers", "jobs"], "amountLimit": "500.00", "expiresOn": "2090-06-30"}


@pytest.mark.parametrize(
    "looser",
    [
        {"toolsets": None},
        {"toolsets": ["customers", "jobs", "quotes"]},
        {"toolsets": ["quotes"]},
        {"amountLimit": None},
        {"amountLimit": "500.01"},
        {"expiresOn": None},
        {"expiresOn": "2090-07-01"},
    ],
)
def test_only_an_owner_loosens_what_an_owner_set(cast: Cast, looser: dict[str, object]) -> None:
    key = limit_key(cast, **LIMITS).credential
    with pytest.raises(Forbidden, match="only an owner can loosen"):
        cast.perform(update_key, Role.ADMIN, keyId=key, **looser)
    # An admin makes them tighter, and they stay the owner's.
    tighter = {"toolsets": ["jobs"], "amountLimit": "499.99", "expiresOn": "2090-06-29"}
    cast.perform(update_key, Role.ADMIN, keyId=key, **tighter)
    with pytest.raises(Forbidden, match="only an owner can loosen"):
        cast.perform(update_key, Role.ADMIN, keyId=key, **looser)
    cast.perform(update_key, keyId=key, **looser)


def test_an_admin_loosens_what_an_admin_set(cast: Cast) -> None:
    key = limit_key(cast, Role.ADMIN, **LIMITS).credential
    cleared: dict[str, Any] = dict.fromkeys(LIMITS)
    cast.perform(update_key, Role.ADMIN, keyId=key, **cleared)


def test_connecting_an_app_again_keeps_what_an_owner_set(cast: Cast) -> None:
    app = actor_through_app(cast, Role.OFFICE)
    cast.perform(update_connection, connectionId=app.credential, **LIMITS)
    again = actor_through_app(cast, Role.OFFICE)
    shown = cast.perform(get_connection, connectionId=again.credential)
    assert {name: shown[name] for name in LIMITS} == LIMITS
    other = actor_through_app(cast, Role.OFFICE, "Another app")
    assert cast.perform(get_connection, connectionId=other.credential)["amountLimit"] is None
    assert actor_through_app(cast, Role.ADMIN).amount_limit is None


# The last day


def test_from_the_end_of_its_last_day_a_credential_is_refused(cast: Cast) -> None:
    today = cast.performer.clock().date()
    key = limit_key(cast, expiresOn=today.isoformat())
    app = actor_through_app(cast, Role.OFFICE)
    cast.perform(update_connection, connectionId=app.credential, expiresOn=today.isoformat())
    assert reread(cast, key).credential == key.credential
    assert reread(cast, app).credential == app.credential

    later = cast_later(cast, days=2)
    with pytest.raises(InvalidKey):
        reread(later, key)
    with pytest.raises(InvalidToken):
        reread(later, app)
    with pytest.raises(InvalidKey):
        later.perform(create_customer, key, name="Hartley")
    assert later.perform(get_key, keyId=key.credential)["status"] == "expired"
    assert later.perform(get_connection, connectionId=app.credential)["status"] == "expired"
    assert [one["status"] for one in later.perform(list_connections)["data"]] == ["expired"]

    until = (today + timedelta(days=3)).isoformat()
    later.perform(update_key, keyId=key.credential, expiresOn=until)
    assert later.perform(create_customer, key, name="Hartley")["name"] == "Hartley"


# Areas


def test_areas_hold_at_every_door(cast: Cast) -> None:
    key = limit_key(cast, toolsets=["jobs"])
    for door in (Door.API, Door.AGENT):
        program = key._replace(door=door)
        assert cast.perform(get_me, program)["person"]
        with pytest.raises(Forbidden, match="limited to these areas: Jobs"):
            cast.perform(create_customer, program, name="Hartley")
        # Also if the limit is set while a request is under way.
        with pytest.raises(Forbidden, match="limited to these areas"):
            cast.perform(create_customer, program._replace(toolsets=None), name="Hartley")


def test_records_of_other_areas_are_not_found(cast: Cast) -> None:
    customer = cast.perform(create_customer, name="Hartley")["id"]
    everything, jobs = limit_key(cast, toolsets=["customers", "records"]), limit_key(cast, toolsets=["records"])
    assert cast.perform(search, everything, text="Hartley")["hits"]
    assert not cast.perform(search, jobs, text="Hartley")["hits"]
    assert cast.perform(list_notes, everything, recordId=customer)["data"] == []
    with pytest.raises(NotFound):
        cast.perform(list_notes, jobs, recordId=customer)


def test_the_overview_leaves_out_other_areas(cast: Cast) -> None:
    make_invoice(cast)
    full, narrow = (cast.perform(get_overview, limit_key(cast, toolsets=areas)) for areas in (None, ["jobs"]))
    assert full["revenue"]
    assert (narrow["revenue"], narrow["hidden"]) == (None, ["revenue", "changedByApps"])
    assert len(narrow["needs"]) < len(full["needs"])


def test_nothing_of_another_area_is_undone(cast: Cast) -> None:
    customer = cast.perform(create_customer, name="Hartley")["id"]
    change = cast.answer(update_customer, customerId=customer, name="Hart").undoable_change
    with pytest.raises(Forbidden, match="limited to these areas"):
        cast.perform(undo_change, limit_key(cast, toolsets=["jobs"]), changeIds=[str(change)])
    cast.perform(undo_change, limit_key(cast, toolsets=["customers"]), changeIds=[str(change)])


# Amounts


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("operation", PROGRAM_CHANGES, ids=lambda operation: operation.name)
def test_what_commits_to_an_amount_waits_and_nothing_else(cast: Cast, operation: Operation) -> None:
    assert operation.commits_amount == (operation.name in COMMITTING)
    given = make_example_input(cast, operation) | ({"confirmed": True} if operation.is_irreversible else {})
    program = limit_key(cast, amountLimit="0")
    before = read_trail(cast)
    assert waits(cast, program, operation, given) == (operation.name in COMMITTING)
    if operation.name in COMMITTING:
        assert read_trail(cast) == before


@pytest.mark.parametrize("limits", [{"amountLimit": "500"}, {"confirmsInOffice": True}])
def test_nobody_is_let_in_by_a_limited_program(cast: Cast, limits: dict[str, object]) -> None:
    """Whoever it let in would have none of its limits."""
    program = limit_key(cast, **limits)
    before = read_trail(cast)
    member = cast.people[Role.MEMBER]
    for operation, given in (
        (invite_person, {"name": "Eve", "email": "eve@evil.example", "role": "admin"}),
        (update_person, {"personId": member, "email": "eve@evil.example"}),
        (change_role, {"personId": member, "role": "admin", "confirmed": True}),
    ):
        assert waits(cast, program, operation, given)
    assert read_trail(cast) == before
    assert not waits(cast, limit_key(cast), operation, given)


def test_exactly_the_limit_is_allowed(cast: Cast) -> None:
    invoice = make_invoice(cast)
    total = invoice["total"]
    below = str(float(total) - 0.01)
    given = {"invoiceId": invoice["id"], "deliver": "none", "confirmed": True}
    assert waits(cast, limit_key(cast, amountLimit=below), send_invoice, given)
    assert reread_invoice(cast, invoice)["status"] == "draft"
    assert not waits(cast, limit_key(cast, amountLimit=total), send_invoice, given)
    assert reread_invoice(cast, invoice)["status"] == "sent"


def test_a_payment_of_several_invoices_counts_as_one_amount(cast: Cast) -> None:
    first, second = issue_invoice(cast), issue_invoice(cast)
    both = [{"invoiceId": one["id"], "amount": "10.00"} for one in (first, second)]
    given = {"customerId": first["customerId"], "method": "bank", "allocations": both[:1]}
    assert not waits(cast, limit_key(cast, amountLimit="10"), record_payment, given | {"amount": "10.00"})
    assert waits(cast, limit_key(cast, amountLimit="10"), record_payment, given | {"amount": "10.01"})


def test_a_draft_is_free_and_a_dry_run_does_not_wait(cast: Cast) -> None:
    program, invoice = limit_key(cast, amountLimit="0"), make_invoice(cast)
    assert not waits(cast, program, update_invoice, {"invoiceId": invoice["id"], "notes": "x"})
    details = RequestDetails(new_id("req"), dry_run=True)
    given = {"customerId": invoice["customerId"], "method": "bank", "amount": "5"}
    assert cast.answer(record_payment, program, details, **given).is_preview


def test_people_are_not_limited(cast: Cast) -> None:
    invoice = make_invoice(cast)
    limit_key(cast, amountLimit="0")
    cast.perform(send_invoice, invoiceId=invoice["id"], deliver="none", confirmed=True)
    assert reread_invoice(cast, invoice)["status"] == "sent"
