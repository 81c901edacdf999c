"""Send the deliveries that are due: many at once, so that no receiver waits for another.

One loop takes deliveries and sends them. While the database is queried in a thread, answers are collected. They are
passed on with the next query.
"""

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import uvloop

from mainstay.infrastructure.database import DatabaseUnavailable
from mainstay.infrastructure.guarded_connection import NoResponse
from mainstay.infrastructure.log import log, log_error
from mainstay.infrastructure.webhook_client import WebhookClient
from mainstay.values.moments import Clock
from mainstay.webhooks.attempt import Attempt, LeasedDelivery
from mainstay.webhooks.queue import DeliveryQueue
from mainstay.webhooks.signature import Signer

# How long the dispatcher sleeps if nothing happens. A delivery that becomes due waits no longer than this.
REST_SECONDS = 1.0
# How long an attempt may take until its lease is renewed, and each time again.
RENEW_SECONDS = 1.5
# How long the dispatcher waits for running attempts when it is stopped.
GRACE_SECONDS = 15.0


class Dispatcher:
    """Takes deliveries from the queue and sends them.

    Several dispatchers may run at once, in any number of processes. `run` needs a thread of its own.
    """

    def __init__(self, queue: DeliveryQueue, signer: Signer, client: WebhookClient, clock: Clock) -> None:
        # How many attempts succeeded and failed, since the process began.
        self.counts: Counter[str] = Counter(delivered=0, failed=0)
        self._queue = queue
        self._signer = signer
        self._client = client
        self._clock = clock
        self._results: list[Attempt] = []
        self._running: set[_RunningAttempt] = set()
        self._wake_event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = threading.Event()

    def run(self) -> None:
        """Send until stopped, then finish the running attempts and save their results."""
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._dispatch())

    def wake(self) -> None:
        """Look for due deliveries at once. May be called from any thread."""
        if self._loop:
            with suppress(RuntimeError):  # it has ended meanwhile
                self._loop.call_soon_threadsafe(self._wake_event.set)

    def stop(self) -> None:
        """Stop the dispatcher. May be called from any thread."""
        self._stopping.set()
        self.wake()

    async def _dispatch(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with self._client:
            while not self._stopping.is_set():
                await self._run_cycle()
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    while self._running:
                        await self._run_cycle()
            await self._exchange_with_queue()

    async def _run_cycle(self) -> None:
        self._wake_event.clear()
        await self._exchange_with_queue()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake_event.wait(), REST_SECONDS)

    async def _exchange_with_queue(self) -> None:
        """Hand over the results, and start sending the deliveries that were taken in exchange."""
        results, self._results = self._results, []
        now = monotonic()
        due_for_renewal = [attempt for attempt in self._running if now - attempt.leased_at >= RENEW_SECONDS]
        renewed = [attempt.leased for attempt in due_for_renewal]
        try:
            taken = await asyncio.to_thread(self._queue.exchange, results, renewed, take=not self._stopping.is_set())
        except DatabaseUnavailable as error:
            # The results are passed on again next time. If there is no next time, the leases end by themselves.
            self._results = results + self._results
            log("database away", level="error", message=str(error))
            await asyncio.sleep(REST_SECONDS)
            return
        for attempt in due_for_renewal:
            attempt.leased_at = now
        for leased in taken:
            attempt = _RunningAttempt(leased, now)
            self._running.add(attempt)
            attempt.task = asyncio.create_task(self._send(attempt))

    async def _send(self, attempt: "_RunningAttempt") -> None:
        leased = attempt.leased
        at, began = self._clock(), monotonic()
        status, error, answer, retry_after = None, None, b"", None
        signed = self._signer.build_headers(leased.webhook, leased.generations, leased.event, at, leased.body)
        headers = {"content-type": "application/json"} | signed
        try:
            response = await self._client.post(leased.url, headers, leased.body)
            status, answer, retry_after = response.status, response.body, response.retry_after
        except NoResponse as fault:
            error = fault.kind
        except Exception as fault:
            # Whatever it is, the other deliveries must still be sent, and this one must be tried again.
            log_error("sending failed", fault, delivery=leased.delivery)
            error = "could not be sent"
        milliseconds = round((monotonic() - began) * 1_000)
        result = Attempt(leased, at, milliseconds, status, error, answer, retry_after, headers)
        self.counts["delivered" if result.succeeded else "failed"] += 1
        self._running.remove(attempt)
        self._results.append(result)
        self._wake_event.set()


@dataclass(slots=True, eq=False)
class _RunningAttempt:
    """An attempt that is running, and when its lease was last renewed."""

    leased: LeasedDelivery
    leased_at: float
    task: asyncio.Task[None] | None = None
