"""What can be done to a record is told with it: exactly what would not be refused, through the door one came in by."""

from collections.abc import Callable
from contextlib import suppress

import orjson
import pytest

from house.doers import CHANGES, doer
from house.every import of_each
from house.examples import Exhibit, Trial
from house.test_rights import outcome
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.operations import get_person, list_people
from mainstay.identity.connections import CONNECTIONS, list_connections
from mainstay.identity.keys import KEYS, list_keys
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import NotFound, Stale
from mainstay.terms.rights import Access, Role
from mainstay.terms.shapes import Kept
from mainstay.webhooks.deliveries import list_deliveries
from mainstay.webhooks.endpoints import get_webhook, list_webhooks
from mainstay.webhooks.store import DELIVERIES, WEBHOOKS
from telling import set_columns

# What someone may do knows no engine; with every engine it is tried in the long run.
pytestmark = pytest.mark.engines("sqlite")

ROLE = pytest.mark.parametrize("role", list(Role))
ACCESS = pytest.mark.parametrize("access", list(Access))


def states(exhibit: Exhibit) -> dict[str, tuple[str, dict[str, object]]]:
    """Records of each kind in several states: whom each operation is asked about, and by which field."""
    people = exhibit.cast.people
    return {
        **{f"person: {role}": (people[role], {"personId": people[role]}) for role in Role},
        "person: invited": (exhibit.invited, {"personId": exhibit.invited}),
        "webhook: failing": (exhibit.webhook, {"webhookId": exhibit.webhook}),
        "webhook: paused": (exhibit.paused, {"webhookId": exhibit.paused}),
        "delivery: delivered": (exhibit.delivery, {"deliveryId": exhibit.delivery}),
        "key: live": (exhibit.key, {"keyId": exhibit.key}),
        "connection: member": (
            exhibit.connections[Role.MEMBER],
            {"connectionId": exhibit.connections[Role.MEMBER]},
        ),
        **{f"invoice: {state}": (one, {"invoiceId": one}) for state, one in invoices(exhibit).items()},
        "payment: recorded": (exhibit.invoices.on_account, {"paymentId": exhibit.invoices.on_account}),
    }


def invoices(exhibit: Exhibit) -> dict[str, str]:
    """Invoices by their states."""
    named = ("draft", "sent", "part_paid", "paid", "credited", "void")
    return {state: getattr(exhibit.invoices, state) for state in named}


def seen(trial: Trial, actor: Actor, identity: str) -> Kept | None:
    """The record as its rules see it; None for whoever does not see it."""
    listings = [operation.on for operation in trial.stage.catalogue.operations if operation.on]
    listing = next(on for on in listings if on.id_field and identity.startswith(f"{on.prefix}_"))
    with trial.database.inner.reading(actor.organisation) as rows:
        try:
            found: Kept = listing.fetch(Context(rows, actor, Envelope("req_1"), trial.stage.clock), identity)
        except NotFound:
            return None
    return found


@ROLE
@ACCESS
@pytest.mark.parametrize("door", [Door.API, Door.AGENT, Door.OFFICE, Door.CLI])
def test_what_is_available_can_be_done_and_what_is_not_is_refused(
    trial: Trial, role: Role, access: Access, door: Door
) -> None:
    tried = 0
    for exhibit in (trial.open, trial.lapsed):
        actor = exhibit.cast.actor(role, access, door)
        for state, (identity, naming) in states(exhibit).items():
            record = seen(trial, actor, identity)
            if record is None:
                continue
            available = trial.stage.catalogue.actions(record, actor)
            for operation in trial.stage.catalogue.on(record.shown):
                if operation.changes:
                    given = exhibit.input(operation, role) | naming
                    done = outcome(trial, operation, actor, given) == "done" and door in operation.offered
                    assert (operation.name in available) == done, (state, operation.name)
                    tried += 1
    assert tried > 30


def actions(exhibit: Exhibit, operation: Operation, role: Role, door: Door, **given: object) -> list[str]:
    cast = exhibit.cast
    found: list[str] = cast.perform(operation, cast.actor(role, door=door), **given)["availableActions"]
    return found


def test_a_person_s_state_decides_what_an_owner_can_do(trial: Trial) -> None:
    def by_owner(person: str, door: Door = Door.OFFICE) -> list[str]:
        return actions(trial.open, get_person, Role.OWNER, door, personId=person)

    people = trial.open.cast.people
    assert by_owner(people[Role.MEMBER]) == ["update_person", "change_role", "name_owner", "remove_person"]
    assert by_owner(people[Role.MEMBER], Door.API) == ["update_person", "change_role", "remove_person"]
    assert by_owner(people[Role.MEMBER], Door.AGENT) == ["update_person", "change_role", "remove_person"]
    assert by_owner(trial.open.invited) == ["update_person", "invite_again", "change_role", "remove_person"]
    # The only owner stays, and stays owner.
    assert by_owner(people[Role.OWNER]) == ["update_person"]


def test_one_who_has_left_can_only_be_invited_anew(trial: Trial) -> None:
    left = trial.foreign.cast.people[Role.SUBCONTRACTOR]
    set_columns(trial.foreign.cast, "person", left, status="left")
    try:
        assert actions(trial.foreign, get_person, Role.OWNER, Door.OFFICE, personId=left) == []
    finally:
        set_columns(trial.foreign.cast, "person", left, status="active")


