"""What waits to be sent, and what became of it: kept in the database, so that several dispatchers share it.

Dispatchers take turns at the transactions of this queue, so that together they keep to the limits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from mainstay.backing.database import EVERY, Unreachable
from mainstay.backing.log import log, log_error
from mainstay.kernel.context import Envelope
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import house
from mainstay.terms.refusal import Refusal
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.webhooks.cycle import Cycle
from mainstay.webhooks.disabling import GivenUp, disable_webhook, plain
from mainstay.webhooks.sending import Attempt, Sending


@dataclass(frozen=True, slots=True)
class Queue:
    """The deliveries of an installation."""

    stage: Stage
    # A number from -1 to 1.
    chance: Callable[[], float]

    def exchange(
        self, results: Sequence[Attempt], flying: Sequence[Sending] = (), *, take: bool = True
    ) -> list[Sending]:
        """Hand in what became of sendings, renew the leases of others, and take what is to be sent next."""
        now = self.stage.clock()
        if not results and not flying and not (take and self._is_due(now)):
            return []
        with self.stage.database.changing(EVERY) as rows:
            cycle = Cycle(rows, now, self.chance)
            taken = cycle.run(results, flying, take=take)
        for result, again in cycle.failures:
            _tell(result, again)
        for found in cycle.given_up:
            self._disable(found)
        return taken

    def _disable(self, found: GivenUp) -> None:
        """In a transaction of its own: changes lock the organisation first and its webhooks then, never otherwise."""
        given = {
            "webhookId": found.webhook,
            "url": found.url,
            "failingSince": found.failing_since,
            "reason": found.reason,
        }
        envelope = Envelope(new_id("req"))
        try:
            self.stage.perform(disable_webhook, house(found.organisation), orjson.dumps(given), envelope)
        except Refusal:
            # It was disabled, changed or deleted meanwhile.
            return
        except Unreachable as fault:
            # The next attempt finds the same, and what was taken meanwhile is to be sent.
            log_error("webhook not disabled", fault, webhook=found.webhook)
            return
        log("webhook disabled", level="warn", webhook=found.webhook, reason=found.reason)

    def _is_due(self, now: datetime) -> bool:
        """Whether it is worth a change; most of the time nothing is due."""
        with self.stage.database.glancing(EVERY) as rows:
            due = rows.one(
                "SELECT 1 FROM webhook WHERE status = 'active' AND due_at <= :at LIMIT 1", at=moment_text(now)
            )
        return due is not None


def _tell(result: Attempt, again: datetime | None) -> None:
    sending = result.sending
    log(
        "delivery failed",
        level="warn",
        organisation=sending.organisation,
        webhook=sending.webhook,
        delivery=sending.delivery,
        attempt=sending.number,
        url=plain(sending.url),
        status=result.status,
        error=result.error,
        again=again and moment_text(again),
    )
