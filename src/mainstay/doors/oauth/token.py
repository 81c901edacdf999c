"""Tokens: RFC 6749 §4.1.3 and §6, RFC 7636 (PKCE), RFC 8707 (resource)."""

from dataclasses import dataclass

import orjson

from mainstay.doors.cors import ANYONE
from mainstay.doors.http import Request, Response
from mainstay.doors.oauth.answers import OAuthError, answer_program
from mainstay.doors.oauth.forms import authenticated_client, read_form, required
from mainstay.doors.running import Runner
from mainstay.identity.clients import Client
from mainstay.identity.tokens import ACCESS_LIFETIME, InvalidGrant, TokenOffice, Tokens
from mainstay.kernel.perform import Stage


@dataclass(frozen=True, slots=True)
class Token:
    """Answers `POST /oauth/token`."""

    stage: Stage
    office: TokenOffice
    runner: Runner
    resource: str

    async def __call__(self, request: Request) -> Response:
        """Exchange a code or a refresh token."""
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
        return Response(200, orjson.dumps(answer), ANYONE)

    async def _exchange(self, request: Request) -> Tokens:
        form = await read_form(request)
        grant = form.get("grant_type")
        if grant is None:
            raise OAuthError("invalid_request", "grant_type is required.")
        if grant not in {"authorization_code", "refresh_token"}:
            raise OAuthError("unsupported_grant_type", "Only authorization_code and refresh_token are offered.")
        client = await authenticated_client(request, form, self.stage, self.runner)
        if grant not in client.metadata["grant_types"]:
            raise OAuthError("unauthorized_client", f"The client did not register for {grant}.")
        if form.get("resource", self.resource) != self.resource:
            raise OAuthError("invalid_target", f"resource must be {self.resource}.")
        if "mcp" not in form.get("scope", "mcp").split():
            raise OAuthError("invalid_scope", "The only scope is mcp.")
        if grant == "refresh_token":
            return await self._refresh(client, form, request.id)
        return await self._redeem(client, form, request.id)

    async def _redeem(self, client: Client, form: dict[str, str], request: str) -> Tokens:
        code, verifier = (required(form, name) for name in ("code", "code_verifier"))
        owner = await self.runner.read(self.office.find_owner, code)
        redirect = form.get("redirect_uri")
        return await self.runner.change(owner, self.office.redeem, client, code, redirect, verifier, request)

    async def _refresh(self, client: Client, form: dict[str, str], request: str) -> Tokens:
        token = required(form, "refresh_token")
        owner = await self.runner.read(self.office.find_owner, token)
        return await self.runner.change(owner, self.office.refresh, client, token, request)
