"""The revocation endpoint: RFC 7009. Revoking either token ends the whole connection."""

from dataclasses import dataclass

from mainstay.doors.cors import ANY_ORIGIN
from mainstay.doors.http import Request, Response
from mainstay.doors.oauth.errors import answer_program
from mainstay.doors.oauth.forms import authenticate_client, read_form, require_parameter
from mainstay.doors.runner import Runner
from mainstay.identity.tokens import TokenIssuer
from mainstay.kernel.perform import Performer


@dataclass(frozen=True, slots=True)
class RevokeEndpoint:
    """Answers `POST /oauth/revoke`."""

    performer: Performer
    token_issuer: TokenIssuer
    runner: Runner

    async def __call__(self, request: Request) -> Response:
        """End the connection of a token; an unknown token counts as revoked."""
        return await answer_program(request, self._revoke, "invalid_request")

    async def _revoke(self, request: Request) -> Response:
        form = await read_form(request)
        client = await authenticate_client(request, form, self.performer, self.runner)
        token = require_parameter(form, "token")
        organisation = await self.runner.run_read(self.token_issuer.find_organisation, token)
        await self.runner.run_change(organisation, self.token_issuer.revoke_token, client, token, request.id)
        return Response(200, b"{}", ANY_ORIGIN)
