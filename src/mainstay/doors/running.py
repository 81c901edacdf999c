"""Where synchronous work runs, seen from an asynchronous door."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, TypeVar

from mainstay.backing.deadline import deadline, under
from mainstay.doors.turns import Turns
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.ledger.replay import Answer
from mainstay.terms.actor import Actor
from mainstay.terms.faults import Raw

T = TypeVar("T")

# Those that ask the database are together no more than the connections of a process (`POOL_SIZE`), so that nobody waits
# for a connection.
QUICK_THREADS, CHANGE_THREADS, LONG_THREADS, BACKGROUND_THREADS, PROBE_THREADS = 6, 4, 3, 2, 1
# As many as there are child processes for foreign content: each thread waits for one.
CONTENT_THREADS = 2
# How long someone waits for what others of the same organisation read, print or report.
PATIENCE_SECONDS = 60.0


class Threads:
    """Threads by what they do, so that one kind of work never waits for another."""

    def __init__(self) -> None:
        # Bounded reads, and what else is quick.
        self.quick = ThreadPoolExecutor(QUICK_THREADS)
        # Changes of an organisation, which may wait for its lock.
        self.changes = ThreadPoolExecutor(CHANGE_THREADS)
        # What takes seconds while someone waits for it, such as reports and exports.
        self.long = ThreadPoolExecutor(LONG_THREADS)
        # What goes on behind the answer, such as imports.
        self.background = ThreadPoolExecutor(BACKGROUND_THREADS)
        # What waits for a child process that reads or prints content.
        self.content = ThreadPoolExecutor(CONTENT_THREADS)
        # Probes, which are answered however busy the server is.
        self.probes = ThreadPoolExecutor(PROBE_THREADS)

    def close(self) -> None:
        """Finish what was begun, and drop what waits and takes long."""
        for executor in (self.quick, self.changes, self.content, self.probes):
            executor.shutdown()
        for executor in (self.long, self.background):
            executor.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs bounded reads on the event loop where they take microseconds, and everything else in threads.

    Of each kind of work, an organisation has one thing or two at a time in threads. What else it asks for waits for its
    turn without a thread, so that there are threads left for the others.
    """

    reads_inline: bool
    threads: Threads = field(default_factory=Threads)
    change_turns: Turns = field(default_factory=Turns)
    # Two, so that a report need not wait for a colleague's export.
    long_turns: Turns = field(default_factory=lambda: Turns(at_once=2))
    background_turns: Turns = field(default_factory=Turns)
    content_turns: Turns = field(default_factory=Turns)

    async def read(self, function: Callable[..., T], *given: Any) -> T:
        """Run a bounded read."""
        if self.reads_inline:
            return function(*given)
        return await self.run(function, *given)

    async def perform(self, stage: Stage, operation: Operation, actor: Actor, raw: Raw, envelope: Envelope) -> Answer:
        """Perform an operation: what changes records, or reads very many, never on the event loop."""
        if operation.takes_long:
            return await self.take_long(actor.organisation, stage.perform, operation, actor, raw, envelope)
        if operation.changes:
            return await self.change(actor.organisation, stage.perform, operation, actor, raw, envelope)
        return await self.read(stage.perform, operation, actor, raw, envelope)

    async def run(self, function: Callable[..., T], *given: Any) -> T:
        """Run what is quick but may wait, such as for the disk."""
        return await _run_under(deadline(), self.threads.quick, function, *given)

    async def change(self, owner: str, function: Callable[..., T], *given: Any) -> T:
        """Run a change within the deadline of the request; `owner` is the organisation whose lock it may wait for."""
        until = deadline()
        await self.change_turns.begin(owner, until)
        try:
            return await _run_under(until, self.threads.changes, function, *given)
        finally:
            self.change_turns.end(owner)

    async def take_long(self, organisation: str, function: Callable[..., T], *given: Any) -> T:
        """Run what takes long. A change within it has a deadline of its own."""
        return await _run_in_turn(self.long_turns, organisation, self.threads.long, function, *given)

    async def read_content(self, organisation: str, function: Callable[..., T], *given: Any) -> T:
        """Run what has a child process read or print content."""
        return await _run_in_turn(self.content_turns, organisation, self.threads.content, function, *given)

    async def run_in_background(self, organisation: str, function: Callable[..., T], *given: Any) -> T:
        """Run what goes on behind the answer; it waits for its turn as long as it takes."""
        return await _run_in_turn(
            self.background_turns, organisation, self.threads.background, function, *given, patience=inf
        )

    async def probe(self, function: Callable[..., T], *given: Any) -> T:
        """Run what a probe asks."""
        return await _run_under(deadline(), self.threads.probes, function, *given)


async def _run_in_turn(
    turns: Turns,
    organisation: str,
    threads: Executor,
    function: Callable[..., T],
    *given: Any,
    patience: float = PATIENCE_SECONDS,
) -> T:
    await turns.begin(organisation, monotonic() + patience)
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, function, *given)
    finally:
        turns.end(organisation)


async def _run_under(until: float, threads: Executor, function: Callable[..., T], *given: Any) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, _run, until, function, *given)


def _run(until: float, function: Callable[..., T], *given: Any) -> T:
    """Run it under the deadline of the request that it is for, which may have passed while it waited for a thread."""
    with under(until):
        return function(*given)
