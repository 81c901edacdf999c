"""An organisation with sample records, and a valid input for every operation of the catalogue."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from mainstay.business.organisation.logo import set_logo
from mainstay.business.people.operations import invite_person, update_person
from mainstay.changes import outbox
from mainstay.changes.outbox import OutboxTask
from mainstay.identity.connections import approve_connection
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Access, Role
from mainstay.webhooks.endpoints import create_webhook, pause_webhook
from mainstay.webhooks.fan_out import insert_delivery
from rules.examples_assistant import TALK_EXAMPLES, TalkSamples, make_talk_samples
from rules.examples_hours import HOURS_EXAMPLES, HoursSamples, make_hours_samples
from rules.examples_invoices import INVOICE_EXAMPLES, InvoiceSamples, make_invoice_samples
from rules.examples_prices import PRICE_EXAMPLES, PriceSamples, make_price_samples
from rules.examples_purchasing import PURCHASE_EXAMPLES, PurchaseSamples, make_purchase_samples
from rules.examples_quotes import QUOTE_EXAMPLES, QuoteSamples, make_quote_samples
from rules.examples_records import (
    add_document_input,
    add_sample_files,
    document_input,
    download_link_input,
    list_documents_input,
    make_deleted_view,
    make_undoable_change,
    make_view,
)
from rules.examples_reports import REPORT_EXAMPLES
from rules.examples_schedule import SCHEDULE_EXAMPLES, ScheduleSamples, make_schedule_samples
from rules.examples_work import WORK_EXAMPLES, WorkSamples, make_work_samples
from support.cast import PASSWORD, Cast, make_cast
from support.outbox_tasks import make_email_task
from support.recorded_statements import RecordingDatabase
from support.stored_state import actor_with_key, read_last_event
from support.webhooks import set_columns

ExampleInput = dict[str, object]

RECEIVER_URL = "https://127.0.0.1/webhooks"
FAILING_SINCE = "2026-11-15T10:00:00.000Z"


@dataclass(frozen=True)
class SampleRecords:
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
    failed_work: str
    # A change that each person made, and can undo.
    changes: dict[Role, str]
    # A view that each person saved.
    views: dict[Role, str]
    deleted_views: dict[Role, str]
    talks: TalkSamples
    work_samples: WorkSamples
    schedule: ScheduleSamples
    hours: HoursSamples
    prices: PriceSamples
    quotes: QuoteSamples
    purchases: PurchaseSamples
    invoices: InvoiceSamples

    def example_input(self, operation: Operation, role: Role = Role.OWNER) -> ExampleInput:
        """Return an input of this operation for a person of this role."""
        if operation.name in SCHEDULE_EXAMPLES:
            return SCHEDULE_EXAMPLES[operation.name](self.schedule, role)
        if operation.name in HOURS_EXAMPLES:
            return HOURS_EXAMPLES[operation.name](self.hours, role)
        if operation.name in TALK_EXAMPLES:
            return TALK_EXAMPLES[operation.name](self.talks, role)
        for examples, furnished in self._examples_by_area:
            if operation.name in examples:
                return examples[operation.name](furnished)
        return EXAMPLES[operation.name](self, role)

    @property
    def _examples_by_area(self) -> list[tuple[dict[str, Callable[[Any], ExampleInput]], object]]:
        """The examples that are the same for every role, with the records they use."""
        return [
            (WORK_EXAMPLES, self.work_samples),
            (PRICE_EXAMPLES, self.prices),
            (QUOTE_EXAMPLES, self.quotes),
            (PURCHASE_EXAMPLES, self.purchases),
            (INVOICE_EXAMPLES, self.invoices),
        ]

    def actor_with_key(self, role: Role, access: Access) -> Actor:
        """Return an owner or admin who acts through a key."""
        return actor_with_key(self.cast, self.keys[role, access])


@dataclass(frozen=True)
class DryRun:
    """A performer that rolls every change back and records every statement."""

    performer: Performer
    database: RecordingDatabase
    open: SampleRecords
    lapsed: SampleRecords
    foreign: SampleRecords


def open_dry_run(performer: Performer) -> DryRun:
    """Make three organisations, one of them lapsed, to perform operations on."""
    database = RecordingDatabase(performer.database, commits=False)
    # Nothing is looked up: the webhooks here lead to loopback, where nobody sends anything.
    offline = replace(performer, guard=AddressGuard(allow_private=True))
    all_samples = [make_samples(offline) for _ in range(3)]
    all_samples[1].cast.lapse()
    return DryRun(replace(offline, database=database, wake_worker=lambda: None), database, *all_samples)


def make_samples(performer: Performer) -> SampleRecords:
    """Make an organisation with sample records."""
    cast = make_cast(performer)
    keys = {(role, access): cast.make_key(access, role) for role in (Role.OWNER, Role.ADMIN) for access in Access}
    cast.perform(set_logo, logo="2" * 64)
    # With an idempotency key, so that an answer is kept as well.
    request = RequestDetails(new_id("req"), idempotency_key="kept")
    cast.answer(invite_person, request=request, name="Ian Invited", email="ian@cast.example", role="office")
    with performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT id FROM person WHERE organisation_id = :organisation AND status = 'invited'")
    with performer.database.write_transaction(cast.organisation) as db:
        assert row is not None
        outbox.add_task(
            db,
            make_email_task("ian@cast.example", "Come", "Come.", record_id=str(row[0])),
            moment_text(performer.clock()),
        )
    failed_work = _insert_failed_work(cast)
    client = new_id("client")
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("INSERT INTO oauth_client (id, metadata, created_at) VALUES (:id, '{}', '2026')", id=client)
    connections: dict[Role, str] = {
        role: _approve_connection(cast, role, client) for role in Role if role is not Role.SUBCONTRACTOR
    }
    key = actor_with_key(cast, keys[Role.OWNER, Access.READ]).credential
    webhook, paused = (str(cast.perform(create_webhook, url=RECEIVER_URL)["id"]) for _ in range(2))
    event, delivery = _insert_delivery(cast, webhook)
    set_columns(cast, "webhook", webhook, failing_since=FAILING_SINCE)
    cast.perform(pause_webhook, webhookId=paused)
    work_samples = make_work_samples(cast)
    schedule = make_schedule_samples(cast, work_samples.job)
    hours = make_hours_samples(cast, work_samples.job)
    add_sample_files(cast, work_samples.job)
    prices, quotes = make_price_samples(cast), make_quote_samples(cast, work_samples.customer)
    purchases = make_purchase_samples(cast, prices.supplier, work_samples.job)
    documents = (purchases, make_invoice_samples(cast, work_samples.customer, work_samples.job))
    areas = (work_samples, schedule, hours, prices, quotes, *documents)
    changes = {role: make_undoable_change(cast, role) for role in Role}
    views = {role: make_view(cast, role) for role in Role}
    deleted_views = {role: make_deleted_view(cast, role) for role in Role}
    number = 0
    while not _has_last_moment(cast):
        number += 1
        cast.perform(update_person, personId=cast.people[Role.OWNER], colour=f"#{number:06x}")
    return SampleRecords(
        cast,
        keys,
        key,
        str(row[0]),
        connections,
        webhook,
        paused,
        event,
        delivery,
        failed_work,
        changes,
        views,
        deleted_views,
        make_talk_samples(cast),
        *areas,
    )


def _has_last_moment(cast: Cast) -> bool:
    """Return whether the last event has a moment of its own, so that a moment tells it from those before."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        moments = db.all(
            "SELECT created_at FROM event WHERE organisation_id = :organisation ORDER BY sequence DESC LIMIT 2"
        )
    return len({*moments}) == len(moments)


