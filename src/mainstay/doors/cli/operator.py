"""The operator's hands: finding organisations and people by what people call them, and performing operations."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.backing.database import EVERY, Value
from mainstay.identity.authenticate import actor_of_person
from mainstay.kernel.actor import Actor, Door, operator
from mainstay.kernel.context import Request
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.kernel.refusal import Conflict, NotFound
from mainstay.webhooks.signature import Signer


@dataclass(frozen=True, slots=True)
class Operator:
    """Acts on a stage from the command line."""

    stage: Stage
    open_signer: Callable[[], Signer]
    base_url: str

    def perform(self, operation: Operation, actor: Actor, **given: object) -> dict[str, Any]:
        """Perform an operation; what it answered."""
        request = Request(id="cli_" + secrets.token_hex(10))
        answer = self.stage.perform(operation, actor, orjson.dumps(given), request)
        result: dict[str, Any] = orjson.loads(answer.body)
        return result

    def in_organisation(self, text: str) -> Actor:
        """The operator, acting in the organisation with this id or name."""
        return operator(
            self._one(
                "organisation",
                EVERY,
                "SELECT id, name FROM organisation WHERE id = :text OR lower(name) = lower(:text) LIMIT 2",
                text,
            )
        )

    def as_person(self, organisation: str, text: str) -> Actor:
        """The person with this id, e-mail address or name, acting by their own rights."""
        person = self.person(organisation, text)
        with self.stage.database.reading(organisation) as rows:
            return actor_of_person(rows, person, Door.CLI)

    def person(self, organisation: str, text: str) -> str:
        """The id of the person with this id, e-mail address or name."""
        return self._one(
            "person",
            organisation,
            "SELECT id, name FROM person WHERE organisation_id = :organisation"
            " AND (id = :text OR email_folded = :folded OR lower(name) = lower(:text)) LIMIT 2",
            text,
        )

    def has_account(self, email: str) -> bool:
        """Whether someone signs in with this address already; then no password of ours is set."""
        with self.stage.database.reading(EVERY) as rows:
            return rows.one("SELECT 1 FROM account WHERE email = :email", email=email.casefold()) is not None

    def organisation_of_key(self, key: str) -> Actor:
        """The operator, acting in the organisation that a key belongs to."""
        return operator(self._one("API key", EVERY, "SELECT organisation_id FROM api_key WHERE id = :text", key))

    def organisation_of_webhook(self, webhook: str) -> Actor:
        """The operator, acting in the organisation that a webhook belongs to."""
        return operator(self._one("webhook", EVERY, "SELECT organisation_id FROM webhook WHERE id = :text", webhook))

    def _one(self, what: str, organisation: str, sql: str, text: str) -> str:
        with self.stage.database.reading(organisation) as rows:
            found: list[tuple[Value, ...]] = list(rows.all(sql, text=text, folded=text.casefold()))
        if not found:
            raise NotFound(what)
        if len(found) > 1:
            raise Conflict(f"More than one {what} is called {text!r}; use the id.")
        return str(found[0][0])
