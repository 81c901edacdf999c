"""Revocation: RFC 7009. Either token ends the whole connection."""

from dataclasses import dataclass

from mainstay.doors.cors import ANYONE
from mainstay.doors.http import Request, Response
from mainstay.doors.oauth.answers import answer_program
from mainstay.doors.oauth.forms import authenticated_client, read_form, required
from mainstay.doors.running import Runner
from mainstay.identity.tokens import TokenOffice
from mainstay.kernel.perform import Stage


@dataclass(frozen=True, slots=True)
class Revoke:
    """Answers `POST /oauth/revoke`."""

    stage: Stage
    office: TokenOffice
    runner: Runner

    async def __call__(self, request: Request) -> Response:
        """End the connection of a token; a token that is not known is no news."""
        return await answer_program(request, self._revoke, "invalid_request")

    async def _revoke(self, request: Request) -> Response:
        form = await read_form(request)
        client = await authenticated_client(request, form, self.stage, self.runner)
        token = required(form, "token")
        owner = await self.runner.read(self.office.find_owner, token)
        await self.runner.change(owner, self.office.revoke, client, token, request.id)
        return Response(200, b"{}", ANYONE)