def _insert_delivery(cast: Cast, webhook: str) -> tuple[str, str]:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        event = db.one("SELECT id, type, created_at FROM event WHERE organisation_id = :organisation LIMIT 1")
        assert event is not None
        record_id, kind, at = map(str, event)
        insert_delivery(db, webhook, record_id, kind, at)
        # Delivered, so that no worker takes it.
        delivery = db.one(
            "UPDATE delivery SET status = 'delivered', due_at = NULL, attempts = 1"
            " WHERE organisation_id = :organisation AND webhook_id = :webhook AND event_id = :event RETURNING id",
            webhook=webhook,
            event=event[0],
        )
        assert delivery is not None
        db.run(
            "INSERT INTO delivery_attempt (organisation_id, delivery_id, number, at, status, duration_ms, answer)"
            " VALUES (:organisation, :delivery, 1, :at, 200, 12, 'Thanks.')",
            delivery=delivery[0],
            at=event[2],
        )
    return str(event[0]), str(delivery[0])


def _insert_failed_work(cast: Cast) -> str:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        outbox.add_task(db, OutboxTask("fax", {"to": "x"}), moment_text(cast.performer.clock()))
        row = db.one(
            "UPDATE outbox SET due_at = NULL, problem = 'No.' WHERE organisation_id = :organisation AND kind = 'fax'"
            " RETURNING id"
        )
    assert row is not None
    return str(row[0])


