"""The available actions of a record are exactly those that would not be refused through the same door."""

from collections.abc import Callable
from contextlib import suppress

import orjson
import pytest

from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.operations import get_person, list_people
from mainstay.identity.connections import CONNECTIONS, list_connections
from mainstay.identity.keys import KEYS, list_keys
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import NotFound, Stale
from mainstay.vocabulary.schemas import StoredRecord
from mainstay.webhooks.deliveries import list_deliveries
from mainstay.webhooks.endpoints import get_webhook, list_webhooks
from mainstay.webhooks.store import DELIVERIES, WEBHOOKS
from rules.doers import CHANGES, actor_for
from rules.every import for_each
from rules.examples import DryRun, SampleRecords
from rules.test_rights import perform_outcome
from support.webhooks import set_columns

# Permissions do not depend on the engine; the long run uses every engine.
pytestmark = pytest.mark.engines("sqlite")

EACH_ROLE = pytest.mark.parametrize("role", list(Role))
EACH_ACCESS = pytest.mark.parametrize("access", list(Access))


def records_by_state(samples: SampleRecords) -> dict[str, tuple[str, dict[str, object]]]:
    """Return records of each kind in several states: the id of each, and the input that names it."""
    people = samples.cast.people
    return {
        **{f"person: {role}": (people[role], {"personId": people[role]}) for role in Role},
        "person: invited": (samples.invited, {"personId": samples.invited}),
        "webhook: failing": (samples.webhook, {"webhookId": samples.webhook}),
        "webhook: paused": (samples.paused, {"webhookId": samples.paused}),
        "delivery: delivered": (samples.delivery, {"deliveryId": samples.delivery}),
        "key: live": (samples.key, {"keyId": samples.key}),
        "connection: member": (
            samples.connections[Role.MEMBER],
            {"connectionId": samples.connections[Role.MEMBER]},
        ),
        **{f"invoice: {state}": (one, {"invoiceId": one}) for state, one in invoices_by_state(samples).items()},
        "payment: recorded": (samples.invoices.on_account, {"paymentId": samples.invoices.on_account}),
    }


def invoices_by_state(samples: SampleRecords) -> dict[str, str]:
    """Invoices by their states."""
    named = ("draft", "sent", "part_paid", "paid", "credited", "void")
    return {state: getattr(samples.invoices, state) for state in named}


def fetch_record(dry_run: DryRun, actor: Actor, record_id: str) -> StoredRecord | None:
    """Return the record as its rules see it; None if the actor does not see it."""
    listings = [operation.on for operation in dry_run.performer.catalogue.operations if operation.on]
    listing = next(on for on in listings if on.id_field and record_id.startswith(f"{on.prefix}_"))
    with dry_run.database.inner.read_transaction(actor.organisation) as db:
        try:
            found: StoredRecord = listing.fetch(
                Context(db, actor, RequestDetails("req_1"), dry_run.performer.clock), record_id
            )
        except NotFound:
            return None
    return found


@EACH_ROLE
@EACH_ACCESS
@pytest.mark.parametrize("door", [Door.API, Door.AGENT, Door.OFFICE, Door.CLI])
def test_what_is_available_can_be_done_and_what_is_not_is_refused(
    dry_run: DryRun, role: Role, access: Access, door: Door
) -> None:
    tried = 0
    for samples in (dry_run.open, dry_run.lapsed):
        actor = samples.cast.actor(role, access, door)
        for state, (record_id, naming) in records_by_state(samples).items():
            record = fetch_record(dry_run, actor, record_id)
            if record is None:
                continue
            available = dry_run.performer.catalogue.find_actions(record, actor)
            for operation in dry_run.performer.catalogue.operations_on(record.output):
                if operation.changes:
                    given = samples.example_input(operation, role) | naming
                    done = perform_outcome(dry_run, operation, actor, given) == "done" and door in operation.doors
                    assert (operation.name in available) == done, (state, operation.name)
                    tried += 1
    assert tried > 30


def list_actions(samples: SampleRecords, operation: Operation, role: Role, door: Door, **given: object) -> list[str]:
    cast = samples.cast
    found: list[str] = cast.perform(operation, cast.actor(role, door=door), **given)["availableActions"]
    return found


def test_a_person_s_state_decides_what_an_owner_can_do(dry_run: DryRun) -> None:
    def by_owner(person: str, door: Door = Door.OFFICE) -> list[str]:
        return list_actions(dry_run.open, get_person, Role.OWNER, door, personId=person)

    people = dry_run.open.cast.people
    assert by_owner(people[Role.MEMBER]) == [
        "update_person",
        "change_role",
        "name_owner",
        "remove_person",
        "sign_out_person",
    ]
    assert by_owner(people[Role.MEMBER], Door.API) == [
        "update_person",
        "change_role",
        "remove_person",
        "sign_out_person",
    ]
    assert by_owner(people[Role.MEMBER], Door.AGENT) == ["update_person", "change_role", "remove_person"]
    assert by_owner(dry_run.open.invited) == ["update_person", "invite_again", "change_role", "remove_person"]
    # The only owner stays, and stays owner.
    assert by_owner(people[Role.OWNER]) == ["update_person"]


def test_one_who_has_left_can_only_be_invited_anew(dry_run: DryRun) -> None:
    left = dry_run.foreign.cast.people[Role.SUBCONTRACTOR]
    set_columns(dry_run.foreign.cast, "person", left, status="left")
    try:
        assert list_actions(dry_run.foreign, get_person, Role.OWNER, Door.OFFICE, personId=left) == []
    finally:
        set_columns(dry_run.foreign.cast, "person", left, status="active")


