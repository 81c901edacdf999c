"""Where synchronous work runs, seen from an asynchronous door."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeVar

from mainstay.backing.deadline import deadline, under
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.ledger.replay import Answer
from mainstay.terms.actor import Actor
from mainstay.terms.faults import Raw

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs bounded reads on the event loop where they take microseconds, and everything else in threads."""

    reads_inline: bool
    threads: Executor
    # A few of their own for what takes long: however many ask for it, those who are quick find a thread.
    long_threads: Executor
    # One of its own for pictures, which cost seconds of a processor and much memory.
    looking_thread: Executor

    async def read(self, function: Callable[..., T], *given: Any) -> T:
        """Run a bounded read."""
        if self.reads_inline:
            return function(*given)
        return await self.change(function, *given)

    async def perform(self, stage: Stage, operation: Operation, actor: Actor, raw: Raw, envelope: Envelope) -> Answer:
        """Perform an operation: what changes records, or reads very many, never on the event loop."""
        if operation.takes_long:
            return await self.take_long(stage.perform, operation, actor, raw, envelope)
        if operation.changes or not self.reads_inline:
            return await self.change(stage.perform, operation, actor, raw, envelope)
        return stage.perform(operation, actor, raw, envelope)

    async def take_long(self, function: Callable[..., T], *given: Any) -> T:
        """Run what takes long, in its turn; how long it waits for others begins anew each time that it does."""
        return await asyncio.get_running_loop().run_in_executor(self.long_threads, function, *given)

    async def look_at(self, function: Callable[..., T], *given: Any) -> T:
        """Run what looks at files that were handed in: one after the other, and in nobody else's way."""
        return await asyncio.get_running_loop().run_in_executor(self.looking_thread, function, *given)

    async def change(self, function: Callable[..., T], *given: Any) -> T:
        """Run what may wait: a change."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.threads, _run, deadline(), function, *given)


def _run(until: float, function: Callable[..., T], *given: Any) -> T:
    """Run it under the deadline of the request that it is for, which may have passed while it waited for a thread."""
    with under(until):
        return function(*given)
