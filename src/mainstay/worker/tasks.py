"""Does the tasks that were taken from the outbox, and notes what became of each."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from mainstay.backing.database import EVERY, Unreachable
from mainstay.backing.log import log_error
from mainstay.kernel.perform import Stage
from mainstay.kernel.reaction import Happening, Reaction
from mainstay.ledger import events, outbox_queue
from mainstay.ledger.outbox import EVENT, Lane
from mainstay.ledger.outbox_queue import Work
from mainstay.values.moments import moment_text
from mainstay.webhooks.fan_out import fan_out
from mainstay.worker.days import DAY, TIMER, UnknownTimer, begin_day, finish_idle_days, retry_timer

# Does a task of one kind. Returns the lane in which the task goes on, or None when it is done. If it raises, the task
# is tried again later.
Doing = Callable[[Work], Lane | None]


class Hopeless(Exception):
    """The task can never be done, however often it is tried."""


@dataclass(frozen=True, slots=True)
class TaskRunner:
    """Does tasks of every kind."""

    stage: Stage
    # How tasks are done that are neither events nor chores nor about the start of a day.
    kinds: Mapping[str, Doing]

    def __post_init__(self) -> None:
        """Refuse two ways to do tasks of the same kind: the second would never be used."""
        counted = Counter([EVENT, DAY, TIMER, *self.kinds, *(chore.name for chore in self.stage.catalogue.chores)])
        for kind, number in counted.items():
            if number > 1:
                raise ValueError(f"Work of the kind {kind} would be done by two, of whom only one is asked.")

    def run(self, works: Sequence[Work]) -> None:
        """Do tasks that were taken together. One that fails is tried again later, and holds up none of the others."""
        kinds = {work.kind for work in works}
        if EVENT in kinds:
            # Events are taken together only within one organisation.
            works = self._tell_webhooks_of_all(works[0].organisation, works)
        if DAY in kinds:
            works = finish_idle_days(self.stage, works)
        for work in works:
            self._try(work)

    def _try(self, work: Work) -> None:
        try:
            self._do(work)
        except Unreachable:
            raise
        except (Hopeless, UnknownTimer) as fault:
            with self.stage.database.changing(EVERY) as rows:
                outbox_queue.park(rows, work, self.stage.clock(), str(fault), str(fault))
            log_error("work parked", fault, work=work.id, kind=work.kind)
        except Exception as fault:
            # Whatever it is, this task must not keep the others waiting.
            with self.stage.database.changing(EVERY) as rows:
                again = outbox_queue.postpone(rows, work, self.stage.clock(), f"{type(fault).__name__}: {fault}")
            log_error("work failed", fault, work=work.id, kind=work.kind, again=again and moment_text(again))

    def _do(self, work: Work) -> None:
        if work.kind == DAY:
            # It is finished in the transaction in which it is done.
            begin_day(self.stage, work)
            return
        going_on = self._do_kind(work)
        # Not in a transaction of the organisation, which would wait for others who change it.
        with self.stage.database.changing(EVERY) as rows:
            if going_on is None:
                outbox_queue.finish(rows, work)
            else:
                outbox_queue.move(rows, work, going_on, self.stage.clock())
        if going_on is not None:
            self.stage.ring()

    def _do_kind(self, work: Work) -> Lane | None:
        if work.kind in self.kinds:
            return self.kinds[work.kind](work)
        if work.kind == EVENT:
            self._tell_webhooks(work.organisation, [work], finish=False)
            self._react(work)
        elif work.kind == TIMER:
            retry_timer(self.stage, work)
        elif chore := self.stage.catalogue.chore(work.kind):
            self.stage.do_chore(chore, work)
        else:
            raise Hopeless(f"This Mainstay does not know work of the kind {work.kind}.")
        return None

    def _tell_webhooks_of_all(self, organisation: str, works: Sequence[Work]) -> Sequence[Work]:
        """Deal with all events at once that only webhooks are told of; return the others.

        If one of them is faulty, all are returned.
        """
        try:
            followed = [work for work in works if self._find_reactions(work)]
            self._tell_webhooks(organisation, [work for work in works if work not in followed], finish=True)
        except Unreachable:
            raise
        except Exception as fault:
            log_error("events taken one by one", fault, organisation=organisation)
            return works
        return followed

    def _tell_webhooks(self, organisation: str, works: Sequence[Work], *, finish: bool) -> None:
        """Let events be sent to webhooks, once each, however often this is done; perhaps that is all there is to do."""
        with self.stage.database.changing(organisation) as rows:
            told = []
            for work in works:
                event = events.find(rows, work.payload["event"])
                if finish:
                    outbox_queue.finish(rows, work)
                if event is not None:
                    told.append((work.payload["event"], event.kind))
            fan_out(rows, told, moment_text(self.stage.clock()))

    def _react(self, work: Work) -> None:
        """Do what follows an event. A reaction that fails holds up no other one, and it alone is done again."""
        failed = None
        for reaction, happening in self._find_reactions(work):
            try:
                self.stage.react(reaction, work.organisation, happening)
            except Unreachable:
                raise
            except Exception as fault:
                failed = failed or fault
        if failed:
            raise failed

    def _find_reactions(self, work: Work) -> list[tuple[Reaction, Happening]]:
        """What follows an event; nothing follows one that is no longer kept."""
        with self.stage.database.reading(work.organisation) as rows:
            event = events.find(rows, work.payload["event"])
        reactions = self.stage.catalogue.reactions_to(event.kind) if event else []
        if event is None or not reactions:
            return []
        happening = Happening(work.payload["event"], orjson.loads(event.actor), orjson.loads(event.data)["object"])
        return [(reaction, happening) for reaction in reactions]
