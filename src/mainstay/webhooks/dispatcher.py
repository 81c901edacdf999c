"""Sends what is due: many at once, as fast as the receivers take it, and none waits for another.

One loop takes and sends. While the database is asked, in a thread, answers gather; they are handed in together with the
next asking.
"""

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import uvloop

from mainstay.backing.database import Unreachable
from mainstay.backing.log import log, log_error
from mainstay.backing.web import Unanswered, Web
from mainstay.values.moments import Clock
from mainstay.webhooks.queue import Queue
from mainstay.webhooks.sending import Attempt, Sending
from mainstay.webhooks.signature import Signer

# How long it rests when nothing happens: what falls due by itself waits no longer than this.
REST_SECONDS = 1.0
# How long a sending may last until its lease is renewed, and each time again.
RENEW_SECONDS = 1.5
# How long it goes on for what is on its way, when it is asked to end.
GRACE_SECONDS = 15.0


class Dispatcher:
    """One dispatcher; several may run at once, in as many processes. `run` has a thread to itself."""

    def __init__(self, queue: Queue, signer: Signer, web: Web, clock: Clock) -> None:
        # How many attempts ended how, since the process began.
        self.counts: Counter[str] = Counter(delivered=0, failed=0)
        self._queue = queue
        self._signer = signer
        self._web = web
        self._clock = clock
        self._results: list[Attempt] = []
        self._flights: set[_Flight] = set()
        self._woken = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = threading.Event()

    def run(self) -> None:
        """Send until told to stop; what is on its way then is finished and kept."""
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._dispatch())

    def wake(self) -> None:
        """Have it look at once; from any thread."""
        if self._loop:
            with suppress(RuntimeError):  # it has ended meanwhile
                self._loop.call_soon_threadsafe(self._woken.set)

    def stop(self) -> None:
        """Have it end; from any thread."""
        self._stopping.set()
        self.wake()

    async def _dispatch(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with self._web:
            while not self._stopping.is_set():
                await self._cycle()
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    while self._flights:
                        await self._cycle()
            await self._exchange()

    async def _cycle(self) -> None:
        self._woken.clear()
        await self._exchange()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), REST_SECONDS)

    async def _exchange(self) -> None:
        """Hand in what has ended, and begin what was taken instead."""
        results, self._results = self._results, []
        now = monotonic()
        lasting = [flight for flight in self._flights if now - flight.leased_at >= RENEW_SECONDS]
        renewed = [flight.sending for flight in lasting]
        try:
            taken = await asyncio.to_thread(self._queue.exchange, results, renewed, take=not self._stopping.is_set())
        except Unreachable as fault:
            # Handed in again next time; if there is none, the leases run out by themselves.
            self._results = results + self._results
            log("database away", level="error", message=str(fault))
            await asyncio.sleep(REST_SECONDS)
            return
        for flight in lasting:
            flight.leased_at = now
        for sending in taken:
            flight = _Flight(sending, now)
            self._flights.add(flight)
            flight.task = asyncio.create_task(self._send(flight))

    async def _send(self, flight: "_Flight") -> None:
        sending = flight.sending
        at, began = self._clock(), monotonic()
        status, error, answer, retry_after = None, None, b"", None
        signed = self._signer.headers(sending.webhook, sending.generations, sending.event, at, sending.body)
        headers = {"content-type": "application/json"} | signed
        try:
            answered = await self._web.post(sending.url, headers, sending.body)
            status, answer, retry_after = answered.status, answered.body, answered.retry_after
        except Unanswered as fault:
            error = fault.kind
        except Exception as fault:
            # Whatever it is, it must not keep the others from being sent, nor this one from being tried again.
            log_error("sending failed", fault, delivery=sending.delivery)
            error = "could not be sent"
        milliseconds = round((monotonic() - began) * 1_000)
        result = Attempt(sending, at, milliseconds, status, error, answer, retry_after, headers)
        self.counts["delivered" if result.succeeded else "failed"] += 1
        self._flights.remove(flight)
        self._results.append(result)
        self._woken.set()


@dataclass(slots=True, eq=False)
class _Flight:
    """A sending on its way, and when it was last leased."""

    sending: Sending
    leased_at: float
    task: asyncio.Task[None] | None = None
