"""The start page, the changelog, and the choice of organisation."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from mainstay.backing.database import EVERY
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.timers import stop_timer
from mainstay.business.organisation.work import list_failed_work
from mainstay.business.overview.operations import get_overview
from mainstay.business.schedule.model import PROGRESSED, next_step
from mainstay.business.schedule.operations import list_visits, set_visit_status
from mainstay.doors.http import Request, Response
from mainstay.doors.office.activity import activity
from mainstay.doors.office.desk import Desk, Guest, told
from mainstay.doors.office.first_steps import before_invoicing, first_steps
from mainstay.doors.office.timer import STOP, running_timer
from mainstay.doors.pages.door import Route, form_at
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import render, see_other
from mainstay.doors.pages.showing import state_of
from mainstay.identity import sessions
from mainstay.kernel.operation import Operation
from mainstay.late import late
from mainstay.ledger.audit import ActedBy
from mainstay.terms.refusal import NotFound

_VISITS = 50
_NOTHING_NEEDED: dict[str, Any] = {"needs": [], "currency": "", "revenue": None, "changedByApps": 0}


@dataclass(frozen=True, slots=True)
class Home:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("GET", "/", self.desk.signed_in(self.show)),
            *form_at("/today/{visit}", self.desk.signed_in(self.go_on), "/schedule/visits/{visit}"),
            *form_at("/organisation", self.desk.signed_in(self.choose), "/"),
            Route("GET", "/changelog", self.changelog),
        ]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What needs whoever looks, and what is planned today."""
        overview = await self.desk.perform(guest, get_overview) if guest.may(get_overview) else _NOTHING_NEEDED
        undone = await self._count(guest, list_failed_work) if guest.may(list_failed_work) else None
        here = self.desk.visitors.stage.base_url
        needs = [_with_path(need, here) | {"told": told(need["count"])} for need in overview["needs"]]
        own, others, more = await self._today(guest)
        # Where anything waits or is planned, nobody needs to be told how to begin.
        steps = [] if needs or own or others else await first_steps(self.desk, guest)
        return self.desk.page(
            "home.html",
            guest,
            area="Home",
            today=self.desk.today(guest),
            needs=needs,
            currency=overview["currency"],
            revenue=_with_path(overview["revenue"], here) if overview["revenue"] else None,
            activity=self._of_apps(guest),
            by_apps=told(overview["changedByApps"]) if overview["changedByApps"] else None,
            undone=undone,
            timer=await running_timer(self.desk, guest, str(guest.actor.id)) if guest.may(list_hours) else None,
            stop=STOP,
            may_stop=guest.may(stop_timer),
            steps=steps,
            invoicing=[] if steps else await before_invoicing(self.desk, guest),
            may_bill=guest.may(list_unbilled),
            own=own,
            others=others,
            more=more,
            notice=PROGRESSED.get(query_words(guest.request).get("progressed", "")) or self.desk.notice(guest),
        )

    def _of_apps(self, guest: Guest) -> str | None:
        """Where exactly those acts stand that the overview counts."""
        yesterday = self.desk.today(guest) - timedelta(days=1)
        return activity(guest, **{"actedBy": ActedBy.APP.value, "from": yesterday.isoformat()})

    async def _today(self, guest: Guest) -> tuple[list[dict[str, Any]], list[dict[str, Any]], bool]:
        """The visits of today that whoever looks sees: their own, those of others, and whether there are more."""
        day = self.desk.today(guest).isoformat()
        asked = {"from": day, "until": day, "limit": _VISITS}
        page = await self.desk.list(guest, list_visits, asked)
        visits = [self._shown(guest, visit) for visit in page["data"]]
        own, others = [one for one in visits if one["own"]], [one for one in visits if not one["own"]]
        if page["hasMore"]:
            # Whatever else there is, nobody's own visits drop off.
            mine = await self.desk.list(guest, list_visits, {**asked, "personId": guest.actor.id})
            own = [self._shown(guest, visit) for visit in mine["data"]]
        return own, others, page["hasMore"]

    def _shown(self, guest: Guest, visit: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **visit,
            "own": visit["personId"] == guest.actor.id,
            "state": state_of(list_visits.output, visit["status"]),
            "next": next_step(visit["status"]) if set_visit_status.name in visit["availableActions"] else None,
        }

    async def go_on(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Say how far a visit is, and go back to what is next."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        given = {"visitId": at["visit"], "status": fields.get("status", "")}
        await self.desk.perform(guest, set_visit_status, given)
        return see_other(f"/?{urlencode({'progressed': given['status']})}")

    async def _count(self, guest: Guest, lists: Operation, **asked: object) -> str:
        """How many there are of these, as people are told it."""
        return told((await self.desk.list(guest, lists, {"limit": 1, **asked}))["count"])

    async def choose(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Work in another organisation of this account."""
        fields = await self.desk.form(guest)
        chosen = fields.get("organisation", "")
        if chosen not in {place.organisation for place in guest.visitor.memberships}:
            raise NotFound("organisation")
        await self.desk.visitors.runner.run(self._choose, guest.visitor.session, chosen)
        return see_other("/")

    async def changelog(self, _request: Request, _: Mapping[str, str]) -> Response:
        """What is new, for everyone."""
        return render("changelog.html", changelog=_changelog())

    def _choose(self, session: str, organisation: str) -> None:
        with self.desk.visitors.stage.database.changing(EVERY) as rows:
            sessions.choose(rows, session, organisation)


def _with_path(told_of: Mapping[str, Any], here: str) -> dict[str, Any]:
    """What an overview tells, with where it is in this office."""
    return {**told_of, "path": told_of["url"].removeprefix(here)}


@cache
def _changelog() -> str:
    """What is new, as HTML. It is written by us, and with any HTML in it shown as text."""
    written = files(__package__).joinpath("CHANGELOG.md").read_text("utf-8").partition("\n")[2]
    rendered: str = late("markdown_it").MarkdownIt("commonmark", {"html": False}).render(written)
    return rendered