def test_the_role_decides(trial: Trial) -> None:
    people = trial.open.cast.people

    def by(role: Role, person: Role) -> list[str]:
        return actions(trial.open, get_person, role, Door.API, personId=people[person])

    assert by(Role.ADMIN, Role.OWNER) == []
    assert by(Role.ADMIN, Role.ADMIN) == ["update_person", "change_role", "remove_person"]
    assert by(Role.MEMBER, Role.MEMBER) == ["update_person"]
    assert by(Role.MEMBER, Role.OFFICE) == []


def test_reading_alone_and_a_lapsed_subscription_leave_nothing_to_do(trial: Trial) -> None:
    for exhibit, access in ((trial.open, Access.READ), (trial.lapsed, Access.WRITE)):
        cast = exhibit.cast
        acting = cast.actor(Role.OWNER, access, Door.OFFICE)
        assert cast.perform(get_person, acting, personId=cast.people[Role.MEMBER])["availableActions"] == []
        assert cast.perform(get_organisation, acting)["availableActions"] == []
    # What ends access is open while lapsed.
    assert actions(trial.lapsed, get_webhook, Role.OWNER, Door.OFFICE, webhookId=trial.lapsed.webhook) == [
        "delete_webhook"
    ]


def test_nothing_can_be_done_to_what_is_gone(trial: Trial) -> None:
    ends = [operation for operation in trial.stage.catalogue.operations if operation.ends]
    assert len(ends) > 3
    for operation in ends:
        given = orjson.dumps(trial.open.input(operation) | ({"confirmed": True} if operation.is_irreversible else {}))
        actor = trial.open.cast.actor(Role.OWNER, door=Door.OFFICE)
        shown = orjson.loads(trial.stage.perform(operation, actor, given, Envelope("req_1")).body)
        assert (shown["object"], shown["availableActions"]) == (operation.output.noun, []), operation.name


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("active", {"update", "pause", "rotate", "delete", "redeliver", "send"}),
        ("paused", {"update", "resume", "rotate", "delete", "redeliver"}),
        ("disabled", {"update", "resume", "rotate", "delete"}),
    ],
)
def test_a_webhook_s_state_decides(trial: Trial, status: str, expected: set[str]) -> None:
    exhibit = trial.foreign
    set_columns(exhibit.cast, "webhook", exhibit.paused, status=status)
    try:
        found = actions(exhibit, get_webhook, Role.ADMIN, Door.OFFICE, webhookId=exhibit.paused)
    finally:
        set_columns(exhibit.cast, "webhook", exhibit.paused, status="paused")
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
def test_each_record_of_a_list_tells_them_where_it_is_asked(
    trial: Trial, operation: Operation, listing: object
) -> None:
    exhibit = trial.open
    actor = exhibit.cast.actor(Role.OWNER, door=Door.OFFICE)
    given = orjson.dumps(exhibit.input(operation))
    plain, asked = (
        orjson.loads(trial.stage.perform(operation, actor, given, Envelope("req_1", actions=told)).body)["data"]
        for told in (False, True)
    )
    assert plain
    assert [record.keys() - plain[0].keys() for record in asked] == [{"availableActions"}] * len(plain)
    assert [{name: record[name] for name in plain[0]} for record in asked] == plain
    assert listing is None or any(record["availableActions"] for record in asked)


PLACES: list[tuple[Operation, Callable[[Exhibit], dict[str, object]], str]] = [
    (get_organisation, lambda _: {}, "/settings"),
    (get_person, lambda exhibit: {"personId": exhibit.invited}, "/people/{personId}"),
]


@pytest.mark.parametrize(("operation", "naming", "place"), PLACES, ids=lambda part: getattr(part, "name", ""))
def test_a_record_tells_where_people_see_it(
    trial: Trial, operation: Operation, naming: Callable[[Exhibit], dict[str, object]], place: str
) -> None:
    given = naming(trial.open)
    for door in (Door.API, Door.AGENT, Door.OFFICE, Door.CLI):
        shown = trial.open.cast.perform(operation, trial.open.cast.actor(Role.MEMBER, door=door), **given)
        assert shown["url"] == trial.stage.base_url + place.format(**given)


def test_a_webhook_s_own_address_stays_its_own(trial: Trial) -> None:
    shown = trial.open.cast.perform(get_webhook, webhookId=trial.open.webhook)
    assert shown["url"] == "https://127.0.0.1/webhooks"


def is_done_to_versions(operation: Operation) -> bool:
    """Whether it is done to records that have versions; the example of what also makes one makes one."""
    listing = operation.on or operation.offered_on
    return bool(listing and listing.shown.versioned and not operation.makes)


@of_each([operation for operation in CHANGES if is_done_to_versions(operation)])
def test_what_is_done_to_a_record_heeds_the_version_that_was_seen(trial: Trial, operation: Operation) -> None:
    given, expected = orjson.dumps(trial.open.input(operation)), Envelope("req_1", frozenset({10**9}))
    done = False
    with suppress(Stale):
        trial.stage.perform(operation, doer(trial.open, operation), given, expected)
        done = True
    assert not done
