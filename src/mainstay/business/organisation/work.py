"""What the house could not do by itself: seen, and then tried again or dropped, by people."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from mainstay.identity.keys import FOR_PEOPLE
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger import outbox
from mainstay.ledger.outbox import EVENT, PREFIX
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Reason
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable, Kept, ListInput, Page, Shown, states
from mainstay.values.fields import LAST_SEEN, id_of


class WorkOut(Shown):
    """A piece of work that the house does by itself."""

    noun = "work"
    place = "/settings/work/{id}"
    states = states(waiting="waiting", failed="bad")

    id: str
    about: str = Field(title="What", description="What it is.")
    status: Literal["waiting", "failed"] = Field(description="`waiting` to be done, or `failed` and not tried again.")
    problem: str | None = Field(description="Why it could not be done the last time.")
    failed_at: str | None = Field(title="Failed", description="When that was.")
    attempts: int = Field(description="How often it was tried.")


class ListFailedWork(ListInput):
    """Which of it to list."""

    starting_after: Annotated[str | None, id_of(PREFIX, "a piece of work")] = LAST_SEEN


class GetWork(Input):
    """Which piece of work."""

    work_id: str = Field(description="The id of the piece of work.")


class RetryWork(Input):
    """Which piece of work."""

    work_id: str = Field(description="The id of the piece of work.")


class DropWork(Irrevocable):
    """Which piece of work."""

    work_id: str = Field(description="The id of the piece of work.")


@dataclass(frozen=True, slots=True)
class Undone(Kept):
    """A piece of work as its rules see it."""

    shown = WorkOut

    about: str
    status: Literal["waiting", "failed"]

    @property
    def called(self) -> str:
        """What it is."""
        return self.about

    def not_failed(self, _by: Actor) -> list[Reason]:
        """Why nobody has to look after it."""
        return [] if self.status == "failed" else [Reason("It has not failed: it is done when its turn comes.")]


WORK = Listing(
    Undone,
    source="outbox",
    what="work",
    prefix=PREFIX,
    id_field="work_id",
    columns={
        "about": f"coalesce(outbox.about, CASE outbox.kind WHEN '{EVENT}' THEN 'What follows something that happened'"
        " ELSE outbox.kind END)",
        "status": "CASE WHEN outbox.due_at IS NULL THEN 'failed' ELSE 'waiting' END",
    },
    listed="outbox.due_at IS NULL",
)


@operation(right=Right.ORGANISATION_CHANGE, effect=Effect.READ, offered=FOR_PEOPLE)
def list_failed_work(ctx: Context, given: ListFailedWork) -> Page[WorkOut]:
    """List what the house could not do, newest first.

    It was tried again and again, or can never be done as things are.
    """
    return WORK.page(ctx, given)


@operation(right=Right.ORGANISATION_CHANGE, effect=Effect.READ, offered=FOR_PEOPLE, on=WORK)
def get_work(_ctx: Context, _given: GetWork, work: Undone) -> Undone:
    """Get one piece of work.

    What it is, and what was in its way.
    """
    return work


@operation(
    right=Right.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    on=WORK,
    unless=Undone.not_failed,
    done="It is tried again now.",
)
def retry_work(ctx: Context, _given: RetryWork, work: Undone) -> Undone:
    """Try again what could not be done.

    At once, and then with growing pauses as if for the first time.
    """
    ctx.pen.touch(work.id)
    return WORK.keep(outbox.put_back(ctx.rows, work.id, ctx.at, WORK.selected))


@operation(
    right=Right.ORGANISATION_CHANGE,
    effect=Effect.IRREVERSIBLE,
    offered=FOR_PEOPLE,
    on=WORK,
    unless=Undone.not_failed,
    done="It is dropped, and never done.",
    ends=True,
)
def drop_work(ctx: Context, _given: DropWork, work: Undone) -> Undone:
    """Drop what could not be done.

    It is never tried again.
    """
    ctx.summary = f"This is never done: {work.about}."
    outbox.drop(ctx.rows, work.id)
    ctx.pen.touch(work.id)
    return work


OPERATIONS = (list_failed_work, get_work, retry_work, drop_work)