def _approve_connection(cast: Cast, role: Role, client: str) -> str:
    approved = cast.perform(approve_connection, role, **_connection_input(client))
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE connection SET started_at = created_at WHERE organisation_id = :organisation AND id = :id",
            id=approved["id"],
        )
    return str(approved["id"])


def _connection_input(client: str) -> ExampleInput:
    return {
        "clientId": client,
        "clientName": "App",
        "access": "read",
        "redirectUri": "https://app.example/back",
        "challenge": "x" * 43,
    }


def _find_client(samples: SampleRecords) -> str:
    with samples.cast.performer.database.read_transaction(samples.cast.organisation) as db:
        row = db.one("SELECT client_id FROM connection WHERE organisation_id = :organisation LIMIT 1")
    assert row is not None
    return str(row[0])


def _member_input(samples: SampleRecords, _role: Role) -> ExampleInput:
    return {"personId": samples.cast.people[Role.MEMBER]}


def _work_input(samples: SampleRecords, _role: Role) -> ExampleInput:
    return {"workId": samples.failed_work}


def _webhook_input(samples: SampleRecords, _role: Role) -> ExampleInput:
    return {"webhookId": samples.webhook}


def _own_connection_input(samples: SampleRecords, role: Role) -> ExampleInput:
    return {"connectionId": samples.connections.get(role, samples.connections[Role.OWNER])}


NEW_PERSON: ExampleInput = {"name": "Nina New", "email": "nina@new.example", "role": "member"}
# The address of an account that is there: hashing a password is slow on purpose.
OWNER_WITH_ACCOUNT: ExampleInput = {"ownerName": "Olivia", "ownerEmail": "olivia@cast.example", "password": PASSWORD}

