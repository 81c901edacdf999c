"""A furnished organisation, and for every operation of the catalogue an input that it takes there."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cast import PASSWORD, Cast, assemble
from evidence import holder, last_event
from house.examples_hours import HOURS_EXAMPLES, Hours, furnish_hours
from house.examples_invoices import INVOICE_EXAMPLES, Invoices, furnish_invoices
from house.examples_prices import PRICE_EXAMPLES, Prices, furnish_prices
from house.examples_purchasing import PURCHASE_EXAMPLES, Purchases, furnish_purchases
from house.examples_quotes import QUOTE_EXAMPLES, Quotes, furnish_quotes
from house.examples_records import added, document, furnish_documents, listed
from house.examples_reports import REPORT_EXAMPLES
from house.examples_schedule import SCHEDULE_EXAMPLES, Schedule, furnish_schedule
from house.examples_work import WORK_EXAMPLES, Work, furnish_work
from mainstay.backing.database import EVERY
from mainstay.backing.guard import Guard
from mainstay.business.organisation.logo import set_logo
from mainstay.business.people.operations import invite_person
from mainstay.identity.connections import approve_connection
from mainstay.identity.mails import mail
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.ledger import outbox
from mainstay.ledger.outbox import Letter
from mainstay.terms.actor import Actor
from mainstay.terms.rights import Access, Role
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.webhooks.endpoints import create_webhook, pause_webhook
from mainstay.webhooks.fan_out import insert
from recording import RecordingDatabase
from telling import set_columns

Given = dict[str, object]

RECEIVER = "https://127.0.0.1/webhooks"
FAILING_SINCE = "2026-11-15T10:00:00.000Z"


@dataclass(frozen=True)
class Exhibit:
    """An organisation with at least one record of each kind."""

    cast: Cast
    keys: dict[tuple[Role, Access], str]
    key: str
    invited: str
    connections: dict[Role, str]
    # One that is sent to, though it fails, and one that is paused.
    webhook: str
    paused: str
    # An event, its delivery to the webhook, and an attempt at it.
    event: str
    delivery: str
    # Work that could not be done.
    work: str
    business: Work
    schedule: Schedule
    hours: Hours
    prices: Prices
    quotes: Quotes
    purchases: Purchases
    invoices: Invoices

    def input(self, operation: Operation, role: Role = Role.OWNER) -> Given:
        """What a person of this role can do with the records here."""
        if operation.name in SCHEDULE_EXAMPLES:
            return SCHEDULE_EXAMPLES[operation.name](self.schedule, role)
        if operation.name in HOURS_EXAMPLES:
            return HOURS_EXAMPLES[operation.name](self.hours, role)
        for examples, furnished in self._of_rooms:
            if operation.name in examples:
                return examples[operation.name](furnished)
        return EXAMPLES[operation.name](self, role)

    @property
    def _of_rooms(self) -> list[tuple[dict[str, Callable[[Any], Given]], object]]:
        """The examples that are the same for every role, with what they are about."""
        return [
            (WORK_EXAMPLES, self.business),
            (PRICE_EXAMPLES, self.prices),
            (QUOTE_EXAMPLES, self.quotes),
            (PURCHASE_EXAMPLES, self.purchases),
            (INVOICE_EXAMPLES, self.invoices),
        ]

    def through_key(self, role: Role, access: Access) -> Actor:
        """An owner or admin, acting through a key."""
        return holder(self.cast, self.keys[role, access])


@dataclass(frozen=True)
class Trial:
    """A stage on which every change is taken back and every statement is written down."""

    stage: Stage
    database: RecordingDatabase
    open: Exhibit
    lapsed: Exhibit
    foreign: Exhibit


def open_trial(stage: Stage) -> Trial:
    """Three organisations, one of them lapsed, to try things on."""
    database = RecordingDatabase(stage.database, keep=False)
    # Nothing is looked up: the webhooks here lead to loopback, where nobody sends anything.
    offline = replace(stage, guard=Guard(allow_private=True))
    exhibits = [furnish(offline) for _ in range(3)]
    exhibits[1].cast.lapse()
    return Trial(replace(offline, database=database, ring=lambda: None), database, *exhibits)


def furnish(stage: Stage) -> Exhibit:
    """Make one."""
    cast = assemble(stage)
    keys = {(role, access): cast.key(access, role) for role in (Role.OWNER, Role.ADMIN) for access in Access}
    cast.perform(set_logo, logo="2" * 64)
    # With an idempotency key, so that an answer is kept as well.
    request = Envelope(new_id("req"), replay_key="kept")
    cast.answer(invite_person, request=request, name="Ian Invited", email="ian@cast.example", role="office")
    with stage.database.reading(cast.organisation) as rows:
        row = rows.one("SELECT id FROM person WHERE organisation_id = :organisation AND status = 'invited'")
    with stage.database.changing(cast.organisation) as rows:
        assert row is not None
        outbox.put(rows, mail("ian@cast.example", "Come", "Come.", record=str(row[0])), moment_text(stage.clock()))
    work = _fail(cast)
    client = new_id("client")
    with stage.database.changing(EVERY) as rows:
        rows.run("INSERT INTO oauth_client (id, metadata, created_at) VALUES (:id, '{}', '2026')", id=client)
    connections: dict[Role, str] = {
        role: _connect(cast, role, client) for role in Role if role is not Role.SUBCONTRACTOR
    }
    key = holder(cast, keys[Role.OWNER, Access.READ]).credential
    webhook, paused = (str(cast.perform(create_webhook, url=RECEIVER)["id"]) for _ in range(2))
    event, delivery = _deliver(cast, webhook)
    set_columns(cast, "webhook", webhook, failing_since=FAILING_SINCE)
    cast.perform(pause_webhook, webhookId=paused)
    business = furnish_work(cast)
    schedule = furnish_schedule(cast, business.job)
    hours = furnish_hours(cast, business.job)
    furnish_documents(cast, business.job)
    prices, quotes = furnish_prices(cast), furnish_quotes(cast, business.customer)
    purchases = furnish_purchases(cast, prices.supplier, business.job)
    documents = (purchases, furnish_invoices(cast, business.customer, business.job))
    made = (business, schedule, hours, prices, quotes, *documents)
    return Exhibit(cast, keys, key, str(row[0]), connections, webhook, paused, event, delivery, work, *made)


def _deliver(cast: Cast, webhook: str) -> tuple[str, str]:
    with cast.stage.database.changing(cast.organisation) as rows:
        event = rows.one("SELECT id, type, created_at FROM event WHERE organisation_id = :organisation LIMIT 1")
        assert event is not None
        identity, kind, at = map(str, event)
        insert(rows, webhook, identity, kind, at)
        # Delivered, so that no worker takes it.
        delivery = rows.one(
            "UPDATE delivery SET status = 'delivered', due_at = NULL, attempts = 1"
            " WHERE organisation_id = :organisation AND webhook_id = :webhook AND event_id = :event RETURNING id",
            webhook=webhook,
            event=event[0],
        )
        assert delivery is not None
        rows.run(
            "INSERT INTO delivery_attempt (organisation_id, delivery_id, number, at, status, duration_ms, answer)"
            " VALUES (:organisation, :delivery, 1, :at, 200, 12, 'Thanks.')",
            delivery=delivery[0],
            at=event[2],
        )
    return str(event[0]), str(delivery[0])


def _fail(cast: Cast) -> str:
    with cast.stage.database.changing(cast.organisation) as rows:
        outbox.put(rows, Letter("fax", {"to": "x"}), moment_text(cast.stage.clock()))
        row = rows.one(
            "UPDATE outbox SET due_at = NULL, problem = 'No.' WHERE organisation_id = :organisation AND kind = 'fax'"
            " RETURNING id"
        )
    assert row is not None
    return str(row[0])


def _connect(cast: Cast, role: Role, client: str) -> str:
    approved = cast.perform(approve_connection, role, **_approval(client))
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run(
            "UPDATE connection SET started_at = created_at WHERE organisation_id = :organisation AND id = :id",
            id=approved["id"],
        )
    return str(approved["id"])


def _approval(client: str) -> Given:
    return {
        "clientId": client,
        "clientName": "App",
        "access": "read",
        "redirectUri": "https://app.example/back",
        "challenge": "x" * 43,
    }


def _client(exhibit: Exhibit) -> str:
    with exhibit.cast.stage.database.reading(exhibit.cast.organisation) as rows:
        row = rows.one("SELECT client_id FROM connection WHERE organisation_id = :organisation LIMIT 1")
    assert row is not None
    return str(row[0])


def _member(exhibit: Exhibit, _role: Role) -> Given:
    return {"personId": exhibit.cast.people[Role.MEMBER]}


def _work(exhibit: Exhibit, _role: Role) -> Given:
    return {"workId": exhibit.work}


def _webhook(exhibit: Exhibit, _role: Role) -> Given:
    return {"webhookId": exhibit.webhook}


def _own_connection(exhibit: Exhibit, role: Role) -> Given:
    return {"connectionId": exhibit.connections.get(role, exhibit.connections[Role.OWNER])}


NINA: Given = {"name": "Nina New", "email": "nina@new.example", "role": "member"}
# The address of an account that is there: hashing a password is slow on purpose.
OLIVIA: Given = {"ownerName": "Olivia", "ownerEmail": "olivia@cast.example", "password": PASSWORD}

EXAMPLES: dict[str, Callable[[Exhibit, Role], Given]] = {
    "get_organisation": lambda *_: {},
    "update_organisation": lambda *_: {"phone": "1"},
    "set_logo": lambda *_: {"logo": "1" * 64},
    "remove_logo": lambda *_: {},
    "get_me": lambda *_: {},
    "list_people": lambda *_: {},
    "get_person": lambda exhibit, role: {"personId": exhibit.cast.people[role]},
    "invite_person": lambda *_: NINA,
    "update_person": lambda exhibit, role: {"personId": exhibit.cast.people[role], "phone": "1"},
    "change_role": lambda exhibit, role: _member(exhibit, role) | {"role": "office", "confirmed": True},
    "remove_person": lambda exhibit, role: _member(exhibit, role) | {"confirmed": True},
    "invite_again": lambda exhibit, _: {"personId": exhibit.invited},
    "name_owner": lambda exhibit, _: {"personId": exhibit.cast.people[Role.MEMBER]},
    "accept_invitation": lambda *_: {"name": "Ian", "password": PASSWORD},
    "list_messages": lambda exhibit, _: {"about": exhibit.invited},
    "list_failed_work": lambda *_: {},
    "get_work": _work,
    "retry_work": _work,
    "drop_work": lambda exhibit, role: _work(exhibit, role) | {"confirmed": True},
    "create_key": lambda *_: {"name": "Till", "access": "read"},
    "list_keys": lambda *_: {},
    "get_key": lambda exhibit, _: {"keyId": exhibit.key},
    "revoke_key": lambda exhibit, _: {"keyId": exhibit.key},
    "approve_connection": lambda exhibit, _: _approval(_client(exhibit)),
    "list_connections": lambda *_: {},
    "get_connection": _own_connection,
    "revoke_connection": _own_connection,
    "start_connection": _own_connection,
    "end_connection": lambda exhibit, role: _own_connection(exhibit, role) | {"reason": "It was given back."},
    "sign_in": lambda *_: {"browser": "Firefox", "carried": [], "ticket": ""},
    "change_password": lambda *_: {"password": PASSWORD, "session": "ses_1"},
    "reset_password": lambda *_: {"password": PASSWORD},
    "list_events": lambda *_: {},
    "create_webhook": lambda *_: {"url": RECEIVER},
    "list_webhooks": lambda *_: {},
    "get_webhook": _webhook,
    "update_webhook": lambda exhibit, role: _webhook(exhibit, role) | {"description": "Till"},
    "pause_webhook": _webhook,
    "resume_webhook": lambda exhibit, _: {"webhookId": exhibit.paused},
    "disable_webhook": lambda exhibit, role: (
        _webhook(exhibit, role) | {"url": RECEIVER, "failingSince": FAILING_SINCE, "reason": "It is gone."}
    ),
    "rotate_webhook_secret": _webhook,
    "delete_webhook": lambda exhibit, role: _webhook(exhibit, role) | {"confirmed": True},
    "list_deliveries": _webhook,
    "get_delivery": lambda exhibit, _: {"deliveryId": exhibit.delivery},
    "redeliver_event": lambda exhibit, _: {"deliveryId": exhibit.delivery},
    # What happened last was not sent to it.
    "redeliver_failed": lambda exhibit, role: (
        _webhook(exhibit, role) | {"since": last_event(exhibit.cast)["createdAt"]}
    ),
    "send_test_event": _webhook,
    "list_postings": lambda exhibit, _: REPORT_EXAMPLES["list_postings"](exhibit.business.customer),
    "get_customer_balance": lambda exhibit, _: REPORT_EXAMPLES["get_customer_balance"](exhibit.business.customer),
    "get_report": lambda exhibit, _: REPORT_EXAMPLES["get_report"](exhibit.business.customer),
    "list_documents": lambda exhibit, _: listed(exhibit.cast),
    "get_document": lambda exhibit, role: document(exhibit.cast, role),
    "add_document": lambda exhibit, _: added(exhibit.cast),
    "remove_document": lambda exhibit, role: document(exhibit.cast, role) | {"confirmed": True},
    "create_organisation": lambda *_: {"name": "Another", **OLIVIA},
    "add_person": lambda *_: {"name": "Ian", "email": "ian@cast.example", "role": "office", "password": PASSWORD},
    "create_password_link": _member,
    "change_subscription": lambda *_: {"status": "inactive"},
}
