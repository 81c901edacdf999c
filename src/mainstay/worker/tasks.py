"""Run the tasks that were taken from the outbox, and store what became of each."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from mainstay.changes import events, outbox_queue
from mainstay.changes.outbox import EVENT, Lane
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable
from mainstay.infrastructure.email_sending import EmailNotSent
from mainstay.infrastructure.log import log_error
from mainstay.kernel.perform import Performer
from mainstay.kernel.reaction import Reaction, ReactionEvent
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.webhooks.fan_out import fan_out
from mainstay.worker.start_of_day import (
    DAY_TASK,
    TIMER_TASK,
    UnknownTimer,
    begin_day,
    begin_days,
    finish_idle_days,
    retry_timer,
)

# Does a task of one kind. It returns the lane in which the task continues, or None if the task is done. If it raises an
# exception, the task is tried again later.
TaskFunction = Callable[[LeasedTask], Lane | None]


class PermanentFailure(Exception):
    """The task can never succeed, so it is not retried."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """Runs tasks of every kind."""

    performer: Performer
    # The functions for tasks, by kind; not for events, the kinds of tasks of the catalogue, and the start of days.
    task_functions: Mapping[str, TaskFunction]

    def __post_init__(self) -> None:
        """Refuse two functions for the same kind of task, because the second would never be used."""
        counted = Counter(
            [
                EVENT,
                DAY_TASK,
                TIMER_TASK,
                *self.task_functions,
                *(kind.name for kind in self.performer.catalogue.task_kinds),
            ]
        )
        for kind, number in counted.items():
            if number > 1:
                raise ValueError(f"Work of the kind {kind} would be done by two, of whom only one is asked.")

    def run(self, tasks: Sequence[LeasedTask]) -> None:
        """Run tasks that were taken together. A failed task is tried again later and does not hold up the others."""
        kinds = {task.kind for task in tasks}
        if EVENT in kinds:
            # Events are taken together only within one organisation.
            tasks = self._finish_webhook_events(tasks[0].organisation, tasks)
        if DAY_TASK in kinds:
            tasks = self._begin_days(tasks)
        for task in tasks:
            self._run_task(task)

    def _run_task(self, task: LeasedTask) -> None:
        try:
            self._run_and_finish(task)
        except DatabaseUnavailable:
            raise
        except (PermanentFailure, UnknownTimer) as error:
            with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
                outbox_queue.park_task(db, task, self.performer.clock(), error.message, error.message)
            log_error("work parked", error, work=task.id, kind=task.kind)
        except Exception as error:
            # Whatever went wrong, this task must not hold up the others.
            with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
                problem = error.message if isinstance(error, EmailNotSent) else f"{type(error).__name__}: {error}"
                retry_at = outbox_queue.postpone_task(db, task, self.performer.clock(), problem)
            log_error("work failed", error, work=task.id, kind=task.kind, again=retry_at and moment_text(retry_at))

    def _run_and_finish(self, task: LeasedTask) -> None:
        if task.kind == DAY_TASK:
            # This also finishes the task, in the same transaction.
            begin_day(self.performer, task)
            return
        next_lane = self._run_by_kind(task)
        # Not in a transaction of the organisation, because that would wait for other changes in it.
        with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            if next_lane is None:
                outbox_queue.finish_task(db, task)
            else:
                outbox_queue.move_task(db, task, next_lane, self.performer.clock())
        if next_lane is not None:
            self.performer.wake_worker()

    def _run_by_kind(self, task: LeasedTask) -> Lane | None:
        if task.kind in self.task_functions:
            return self.task_functions[task.kind](task)
        if task.kind == EVENT:
            self._fan_out_events(task.organisation, [task], finish=False)
            self._run_reactions(task)
        elif task.kind == TIMER_TASK:
            retry_timer(self.performer, task)
        elif handler := self.performer.catalogue.find_task_handler(task.kind):
            self.performer.run_task(handler, task)
        else:
            raise PermanentFailure(
                Message("This version of Mainstay does not know tasks of the kind {kind}.", kind=task.kind)
            )
        return None

    def _finish_webhook_events(self, organisation: str, tasks: Sequence[LeasedTask]) -> Sequence[LeasedTask]:
        """Finish all events without reactions at once, by sending them to webhooks; return the others.

        If one of them is faulty, all are returned.
        """
        try:
            with_reactions = [task for task in tasks if self._find_reactions(task)]
            self._fan_out_events(organisation, [task for task in tasks if task not in with_reactions], finish=True)
        except DatabaseUnavailable:
            raise
        except Exception as error:
            log_error("events taken one by one", error, organisation=organisation)
            return tasks
        return with_reactions

    def _begin_days(self, tasks: Sequence[LeasedTask]) -> Sequence[LeasedTask]:
        """Begin the days of several organisations at once; return the tasks to be run one by one.

        On PostgreSQL these are all tasks with due timers, because their changes wait for different locks.
        """
        try:
            if self.performer.database.engine != "sqlite":
                return finish_idle_days(self.performer, tasks)
            begin_days(self.performer, [task for task in tasks if task.kind == DAY_TASK])
        except DatabaseUnavailable:
            raise
        except Exception as error:
            log_error("days begun one by one", error)
            return tasks
        return [task for task in tasks if task.kind != DAY_TASK]

    def _fan_out_events(self, organisation: str, tasks: Sequence[LeasedTask], *, finish: bool) -> None:
        """Hand events to webhooks, each only once even if this is repeated; with `finish`, also finish the tasks."""
        with self.performer.database.write_transaction(organisation) as db:
            found = []
            for task in tasks:
                event = events.find(db, task.payload["event"])
                if finish:
                    outbox_queue.finish_task(db, task)
                if event is not None:
                    found.append((task.payload["event"], event.kind))
            fan_out(db, found, moment_text(self.performer.clock()))

    def _run_reactions(self, task: LeasedTask) -> None:
        """Run the reactions to an event. A reaction that fails does not stop the others, and only it is repeated."""
        failed = None
        for reaction, event in self._find_reactions(task):
            try:
                self.performer.run_reaction(reaction, task.organisation, event)
            except DatabaseUnavailable:
                raise
            except Exception as error:
                failed = failed or error
        if failed:
            raise failed

    def _find_reactions(self, task: LeasedTask) -> list[tuple[Reaction, ReactionEvent]]:
        """Return the reactions to an event, if the event is still stored."""
        with self.performer.database.read_transaction(task.organisation) as db:
            stored_event = events.find(db, task.payload["event"])
        reactions = self.performer.catalogue.reactions_to(stored_event.kind) if stored_event else []
        if stored_event is None or not reactions:
            return []
        reaction_event = ReactionEvent(
            task.payload["event"], orjson.loads(stored_event.actor), orjson.loads(stored_event.data)["object"]
        )
        return [(reaction, reaction_event) for reaction in reactions]
