"""Dynamic client registration: RFC 7591."""

import unicodedata
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.backing.limits import Limits
from mainstay.doors.addresses import Addresses, neighbourhood
from mainstay.doors.cors import ANYONE
from mainstay.doors.http import Request, Response
from mainstay.doors.json import NotJson, decode
from mainstay.doors.oauth.answers import OAuthError, answer_program
from mainstay.doors.oauth.redirects import LONGEST_REDIRECT, is_redirect
from mainstay.doors.running import Runner
from mainstay.identity import clients
from mainstay.kernel.perform import Stage

METHODS = ("none", "client_secret_post", "client_secret_basic")
GRANTS = ("authorization_code", "refresh_token")

BODY_LIMIT = 65_536
REGISTRATIONS_AN_HOUR = 30
MOST_REDIRECTS = 10
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Register:
    """Answers `POST /oauth/register`."""

    stage: Stage
    limits: Limits
    addresses: Addresses
    runner: Runner

    async def __call__(self, request: Request) -> Response:
        """Keep a client that registers itself."""
        return await answer_program(request, self._register, "invalid_client_metadata")

    async def _register(self, request: Request) -> Response:
        if request.method != "POST":
            raise OAuthError("invalid_request", "Only POST is answered here.", 405, (("allow", "POST"),))
        try:
            given = decode(await request.body(BODY_LIMIT))
        except NotJson as problem:
            raise OAuthError("invalid_client_metadata", f"The body is not valid JSON: {problem}.") from None
        metadata = read_metadata(given)
        name = f"register {neighbourhood(self.addresses.of_client(request.peer, request.headers))}"
        if not (await self.limits.take(name, REGISTRATIONS_AN_HOUR, 3600.0)).accepted:
            text = "Too many registrations from this address. Try again later."
            raise OAuthError("too_many_requests", text, 429, (("retry-after", "60"),))
        now = self.stage.clock()
        client, secret = await self.runner.run(clients.register, self.stage.database, metadata, now)
        answer = {"client_id": client.id, "client_id_issued_at": int(now.timestamp()), **shown(metadata)}
        if secret:
            answer |= {"client_secret": secret, "client_secret_expires_at": 0}
        return Response(201, orjson.dumps(answer), ANYONE)


def shown(metadata: dict[str, Any]) -> dict[str, Any]:
    """What is stored of a client, as it is echoed."""
    return {name: value for name, value in metadata.items() if name != "method_was_named"}


def read_metadata(given: object) -> dict[str, Any]:
    """What a client says of itself; fields that we do not know are ignored."""
    if not isinstance(given, dict):
        raise OAuthError("invalid_client_metadata", "The body is not a JSON object.")
    method = _one_of(given, "token_endpoint_auth_method", METHODS, "client_secret_basic")
    grants = _list_of(given, "grant_types", GRANTS, ["authorization_code", "refresh_token"])
    responses = _list_of(given, "response_types", ("code",), ["code"])
    if "authorization_code" not in grants or not responses:
        raise OAuthError("invalid_client_metadata", "Only the authorization code flow is offered.")
    metadata: dict[str, Any] = {
        "client_name": _name(given.get("client_name")),
        "redirect_uris": _redirects(given.get("redirect_uris")),
        "token_endpoint_auth_method": method,
        # Where none was named, either way of sending the secret is fine.
        "method_was_named": "token_endpoint_auth_method" in given,
        "grant_types": grants,
        "response_types": responses,
        "scope": "mcp",
    }
    for name in ("client_uri", "software_id", "software_version"):
        if isinstance(value := given.get(name), str) and len(value) <= LONGEST_REDIRECT:
            metadata[name] = value
    return metadata


def _one_of(given: dict[str, Any], name: str, choices: tuple[str, ...], default: str) -> str:
    value = given.get(name, default)
    if value not in choices:
        raise OAuthError("invalid_client_metadata", f"{name} must be one of {', '.join(choices)}.")
    return str(value)


def _list_of(given: dict[str, Any], name: str, choices: tuple[str, ...], default: list[str]) -> list[str]:
    value = given.get(name, default)
    if not isinstance(value, list):
        raise OAuthError("invalid_client_metadata", f"{name} must be a list of {', '.join(choices)}.")
    # What is not offered is left out, as the paper allows; the client sees it in the answer.
    return [choice for choice in choices if choice in value]


def _name(given: object) -> str:
    """The app's name without what could deceive: control characters, and those that turn the writing direction."""
    if given is not None and not isinstance(given, str):
        raise OAuthError("invalid_client_metadata", "client_name must be text.")
    kept = "".join(letter for letter in given or "" if unicodedata.category(letter) not in _DECEIVING)
    return " ".join(kept.split())[:LONGEST_NAME].strip() or "An app without a name"


_DECEIVING = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def _redirects(given: object) -> list[str]:
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_REDIRECTS:
        raise OAuthError("invalid_redirect_uri", f"redirect_uris must be a list of 1 to {MOST_REDIRECTS} addresses.")
    for address in given:
        if not isinstance(address, str) or not is_redirect(address):
            raise OAuthError(
                "invalid_redirect_uri",
                "A redirect address must be https, http on localhost, 127.0.0.1 or [::1], or a scheme of the app's"
                " own, which no system uses, without a fragment or a user.",
            )
    return given
