"""One transaction of a dispatcher: it saves results, renews leases, and takes the deliveries that are due next.

A delivery that is taken is leased. The lease is renewed while it is being sent. If a dispatcher dies, its leases soon
end and the deliveries are due again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from mainstay.infrastructure.database import DatabaseHandle, Row, Value
from mainstay.values.moments import moment_text, parse_moment
from mainstay.vocabulary.record_json import column_names, to_json
from mainstay.vocabulary.schemas import RecordResult
from mainstay.webhooks import retry_schedule
from mainstay.webhooks.attempt import Attempt, LeasedDelivery
from mainstay.webhooks.concurrency import MAX_IN_ALL, SlotUsage, WebhookSlot
from mainstay.webhooks.disabling import FailedWebhook
from mainstay.webhooks.model import EventOut
from mainstay.webhooks.signature import find_valid_generations

# Short, because the deliveries of a dead dispatcher keep their slots for this long.
LEASE = timedelta(seconds=5)
NO_EVENT = "event no longer kept"

_MAX_ANSWER_BYTES = 1_024
_EVENT_COLUMNS = ", ".join(column_names(EventOut))
# How many webhooks are looked at, trusted and untrusted each. It must be more than the webhooks that can have no free
# slot at one time: those that use the slots themselves, and the others of organisations that use all their slots.
_MAX_CANDIDATES = 4 * MAX_IN_ALL


class DispatchCycle:
    """One transaction. It locks every webhook that it touches first, in the order of their IDs, and then deliveries."""

    def __init__(self, db: DatabaseHandle, now: datetime, jitter: Callable[[], float]) -> None:
        self.failures: list[tuple[Attempt, datetime | None]] = []
        self.failed_webhooks: list[FailedWebhook] = []
        self._rows = db
        self._now = now
        self._at = moment_text(now)
        self._jitter = jitter
        self._webhooks: dict[str, _Webhook] = {}
        self._bodies: dict[str, bytes | None] = {}

    def run(self, results: Sequence[Attempt], running: Sequence[LeasedDelivery], *, take: bool) -> list[LeasedDelivery]:
        """Save the results, renew the leases, and return the deliveries that were taken."""
        # On PostgreSQL this row is the lock that makes dispatchers take turns. SQLite has its own lock.
        self._rows.run("UPDATE turnstile SET passed_at = :at WHERE name = 'webhooks'", at=self._at)
        used_slots = self._find_used_slots(results, running) if take else []
        waiting = self._find_waiting(used_slots) if take else []
        own = [*(result.leased for result in results), *running]
        touched = {(leased.organisation, leased.webhook) for leased in own}
        self._lock_webhooks(touched | {(slot.organisation, slot.webhook) for slot in waiting})
        for result in results:
            self._save_result(result)
        for leased in running:
            self._renew_lease(leased)
        taken = self._take_due(waiting, used_slots)
        for webhook in self._webhooks.values():
            if webhook.served or webhook.changed:
                self._save_webhook(webhook)
        return taken

    def _find_used_slots(self, results: Sequence[Attempt], running: Sequence[LeasedDelivery]) -> list[WebhookSlot]:
        """Return the slots that all dispatchers use now, without those of the given results."""
        ended = {(result.leased.delivery, result.leased.number) for result in results}
        found = {
            (delivery, attempts): WebhookSlot(str(organisation), str(webhook), trusted == 1)
            for organisation, webhook, trusted, delivery, attempts in self._rows.all(
                "SELECT d.organisation_id, d.webhook_id, w.trusted, d.id, d.attempts FROM delivery d"
                " JOIN webhook w ON w.organisation_id = d.organisation_id AND w.id = d.webhook_id"
                " WHERE d.status = 'sending' AND d.due_at > :at",
                at=self._at,
            )
        }
        # Also our own deliveries whose leases have ended because we were held up.
        own = {
            (leased.delivery, leased.number): WebhookSlot(leased.organisation, leased.webhook, trusted=False)
            for leased in running
        }
        return [slot for attempt, slot in (own | found).items() if attempt not in ended]

    def _find_waiting(self, used_slots: Sequence[WebhookSlot]) -> list[WebhookSlot]:
        """Return the webhooks with a due delivery and a free slot, the longest waiting first.

        Trusted and untrusted webhooks are queried separately, so that nobody waits behind the untrusted ones. There are
        no more than can be served if each takes one slot.
        """
        usage = _count_slots(used_slots)
        waiting = []
        for trusted in (True, False):
            for organisation, webhook in self._rows.all(
                "SELECT organisation_id, id FROM webhook"
                " WHERE status = 'active' AND due_at <= :at AND trusted = :trusted ORDER BY served_at LIMIT :most",
                at=self._at,
                trusted=int(trusted),
                most=_MAX_CANDIDATES,
            ):
                slot = WebhookSlot(str(organisation), str(webhook), trusted)
                if usage.count_free(slot):
                    usage.take(slot)
                    waiting.append(slot)
        return waiting

    def _lock_webhooks(self, webhooks: set[tuple[str, str]]) -> None:
        for organisation, webhook in sorted(webhooks):
            row = self._rows.one(
                "UPDATE webhook SET served_at = served_at WHERE organisation_id = :owner AND id = :id"
                " RETURNING url, status, generation, rotated_at, trusted, failing_since",
                owner=organisation,
                id=webhook,
            )
            if row:
                self._webhooks[webhook] = self._build_webhook(organisation, webhook, row)

    def _build_webhook(self, organisation: str, webhook_id: str, row: Row) -> "_Webhook":
        url, status, generation, rotated_at, trusted, failing_since = row
        generations = find_valid_generations(int(generation or 0), _to_text(rotated_at), self._now)
        return _Webhook(
            organisation, webhook_id, str(url), str(status), generations, trusted == 1, _to_text(failing_since)
        )

    def _save_result(self, result: Attempt) -> None:
        """Save a result.

        If the delivery was taken by another dispatcher meanwhile, only the attempt is recorded.
        """
        webhook = self._webhooks.get(result.leased.webhook)
        if webhook is None:
            # The webhook was deleted, and its deliveries with it.
            return
        retry_at = None
        if not result.succeeded:
            retry_at = self._find_next_try(webhook, result)
            self.failures.append((result, retry_at))
        if self._record_attempt(result, retry_at) == 0:
            return
        webhook.changed = True
        webhook.trusted = result.succeeded
        webhook.failing_since = None if result.succeeded else webhook.failing_since or self._at
        if webhook.failing_since:
            self._disable_if_failing(webhook, webhook.failing_since, result.status)

    def _find_next_try(self, webhook: "_Webhook", result: Attempt) -> datetime | None:
        if webhook.status == "disabled":
            return None
        requested_wait = retry_schedule.requested_wait_of(result.status, result.retry_after)
        return retry_schedule.find_next_try(self._now, result.leased.failed + 1, self._jitter(), requested_wait)

    def _disable_if_failing(self, webhook: "_Webhook", failing_since: str, status: int | None) -> None:
        reason = retry_schedule.reason_to_disable(status, parse_moment(failing_since), self._now)
        if reason and webhook.status != "disabled":
            webhook.status = "disabled"
            self.failed_webhooks.append(
                FailedWebhook(webhook.organisation, webhook.id, webhook.url, failing_since, reason)
            )

    def _record_attempt(self, result: Attempt, retry_at: datetime | None) -> int:
        """Record an attempt and update its delivery. Return 0 if another dispatcher has taken the delivery."""
        leased = result.leased
        changed = self._rows.run(
            "UPDATE delivery SET status = :status, due_at = :due, retries = retries + 1"
            " WHERE organisation_id = :owner AND id = :id AND status = 'sending' AND attempts = :number",
            owner=leased.organisation,
            id=leased.delivery,
            number=leased.number,
            status="delivered" if result.succeeded else "waiting" if retry_at else "failed",
            due=moment_text(retry_at) if retry_at else None,
        )
        # A result may be passed twice, if it was not known whether the first transaction was committed.
        self._rows.run(
            "INSERT INTO delivery_attempt"
            " (organisation_id, delivery_id, number, at, status, error, duration_ms, answer, headers)"
            " SELECT organisation_id, id, CAST(:number AS bigint), :at, CAST(:status AS bigint), CAST(:error AS text),"
            " CAST(:duration AS bigint), :answer, CAST(:headers AS text)"
            " FROM delivery WHERE organisation_id = :owner AND id = :id"
            " ON CONFLICT (organisation_id, delivery_id, number) DO NOTHING",
            owner=leased.organisation,
            id=leased.delivery,
            number=leased.number,
            at=moment_text(result.at),
            status=result.status,
            error=result.error,
            duration=result.milliseconds,
            answer=_answer_to_text(result.answer),
            headers=orjson.dumps(result.headers).decode() if result.headers else None,
        )
        return changed

    def _renew_lease(self, delivery: LeasedDelivery) -> None:
        renewed = self._rows.run(
            "UPDATE delivery SET due_at = :leased"
            " WHERE organisation_id = :owner AND id = :id AND status = 'sending' AND attempts = :number",
            owner=delivery.organisation,
            id=delivery.delivery,
            number=delivery.number,
            leased=moment_text(self._now + LEASE),
        )
        webhook = self._webhooks.get(delivery.webhook)
        if webhook and renewed:
            webhook.changed = True

    def _take_due(self, waiting: Sequence[WebhookSlot], used_slots: Sequence[WebhookSlot]) -> list[LeasedDelivery]:
        taken: list[LeasedDelivery] = []
        usage = _count_slots([self._update_trust(used_slot) for used_slot in used_slots])
        for slot in map(self._update_trust, waiting):
            webhook = self._webhooks.get(slot.webhook)
            free = usage.count_free(slot)
            if webhook and webhook.status == "active" and free:
                webhook.served = True
                deliveries = self._take_from(webhook, free)
                usage.take(slot, len(deliveries))
                taken += deliveries
        return taken

    def _update_trust(self, slot: WebhookSlot) -> WebhookSlot:
        """Return the slot with the trust that the webhook has after this cycle's results."""
        webhook = self._webhooks.get(slot.webhook)
        return slot._replace(trusted=webhook.trusted) if webhook else slot

    def _take_from(self, webhook: "_Webhook", free: int) -> list[LeasedDelivery]:
        """Take the deliveries of a webhook that have been due the longest."""
        rows = self._rows.all(
            "UPDATE delivery SET status = 'sending', due_at = :leased, attempts = attempts + 1"
            " WHERE organisation_id = :owner AND id IN (SELECT id FROM delivery WHERE organisation_id = :owner"
            " AND webhook_id = :webhook AND due_at <= :at ORDER BY due_at, id LIMIT :room)"
            " RETURNING id, event_id, test_body, attempts, retries",
            owner=webhook.organisation,
            webhook=webhook.id,
            at=self._at,
            leased=moment_text(self._now + LEASE),
            room=free,
        )
        taken = []
        for record_id, event, test_body, attempts, retries in sorted(rows):
            body = self._build_body(webhook.organisation, str(event)) if test_body is None else str(test_body).encode()
            delivery = LeasedDelivery(
                webhook.organisation,
                webhook.id,
                str(record_id),
                int(attempts or 0),
                int(retries or 0),
                webhook.url,
                webhook.generations,
                str(event),
                body or b"",
            )
            if body is None:
                self._record_attempt(Attempt(delivery, self._now, 0, error=NO_EVENT), None)
            else:
                taken.append(delivery)
        return taken

    def _build_body(self, organisation: str, event: str) -> bytes | None:
        """Return the body that is sent for an event, or None if the event is no longer stored.

        It is built once for all webhooks of a cycle.
        """
        if event not in self._bodies:
            row = self._rows.one(
                f"SELECT {_EVENT_COLUMNS} FROM event WHERE organisation_id = :owner AND id = :id",
                owner=organisation,
                id=event,
            )
            self._bodies[event] = to_json(RecordResult(EventOut, row)) if row else None
        return self._bodies[event]

    def _save_webhook(self, webhook: "_Webhook") -> None:
        """Save the webhook's state, and when it is due again: when its first delivery is due, or a lease ends."""
        self._rows.run(
            "UPDATE webhook SET trusted = :trusted, failing_since = :failing_since,"
            " served_at = CASE :served WHEN 1 THEN :at ELSE served_at END,"
            " due_at = (SELECT due_at FROM delivery WHERE organisation_id = :owner AND webhook_id = :id"
            " AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)"
            " WHERE organisation_id = :owner AND id = :id",
            owner=webhook.organisation,
            id=webhook.id,
            trusted=int(webhook.trusted),
            failing_since=webhook.failing_since,
            served=int(webhook.served),
            at=self._at,
        )


@dataclass(slots=True)
class _Webhook:
    """A webhook during a cycle. Its row is locked."""

    organisation: str
    id: str
    url: str
    status: str
    generations: tuple[int, ...]
    trusted: bool
    failing_since: str | None
    served: bool = False
    changed: bool = False


def _count_slots(used_slots: Sequence[WebhookSlot]) -> SlotUsage:
    usage = SlotUsage()
    for slot in used_slots:
        usage.take(slot)
    return usage


def _answer_to_text(answer: bytes) -> str:
    """Return the beginning of an answer as text that both engines can store."""
    return answer[:_MAX_ANSWER_BYTES].decode(errors="replace").replace("\0", "")


def _to_text(value: Value) -> str | None:
    return None if value is None else str(value)
