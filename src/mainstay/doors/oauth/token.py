"""The token endpoint: RFC 6749 §4.1.3 and §6, RFC 7636 (PKCE), RFC 8707 (resource)."""

from dataclasses import dataclass

import orjson

from mainstay.doors.cors import ANY_ORIGIN
from mainstay.doors.http import Request, Response
from mainstay.doors.oauth.errors import OAuthError, answer_program
from mainstay.doors.oauth.forms import authenticate_client, read_form, require_parameter
from mainstay.doors.runner import Runner
from mainstay.identity.clients import OAuthClient
from mainstay.identity.tokens import ACCESS_LIFETIME, InvalidGrant, TokenIssuer, Tokens
from mainstay.kernel.perform import Performer


@dataclass(frozen=True, slots=True)
class TokenEndpoint:
    """Answers `POST /oauth/token`."""

    performer: Performer
    token_issuer: TokenIssuer
    runner: Runner
    resource: str

    async def __call__(self, request: Request) -> Response:
        """Exchange a code or a refresh token for tokens."""
        return await answer_program(request, self._answer, "invalid_request")

    async def _answer(self, request: Request) -> Response:
        try:
            tokens = await self._exchange(request)
        except InvalidGrant as refusal:
            raise OAuthError("invalid_grant", refusal.text) from None
        answer = {
            "access_token": tokens.access,
            "token_type": "Bearer",
            "expires_in": int(ACCESS_LIFETIME.total_seconds()),
            "refresh_token": tokens.refresh,
            "scope": "mcp",
        }
        return Response(200, orjson.dumps(answer), ANY_ORIGIN)

    async def _exchange(self, request: Request) -> Tokens:
        form = await read_form(request)
        grant = form.get("grant_type")
        if grant is None:
            raise OAuthError("invalid_request", "grant_type is required.")
        if grant not in {"authorization_code", "refresh_token"}:
            raise OAuthError("unsupported_grant_type", "Only authorization_code and refresh_token are supported.")
        client = await authenticate_client(request, form, self.performer, self.runner)
        if grant not in client.metadata["grant_types"]:
            raise OAuthError("unauthorized_client", f"The client did not register for {grant}.")
        if form.get("resource", self.resource) != self.resource:
            raise OAuthError("invalid_target", f"resource must be {self.resource}.")
        if "mcp" not in form.get("scope", "mcp").split():
            raise OAuthError("invalid_scope", "The only scope is mcp.")
        if grant == "refresh_token":
            return await self._refresh(client, form, request.id)
        return await self._redeem(client, form, request.id)

    async def _redeem(self, client: OAuthClient, form: dict[str, str], request_id: str) -> Tokens:
        code, verifier = (require_parameter(form, name) for name in ("code", "code_verifier"))
        organisation = await self.runner.run_read(self.token_issuer.find_organisation, code)
        redirect = form.get("redirect_uri")
        return await self.runner.run_change(
            organisation, self.token_issuer.redeem_code, client, code, redirect, verifier, request_id
        )

    async def _refresh(self, client: OAuthClient, form: dict[str, str], request_id: str) -> Tokens:
        token = require_parameter(form, "refresh_token")
        organisation = await self.runner.run_read(self.token_issuer.find_organisation, token)
        return await self.runner.run_change(organisation, self.token_issuer.refresh_tokens, client, token, request_id)