def test_the_role_decides(dry_run: DryRun) -> None:
    people = dry_run.open.cast.people

    def by(role: Role, person: Role) -> list[str]:
        return list_actions(dry_run.open, get_person, role, Door.API, personId=people[person])

    assert by(Role.ADMIN, Role.OWNER) == []
    assert by(Role.ADMIN, Role.ADMIN) == ["update_person", "change_role", "remove_person"]
    assert by(Role.MEMBER, Role.MEMBER) == ["update_person"]
    assert by(Role.MEMBER, Role.OFFICE) == []


def test_reading_alone_and_a_lapsed_subscription_leave_nothing_to_do(dry_run: DryRun) -> None:
    for samples, access in ((dry_run.open, Access.READ), (dry_run.lapsed, Access.WRITE)):
        cast = samples.cast
        acting = cast.actor(Role.OWNER, access, Door.OFFICE)
        assert cast.perform(get_person, acting, personId=cast.people[Role.MEMBER])["availableActions"] == []
        assert cast.perform(get_organisation, acting)["availableActions"] == []
    # What ends access is open while lapsed.
    assert list_actions(dry_run.lapsed, get_webhook, Role.OWNER, Door.OFFICE, webhookId=dry_run.lapsed.webhook) == [
        "delete_webhook"
    ]


def test_nothing_can_be_done_to_what_is_gone(dry_run: DryRun) -> None:
    ends = [operation for operation in dry_run.performer.catalogue.operations if operation.deletes]
    assert len(ends) > 3
    for operation in ends:
        given = orjson.dumps(
            dry_run.open.example_input(operation) | ({"confirmed": True} if operation.is_irreversible else {})
        )
        actor = dry_run.open.cast.actor(Role.OWNER, door=Door.OFFICE)
        shown = orjson.loads(dry_run.performer.perform(operation, actor, given, RequestDetails("req_1")).body)
        assert (shown["object"], shown["availableActions"]) == (operation.output.noun, []), operation.name


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("active", {"update", "pause", "rotate", "delete", "redeliver", "send"}),
        ("paused", {"update", "resume", "rotate", "delete", "redeliver"}),
        ("disabled", {"update", "resume", "rotate", "delete"}),
    ],
)
def test_a_webhook_s_state_decides(dry_run: DryRun, status: str, expected: set[str]) -> None:
    samples = dry_run.foreign
    set_columns(samples.cast, "webhook", samples.paused, status=status)
    try:
        found = list_actions(samples, get_webhook, Role.ADMIN, Door.OFFICE, webhookId=samples.paused)
    finally:
        set_columns(samples.cast, "webhook", samples.paused, status="paused")
    assert {name.partition("_")[0] for name in found} == expected


@pytest.mark.parametrize(
    ("operation", "listing"),
    [
        (list_people, None),
        (list_webhooks, WEBHOOKS),
        (list_deliveries, DELIVERIES),
        (list_keys, KEYS),
        (list_connections, CONNECTIONS),
    ],
    ids=lambda part: getattr(part, "name", ""),
)
def test_each_record_of_a_list_has_its_actions_if_they_are_asked_for(
    dry_run: DryRun, operation: Operation, listing: object
) -> None:
    samples = dry_run.open
    actor = samples.cast.actor(Role.OWNER, door=Door.OFFICE)
    given = orjson.dumps(samples.example_input(operation))
    plain, with_actions = (
        orjson.loads(
            dry_run.performer.perform(operation, actor, given, RequestDetails("req_1", with_actions=actions)).body
        )["data"]
        for actions in (False, True)
    )
    assert plain
    assert [record.keys() - plain[0].keys() for record in with_actions] == [{"availableActions"}] * len(plain)
    assert [{name: record[name] for name in plain[0]} for record in with_actions] == plain
    assert listing is None or any(record["availableActions"] for record in with_actions)


PAGE_ADDRESSES: list[tuple[Operation, Callable[[SampleRecords], dict[str, object]], str]] = [
    (get_organisation, lambda _: {}, "/settings"),
    (get_person, lambda samples: {"personId": samples.invited}, "/people/{personId}"),
]


@pytest.mark.parametrize(("operation", "naming", "place"), PAGE_ADDRESSES, ids=lambda part: getattr(part, "name", ""))
def test_a_record_tells_where_people_see_it(
    dry_run: DryRun, operation: Operation, naming: Callable[[SampleRecords], dict[str, object]], place: str
) -> None:
    given = naming(dry_run.open)
    for door in (Door.API, Door.AGENT, Door.OFFICE, Door.CLI):
        shown = dry_run.open.cast.perform(operation, dry_run.open.cast.actor(Role.MEMBER, door=door), **given)
        assert shown["url"] == dry_run.performer.base_url + place.format(**given)


def test_a_webhook_s_own_address_stays_its_own(dry_run: DryRun) -> None:
    shown = dry_run.open.cast.perform(get_webhook, webhookId=dry_run.open.webhook)
    assert shown["url"] == "https://127.0.0.1/webhooks"


def needs_version(operation: Operation) -> bool:
    """Whether an operation changes a record with a version, and does not create one."""
    listing = operation.on or operation.offered_on
    return bool(listing and listing.output.is_versioned and not operation.creates_without_id)


@for_each([operation for operation in CHANGES if needs_version(operation)])
def test_what_is_done_to_a_record_heeds_the_version_that_was_seen(dry_run: DryRun, operation: Operation) -> None:
    given, expected = orjson.dumps(dry_run.open.example_input(operation)), RequestDetails("req_1", frozenset({10**9}))
    done = False
    with suppress(Stale):
        dry_run.performer.perform(operation, actor_for(dry_run.open, operation), given, expected)
        done = True
    assert not done
