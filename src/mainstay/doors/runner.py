"""Runs synchronous work for the asynchronous doors, on the event loop or in threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, TypeVar

from mainstay.changes.idempotency import Answer
from mainstay.doors.turns import Turns
from mainstay.infrastructure.deadline import current_deadline, use_deadline
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.settings import MAX_POOL_SIZE, MIN_POOL_SIZE
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.validation import RawInput

T = TypeVar("T")

# The threads that use the database: together no more than `MAX_POOL_SIZE`, so that none waits for a connection.
QUICK_THREADS, CHANGE_THREADS, LONG_THREADS, BACKGROUND_THREADS, ARCHIVE_THREADS, PROBE_THREADS = 6, 4, 3, 2, 2, 1
# As many as there are child processes that read uploaded content, and that print, because each thread waits for one.
CONTENT_THREADS, PRINT_THREADS = 2, 2
# How long a request waits for long work, uploads or prints of the same organisation.
TURN_TIMEOUT_SECONDS = 60.0


class Threads:
    """A thread pool for each kind of work, so that one kind never waits for another.

    If there are fewer connections to the database, each kind gets its share of threads, at least one.
    """

    def __init__(self, pool_size: int = MAX_POOL_SIZE) -> None:
        def open_threads(most: int) -> ThreadPoolExecutor:
            more = (most - 1) * (pool_size - MIN_POOL_SIZE) // (MAX_POOL_SIZE - MIN_POOL_SIZE)
            return ThreadPoolExecutor(1 + more)

        # Bounded reads and other quick work.
        self.quick = open_threads(QUICK_THREADS)
        # Changes, which may wait for the lock of their organisation.
        self.changes = open_threads(CHANGE_THREADS)
        # Work of seconds that a request waits for, such as reports and exports.
        self.long = open_threads(LONG_THREADS)
        # Work that goes on after the answer, such as imports.
        self.background = open_threads(BACKGROUND_THREADS)
        # The archives of everything that an organisation has, which take minutes.
        self.archives = open_threads(ARCHIVE_THREADS)
        # Work that waits for a child process, which reads uploaded content.
        self.content = ThreadPoolExecutor(CONTENT_THREADS)
        # Work that waits for a child process, which prints.
        self.prints = ThreadPoolExecutor(PRINT_THREADS)
        # Probes, which are answered however busy the server is.
        self.probes = open_threads(PROBE_THREADS)

    def close(self) -> None:
        """Finish the work that has begun, and drop long and background work and archives that still wait."""
        for executor in (self.quick, self.changes, self.content, self.prints, self.probes):
            executor.shutdown()
        for executor in (self.long, self.background, self.archives):
            executor.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs bounded reads on the event loop, if they take microseconds there, and everything else in threads.

    An organisation uses at most one or two threads for each kind of work. Its other work waits for a turn without a
    thread, so that threads remain for other organisations.
    """

    reads_inline: bool
    threads: Threads = field(default_factory=Threads)
    change_turns: Turns = field(default_factory=Turns)
    # Two at once, so that a report need not wait for a colleague's export.
    long_turns: Turns = field(default_factory=lambda: Turns(at_once=2))
    background_turns: Turns = field(default_factory=Turns)
    archive_turns: Turns = field(default_factory=Turns)
    content_turns: Turns = field(default_factory=Turns)
    print_turns: Turns = field(default_factory=Turns)

    async def run_read(self, function: Callable[..., T], *args: Any) -> T:
        """Run a bounded read."""
        if self.reads_inline:
            return function(*args)
        return await self.run(function, *args)

    async def perform(
        self, performer: Performer, operation: Operation, actor: Actor, raw: RawInput, details: RequestDetails
    ) -> Answer:
        """Perform an operation; changes and long reads never run on the event loop."""
        if operation.is_slow:
            return await self.run_long(actor.organisation, performer.perform, operation, actor, raw, details)
        if operation.changes:
            return await self.run_change(actor.organisation, performer.perform, operation, actor, raw, details)
        return await self.run_read(performer.perform, operation, actor, raw, details)

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Run quick work that may wait, such as for the disk."""
        return await _run_with_deadline(current_deadline(), self.threads.quick, function, *args)

    async def run_change(self, owner: str, function: Callable[..., T], *args: Any) -> T:
        """Run a change within the deadline of the request; `owner` is the organisation whose lock it may wait for."""
        until = current_deadline()
        await self.change_turns.begin_turn(owner, until)
        try:
            return await _run_with_deadline(until, self.threads.changes, function, *args)
        finally:
            self.change_turns.end_turn(owner)

    async def run_long(self, organisation: str, function: Callable[..., T], *args: Any) -> T:
        """Run work that takes long. A change within it has a deadline of its own."""
        return await _run_in_turn(self.long_turns, organisation, self.threads.long, function, *args)

    async def run_content_work(self, organisation: str, function: Callable[..., T], *args: Any) -> T:
        """Run work that lets a child process read uploaded content."""
        return await _run_in_turn(self.content_turns, organisation, self.threads.content, function, *args)

    async def run_print(self, organisation: str, function: Callable[..., T], *args: Any) -> T:
        """Run work that lets a child process print."""
        return await _run_in_turn(self.print_turns, organisation, self.threads.prints, function, *args)

    async def run_in_background(self, organisation: str, function: Callable[..., T], *args: Any) -> T:
        """Run work that goes on after the answer; it waits for its turn without a limit."""
        return await _run_in_turn(
            self.background_turns, organisation, self.threads.background, function, *args, max_wait=inf
        )

    async def run_archive(self, organisation: str, function: Callable[..., T], *args: Any) -> T:
        """Run the work on an archive, which goes on after the answer; it waits for its turn without a limit."""
        return await _run_in_turn(
            self.archive_turns, organisation, self.threads.archives, function, *args, max_wait=inf
        )

    async def run_probe(self, function: Callable[..., T], *args: Any) -> T:
        """Run the check of a health probe."""
        return await _run_with_deadline(current_deadline(), self.threads.probes, function, *args)


async def _run_in_turn(
    turns: Turns,
    organisation: str,
    threads: Executor,
    function: Callable[..., T],
    *args: Any,
    max_wait: float = TURN_TIMEOUT_SECONDS,
) -> T:
    await turns.begin_turn(organisation, monotonic() + max_wait)
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, function, *args)
    finally:
        turns.end_turn(organisation)


async def _run_with_deadline(until: float, threads: Executor, function: Callable[..., T], *args: Any) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, _call_with_deadline, until, function, *args)


def _call_with_deadline(until: float, function: Callable[..., T], *args: Any) -> T:
    """Run a function under the deadline of its request, which may have passed while it waited for a thread."""
    with use_deadline(until):
        return function(*args)
