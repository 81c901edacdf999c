"""Accepting an invitation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.backing.database import EVERY
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.joining import accept_invitation
from mainstay.doors.http import Request, Response
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.pages.door import Route
from mainstay.identity import links
from mainstay.identity.authenticate import actor_of_invitation
from mainstay.identity.links import Kind, Link, LinkMaker
from mainstay.identity.signing_in import DeadLink
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import NotFound, Refusal


@dataclass(frozen=True, slots=True)
class Invited:
    """Someone at the door with a link that lives."""

    link: Link
    actor: Actor


@dataclass(frozen=True, slots=True)
class Invitation:
    """The pages."""

    threshold: Threshold
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("GET", "/invitation/{token}", self.show),
            Route("POST", "/invitation/{token}", self.accept),
        ]

    async def show(self, request: Request, at: Mapping[str, str]) -> Response:
        """Who is invited to what, and the form to accept it."""
        invited = await self.threshold.runner.read(self._find, at["token"])
        if invited is None:
            return self._dead(request)
        return await self._page(request, invited)

    async def accept(self, request: Request, at: Mapping[str, str]) -> Response:
        """Become a person of the organisation, signed in."""
        fields = await self.threshold.visitors.stranger_form(request)
        invited = await self.threshold.runner.read(self._find, at["token"])
        if invited is None:
            return self._dead(request)
        given = {name: fields.get(name, "") for name in ("name", "password")}
        try:
            known = await self.threshold.look_up(invited.link.email)
            await self.threshold.count_attempt(request, known)
            await self.threshold.runner.change(
                invited.actor.organisation, self._perform, accept_invitation, invited.actor, given, request.id
            )
        except DeadLink:
            return self._dead(request)
        except Refusal as refusal:
            return await self._page(request, invited, refusal, fields)
        joined = await self.threshold.look_up(invited.link.email)
        return await self.threshold.welcome(request, str(joined.account), invited.actor.organisation, "")

    async def _page(
        self,
        request: Request,
        invited: Invited,
        refusal: Refusal | None = None,
        fields: dict[str, str] | None = None,
    ) -> Response:
        organisation = await self.threshold.runner.read(self._perform, get_organisation, invited.actor, {}, request.id)
        known = await self.threshold.look_up(invited.link.email)
        person = invited.actor.person
        return self.threshold.page(
            "invitation.html",
            request,
            refusal,
            organisation=organisation["name"],
            role=invited.actor.role,
            email=invited.link.email,
            name=(fields or {}).get("name", person.name if person else ""),
            known=known.account is not None,
        )

    def _dead(self, request: Request) -> Response:
        return self.threshold.page("dead_link.html", request, DeadLink(), again=None)

    def _find(self, token: str) -> Invited | None:
        stage = self.threshold.visitors.stage
        identity = self.link_maker.read(Kind.INVITATION, token)
        if identity is None:
            return None
        with stage.database.reading(EVERY) as rows:
            link = links.find(rows, Kind.INVITATION, identity, stage.clock())
        if link is None or link.organisation is None:
            return None
        try:
            with stage.database.reading(link.organisation) as rows:
                return Invited(link, actor_of_invitation(rows, link.id))
        except NotFound:
            return None

    def _perform(self, operation: Operation, actor: Actor, given: dict[str, str], request: str) -> dict[str, Any]:
        answer = self.threshold.visitors.stage.perform(operation, actor, orjson.dumps(given), Envelope(request))
        result: dict[str, Any] = orjson.loads(answer.body)
        return result
