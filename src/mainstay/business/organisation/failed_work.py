"""Background tasks that failed: people can look at them, retry them or drop them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from mainstay.changes import outbox
from mainstay.changes.outbox import EVENT, TASK_PREFIX
from mainstay.identity.keys import PEOPLE_DOORS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import RecordStore
from mainstay.values.fields import STARTING_AFTER, make_id_validator
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.schemas import (
    Input,
    IrreversibleInput,
    ListInput,
    Output,
    PageResult,
    StoredRecord,
    make_states,
)


class WorkOut(Output):
    """A piece of work that the house does by itself."""

    noun = "work"
    office_path = "/settings/work/{id}"
    states = make_states(waiting="waiting", failed="bad")

    id: str
    about: str = Field(title="What", description="What it is.")
    status: Literal["waiting", "failed"] = Field(description="`waiting` to be done, or `failed` and not tried again.")
    problem: str | None = Field(description="Why it could not be done the last time.")
    failed_at: str | None = Field(title="Failed", description="When that was.")
    attempts: int = Field(description="How often it was tried.")


class ListFailedWork(ListInput):
    """Which of it to list."""

    starting_after: Annotated[str | None, make_id_validator(TASK_PREFIX, "a piece of work")] = STARTING_AFTER


class GetWork(Input):
    """Which piece of work."""

    work_id: str = Field(description="The id of the piece of work.")


class RetryWork(Input):
    """Which piece of work."""

    work_id: str = Field(description="The id of the piece of work.")


class DropWork(IrreversibleInput):
    """Which piece of work."""

    work_id: str = Field(description="The id of the piece of work.")


@dataclass(frozen=True, slots=True)
class BackgroundTask(StoredRecord):
    """A background task, as seen by the rules."""

    output = WorkOut

    about: str
    status: Literal["waiting", "failed"]

    @property
    def display_name(self) -> str:
        """What the task does."""
        return self.about

    def not_failed(self, _by: Actor) -> list[Reason]:
        """Return why the task cannot be retried or dropped: it has not failed."""
        return [] if self.status == "failed" else [Reason("It has not failed: it is done when its turn comes.")]


BACKGROUND_TASKS = RecordStore(
    BackgroundTask,
    source="outbox",
    label="work",
    prefix=TASK_PREFIX,
    id_field="work_id",
    columns={
        "about": f"coalesce(outbox.about, CASE outbox.kind WHEN '{EVENT}' THEN 'What follows something that happened'"
        " ELSE outbox.kind END)",
        "status": "CASE WHEN outbox.due_at IS NULL THEN 'failed' ELSE 'waiting' END",
    },
    list_condition="outbox.due_at IS NULL",
)


@operation(permission=Permission.ORGANISATION_CHANGE, effect=Effect.READ, doors=PEOPLE_DOORS)
def list_failed_work(ctx: Context, given: ListFailedWork) -> PageResult[WorkOut]:
    """List what the house could not do, newest first.

    It was tried again and again, or can never be done as things are.
    """
    return BACKGROUND_TASKS.page(ctx, given)


@operation(permission=Permission.ORGANISATION_CHANGE, effect=Effect.READ, doors=PEOPLE_DOORS, on=BACKGROUND_TASKS)
def get_work(_ctx: Context, _given: GetWork, task: BackgroundTask) -> BackgroundTask:
    """Get one piece of work.

    What it is, and what was in its way.
    """
    return task


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=BACKGROUND_TASKS,
    blocked_by=BackgroundTask.not_failed,
    done_message="It is tried again now.",
)
def retry_work(ctx: Context, _given: RetryWork, task: BackgroundTask) -> BackgroundTask:
    """Try again what could not be done.

    At once, and then with growing pauses as if for the first time.
    """
    ctx.writer.touch(task.id)
    return BACKGROUND_TASKS.from_row(
        outbox.restart_task(ctx.db, task.id, ctx.now_text, BACKGROUND_TASKS.selected_columns)
    )


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.IRREVERSIBLE,
    doors=PEOPLE_DOORS,
    on=BACKGROUND_TASKS,
    blocked_by=BackgroundTask.not_failed,
    done_message="It is dropped, and never done.",
    deletes=True,
)
def drop_work(ctx: Context, _given: DropWork, task: BackgroundTask) -> BackgroundTask:
    """Drop what could not be done.

    It is never tried again.
    """
    ctx.summary = f"This is never done: {task.about}."
    outbox.delete_task(ctx.db, task.id)
    ctx.writer.touch(task.id)
    return task


OPERATIONS = (list_failed_work, get_work, retry_work, drop_work)
