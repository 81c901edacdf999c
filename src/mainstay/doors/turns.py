"""Bounds how much each organisation does at once in this process; the rest of it waits without a thread.

Changes of one organisation happen one after another anyway. If the waiting ones held threads and connections, one busy
organisation would leave none for the others.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isinf
from time import monotonic

from mainstay.backing.database import Unreachable


@dataclass(slots=True)
class _Queue:
    running: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


class Turns:
    """A queue for each owner, first come first served, on the event loop. An owner is mostly an organisation."""

    def __init__(self, at_once: int = 1, on_timeout: Callable[[], None] | None = None) -> None:
        self._at_once = at_once
        self._on_timeout = on_timeout
        # Only owners that have something running.
        self._queues: dict[str, _Queue] = {}

    async def begin(self, owner: str, until: float) -> None:
        """Wait for the owner's turn until this moment (by `monotonic`); `end` must follow."""
        queue = self._queues.get(owner)
        if queue is None:
            queue = self._queues[owner] = _Queue()
        if queue.running < self._at_once:
            queue.running += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.waiting.append(turn)
        try:
            async with asyncio.timeout(None if isinf(until) else max(until - monotonic(), 0.0)):
                await turn
        except BaseException as fault:
            if turn.done() and not turn.cancelled():
                # The turn came at the very moment in which it was given up.
                self.end(owner)
            turn.cancel()
            if not isinstance(fault, TimeoutError):
                raise
            if self._on_timeout:
                self._on_timeout()
            raise Unreachable("Other work of this organisation takes too long.") from None

    def end(self, owner: str) -> None:
        """Let the next of the owner begin."""
        queue = self._queues[owner]
        while queue.waiting:
            turn = queue.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        queue.running -= 1
        if not queue.running:
            del self._queues[owner]
