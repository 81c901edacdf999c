"""Limits how much work each organisation has running in this process; its other work waits without a thread.

Changes of one organisation run one after another anyway. If waiting changes held threads and connections, one busy
organisation would leave none for the others.

All organisations share the processors, and on SQLite one lock for their changes. So a busy organisation also rests
between its changes while others change something. What another organisation asks for often takes several changes one
after another, some of them by the worker (an email, a webhook): without the rests, each would wait for the busy one.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, isinf
from time import monotonic

from mainstay.infrastructure.database import DatabaseBusy

# How many requests of an owner may wait. Each holds a connection and its body, so a fifth of the connections that a
# process keeps is the most for one of them.
MAX_WAITING = 200
# An owner is busy if more than this wait for their turn: what a few people do at once is not slowed.
FEW_WAITING = 5
# A busy owner rests this many times as long as its turn took, but no longer than this.
REST_FACTOR = 2
LONGEST_REST_SECONDS = 0.1
# How long after its last request another owner still counts as active.
ACTIVE_SECONDS = 1.0


@dataclass(slots=True)
class _Queue:
    running: int = 0
    # When the latest turn began.
    began_at: float = 0.0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


class Turns:
    """A first-come, first-served queue for each owner, on the event loop. An owner is usually an organisation.

    `longest_rest` bounds the rests of busy owners, in seconds; by default there are none.
    """

    def __init__(
        self,
        at_once: int = 1,
        on_refusal: Callable[[], None] | None = None,
        longest_rest: float = 0.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._at_once = at_once
        self._on_refusal = on_refusal
        self._longest_rest = longest_rest
        self._clock = clock
        # Who made the latest request and when, and when someone else made one.
        self._latest_owner, self._latest_at, self._other_at = "", -inf, -inf
        # Contains only owners with running work.
        self._queues: dict[str, _Queue] = {}

    async def begin_turn(self, owner: str, until: float) -> None:
        """Wait for a turn of the owner, until this moment (by `monotonic`); `end_turn` must be called afterwards.

        Raise DatabaseBusy if it does not come in time, or if too many wait already.
        """
        self._note_request(owner)
        queue = self._queues.get(owner)
        if queue is None:
            queue = self._queues[owner] = _Queue()
        if queue.running < self._at_once:
            queue.running += 1
            queue.began_at = self._clock()
            return
        if len(queue.waiting) >= MAX_WAITING:
            raise self._refuse("Too much other work of this organisation waits already.")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.waiting.append(turn)
        try:
            async with asyncio.timeout(None if isinf(until) else max(until - monotonic(), 0.0)):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                # The turn came at the moment in which the wait was given up.
                self.end_turn(owner)
            elif turn in queue.waiting:
                queue.waiting.remove(turn)
            if not isinstance(error, TimeoutError):
                raise
            raise self._refuse("Other work of this organisation takes too long.") from None

    def end_turn(self, owner: str) -> None:
        """End a turn of the owner, and let its next work begin, perhaps after a rest."""
        queue = self._queues[owner]
        rest = self._choose_rest(owner, queue)
        if rest > 0:
            asyncio.get_running_loop().call_later(rest, self._begin_next, owner)
        else:
            self._begin_next(owner)

    def _refuse(self, reason: str) -> DatabaseBusy:
        if self._on_refusal:
            self._on_refusal()
        return DatabaseBusy(reason)

    def _begin_next(self, owner: str) -> None:
        queue = self._queues[owner]
        while queue.waiting:
            turn = queue.waiting.popleft()
            if not turn.done():
                queue.began_at = self._clock()
                turn.set_result(None)
                return
        queue.running -= 1
        if not queue.running:
            del self._queues[owner]

    def _choose_rest(self, owner: str, queue: _Queue) -> float:
        """Return how many seconds the owner rests: none if it is not busy, or if nobody else is active."""
        now = self._clock()
        other_at = self._other_at if owner == self._latest_owner else self._latest_at
        if len(queue.waiting) <= FEW_WAITING or now - other_at > ACTIVE_SECONDS:
            return 0.0
        return min(REST_FACTOR * (now - queue.began_at), self._longest_rest)

    def _note_request(self, owner: str) -> None:
        if owner != self._latest_owner:
            self._latest_owner, self._other_at = owner, self._latest_at
        self._latest_at = self._clock()
