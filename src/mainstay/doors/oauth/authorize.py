"""The authorization endpoint: RFC 6749 §4.1.1, RFC 7636 (PKCE), RFC 8707 (resource), RFC 9207 (iss)."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from mainstay.doors.http import Request, Response
from mainstay.doors.oauth.client_documents import ClientDocuments, DocumentRefused
from mainstay.doors.oauth.errors import OAuthError
from mainstay.doors.oauth.metadata import SCOPE
from mainstay.doors.oauth.redirect_uris import is_allowed_redirect, is_web_address
from mainstay.doors.pages.forms import FormError
from mainstay.doors.pages.rendering import redirect
from mainstay.doors.runner import Runner
from mainstay.identity import clients
from mainstay.identity.clients import OAuthClient, is_document_address
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class AppRequest:
    """The request of a known app with a registered redirect address."""

    client: OAuthClient
    redirect_uri: str
    parameters: dict[str, str]
    # The names of parameters that were sent more than once.
    repeated: frozenset[str]

    @property
    def challenge(self) -> str:
        """The PKCE challenge that the app must later prove that it made."""
        return self.parameters["code_challenge"]


class NoSafeRedirect(FormError):
    """A request with no safe address to redirect to: the visitor sees a page instead."""

    def __init__(self, message: Message) -> None:
        super().__init__(400, message)


class SignInNeeded(Exception):
    """The app is only looked up after the visitor has signed in."""


@dataclass(frozen=True, slots=True)
class Authorization:
    """Reads the requests of apps, and answers them by sending the visitor back to the app."""

    performer: Performer
    runner: Runner
    documents: ClientDocuments
    base_url: str
    # Whether the port of a loopback address may differ from the registered one (RFC 8252).
    any_loopback_port: bool

    async def read(self, request: Request, account: str | None) -> AppRequest:
        """Read the request of a visitor; refuse it if the app or its redirect address is not known.

        The account is None if the visitor is not signed in. Then SignInNeeded is raised for an app whose description
        would have to be fetched.
        """
        parameters, repeated = _parse_parameters(request.query)
        if repeated & {"client_id", "redirect_uri"} or not {"client_id", "redirect_uri"} <= parameters.keys():
            raise NoSafeRedirect(Message("The app did not send its ID or its redirect address."))
        client = await self._find_client(parameters["client_id"], account)
        redirect_uri = parameters["redirect_uri"]
        if not client.has_redirect(redirect_uri, any_loopback_port=self.any_loopback_port):
            raise NoSafeRedirect(Message("The app's redirect address is not one that it registered."))
        if not is_allowed_redirect(redirect_uri):
            # The rules may have become stricter since the app registered.
            raise NoSafeRedirect(Message("The app's redirect address is not allowed. Use another version of the app."))
        return AppRequest(client, redirect_uri, parameters, repeated)

    def check(self, app_request: AppRequest) -> None:
        """Refuse a request that is wrong or asks for something that does not exist."""
        parameters = app_request.parameters
        if app_request.repeated:
            raise OAuthError("invalid_request", Message("A parameter was sent twice."))
        if "response_type" not in parameters:
            raise OAuthError("invalid_request", Message("response_type is required."))
        if parameters["response_type"] != "code":
            raise OAuthError("unsupported_response_type", Message("response_type must be code."))
        if (
            not _CHALLENGE.fullmatch(parameters.get("code_challenge", ""))
            or parameters.get("code_challenge_method") != "S256"
        ):
            raise OAuthError(
                "invalid_request", Message("A code_challenge with code_challenge_method S256 is required.")
            )
        if SCOPE not in parameters.get("scope", SCOPE).split():
            raise OAuthError("invalid_scope", Message("The only scope is mcp."))
        if parameters.get("resource", f"{self.base_url}/mcp") != f"{self.base_url}/mcp":
            raise OAuthError("invalid_target", Message("resource must be {address}.", address=f"{self.base_url}/mcp"))

    def answer(self, app_request: AppRequest, **parameters: str) -> Response:
        """Send the visitor back to the app, always with the issuer, to prevent mix-up attacks."""
        state = {"state": app_request.parameters["state"]} if "state" in app_request.parameters else {}
        query = urlencode({**parameters, **state, "iss": self.base_url})
        separator = "&" if "?" in app_request.redirect_uri else "?"
        return redirect(f"{app_request.redirect_uri}{separator}{query}")

    def refuse(self, app_request: AppRequest, problem: OAuthError) -> Response:
        """Send the visitor back to the app with an error.

        Redirect only to a web address: any other would start a program on the visitor's device without approval.
        """
        if not is_web_address(app_request.redirect_uri):
            raise NoSafeRedirect(
                Message("The app was not connected. {problem} You can close this page.", problem=problem.message)
            )
        return self.answer(app_request, error=problem.code, error_description=problem.text)

    async def _find_client(self, client_id: str, account: str | None) -> OAuthClient:
        if is_document_address(client_id):
            if account is None:
                raise SignInNeeded
            try:
                return await self.documents.find_client(client_id, account)
            except DocumentRefused as error:
                raise NoSafeRedirect(error.message) from None
        client = await self.runner.run_read(self._find_registered, client_id)
        if client is None:
            raise NoSafeRedirect(Message("This app is not registered. Start connecting it again in the app."))
        return client

    def _find_registered(self, client_id: str) -> OAuthClient | None:
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return clients.find(db, client_id)


def _parse_parameters(query: bytes) -> tuple[dict[str, str], frozenset[str]]:
    """Return the parameters, and the names of those that were sent twice; an empty one counts as missing."""
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise NoSafeRedirect(Message("The address is not valid.")) from None
    names = [name for name, _ in pairs]
    repeated = frozenset(name for name in names if names.count(name) > 1)
    parameters = {name: value for name, value in pairs if value}
    if any("\0" in value for value in parameters.values()):
        raise NoSafeRedirect(Message("The address is not valid."))
    return parameters, repeated
