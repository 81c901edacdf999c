"""The queue of deliveries and their results, in the database, so that several dispatchers can share it.

Dispatchers take turns at the transactions of this queue, so that together they stay within the limits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable
from mainstay.infrastructure.log import log, log_error
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import system_actor
from mainstay.vocabulary.refusal import Refusal
from mainstay.webhooks.attempt import Attempt, LeasedDelivery
from mainstay.webhooks.disabling import FailedWebhook, disable_webhook, hide_url_secrets
from mainstay.webhooks.dispatch_cycle import DispatchCycle


@dataclass(frozen=True, slots=True)
class DeliveryQueue:
    """The deliveries of an installation."""

    performer: Performer
    # Returns a random number from -1 to 1, by which the time of a retry varies.
    jitter: Callable[[], float]

    def exchange(
        self, results: Sequence[Attempt], running: Sequence[LeasedDelivery] = (), *, take: bool = True
    ) -> list[LeasedDelivery]:
        """Save results, renew the leases of running attempts, and return the deliveries to be sent next."""
        now = self.performer.clock()
        if not results and not running and not (take and self._is_due(now)):
            return []
        with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            cycle = DispatchCycle(db, now, self.jitter)
            taken = cycle.run(results, running, take=take)
        for result, retry_at in cycle.failures:
            _log_failure(result, retry_at)
        for failed in cycle.failed_webhooks:
            self._disable(failed)
        return taken

    def _disable(self, failed: FailedWebhook) -> None:
        """Disable a webhook in a transaction of its own.

        A change must lock the organisation first and its webhooks afterwards, never the other way round.
        """
        given = {
            "webhookId": failed.webhook,
            "url": failed.url,
            "failingSince": failed.failing_since,
            "reason": failed.reason,
        }
        request = RequestDetails(new_id("req"))
        try:
            self.performer.perform(disable_webhook, system_actor(failed.organisation), orjson.dumps(given), request)
        except Refusal:
            # It was disabled, changed or deleted meanwhile, so there is nothing to do.
            return
        except DatabaseUnavailable as error:
            # The next attempt finds the same, and the deliveries that were taken must be sent.
            log_error("webhook not disabled", error, webhook=failed.webhook)
            return
        log("webhook disabled", level="warn", webhook=failed.webhook, reason=failed.reason)

    def _is_due(self, now: datetime) -> bool:
        """Return whether any delivery is due. Most of the time none is, and then no transaction is needed."""
        with self.performer.database.single_read(ALL_ORGANISATIONS) as db:
            due = db.one("SELECT 1 FROM webhook WHERE status = 'active' AND due_at <= :at LIMIT 1", at=moment_text(now))
        return due is not None


def _log_failure(result: Attempt, retry_at: datetime | None) -> None:
    leased = result.leased
    log(
        "delivery failed",
        level="warn",
        organisation=leased.organisation,
        webhook=leased.webhook,
        delivery=leased.delivery,
        attempt=leased.number,
        url=hide_url_secrets(leased.url),
        status=result.status,
        error=result.error,
        again=retry_at and moment_text(retry_at),
    )
