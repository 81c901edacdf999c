"""Performs the operations of the demo at the moments at which they would have happened, some at once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic, sleep
from typing import NamedTuple

from mainstay.kernel.json_performer import JsonPerformer
from mainstay.kernel.operation import Operation
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.actor import Actor


class DemoPace(NamedTuple):
    """How many seconds of work are committed at once, and the pause after it, in which others use the database."""

    batch_seconds: float
    pause_seconds: float


@dataclass
class DemoPerformer:
    """Performs operations. While steps run, those of a batch share a transaction."""

    json_performer: JsonPerformer

    @property
    def now(self) -> datetime:
        """The present moment."""
        return self.json_performer.performer.clock()

    def perform(self, operation: Operation, actor: Actor, **given: object) -> JsonObject:
        """Perform an operation now."""
        return self.json_performer.perform(operation, actor, **given)

    def perform_at(self, moment: datetime, operation: Operation, actor: Actor, **given: object) -> JsonObject:
        """Perform an operation at a moment."""
        performer = replace(self.json_performer.performer, clock=lambda: moment)
        return replace(self.json_performer, performer=performer).perform(operation, actor, **given)

    def run_steps(self, organisation: str, steps: Iterator[int], pace: DemoPace) -> Iterator[int]:
        """Take all steps, and yield after each batch the highest count that a step has yielded."""
        whole = self.json_performer
        count: int | None = 0
        done = 0
        while count is not None:
            until = monotonic() + pace.batch_seconds
            with whole.performer.open_batch(organisation) as batch:
                self.json_performer = replace(whole, performer=batch)
                while (count := next(steps, None)) is not None:
                    done = max(done, count)
                    if monotonic() >= until:
                        break
            self.json_performer = whole
            yield done
            if count is not None:
                sleep(pace.pause_seconds)
