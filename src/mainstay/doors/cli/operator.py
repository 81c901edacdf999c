"""Performs operations for the commands, and finds organisations and people by id or name."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.business.organisation import store as organisations
from mainstay.changes import outbox
from mainstay.identity.links import LinkMaker
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseHandle
from mainstay.infrastructure.files import FileStore
from mainstay.kernel.json_performer import JsonPerformer
from mainstay.kernel.operation import Operation
from mainstay.lazy_import import import_lazily
from mainstay.values.json_object import JsonObject
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door, operator_actor
from mainstay.vocabulary.refusal import Conflict, NotFound
from mainstay.webhooks.signature import Signer


@dataclass(frozen=True, slots=True)
class Operator(JsonPerformer):
    """Performs operations from the command line; modules that only some commands need are imported on first use."""

    open_signer: Callable[[], Signer]
    base_url: str
    files: FileStore
    open_link_maker: Callable[[], LinkMaker]

    def list_all(self, list_operation: Operation, actor: Actor, **given: object) -> list[JsonObject]:
        """Return all records of a list, page by page."""
        records: list[JsonObject] = []
        while True:
            after = {"startingAfter": records[-1]["id"]} if records else {}
            page = self.perform(list_operation, actor, limit=100, **after, **given)
            records += page["data"]
            if not page["hasMore"]:
                return records

    def act_in_organisation(self, text: str) -> Actor:
        """Return the operator as actor in the organisation with this id or name."""
        return operator_actor(self._find_one("organisation", ALL_ORGANISATIONS, organisations.find_by_name, text))

    def act_as_person(self, organisation: str, text: str) -> Actor:
        """Return the person with this id, email address or name as actor, with their own permissions."""
        person = self.find_person_id(organisation, text)
        with self.performer.database.read_transaction(organisation) as db:
            acting: Actor = import_lazily("mainstay.identity.authenticate").actor_of_person(db, person, Door.CLI)
            return acting

    def find_person_id(self, organisation: str, text: str) -> str:
        """Return the id of the person with this id, email address or name."""
        return self._find_one(
            "person", organisation, import_lazily("mainstay.business.people.store").find_by_name, text
        )

    def has_account(self, email: str) -> bool:
        """Return whether an account has this address; its password is then not changed."""
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return import_lazily("mainstay.identity.sign_in").look_up_address(db, email).account is not None

    def act_for_key(self, key: str) -> Actor:
        """Return the operator as actor in the organisation of an API key."""
        return operator_actor(
            self._find_one("API key", ALL_ORGANISATIONS, import_lazily("mainstay.identity.keys").find_organisation, key)
        )

    def act_for_webhook(self, webhook_id: str) -> Actor:
        """Return the operator as actor in the organisation of a webhook."""
        return operator_actor(
            self._find_one(
                "webhook", ALL_ORGANISATIONS, import_lazily("mainstay.webhooks.store").find_organisation, webhook_id
            )
        )

    def act_for_failed_work(self, work: str) -> Actor:
        """Return the operator as actor in the organisation of a failed task."""
        return operator_actor(
            self._find_one("failed task", ALL_ORGANISATIONS, outbox.find_organisations_with_failures, work)
        )

    def _find_one(
        self, what: str, organisation: str, find: Callable[[DatabaseHandle, str], list[str]], text: str
    ) -> str:
        with self.performer.database.read_transaction(organisation) as db:
            found = find(db, text)
        if not found:
            raise NotFound(what)
        if len(found) > 1:
            raise Conflict(
                Message("There is more than one {record} called '{name}'. Use the ID.", record=what, name=text)
            )
        return found[0]
