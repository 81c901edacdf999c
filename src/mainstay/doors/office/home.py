"""The start page, the changelog, and the choice of organisation."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from mainstay.backing.database import EVERY
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.organisation.work import list_failed_work
from mainstay.business.people.operations import list_people
from mainstay.doors.http import Request, Response
from mainstay.doors.office.desk import Desk, Guest, told
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import render, see_other
from mainstay.identity import sessions
from mainstay.kernel.operation import Operation
from mainstay.late import late
from mainstay.terms.refusal import NotFound


@dataclass(frozen=True, slots=True)
class Home:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("GET", "/", self.desk.signed_in(self.show)),
            Route("POST", "/organisation", self.desk.signed_in(self.choose)),
            Route("GET", "/changelog", self.changelog),
        ]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What there is."""
        organisation = await self.desk.perform(guest, get_organisation)
        people, waiting = None, None
        if guest.may(list_people):
            people = await self._count(guest, list_people)
            waiting = await self._count(guest, list_people, status="invited")
        undone = await self._count(guest, list_failed_work) if guest.may(list_failed_work) else None
        return self.desk.page(
            "home.html", guest, area="Home", organisation=organisation, people=people, waiting=waiting, undone=undone
        )

    async def _count(self, guest: Guest, lists: Operation, **asked: object) -> str:
        """How many there are of these, as people are told it."""
        return told((await self.desk.list(guest, lists, {"limit": 1, **asked}))["count"])

    async def choose(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Work in another organisation of this account."""
        fields = await self.desk.form(guest)
        chosen = fields.get("organisation", "")
        if chosen not in {place.organisation for place in guest.visitor.memberships}:
            raise NotFound("organisation")
        await self.desk.visitors.runner.change(self._choose, guest.visitor.session, chosen)
        return see_other("/")

    async def changelog(self, _request: Request, _: Mapping[str, str]) -> Response:
        """What is new, for everyone."""
        return render("changelog.html", changelog=_changelog())

    def _choose(self, session: str, organisation: str) -> None:
        with self.desk.visitors.stage.database.changing(EVERY) as rows:
            sessions.choose(rows, session, organisation)


@cache
def _changelog() -> str:
    """What is new, as HTML. It is written by us, and with any HTML in it shown as text."""
    written = files(__package__).joinpath("CHANGELOG.md").read_text("utf-8").partition("\n")[2]
    rendered: str = late("markdown_it").MarkdownIt("commonmark", {"html": False}).render(written)
    return rendered
