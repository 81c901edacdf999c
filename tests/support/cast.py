"""The cast of every test: an organisation with one person of each role, and a stranger of another one."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from typing import cast as known_as

import orjson

from mainstay.business.organisation.operations import change_subscription
from mainstay.business.people.invitations import add_person, create_organisation
from mainstay.changes.idempotency import Answer
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.keys import create_key
from mainstay.identity.passwords import hash_password
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseHandle, SchemaHandle
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.email_address import fold_address
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Actor, Door, operator_actor
from mainstay.vocabulary.permissions import Access, Role
from support.templates import OrganisationTemplate

_organisation_numbers = itertools.count(1)

# Their accounts are shared by all organisations of an installation.
EMAILS = {
    Role.OWNER: "olivia@cast.example",
    Role.ADMIN: "adam@cast.example",
    Role.OFFICE: "orla@cast.example",
    Role.MEMBER: "mia@cast.example",
    Role.SUBCONTRACTOR: "sam@cast.example",
}
PASSWORD = "a password for the cast"


@dataclass(frozen=True)
class Cast:
    """One organisation and its people."""

    performer: Performer
    organisation: str
    people: dict[Role, str]

    def actor(self, role: Role, access: Access = Access.WRITE, door: Door = Door.API) -> Actor:
        """A person of this role, acting by themselves with what their organisation allows now."""
        with self.performer.database.read_transaction(self.organisation) as db:
            return actor_of_person(db, self.people[role], door)._replace(access=access)

    def perform(self, operation: Operation, actor: Actor | Role = Role.OWNER, /, **given: object) -> dict[str, Any]:
        """Perform an operation and return its answer."""
        result: dict[str, Any] = orjson.loads(self.answer(operation, actor, None, **given).body)
        return result

    def preview(self, operation: Operation, actor: Actor | Role = Role.OWNER, /, **given: object) -> dict[str, Any]:
        """Return the preview of an irreversible operation, without its token."""
        preview = self.perform(operation, actor, **given)
        assert preview.pop("previewToken")
        return preview

    def answer(
        self,
        operation: Operation,
        actor: Actor | Role = Role.OWNER,
        /,
        request: RequestDetails | None = None,
        **given: object,
    ) -> Answer:
        """Perform an operation and return the answer as doors get it."""
        acting = self.actor(actor) if isinstance(actor, Role) else actor
        return self.performer.perform(operation, acting, orjson.dumps(given), request or RequestDetails(new_id("req")))

    def make_key(self, access: Access = Access.WRITE, role: Role = Role.OWNER) -> str:
        """Make an API key of the owner or admin."""
        answer = self.perform(create_key, self.actor(role), name=f"{role} {access}", access=access)
        return str(answer["key"])

    def lapse(self) -> None:
        """Let the subscription lapse."""
        self.perform(change_subscription, operator_actor(self.organisation), status="inactive")

    def renew(self) -> None:
        """Renew the subscription."""
        self.perform(change_subscription, operator_actor(self.organisation), status="active")


def open_accounts(performer: Performer, *emails: str) -> None:
    """Make accounts with the cast's password."""
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        for email in emails:
            db.run(
                "INSERT INTO account (id, email, email_folded, password_hash, created_at)"
                " VALUES (:id, :email, :folded, :hash, :at)",
                id=new_id("acc"),
                email=email,
                folded=fold_address(email),
                hash=hash_password(PASSWORD),
                at=moment_text(performer.clock()),
            )


def make_cast(performer: Performer) -> Cast:
    """Make an organisation with one person of each role: the first by operations, others as copies of it."""
    organisation, name, at = new_id("org"), f"Organisation {next(_organisation_numbers)}", performer.clock()
    # In one transaction and at one moment, because almost every test waits for it.
    with performer.open_batch(organisation) as batch, batch.database.read_transaction(organisation) as db:
        accounts = _find_accounts(db)
        if _first_organisations and len(accounts) == len(EMAILS):
            people = _first_organisations[0].copy(db, name, moment_text(at), accounts)
        else:
            people = _create_people(Cast(replace(batch, clock=lambda: at), organisation, {}), name)
            if len(accounts) == len(EMAILS):
                template = OrganisationTemplate.from_rows(db, performer.database.engine, name, moment_text(at))
                _first_organisations.append(
                    _FirstOrganisation(template, organisation, name, moment_text(at), accounts, people)
                )
        return Cast(performer, organisation, people)


class _FirstOrganisation(NamedTuple):
    """The first organisation whose people had accounts already."""

    template: OrganisationTemplate
    organisation: str
    name: str
    at: str
    accounts: dict[str, str]
    people: dict[Role, str]

    def copy(self, db: DatabaseHandle, name: str, at: str, accounts: dict[str, str]) -> dict[Role, str]:
        """Write a copy of it, and return the ids of its people."""
        replacements = {self.accounts[email]: account for email, account in accounts.items()}
        replacements |= {self.organisation: db.organisation, self.name: name, self.at: at}
        script, replacements = self.template.make_script(replacements)
        known_as("SchemaHandle", db).run_script(script)
        return {role: replacements[person] for role, person in self.people.items()}


_first_organisations: list[_FirstOrganisation] = []


def _find_accounts(db: DatabaseHandle) -> dict[str, str]:
    found = db.all("SELECT email, id FROM account WHERE email LIKE '%@cast.example'")
    return {str(email): str(account) for email, account in found if email in EMAILS.values()}


@contextmanager
def temporary_cast(performer: Performer) -> Iterator[Cast]:
    """Make an organisation for one test, and detach it from accounts and outbox afterwards.

    Its people are taken off their accounts, so that the next who sign in are offered their own organisation and not
    those of thousands of tests, and what is left to do is forgotten.
    """
    cast = make_cast(performer)
    yield cast
    with performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE person SET account_id = NULL WHERE organisation_id = :organisation")
        db.run("DELETE FROM outbox WHERE organisation_id = :organisation")


def _create_people(cast: Cast, name: str) -> dict[Role, str]:
    organisation = cast.organisation
    owner = cast.perform(
        create_organisation,
        operator_actor(organisation),
        name=name,
        ownerName="Olivia Owner",
        ownerEmail=EMAILS[Role.OWNER],
        password=PASSWORD,
    )
    cast.people[Role.OWNER] = owner["id"]
    names = ("Adam Admin", "Orla Office", "Mia Member", "Sam Subcontractor")
    for role, person_name in zip(list(EMAILS)[1:], names, strict=True):
        person = cast.perform(
            add_person, operator_actor(organisation), name=person_name, email=EMAILS[role], role=role, password=PASSWORD
        )
        cast.people[role] = person["id"]
    return cast.people
