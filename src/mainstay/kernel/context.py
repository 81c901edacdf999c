"""What an operation is handed: the rows of its organisation, who asks, the time, and where to say what happened."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mainstay.backing.database import Handle
from mainstay.kernel.event import Event
from mainstay.ledger.outbox import Letter
from mainstay.ledger.saving import Pen
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import NotFound, Stale
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Kept
from mainstay.values.moments import moment_text
from mainstay.values.once import MadeOnce

if TYPE_CHECKING:
    from mainstay.kernel.listing import Listing


class Envelope(NamedTuple):
    """What a door knows of a request beside its input."""

    id: str
    # The versions that `If-Match` allows; None when it was not sent.
    versions: frozenset[int] | None = None
    replay_key: str | None = None
    # What the one who asks calls that key.
    replay_field: str = "Idempotency-Key"
    # Whether a list is for a page, where each record says what can be done with it, and the list how long it is.
    actions: bool = False
    # Whether a record is wanted by itself, without what else can be done: a command need not know all operations.
    bare: bool = False


class Known(Protocol):
    """What an act may have to know of all that the house can do."""

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of events."""

    @property
    def listings(self) -> Mapping[str, tuple["Listing[Kept]", Right]]:
        """How each kind of record is read, and who may, by the prefix of its ids."""

    def carry_out(self, ctx: "Context", event: type[Event], record: Kept) -> None:
        """Do what follows an event in the same change."""


@dataclass
class Context:
    """The surroundings of one act."""

    rows: Handle
    actor: Actor
    envelope: Envelope
    clock: Callable[[], datetime]
    # All that the house can do; and the address of the office.
    known: Known | None = None
    base_url: str = ""
    # What was found out or made before the change began; whatever the operation's `ahead` gave.
    ahead: Any = None
    # What a preview tells of an act that cannot be undone, beside its effects and warnings.
    summary: str = ""
    # How many bytes of files the organisation may store.
    storage_limit: int = 0

    def __post_init__(self) -> None:
        self.rows.me, self.rows.now = self.actor.id or self.actor.about, lambda: self.at

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of events there are."""
        return self.known.kinds if self.known else frozenset()

    @property
    def listings(self) -> Mapping[str, tuple["Listing[Kept]", Right]]:
        """How records of each kind are read and by whom, by the prefix of their ids."""
        return self.known.listings if self.known else {}

    # Most acts are readings, of which there is nothing to tell: these lists are made where something is.
    @MadeOnce
    def events(self) -> list[Event]:
        """What happened."""
        return []

    @MadeOnce
    def letters(self) -> list[Letter]:
        """What the worker is to do after the commit."""
        return []

    @MadeOnce
    def effects(self) -> list[str]:
        """What would happen, in words."""
        return []

    @MadeOnce
    def warnings(self) -> list[str]:
        """What should be known before, or is worth a look behind it."""
        return []

    @MadeOnce
    def attached(self) -> dict[str, Kept]:
        """Other records that the act made or changed, which its answer shows by these names."""
        return {}

    @MadeOnce
    def now(self) -> datetime:
        """The moment of the act: the same for everything it does."""
        return self.clock()

    @MadeOnce
    def at(self) -> str:
        """The moment of the act as it is kept."""
        return moment_text(self.now)

    @MadeOnce
    def stamp(self) -> str:
        """Who acts, as it is kept on what the act changes."""
        return self.actor.stamp

    @MadeOnce
    def pen(self) -> Pen:
        """What writes records, with the moment and the one who acts on them."""
        return Pen(self.rows, self.at, self.stamp)

    def fetch_any(self, identity: str) -> Kept:
        """The record of this id or this number, of whatever kind it is, if the one who asks may see it."""
        kind = self.listings.get(identity.partition("_")[0])
        for listing, right in [kind] if kind else self.listings.values():
            if self.actor.may(right) and (kind or listing.number):
                with suppress(NotFound):
                    record = listing.fetch_whole(self, identity)
                    # Of some kinds there is only one, whatever it is asked for by.
                    if record.id == identity or listing.number:
                        return record
        raise NotFound("record")

    def expect(self, version: int) -> None:
        """Go on only if the one who asks knows this version of the record, or did not say."""
        if self.envelope.versions is not None and version not in self.envelope.versions:
            raise Stale

    def record(self, event: Event) -> None:
        """Tell what happened: kept with the change, sent out after it."""
        self.events.append(event)

    def carry_out(self, event: type[Event], record: Kept) -> None:
        """Do what follows an event at once, before the event tells of the record."""
        if self.known:
            self.known.carry_out(self, event, record)

    def post(self, letter: Letter) -> None:
        """Have the worker do something after the commit."""
        self.letters.append(letter)
