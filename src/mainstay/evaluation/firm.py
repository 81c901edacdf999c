"""The firm in which each task is done: a sample firm at a fixed moment, made once and copied for each task."""

import base64
import hashlib
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from mainstay.business.people.operations import list_people
from mainstay.business.people.store import PEOPLE
from mainstay.business.records.activity import list_activity
from mainstay.composition import open_files, open_performer
from mainstay.demo.performing import DemoPace, DemoPerformer
from mainstay.demo.sample import SampleOwner, make_sample_firm
from mainstay.evaluation.task_records import TaskRecords
from mainstay.identity import accounts, sessions
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.clients import register_client
from mainstay.identity.connections import approve_connection
from mainstay.identity.tokens import TokenIssuer
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.json_performer import JsonPerformer
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from mainstay.values.ids import new_id
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.actor import Actor, Door, operator_actor
from mainstay.vocabulary.permissions import Access, Permission

# A Wednesday at nine in London. The clock of the firm stands still, so that all figures are known.
NOW = datetime(2026, 11, 18, 9, tzinfo=UTC)
OWNER, OFFICE, MEMBER = "Ruth", "Priya", "Tom"
_AT_ONCE = DemoPace(60.0, 0.0)
_CALLBACK = "http://127.0.0.1/callback"


def read_clock() -> datetime:
    """Return the moment at which all tasks are done."""
    return NOW


class AuditedChange(NamedTuple):
    """A change to the records of the firm, from its audit trail."""

    number: int
    operation: str
    given: JsonObject


class NotOneRecord(Exception):
    """A list does not have exactly one record."""

    def __init__(self, operation: Operation, given: dict[str, object], count: int) -> None:
        filters = " and ".join(f"{name} {value!r}" for name, value in given.items())
        super().__init__(f"{operation.name} finds {count} records with {filters}, not one.")


@dataclass(frozen=True)
class Firm:
    """A copy of the firm, for one task."""

    settings: Settings
    performer: Performer
    organisation: str
    # The ids of its people, by first name, and the tokens with which apps act for those who ask.
    people: dict[str, str]
    tokens: dict[str, str]

    def act_as(self, first_name: str, door: Door = Door.OFFICE) -> Actor:
        """Return a person as an actor."""
        with self.performer.database.read_transaction(self.organisation) as db:
            return actor_of_person(db, self.people[first_name], door)

    def read(self, operation: Operation, **given: object) -> JsonObject:
        """Return what an operation answers the owner."""
        return JsonPerformer(self.performer).perform(operation, self.act_as(OWNER), **given)

    def list_all(self, operation: Operation, **given: object) -> list[JsonObject]:
        """Return the records of a list that the owner sees."""
        records: list[JsonObject] = []
        while True:
            after = {"startingAfter": records[-1]["id"]} if records else {}
            page = self.read(operation, limit=100, **given, **after)
            records += page["data"]
            if not page["hasMore"]:
                return records

    def find_one(self, operation: Operation, **given: object) -> JsonObject:
        """Return the only record of a list."""
        records = self.list_all(operation, **given)
        if len(records) != 1:
            raise NotOneRecord(operation, given, len(records))
        return records[0]

    def last_change(self) -> int:
        """Return the number of the newest change."""
        return int(self.read(list_activity, limit=1)["data"][0]["id"])

    def changes_since(self, number: int) -> list[AuditedChange]:
        """Return the changes after this one, the oldest first."""
        newest = self.read(list_activity, limit=100)["data"]
        changes = [AuditedChange(int(entry["id"]), entry["operation"], entry["given"] or {}) for entry in newest]
        return [change for change in reversed(changes) if change.number > number]


@dataclass(frozen=True)
class FirmTemplate:
    """The firm as it is before every task."""

    settings: Settings
    organisation: str
    people: dict[str, str]
    tokens: dict[str, str]

    @classmethod
    def make(cls, settings: Settings) -> "FirmTemplate":
        """Make the firm in the data folder of these settings, with its records and the access of apps."""
        performer = open_performer(settings, read_clock)
        try:
            organisation = new_id("org")
            owner = SampleOwner("Ruth Hartley", "ruth@hartley.example")
            make_sample_firm(performer, organisation, owner, lambda _: None, _AT_ONCE)
            people = _read_people(performer, organisation)
            for name in (OWNER, OFFICE, MEMBER):
                _give_account(performer, organisation, people[name])
            with performer.database.read_transaction(organisation) as db:
                actors = {name: actor_of_person(db, people[name], Door.OFFICE) for name in (OWNER, OFFICE, MEMBER)}
            # In one transaction, because a commit for each record would double the time.
            with performer.open_batch(organisation) as batch:
                demo_performer = DemoPerformer(JsonPerformer(batch))
                TaskRecords(demo_performer, actors[OFFICE], people, open_files(settings)).add_all()
            tokens = {name: _connect_app(performer, actor) for name, actor in actors.items()}
        finally:
            performer.database.close()
        return cls(settings, organisation, people, tokens)

    @contextmanager
    def open_copy(self, folder: Path) -> Iterator[Firm]:
        """Copy the firm into a new folder, and remove it at the end."""
        settings = replace(self.settings, data=folder)
        shutil.copytree(self.settings.data, folder)
        performer = open_performer(settings, read_clock)
        try:
            yield Firm(settings, performer, self.organisation, self.people, self.tokens)
        finally:
            performer.database.close()
            shutil.rmtree(folder)


def _give_account(performer: Performer, organisation: str, person_id: str) -> None:
    """Give a person an account, unless they have one: the built-in assistant works while its person is signed in."""

    def give(ctx: Context) -> None:
        person = PEOPLE.fetch(ctx, person_id)
        if not sessions.find_account(ctx.db, person_id):
            PEOPLE.save(ctx, person, {"account_id": accounts.insert(ctx, person.email, "")})

    actor = operator_actor(organisation)
    performer.perform_function(actor, "give_account", {"person": person_id}, give, RequestDetails("evaluation"))


def _read_people(performer: Performer, organisation: str) -> dict[str, str]:
    page = JsonPerformer(performer).perform(list_people, operator_actor(organisation), limit=100)
    return {person["name"].partition(" ")[0]: person["id"] for person in page["data"]}


def _connect_app(performer: Performer, actor: Actor) -> str:
    """Connect an app for a person, as its sign-in does, and return its access token."""
    metadata: dict[str, Any] = {
        "client_name": "Evaluated agent",
        "redirect_uris": [_CALLBACK],
        "token_endpoint_auth_method": "none",
    }
    client, _ = register_client(performer.database, metadata, NOW)
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    # Someone from the field can only connect an app that reads.
    access = Access.WRITE if actor.can(Permission.CONNECTIONS_WRITE) else Access.READ
    approval = JsonPerformer(performer).perform(
        approve_connection,
        actor,
        clientId=client.id,
        clientName=client.name,
        access=access,
        redirectUri=_CALLBACK,
        challenge=base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
    )
    return TokenIssuer(performer).redeem_code(client, approval["code"], _CALLBACK, verifier, new_id("request")).access
