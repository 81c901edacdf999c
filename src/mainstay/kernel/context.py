"""What an operation is given: the database of one organisation, the actor, the time, and where to emit events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from mainstay.changes.outbox import OutboxTask
from mainstay.changes.record_writer import RecordWriter
from mainstay.changes.undo import Inverse
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.event import Event
from mainstay.kernel.program_links import ProgramLinks
from mainstay.values.memo import CachedValue
from mainstay.values.message import NO_TEXT, PROGRAM_FORMAT, Message, MessageFormat, ShownMessage
from mainstay.values.moments import moment_text
from mainstay.values.money import minor_to_price
from mainstay.values.reader_language import ENGLISH_ONLY, Languages
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.agent_json import AgentFormat
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Stale
from mainstay.vocabulary.schemas import StoredRecord


class RequestDetails(NamedTuple):
    """What a door knows about a request besides its input."""

    id: str
    # The versions that `If-Match` allows; None if it was not sent.
    if_match_versions: frozenset[int] | None = None
    idempotency_key: str | None = None
    # The name under which the client sent that key, for error messages.
    idempotency_field: str = "Idempotency-Key"
    # Whether a change is only to be previewed.
    dry_run: bool = False
    # The id of the question by which a person confirmed the operation; it counts once.
    question_id: str | None = None
    # Whether the person confirmed it in the office.
    confirmed_in_office: bool = False
    # Whether the person can be asked before an undo performs what is irreversible; then it is only previewed.
    asks_person: bool = False
    # The token of the preview that the person confirmed.
    preview_token: str | None = None
    # Whether a list is shown on a page: then it includes the actions of each record, and the number of records.
    with_actions: bool = False
    # Whether to answer with the record only, without its actions: then a command need not load all operations.
    record_only: bool = False
    # If several records are changed: the version of each that the client last read, by its id.
    expected_versions: Mapping[str, int] = MappingProxyType({})
    # How the messages in the answer are rendered.
    message_format: MessageFormat = PROGRAM_FORMAT
    # How records in the answer are shown to an agent; None shows them as to programs.
    agent_format: AgentFormat | None = None


class KnownCatalogue(Protocol):
    """What an operation may need to know of the catalogue."""

    @property
    def event_names(self) -> frozenset[str]:
        """The names of all events."""

    @property
    def record_stores(self) -> Mapping[str, tuple[Any, Permission]]:
        """The `RecordStore` of each kind of record, and the permission to read it, by the prefix of its ids."""

    def find_record_stores(self, actor: Actor) -> Mapping[str, tuple[Any, Permission]]:
        """Return the stores of the kinds of records in the areas of an actor."""

    def find_operation(self, name: str) -> Any:
        """Return the operation with this name, or None."""

    def react_immediately(self, ctx: "Context", event: type[Event], record: StoredRecord) -> None:
        """Run the immediate reactions to an event, in the same transaction."""


class SavedRecord(NamedTuple):
    """A record before and after it was written; None if it was not there."""

    before: StoredRecord | None
    after: StoredRecord | None


def _refuse_links() -> bytes:
    raise RuntimeError("Only a Performer's context makes links.")


_NO_LINKS = ProgramLinks(_refuse_links, "")
# Stands for the link in the message of an email.
LINK_PLACEHOLDER = "{link}"


class PreviewedEmail(NamedTuple):
    """The email that an operation sends, for its preview."""

    to: list[str]
    cc: list[str]
    subject: str
    message: str

    def describe(self) -> list[Message]:
        """Return the sentences about it in a preview: to whom it goes, and what it says."""
        return [
            *(Message("Email to {address}: {subject}", address=address, subject=self.subject) for address in self.to),
            *(Message("Copy to {address}", address=address) for address in self.cc),
            Message("The email says:\n{text}", text=self.message.replace(LINK_PLACEHOLDER, "[link]")),
        ]


@dataclass
class Context:
    """The surroundings of one operation."""

    db: DatabaseHandle
    actor: Actor
    request: RequestDetails
    clock: Callable[[], datetime]
    # The catalogue; and the address of the office.
    catalogue: KnownCatalogue | None = None
    base_url: str = ""
    # What the operation's `prepare` returned before the transaction began.
    prepared: Any = None
    # The first sentence of a preview, besides its effects and warnings.
    summary: ShownMessage = NO_TEXT
    # The email that it sends, if it sends only one.
    email: PreviewedEmail | None = None
    # How many bytes of files the organisation may store.
    storage_limit: int = 0
    # Makes the secrets of links for programs.
    program_links: ProgramLinks = _NO_LINKS
    # Whether a change is being undone: then a line that was removed gets the id that it had.
    is_undoing: bool = False
    # Whether a program undoes a change that it did not make itself, by an irreversible operation.
    needs_person: bool = False
    # How the undoing of a change is undone in turn: the operations, or the reason why it cannot be.
    redo: Sequence[Inverse] | Message = ()
    # What it has committed the organisation to so far, in 1/10,000 of its currency.
    committed: int = 0
    # The languages of the installation, for emails to people of the organisation.
    languages: Languages = ENGLISH_ONLY

    def __post_init__(self) -> None:
        self.db.me, self.db.now = self.actor.id or self.actor.linked_record, lambda: self.now_text

    @property
    def event_names(self) -> frozenset[str]:
        """The names of all events."""
        return self.catalogue.event_names if self.catalogue else frozenset()

    # Most operations only read and need none of these lists, so each is created when it is first used.
    @CachedValue
    def events(self) -> list[Event]:
        """The events that were emitted."""
        return []

    @CachedValue
    def tasks(self) -> list[OutboxTask]:
        """The tasks for the worker after the commit."""
        return []

    @CachedValue
    def effects(self) -> list[ShownMessage]:
        """What the operation does, in sentences for a preview."""
        return []

    @CachedValue
    def warnings(self) -> list[ShownMessage]:
        """What people should know before they confirm, or should check afterwards."""
        return []

    @CachedValue
    def extra_records(self) -> dict[str, StoredRecord]:
        """Other records that the operation created or changed; the answer includes them under these names."""
        return {}

    @CachedValue
    def saved(self) -> list[SavedRecord]:
        """The records that were written, in this order."""
        return []

    @CachedValue
    def now(self) -> datetime:
        """The time of the operation: the same for everything it does."""
        return self.clock()

    @CachedValue
    def now_text(self) -> str:
        """The time of the operation as it is stored."""
        return moment_text(self.now)

    @CachedValue
    def stamp(self) -> str:
        """The actor as JSON, stored with every record that the operation changes."""
        return self.actor.stamp

    @CachedValue
    def writer(self) -> RecordWriter:
        """The writer of records, which stamps them with the time and the actor."""
        return RecordWriter(self.db, self.now_text, self.stamp)

    def check_version(self, version: int) -> None:
        """Raise `Stale` if the client named versions of the record with `If-Match`, but not this one."""
        if self.request.if_match_versions is not None and version not in self.request.if_match_versions:
            raise Stale

    def check_versions(self, versions: Mapping[str, int]) -> None:
        """Raise `Stale` if the versions of these records, by id, are not those that the client last read."""
        for version in versions.values():
            self.check_version(version)
        if changed := [
            record for record, expected in self.request.expected_versions.items() if versions.get(record) != expected
        ]:
            raise Stale(changed)

    def commit_amount(self, amount: int, currency: str) -> None:
        """Note an amount in minor units to which the operation commits the organisation; see `amount_limit`."""
        self.committed += abs(minor_to_price(amount, currency))

    def emit(self, event: Event) -> None:
        """Store an event with the change. It is sent to webhooks after the commit."""
        self.events.append(event)

    def react_immediately(self, event: type[Event], record: StoredRecord) -> None:
        """Run the immediate reactions to an event, before the event is emitted with the record."""
        if self.catalogue:
            self.catalogue.react_immediately(self, event, record)

    def add_task(self, task: OutboxTask) -> None:
        """Add a task for the worker to do after the commit."""
        self.tasks.append(task)
