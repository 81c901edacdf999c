"""The pages to accept an invitation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.invitations import accept_invitation
from mainstay.doors.http import Request, Response
from mainstay.doors.office.sign_in.public_pages import PublicPages
from mainstay.doors.pages.door import Route
from mainstay.identity import links
from mainstay.identity.authenticate import actor_of_invitation
from mainstay.identity.links import LinkKind, LinkMaker, OneTimeLink
from mainstay.identity.sign_in import InvalidLink
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import NotFound, Refusal


@dataclass(frozen=True, slots=True)
class OpenInvitation:
    """A valid invitation link, and the actor that it stands for."""

    link: OneTimeLink
    actor: Actor


@dataclass(frozen=True, slots=True)
class InvitationPages:
    """The pages of an invitation."""

    public_pages: PublicPages
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            Route("GET", "/invitation/{token}", self.show),
            Route("POST", "/invitation/{token}", self.accept),
        ]

    async def show(self, request: Request, path_values: Mapping[str, str]) -> Response:
        """Show who is invited to which organisation, and the form to accept."""
        invitation = await self.public_pages.runner.run_read(self._find_invitation, path_values["token"])
        if invitation is None:
            return self._render_dead_link(request)
        return await self._render_page(request, invitation)

    async def accept(self, request: Request, path_values: Mapping[str, str]) -> Response:
        """Accept the invitation and sign the person in."""
        fields = await self.public_pages.visitors.read_anonymous_form(request)
        invitation = await self.public_pages.runner.run_read(self._find_invitation, path_values["token"])
        if invitation is None:
            return self._render_dead_link(request)
        given = {name: fields.get(name, "") for name in ("name", "password")}
        try:
            known = await self.public_pages.look_up(invitation.link.email)
            await self.public_pages.count_attempt(request, known)
            await self.public_pages.runner.run_change(
                invitation.actor.organisation, self._perform, accept_invitation, invitation.actor, given, request.id
            )
        except InvalidLink:
            return self._render_dead_link(request)
        except Refusal as refusal:
            return await self._render_page(request, invitation, refusal, fields)
        joined = await self.public_pages.look_up(invitation.link.email)
        return await self.public_pages.start_session(request, str(joined.account), invitation.actor.organisation, "")

    async def _render_page(
        self,
        request: Request,
        invitation: OpenInvitation,
        refusal: Refusal | None = None,
        fields: dict[str, str] | None = None,
    ) -> Response:
        organisation = await self.public_pages.runner.run_read(
            self._perform, get_organisation, invitation.actor, {}, request.id
        )
        known = await self.public_pages.look_up(invitation.link.email)
        person = invitation.actor.person
        return self.public_pages.render_page(
            "invitation.html",
            request,
            refusal,
            organisation=organisation["name"],
            role=invitation.actor.role,
            email=invitation.link.email,
            name=(fields or {}).get("name", person.name if person else ""),
            known=known.account is not None,
        )

    def _render_dead_link(self, request: Request) -> Response:
        return self.public_pages.render_page("dead_link.html", request, InvalidLink(), again=None)

    def _find_invitation(self, token: str) -> OpenInvitation | None:
        performer = self.public_pages.visitors.performer
        record_id = self.link_maker.verify_token(LinkKind.INVITATION, token)
        if record_id is None:
            return None
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            link = links.find(db, LinkKind.INVITATION, record_id, performer.clock())
        if link is None or link.organisation is None:
            return None
        try:
            with performer.database.read_transaction(link.organisation) as db:
                return OpenInvitation(link, actor_of_invitation(db, link.id))
        except NotFound:
            return None

    def _perform(self, operation: Operation, actor: Actor, given: dict[str, str], request_id: str) -> dict[str, Any]:
        answer = self.public_pages.visitors.performer.perform(
            operation, actor, orjson.dumps(given), RequestDetails(request_id)
        )
        result: dict[str, Any] = orjson.loads(answer.body)
        return result
