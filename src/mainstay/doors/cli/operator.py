"""The operator's hands: finding organisations and people by what people call them, and performing operations."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

import orjson

from mainstay.backing.database import EVERY, Handle
from mainstay.backing.files import Files
from mainstay.business.organisation import store as organisations
from mainstay.doors.cli.telling import Outcome
from mainstay.identity.links import LinkMaker
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.late import late
from mainstay.ledger import outbox
from mainstay.terms.actor import Actor, Door, operator
from mainstay.terms.refusal import Conflict, NotFound
from mainstay.webhooks.signature import Signer


@dataclass(frozen=True, slots=True)
class Operator:
    """Acts on a stage from the command line; what only some commands need is imported by those."""

    stage: Stage
    open_signer: Callable[[], Signer]
    base_url: str
    files: Files
    open_link_maker: Callable[[], LinkMaker]

    def perform(self, operation: Operation, actor: Actor, **given: object) -> Outcome:
        """Perform an operation; what it answered."""
        envelope = Envelope(id="cli_" + secrets.token_hex(10), bare=True)
        answer = self.stage.perform(operation, actor, orjson.dumps(given), envelope)
        result: Outcome = orjson.loads(answer.body)
        return result

    def every(self, listing: Operation, actor: Actor, **given: object) -> list[Outcome]:
        """All that a list has, page by page."""
        found: list[Outcome] = []
        while True:
            behind = {"startingAfter": found[-1]["id"]} if found else {}
            page = self.perform(listing, actor, limit=100, **behind, **given)
            found += page["data"]
            if not page["hasMore"]:
                return found

    def in_organisation(self, text: str) -> Actor:
        """The operator, acting in the organisation with this id or name."""
        return operator(self._one("organisation", EVERY, organisations.find_called, text))

    def as_person(self, organisation: str, text: str) -> Actor:
        """The person with this id, e-mail address or name, acting by their own rights."""
        person = self.person(organisation, text)
        with self.stage.database.reading(organisation) as rows:
            acting: Actor = late("mainstay.identity.authenticate").actor_of_person(rows, person, Door.CLI)
            return acting

    def person(self, organisation: str, text: str) -> str:
        """The id of the person with this id, e-mail address or name."""
        return self._one("person", organisation, late("mainstay.business.people.store").find_called, text)

    def has_account(self, email: str) -> bool:
        """Whether someone signs in with this address already; then no password of ours is set."""
        with self.stage.database.reading(EVERY) as rows:
            return late("mainstay.identity.signing_in").look_up(rows, email).account is not None

    def organisation_of_key(self, key: str) -> Actor:
        """The operator, acting in the organisation that a key belongs to."""
        return operator(self._one("API key", EVERY, late("mainstay.identity.keys").find_organisation, key))

    def organisation_of_webhook(self, webhook: str) -> Actor:
        """The operator, acting in the organisation that a webhook belongs to."""
        return operator(self._one("webhook", EVERY, late("mainstay.webhooks.store").find_organisation, webhook))

    def organisation_of_work(self, work: str) -> Actor:
        """The operator, acting in the organisation that a piece of failed work belongs to."""
        return operator(self._one("failed work", EVERY, outbox.find_organisations, work))

    def _one(self, what: str, organisation: str, find: Callable[[Handle, str], list[str]], text: str) -> str:
        with self.stage.database.reading(organisation) as rows:
            found = find(rows, text)
        if not found:
            raise NotFound(what)
        if len(found) > 1:
            raise Conflict(f"More than one {what} is called {text!r}; use the id.")
        return found[0]
