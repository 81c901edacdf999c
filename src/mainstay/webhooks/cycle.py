"""One transaction of a dispatcher: results are kept, leases renewed, and whoever's turn it is is served.

What is taken is leased, and the lease is renewed as long as the sending lasts: a dispatcher that dies soon lets it fall
due again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from mainstay.backing.database import Handle, Row, Value
from mainstay.terms.shapes import One
from mainstay.terms.wire import column_names, to_json
from mainstay.values.moments import moment_text, parse_moment
from mainstay.webhooks import schedule
from mainstay.webhooks.disabling import GivenUp
from mainstay.webhooks.model import EventOut
from mainstay.webhooks.places import IN_ALL, Places, Turn
from mainstay.webhooks.sending import Attempt, Sending
from mainstay.webhooks.signature import good_generations

# Short, because what a dead dispatcher had on its way keeps its places for so long.
LEASE = timedelta(seconds=5)
NO_EVENT = "event no longer kept"

_KEPT_BYTES = 1_024
_EVENT_COLUMNS = ", ".join(column_names(EventOut))
# How many webhooks are looked at for each kind of trust. More than can have no room left at one time: those that hold
# the places themselves, and the others of organisations that hold all they may.
_LOOKED_AT = 4 * IN_ALL


class Cycle:
    """One transaction: every webhook that is touched is locked first, in the order of their ids, then deliveries."""

    def __init__(self, rows: Handle, now: datetime, chance: Callable[[], float]) -> None:
        self.failures: list[tuple[Attempt, datetime | None]] = []
        self.given_up: list[GivenUp] = []
        self._rows = rows
        self._now = now
        self._at = moment_text(now)
        self._chance = chance
        self._webhooks: dict[str, _Webhook] = {}
        self._bodies: dict[str, bytes | None] = {}

    def run(self, results: Sequence[Attempt], flying: Sequence[Sending], *, take: bool) -> list[Sending]:
        """Keep the results, renew the leases; what was taken."""
        # On PostgreSQL this row is the lock that makes dispatchers take turns; SQLite has its own.
        self._rows.run("UPDATE turnstile SET passed_at = :at WHERE name = 'webhooks'", at=self._at)
        flights = self._flights(results, flying) if take else []
        turns = self._turns(flights) if take else []
        own = [*(result.sending for result in results), *flying]
        touched = {(sending.organisation, sending.webhook) for sending in own}
        self._lock(touched | {(turn.organisation, turn.webhook) for turn in turns})
        for result in results:
            self._keep(result)
        for sending in flying:
            self._renew(sending)
        taken = self._take(turns, flights)
        for webhook in self._webhooks.values():
            if webhook.served or webhook.changed:
                self._settle(webhook)
        return taken

    def _flights(self, results: Sequence[Attempt], flying: Sequence[Sending]) -> list[Turn]:
        """Whom everything that is on its way now belongs to, by all dispatchers, but for what has just ended."""
        ended = {(result.sending.delivery, result.sending.number) for result in results}
        found = {
            (delivery, attempts): Turn(str(organisation), str(webhook), trusted == 1)
            for organisation, webhook, trusted, delivery, attempts in self._rows.all(
                "SELECT d.organisation_id, d.webhook_id, w.trusted, d.id, d.attempts FROM delivery d"
                " JOIN webhook w ON w.organisation_id = d.organisation_id AND w.id = d.webhook_id"
                " WHERE d.status = 'sending' AND d.due_at > :at",
                at=self._at,
            )
        }
        # Also those of our own whose leases have ended because we were held up.
        own = {(of.delivery, of.number): Turn(of.organisation, of.webhook, trusted=False) for of in flying}
        return [turn for flight, turn in (own | found).items() if flight not in ended]

    def _turns(self, flights: Sequence[Turn]) -> list[Turn]:
        """The webhooks with something due and room for it, those that have waited for their turn the longest first.

        Trusted ones have a row of their own: however many doubted ones there are, nobody waits behind them. There are
        no more than could be served if each took one.
        """
        places = _held(flights)
        turns = []
        for trusted in (True, False):
            for organisation, webhook in self._rows.all(
                "SELECT organisation_id, id FROM webhook"
                " WHERE status = 'active' AND due_at <= :at AND trusted = :trusted ORDER BY served_at LIMIT :most",
                at=self._at,
                trusted=int(trusted),
                most=_LOOKED_AT,
            ):
                turn = Turn(str(organisation), str(webhook), trusted)
                if places.room(turn):
                    places.hold(turn)
                    turns.append(turn)
        return turns

    def _lock(self, webhooks: set[tuple[str, str]]) -> None:
        for organisation, webhook in sorted(webhooks):
            row = self._rows.one(
                "UPDATE webhook SET served_at = served_at WHERE organisation_id = :owner AND id = :id"
                " RETURNING url, status, generation, rotated_at, trusted, failing_since",
                owner=organisation,
                id=webhook,
            )
            if row:
                self._webhooks[webhook] = self._locked(organisation, webhook, row)

    def _locked(self, organisation: str, webhook: str, row: Row) -> "_Webhook":
        url, status, generation, rotated_at, trusted, failing_since = row
        generations = good_generations(int(generation or 0), _text(rotated_at), self._now)
        return _Webhook(organisation, webhook, str(url), str(status), generations, trusted == 1, _text(failing_since))

    def _keep(self, result: Attempt) -> None:
        """Keep a result; one whose delivery was taken from it meanwhile is only written down."""
        webhook = self._webhooks.get(result.sending.webhook)
        if webhook is None:
            # Deleted, and its deliveries with it.
            return
        again = None
        if not result.succeeded:
            again = self._next_try(webhook, result)
            self.failures.append((result, again))
        if self._end(result, again) == 0:
            return
        webhook.changed = True
        webhook.trusted = result.succeeded
        webhook.failing_since = None if result.succeeded else webhook.failing_since or self._at
        if webhook.failing_since:
            self._judge(webhook, webhook.failing_since, result.status)

    def _next_try(self, webhook: "_Webhook", result: Attempt) -> datetime | None:
        if webhook.status == "disabled":
            return None
        asked = schedule.wait_asked(result.status, result.retry_after)
        return schedule.next_try(self._now, result.sending.failed + 1, self._chance(), asked)

    def _judge(self, webhook: "_Webhook", failing_since: str, status: int | None) -> None:
        reason = schedule.reason_to_disable(status, parse_moment(failing_since), self._now)
        if reason and webhook.status != "disabled":
            webhook.status = "disabled"
            self.given_up.append(GivenUp(webhook.organisation, webhook.id, webhook.url, failing_since, reason))

    def _end(self, result: Attempt, again: datetime | None) -> int:
        """Write an attempt down, and what it means for its delivery; 0 when the delivery is no longer its own."""
        sending = result.sending
        changed = self._rows.run(
            "UPDATE delivery SET status = :status, due_at = :due, retries = retries + 1"
            " WHERE organisation_id = :owner AND id = :id AND status = 'sending' AND attempts = :number",
            owner=sending.organisation,
            id=sending.delivery,
            number=sending.number,
            status="delivered" if result.succeeded else "waiting" if again else "failed",
            due=moment_text(again) if again else None,
        )
        # A result may be handed in twice, when the first time it was not known whether it was kept.
        self._rows.run(
            "INSERT INTO delivery_attempt"
            " (organisation_id, delivery_id, number, at, status, error, duration_ms, answer, headers)"
            " SELECT organisation_id, id, CAST(:number AS bigint), :at, CAST(:status AS bigint), CAST(:error AS text),"
            " CAST(:duration AS bigint), :answer, CAST(:headers AS text)"
            " FROM delivery WHERE organisation_id = :owner AND id = :id"
            " ON CONFLICT (organisation_id, delivery_id, number) DO NOTHING",
            owner=sending.organisation,
            id=sending.delivery,
            number=sending.number,
            at=moment_text(result.at),
            status=result.status,
            error=result.error,
            duration=result.milliseconds,
            answer=_readable(result.answer),
            headers=orjson.dumps(result.headers).decode() if result.headers else None,
        )
        return changed

    def _renew(self, sending: Sending) -> None:
        renewed = self._rows.run(
            "UPDATE delivery SET due_at = :leased"
            " WHERE organisation_id = :owner AND id = :id AND status = 'sending' AND attempts = :number",
            owner=sending.organisation,
            id=sending.delivery,
            number=sending.number,
            leased=moment_text(self._now + LEASE),
        )
        webhook = self._webhooks.get(sending.webhook)
        if webhook and renewed:
            webhook.changed = True

    def _take(self, turns: Sequence[Turn], flights: Sequence[Turn]) -> list[Sending]:
        taken: list[Sending] = []
        places = _held([self._as_known(flight) for flight in flights])
        for turn in map(self._as_known, turns):
            webhook = self._webhooks.get(turn.webhook)
            room = places.room(turn)
            if webhook and webhook.status == "active" and room:
                webhook.served = True
                sendings = self._take_of(webhook, room)
                places.hold(turn, len(sendings))
                taken += sendings
        return taken

    def _as_known(self, turn: Turn) -> Turn:
        """The same with the trust that this cycle's results have won or lost."""
        webhook = self._webhooks.get(turn.webhook)
        return turn._replace(trusted=webhook.trusted) if webhook else turn

    def _take_of(self, webhook: "_Webhook", room: int) -> list[Sending]:
        """The deliveries of a webhook that have been due the longest."""
        rows = self._rows.all(
            "UPDATE delivery SET status = 'sending', due_at = :leased, attempts = attempts + 1"
            " WHERE organisation_id = :owner AND id IN (SELECT id FROM delivery WHERE organisation_id = :owner"
            " AND webhook_id = :webhook AND due_at <= :at ORDER BY due_at, id LIMIT :room)"
            " RETURNING id, event_id, test_body, attempts, retries",
            owner=webhook.organisation,
            webhook=webhook.id,
            at=self._at,
            leased=moment_text(self._now + LEASE),
            room=room,
        )
        taken = []
        for identity, event, test_body, attempts, retries in sorted(rows):
            body = self._body(webhook.organisation, str(event)) if test_body is None else str(test_body).encode()
            sending = Sending(
                webhook.organisation,
                webhook.id,
                str(identity),
                int(attempts or 0),
                int(retries or 0),
                webhook.url,
                webhook.generations,
                str(event),
                body or b"",
            )
            if body is None:
                self._end(Attempt(sending, self._now, 0, error=NO_EVENT), None)
            else:
                taken.append(sending)
        return taken

    def _body(self, organisation: str, event: str) -> bytes | None:
        """What is sent of an event, made once for all webhooks of a cycle; None when it is no longer kept."""
        if event not in self._bodies:
            row = self._rows.one(
                f"SELECT {_EVENT_COLUMNS} FROM event WHERE organisation_id = :owner AND id = :id",
                owner=organisation,
                id=event,
            )
            self._bodies[event] = to_json(One(EventOut, row)) if row else None
        return self._bodies[event]

    def _settle(self, webhook: "_Webhook") -> None:
        """Reckon when the webhook is looked at again: when the first of its deliveries falls due, or its lease ends."""
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
    """A webhook as it stands in a cycle, its row locked."""

    organisation: str
    id: str
    url: str
    status: str
    generations: tuple[int, ...]
    trusted: bool
    failing_since: str | None
    served: bool = False
    changed: bool = False


def _held(flights: Sequence[Turn]) -> Places:
    places = Places()
    for flight in flights:
        places.hold(flight)
    return places


def _readable(answer: bytes) -> str:
    """The beginning of an answer as text that both engines can keep."""
    return answer[:_KEPT_BYTES].decode(errors="replace").replace("\0", "")


def _text(value: Value) -> str | None:
    return None if value is None else str(value)
