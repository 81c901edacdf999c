"""Dynamic client registration: RFC 7591."""

import unicodedata
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.doors.cors import ANY_ORIGIN
from mainstay.doors.http import Request, Response
from mainstay.doors.json import InvalidJson, decode_json
from mainstay.doors.oauth.errors import OAuthError, answer_program
from mainstay.doors.oauth.redirect_uris import MAX_REDIRECT_LENGTH, is_allowed_redirect
from mainstay.doors.runner import Runner
from mainstay.doors.server_names import ServerNames, network_of
from mainstay.identity import clients
from mainstay.infrastructure.rate_limits import RateLimits
from mainstay.kernel.perform import Performer

AUTH_METHODS = ("none", "client_secret_post", "client_secret_basic")
GRANT_TYPES = ("authorization_code", "refresh_token")

BODY_LIMIT = 65_536
REGISTRATIONS_AN_HOUR = 30
MAX_REDIRECTS = 10
MAX_NAME_LENGTH = 80


@dataclass(frozen=True, slots=True)
class RegisterEndpoint:
    """Answers `POST /oauth/register`."""

    performer: Performer
    limits: RateLimits
    server_names: ServerNames
    runner: Runner

    async def __call__(self, request: Request) -> Response:
        """Store a client that registers itself."""
        return await answer_program(request, self._register, "invalid_client_metadata")

    async def _register(self, request: Request) -> Response:
        if request.method != "POST":
            raise OAuthError("invalid_request", "Only POST is allowed here.", 405, (("allow", "POST"),))
        try:
            sent = decode_json(await request.read_body(BODY_LIMIT))
        except InvalidJson as problem:
            raise OAuthError("invalid_client_metadata", f"The body is not valid JSON: {problem}.") from None
        metadata = read_metadata(sent)
        name = f"register {network_of(self.server_names.client_address(request.peer, request.headers))}"
        if not (await self.limits.take(name, REGISTRATIONS_AN_HOUR, 3600.0)).accepted:
            text = "Too many registrations from this address. Try again later."
            raise OAuthError("too_many_requests", text, 429, (("retry-after", "60"),))
        now = self.performer.clock()
        client, secret = await self.runner.run(clients.register_client, self.performer.database, metadata, now)
        answer = {"client_id": client.id, "client_id_issued_at": int(now.timestamp()), **public_metadata(metadata)}
        if secret:
            answer |= {"client_secret": secret, "client_secret_expires_at": 0}
        return Response(201, orjson.dumps(answer), ANY_ORIGIN)


def public_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the stored metadata of a client as the answer shows it."""
    return {name: value for name, value in metadata.items() if name != "method_was_named"}


def read_metadata(sent: object) -> dict[str, Any]:
    """Return the metadata that a client sends about itself; unknown fields are ignored."""
    if not isinstance(sent, dict):
        raise OAuthError("invalid_client_metadata", "The body is not a JSON object.")
    method = _read_choice(sent, "token_endpoint_auth_method", AUTH_METHODS, "client_secret_basic")
    grants = _read_choices(sent, "grant_types", GRANT_TYPES, ["authorization_code", "refresh_token"])
    responses = _read_choices(sent, "response_types", ("code",), ["code"])
    if "authorization_code" not in grants or not responses:
        raise OAuthError("invalid_client_metadata", "Only the authorization code flow is supported.")
    metadata: dict[str, Any] = {
        "client_name": clean_name(sent.get("client_name"), default="Unnamed app"),
        "redirect_uris": _read_redirects(sent.get("redirect_uris")),
        "token_endpoint_auth_method": method,
        # If the client named no method, it may send the secret in either way.
        "method_was_named": "token_endpoint_auth_method" in sent,
        "grant_types": grants,
        "response_types": responses,
        "scope": "mcp",
    }
    for name in ("client_uri", "software_id", "software_version"):
        if isinstance(value := sent.get(name), str) and len(value) <= MAX_REDIRECT_LENGTH:
            metadata[name] = value
    return metadata


def _read_choice(sent: dict[str, Any], name: str, choices: tuple[str, ...], default: str) -> str:
    value = sent.get(name, default)
    if value not in choices:
        raise OAuthError("invalid_client_metadata", f"{name} must be one of {', '.join(choices)}.")
    return str(value)


def _read_choices(sent: dict[str, Any], name: str, choices: tuple[str, ...], default: list[str]) -> list[str]:
    value = sent.get(name, default)
    if not isinstance(value, list):
        raise OAuthError("invalid_client_metadata", f"{name} must be a list of {', '.join(choices)}.")
    # Choices that are not offered are left out, as the RFC allows; the client sees that in the answer.
    return [choice for choice in choices if choice in value]


def clean_name(sent: object, default: str) -> str:
    """Return the app's name without deceptive characters, such as those that change the writing direction."""
    if sent is not None and not isinstance(sent, str):
        raise OAuthError("invalid_client_metadata", "client_name must be text.")
    cleaned = "".join(char for char in sent or "" if unicodedata.category(char) not in _DECEPTIVE_CATEGORIES)
    return " ".join(cleaned.split())[:MAX_NAME_LENGTH].strip() or default


_DECEPTIVE_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def _read_redirects(sent: object) -> list[str]:
    if not isinstance(sent, list) or not 1 <= len(sent) <= MAX_REDIRECTS:
        raise OAuthError("invalid_redirect_uri", f"redirect_uris must be a list of 1 to {MAX_REDIRECTS} addresses.")
    for address in sent:
        if not isinstance(address, str) or not is_allowed_redirect(address):
            raise OAuthError(
                "invalid_redirect_uri",
                "A redirect address must be https, http on localhost, 127.0.0.1 or [::1], or a scheme of the app's"
                " own, which no system uses, without a fragment or a user.",
            )
    return sent
