"""The cast of every test: an organisation with one person of each role, and a stranger of another one."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from typing import cast as known_as

import orjson

from mainstay.backing.database import EVERY, Handle, SchemaHandle
from mainstay.business.organisation.operations import change_subscription
from mainstay.business.people.joining import add_person, create_organisation
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.keys import create_key
from mainstay.identity.passwords import hash_password
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.ledger.replay import Answer
from mainstay.terms.actor import Actor, Door, operator
from mainstay.terms.rights import Access, Role
from mainstay.values.ids import new_id
from mainstay.values.mailbox import fold_address
from mainstay.values.moments import moment_text
from mould import Mould

_numbers = itertools.count(1)

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

    stage: Stage
    organisation: str
    people: dict[Role, str]

    def actor(self, role: Role, access: Access = Access.WRITE, door: Door = Door.API) -> Actor:
        """A person of this role, acting by themselves with what their organisation allows now."""
        with self.stage.database.reading(self.organisation) as rows:
            return actor_of_person(rows, self.people[role], door)._replace(access=access)

    def perform(self, operation: Operation, actor: Actor | Role = Role.OWNER, /, **given: object) -> dict[str, Any]:
        """Perform an operation; what it answered."""
        result: dict[str, Any] = orjson.loads(self.answer(operation, actor, None, **given).body)
        return result

    def answer(
        self,
        operation: Operation,
        actor: Actor | Role = Role.OWNER,
        /,
        request: Envelope | None = None,
        **given: object,
    ) -> Answer:
        """Perform an operation; the answer as doors get it."""
        acting = self.actor(actor) if isinstance(actor, Role) else actor
        return self.stage.perform(operation, acting, orjson.dumps(given), request or Envelope(new_id("req")))

    def key(self, access: Access = Access.WRITE, role: Role = Role.OWNER) -> str:
        """A new API key of the owner or admin."""
        made = self.perform(create_key, self.actor(role), name=f"{role} {access}", access=access)
        return str(made["key"])

    def lapse(self) -> None:
        """Let the subscription lapse."""
        self.perform(change_subscription, operator(self.organisation), status="inactive")

    def renew(self) -> None:
        """Renew the subscription."""
        self.perform(change_subscription, operator(self.organisation), status="active")


def open_accounts(stage: Stage, *emails: str) -> None:
    """Accounts with the cast's password, for whoever becomes a person later."""
    with stage.database.changing(EVERY) as rows:
        for email in emails:
            rows.run(
                "INSERT INTO account (id, email, email_folded, password_hash, created_at)"
                " VALUES (:id, :email, :folded, :hash, :at)",
                id=new_id("acc"),
                email=email,
                folded=fold_address(email),
                hash=hash_password(PASSWORD),
                at=moment_text(stage.clock()),
            )


def assemble(stage: Stage) -> Cast:
    """A new organisation with one person of each role: the first is made by operations, others are copied from it."""
    organisation, name, at = new_id("org"), f"Organisation {next(_numbers)}", stage.clock()
    # At once, and of one moment: every test that stands on a database waits for it.
    with stage.together(organisation) as one, one.database.reading(organisation) as rows:
        accounts = _accounts(rows)
        if _firsts and len(accounts) == len(EMAILS):
            people = _firsts[0].copy(rows, name, moment_text(at), accounts)
        else:
            people = _join(Cast(replace(one, clock=lambda: at), organisation, {}), name)
            if len(accounts) == len(EMAILS):
                mould = Mould.of(rows, stage.database.engine, name, moment_text(at))
                _firsts.append(_First(mould, organisation, name, moment_text(at), accounts, people))
        return Cast(stage, organisation, people)


class _First(NamedTuple):
    """The first organisation whose people had accounts already."""

    mould: Mould
    organisation: str
    name: str
    at: str
    accounts: dict[str, str]
    people: dict[Role, str]

    def copy(self, rows: Handle, name: str, at: str, accounts: dict[str, str]) -> dict[Role, str]:
        """Write another just like it; its people."""
        known = {self.accounts[email]: account for email, account in accounts.items()}
        known |= {self.organisation: rows.organisation, self.name: name, self.at: at}
        script, known = self.mould.copy(known)
        known_as("SchemaHandle", rows).script(script)
        return {role: known[person] for role, person in self.people.items()}


_firsts: list[_First] = []


def _accounts(rows: Handle) -> dict[str, str]:
    found = rows.all("SELECT email, id FROM account WHERE email LIKE '%@cast.example'")
    return {str(email): str(account) for email, account in found if email in EMAILS.values()}


@contextmanager
def passing(stage: Stage) -> Iterator[Cast]:
    """A new organisation that is in nobody's way afterwards.

    Its people are taken off their accounts, so that the next who sign in are offered their own organisation and not
    those of thousands of tests, and what is left to do is forgotten.
    """
    cast = assemble(stage)
    yield cast
    with stage.database.changing(cast.organisation) as rows:
        rows.run("UPDATE person SET account_id = NULL WHERE organisation_id = :organisation")
        rows.run("DELETE FROM outbox WHERE organisation_id = :organisation")


def _join(cast: Cast, name: str) -> dict[Role, str]:
    organisation = cast.organisation
    owner = cast.perform(
        create_organisation,
        operator(organisation),
        name=name,
        ownerName="Olivia Owner",
        ownerEmail=EMAILS[Role.OWNER],
        password=PASSWORD,
    )
    cast.people[Role.OWNER] = owner["id"]
    names = ("Adam Admin", "Orla Office", "Mia Member", "Sam Subcontractor")
    for role, called in zip(list(EMAILS)[1:], names, strict=True):
        person = cast.perform(
            add_person, operator(organisation), name=called, email=EMAILS[role], role=role, password=PASSWORD
        )
        cast.people[role] = person["id"]
    return cast.people
