"""Hours that wait for approval: everything of one person and week on one screen."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from typing import Any
from urllib.parse import urlencode

import orjson

from mainstay.business.hours.asked import MOST_AT_ONCE
from mainstay.business.hours.model import BECOMES, TO_REVIEW, is_long
from mainstay.business.hours.operations import get_time_entry, list_hours
from mainstay.business.hours.review import review_hours
from mainstay.doors.http import Response
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest, read_version, status_of
from mainstay.doors.office.week import DAYS, monday_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.showing import state_of
from mainstay.kernel.context import Envelope
from mainstay.kernel.perform import Stage
from mainstay.terms.refusal import Forbidden, Invalid, NotFound, Refusal, Stale

_PAGE = 100
# So many entries are looked through for whose hours wait.
_QUEUED = 1000
_PATH = "/hours/approve"
# How the fields begin that name an entry; each carries the version that was shown.
_ENTRY = "entry "


def sees_queue(guest: Guest) -> bool:
    """Whether someone is shown what waits for approval: also while nothing can be decided."""
    return guest.actor.may(review_hours.right)


@dataclass(frozen=True)
class Approval:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [Route("GET", _PATH, enter(self.show)), Route("POST", _PATH, enter(self.decide))]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What waits, by person and week; one of them whole."""
        return await self._page(guest, {**query_words(guest.request), **guest.typed})

    async def decide(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Approve what is marked, or reject it with a reason."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        marked = [name for name in fields if name.startswith(_ENTRY)]
        seen = {name.removeprefix(_ENTRY): read_version(fields[name]) for name in marked}
        decision, reason = fields.get("decision", ""), fields.get("reason") or None
        given = {"timeEntryIds": [*seen], "decision": decision, "reason": reason}
        try:
            changed = await self.desk.visitors.runner.change(guest.actor.organisation, self._decide, guest, given, seen)
        except Refusal as refusal:
            return await self._page(guest, fields, self.desk.in_words(guest, review_hours, given, refusal))
        if changed:
            return await self._page(guest, fields, Stale(), changed)
        done = {"done": review_hours.name, "decided": decision, "count": len(seen)}
        return see_other(f"{_PATH}?{urlencode(done)}")

    def _decide(self, guest: Guest, given: Mapping[str, object], seen: Mapping[str, int | None]) -> list[str]:
        """Decide on all of them as one change; those that are not as they were seen, with which nothing is decided."""
        changed: list[str] = []
        try:
            with self.desk.visitors.stage.together(guest.actor.organisation) as stage:
                # More are not decided on at once, and so refused.
                for identity, version in islice(seen.items(), MOST_AT_ONCE):
                    now = _version_now(stage, guest, identity)
                    if now is None or version not in {None, now}:
                        changed.append(identity)
                # No version is right then; a form that was sent before is still answered as it was.
                envelope = guest.envelope(review_hours.name)._replace(versions=frozenset() if changed else None)
                stage.perform(review_hours, guest.actor, orjson.dumps(given), envelope)
        except (Stale, NotFound):
            # What is gone is missed before anyone asks whether the others are as they were seen.
            if not changed:
                raise
            return changed
        return []

    async def _page(
        self,
        guest: Guest,
        words: Mapping[str, str],
        refusal: Refusal | None = None,
        changed: Collection[str] = (),
    ) -> Response:
        if not sees_queue(guest):
            raise Forbidden(f"The role {guest.actor.role} may not decide on hours. Ask an owner or admin.")
        queue, more = await self._queue(guest)
        person, monday = words.get("person", ""), words.get("week", "")
        chosen = next((one for one in queue if (one["person"], one["week"]) == (person, monday)), None)
        if chosen is None and not person and queue:
            chosen = queue[0]
        days, more_days = await self._days(guest, chosen) if chosen else ([], False)
        return self.desk.page(
            "hours_approve.html",
            guest,
            status_of(refusal),
            area="Hours",
            queue=queue,
            more=more,
            chosen=chosen,
            waiting=_waiting(days),
            days=days,
            more_days=more_days,
            fields=words,
            changed=changed,
            problem=_changed_since(len(changed)) if changed else _told(refusal, words),
            notice=AS_LEFT if guest.typed and not refusal else _decided(query_words(guest.request)),
            reviews=True,
            # What was typed stays in sight, also where it is refused because nothing can be decided any more.
            decides=guest.may(review_hours) or refusal is not None or bool(guest.typed),
        )

    async def _queue(self, guest: Guest) -> tuple[list[dict[str, Any]], bool]:
        """Whose hours of which week wait, the oldest first; and whether there is more than was looked through."""
        found, more = await self._read(guest, {"status": TO_REVIEW, "order": "oldest"}, _QUEUED)
        queue: dict[tuple[str, str], dict[str, Any]] = {}
        for entry in found:
            week = _week(entry)
            usual = {"person": entry["personId"], "name": entry["personName"], "week": week}
            usual |= {"count": 0, "minutes": 0, "long": 0}
            one = queue.setdefault((entry["personId"], week), usual)
            one["count"] += 1
            one["minutes"] += entry["minutes"]
            one["long"] += is_long(entry["minutes"])
        for one in queue.values():
            # The last week may go on behind what was looked through.
            one["partly"] = more and one["week"] == _week(found[-1])
            one["to"] = f"{_PATH}?{urlencode({'person': one['person'], 'week': one['week']})}"
        return list(queue.values()), more

    async def _days(self, guest: Guest, chosen: Mapping[str, Any]) -> tuple[list[dict[str, Any]], bool]:
        """The week by day, of which what waits can be decided on; and whether there is more than is decided at once."""
        monday = date.fromisoformat(chosen["week"])
        span = {"from": monday.isoformat(), "until": (monday + timedelta(days=DAYS - 1)).isoformat()}
        asked = {"personId": chosen["person"], "order": "oldest", **span}
        found, more = await self._read(guest, asked, MOST_AT_ONCE)
        if more:
            # What is decided makes room for what waits behind it.
            found, more = await self._read(guest, {**asked, "status": TO_REVIEW}, MOST_AT_ONCE)
        model = list_hours.output
        days: dict[str, dict[str, Any]] = {}
        for entry in found:
            day = days.setdefault(entry["on"], {"on": date.fromisoformat(entry["on"]), "entries": [], "minutes": 0})
            told = {"state": state_of(model, entry["status"]), "waits": entry["status"] == TO_REVIEW}
            told |= {"long": is_long(entry["minutes"])}
            day["entries"].append(entry | told)
            day["minutes"] += entry["minutes"] or 0
        return list(days.values()), more

    async def _read(self, guest: Guest, asked: Mapping[str, object], most: int) -> tuple[list[dict[str, Any]], bool]:
        """So many hours, page by page; and whether there are more."""
        found: list[dict[str, Any]] = []
        given = {**asked, "limit": _PAGE}
        while True:
            page = await self.desk.perform(guest, list_hours, given)
            found += page["data"]
            if not page["hasMore"] or len(found) >= most:
                return found, page["hasMore"]
            given |= {"startingAfter": found[-1]["id"]}


def _version_now(stage: Stage, guest: Guest, identity: str) -> int | None:
    asked = orjson.dumps({"timeEntryId": identity})
    with suppress(NotFound):
        return stage.perform(get_time_entry, guest.actor, asked, Envelope(guest.request.id, bare=True)).version
    return None


def _week(entry: Mapping[str, Any]) -> str:
    return monday_of(date.fromisoformat(entry["on"])).isoformat()


def _waiting(days: list[dict[str, Any]]) -> dict[str, int]:
    """What can be decided on of the days that are shown."""
    minutes = [entry["minutes"] or 0 for day in days for entry in day["entries"] if entry["waits"]]
    return {"count": len(minutes), "minutes": sum(minutes)}


def _decided(words: Mapping[str, str]) -> str | None:
    """What became of how many entries, said on the page after it."""
    became, count = BECOMES.get(words.get("decided", "")), words.get("count", "")
    if became is None or not count.isdecimal():
        return None
    return f"One entry is {became}." if count == "1" else f"{int(count)} entries are {became}."


def _changed_since(count: int) -> str:
    which = "One of these entries was" if count == 1 else f"{count} of these entries were"
    return (
        f"{which} changed since you opened this page, so none was decided on. What is still here of it is marked as"
        " changed: look at it, then decide again."
    )


def _told(refusal: Refusal | None, words: Mapping[str, str]) -> str | None:
    """What is wrong; what is missing, in words of this page."""
    faults = {fault.field for fault in refusal.faults} if isinstance(refusal, Invalid) else set()
    if "timeEntryIds" in faults and not any(name.startswith(_ENTRY) for name in words):
        return "Mark at least one entry."
    if "reason" in faults and not words.get("reason", "").strip():
        return "Say why, so that they know what to change."
    return refusal.text if refusal else None