EXAMPLES: dict[str, Callable[[SampleRecords, Role], ExampleInput]] = {
    "get_organisation": lambda *_: {},
    "update_organisation": lambda *_: {"phone": "1"},
    "set_logo": lambda *_: {"logo": "1" * 64},
    "remove_logo": lambda *_: {},
    "get_me": lambda *_: {},
    "list_people": lambda *_: {},
    "get_person": lambda samples, role: {"personId": samples.cast.people[role]},
    "invite_person": lambda *_: NEW_PERSON,
    "update_person": lambda samples, role: {"personId": samples.cast.people[role], "phone": "1"},
    "change_role": lambda samples, role: _member_input(samples, role) | {"role": "office", "confirmed": True},
    "list_saved_views": lambda *_: {"listName": "jobs"},
    "create_saved_view": lambda *_: {"listName": "jobs", "name": "On hold", "query": "status=onHold"},
    "update_saved_view": lambda samples, role: {"savedViewId": samples.views[role], "name": "Very urgent"},
    "delete_saved_view": lambda samples, role: {"savedViewId": samples.views[role]},
    "restore_saved_view": lambda samples, role: {"savedViewId": samples.deleted_views[role]},
    "get_assistant_settings": lambda *_: {},
    "update_assistant_settings": lambda *_: {"assistantDailyTokens": 500_000},
    "undo_change": lambda samples, role: {"changeIds": [samples.changes[role]]},
    "remove_person": lambda samples, role: _member_input(samples, role) | {"confirmed": True},
    "invite_again": lambda samples, _: {"personId": samples.invited},
    "sign_out_person": _member_input,
    "name_owner": lambda samples, _: {"personId": samples.cast.people[Role.MEMBER]},
    "accept_invitation": lambda *_: {"name": "Ian", "password": PASSWORD},
    "list_messages": lambda samples, _: {"about": samples.invited},
    "list_failed_work": lambda *_: {},
    "get_work": _work_input,
    "retry_work": _work_input,
    "drop_work": lambda samples, role: _work_input(samples, role) | {"confirmed": True},
    "create_key": lambda *_: {"name": "Till", "access": "read"},
    "list_keys": lambda *_: {},
    "get_key": lambda samples, _: {"keyId": samples.key},
    "update_key": lambda samples, _: {"keyId": samples.key, "confirmsInOffice": True},
    "revoke_key": lambda samples, _: {"keyId": samples.key},
    "approve_connection": lambda samples, _: _connection_input(_find_client(samples)),
    "list_connections": lambda *_: {},
    "get_connection": _own_connection_input,
    "update_connection": lambda samples, role: _own_connection_input(samples, role) | {"confirmsInOffice": True},
    "revoke_connection": _own_connection_input,
    "start_connection": _own_connection_input,
    "end_connection": lambda samples, role: _own_connection_input(samples, role) | {"reason": "It was given back."},
    "sign_in": lambda *_: {"browser": "Firefox", "carried": [], "ticket": ""},
    "change_password": lambda *_: {"password": PASSWORD, "session": "ses_1"},
    "reset_password": lambda *_: {"password": PASSWORD},
    "list_events": lambda *_: {},
    "create_webhook": lambda *_: {"url": RECEIVER_URL},
    "list_webhooks": lambda *_: {},
    "get_webhook": _webhook_input,
    "update_webhook": lambda samples, role: _webhook_input(samples, role) | {"description": "Till"},
    "pause_webhook": _webhook_input,
    "resume_webhook": lambda samples, _: {"webhookId": samples.paused},
    "disable_webhook": lambda samples, role: (
        _webhook_input(samples, role) | {"url": RECEIVER_URL, "failingSince": FAILING_SINCE, "reason": "It is gone."}
    ),
    "rotate_webhook_secret": _webhook_input,
    "delete_webhook": lambda samples, role: _webhook_input(samples, role) | {"confirmed": True},
    "list_deliveries": _webhook_input,
    "get_delivery": lambda samples, _: {"deliveryId": samples.delivery},
    "redeliver_event": lambda samples, _: {"deliveryId": samples.delivery},
    # What happened last was not sent to it.
    "redeliver_failed": lambda samples, role: (
        _webhook_input(samples, role) | {"since": read_last_event(samples.cast)["createdAt"]}
    ),
    "send_test_event": _webhook_input,
    "list_postings": lambda samples, _: REPORT_EXAMPLES["list_postings"](samples.work_samples.customer),
    "get_customer_balance": lambda samples, _: REPORT_EXAMPLES["get_customer_balance"](samples.work_samples.customer),
    "get_month_end_pack": lambda samples, _: REPORT_EXAMPLES["get_month_end_pack"](samples.work_samples.customer),
    "get_report": lambda samples, _: REPORT_EXAMPLES["get_report"](samples.work_samples.customer),
    "list_documents": lambda samples, _: list_documents_input(samples.cast),
    "get_document": lambda samples, role: document_input(samples.cast, role),
    "add_document": lambda samples, _: add_document_input(samples.cast),
    "request_upload": lambda samples, _: list_documents_input(samples.cast) | {"name": "Plan.pdf"},
    "get_download_link": lambda samples, role: download_link_input(samples.cast, role),
    "remove_document": lambda samples, role: document_input(samples.cast, role) | {"confirmed": True},
    "create_organisation": lambda *_: {"name": "Another", **OWNER_WITH_ACCOUNT},
    "add_person": lambda *_: {"name": "Ian", "email": "ian@cast.example", "role": "office", "password": PASSWORD},
    "create_password_link": _member_input,
    "change_subscription": lambda *_: {"status": "inactive"},
}
