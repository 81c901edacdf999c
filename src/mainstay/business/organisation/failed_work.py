"""Background tasks that failed: people can look at them, retry them or drop them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from mainstay.changes import outbox
from mainstay.changes.outbox import EVENT, TASK_PREFIX
from mainstay.identity.keys import PEOPLE_DOORS
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.fields import STARTING_AFTER, make_id_validator
from mainstay.values.message import Message, ShownMessage
from mainstay.values.stored_message import dump_message, load_message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import MessageText
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
    """A background task, such as sending an email."""

    noun = "work"
    office_path = "/settings/work/{id}"
    states = make_states(waiting="waiting", failed="bad")

    id: str
    about: MessageText = Field(title="Task", description="What the task does.")
    status: Literal["waiting", "failed"] = Field(
        description="`waiting` for its turn, or `failed` and no longer retried."
    )
    problem: MessageText | None = Field(description="Why the last attempt failed.")
    failed_at: str | None = Field(title="Failed", description="When it failed.")
    attempts: int = Field(description="How many times it was tried.")


class ListFailedWork(ListInput):
    """Which failed tasks to list."""

    starting_after: Annotated[str | None, make_id_validator(TASK_PREFIX, "a task")] = STARTING_AFTER


@dataclass(frozen=True, slots=True)
class BackgroundTask(StoredRecord):
    """A background task, as seen by the rules."""

    output = WorkOut

    about: str
    status: Literal["waiting", "failed"]

    @property
    def display_name(self) -> str:
        """What the task does."""
        return str(self.name_in_messages)

    @property
    def name_in_messages(self) -> ShownMessage:
        """What the task does."""
        return load_message(self.about)

    def not_failed(self, _by: Actor) -> list[Reason]:
        """Return why the task cannot be retried or dropped: it has not failed."""
        return [] if self.status == "failed" else [Reason(Message("This task hasn't failed. It will run in turn."))]


_EVENT_TASK = dump_message(Message("Follow-up to a change"))
BACKGROUND_TASKS = Kind(
    BackgroundTask,
    source="outbox",
    id_type=Annotated[str, Field(title="Task", description="The task's ID.")],
    label="work",
    plural="failed tasks",
    area="Settings",
    prefix=TASK_PREFIX,
    columns={
        "about": f"coalesce(outbox.about, CASE outbox.kind WHEN '{EVENT}' THEN '{_EVENT_TASK}' ELSE outbox.kind END)",
        "status": "CASE WHEN outbox.due_at IS NULL THEN 'failed' ELSE 'waiting' END",
    },
    list_condition="outbox.due_at IS NULL",
)


@operation(permission=Permission.ORGANISATION_CHANGE, effect=Effect.READ, doors=PEOPLE_DOORS)
def list_failed_work(ctx: Context, given: ListFailedWork) -> PageResult[WorkOut]:
    """List failed tasks.

    Background tasks that failed, such as emails that could not be sent, newest first. Fix the cause, then retry.
    """
    return BACKGROUND_TASKS.page(ctx, given)


get_work = declare_get(
    BACKGROUND_TASKS,
    "Get failed task. What it does, and why it failed.",
    Permission.ORGANISATION_CHANGE,
    doors=PEOPLE_DOORS,
)


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=BACKGROUND_TASKS,
    blocked_by=BackgroundTask.not_failed,
    done_message="Task queued again.",
    not_undone=Message("The task is being done again."),
    past_text="Task retried",
)
def retry_work(ctx: Context, _given: Input, task: BackgroundTask) -> BackgroundTask:
    """Retry failed task.

    It runs at once, and again later if it fails.
    """
    ctx.writer.touch(task.id)
    row = outbox.restart_task(ctx.db, task.id, ctx.now_text, BACKGROUND_TASKS.selected_columns)
    return BACKGROUND_TASKS.from_row(BACKGROUND_TASKS.render_messages(ctx, row))


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.IRREVERSIBLE,
    doors=PEOPLE_DOORS,
    on=BACKGROUND_TASKS,
    blocked_by=BackgroundTask.not_failed,
    done_message="Task deleted.",
    not_undone=Message("Repeat the change that started this task."),
    past_text="Failed task deleted",
    deletes=True,
)
def drop_work(ctx: Context, _given: IrreversibleInput, task: BackgroundTask) -> BackgroundTask:
    """Delete failed task.

    It will not be tried again.
    """
    ctx.summary = Message("This task will not be tried again: {task}", task=task.name_in_messages)
    outbox.delete_task(ctx.db, task.id)
    ctx.writer.touch(task.id)
    return task


OPERATIONS = (list_failed_work, get_work, retry_work, drop_work)
