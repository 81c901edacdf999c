"""The authorization endpoint: RFC 6749 §4.1.1, RFC 7636 (PKCE), RFC 8707 (resource), RFC 9207 (iss)."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from mainstay.backing.database import EVERY
from mainstay.doors.http import Request, Response
from mainstay.doors.oauth.answers import OAuthError
from mainstay.doors.oauth.metadata import SCOPE
from mainstay.doors.oauth.redirects import is_redirect, is_web
from mainstay.doors.pages.forms import WrongForm
from mainstay.doors.pages.render import see_other
from mainstay.doors.running import Runner
from mainstay.identity import clients
from mainstay.identity.clients import Client
from mainstay.kernel.perform import Stage
from mainstay.settings import LARGEST_PORT

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Asked:
    """What an app asks for, as far as it is known where to answer it."""

    client: Client
    redirect_uri: str
    parameters: dict[str, str]
    # Parameters that were there more than once.
    doubled: frozenset[str]

    @property
    def challenge(self) -> str:
        """What the app will have to prove."""
        return self.parameters["code_challenge"]


class Unanswerable(WrongForm):
    """It is not known where to answer the app, or it may not be done: the visitor is told, and sent nowhere."""

    def __init__(self, text: str) -> None:
        super().__init__(400, text)


@dataclass(frozen=True, slots=True)
class Authorization:
    """Reads what an app asks for, and answers it by sending the visitor back to it."""

    stage: Stage
    runner: Runner
    base_url: str
    # Whether the port of a loopback address may differ from the registered one (RFC 8252).
    any_loopback_port: bool

    async def read(self, request: Request) -> Asked:
        """Who asks, and where they are answered."""
        parameters, doubled = _parameters(request.query)
        if doubled & {"client_id", "redirect_uri"} or not {"client_id", "redirect_uri"} <= parameters.keys():
            raise Unanswerable("The app did not say who it is or where to answer it.")
        client = await self.runner.read(self._client, parameters["client_id"])
        if client is None:
            raise Unanswerable("This app is not registered here. Connect it again from the beginning.")
        given = parameters["redirect_uri"]
        if not any(is_same(given, known, any_loopback_port=self.any_loopback_port) for known in client.redirects):
            raise Unanswerable("The app asks to be answered at an address that it did not register.")
        if not is_redirect(given):
            # What may be registered becomes less now and then.
            raise Unanswerable("The app asks to be answered where no app is. Connect another version of it.")
        return Asked(client, given, parameters, doubled)

    def check(self, asked: Asked) -> None:
        """Whether what is asked for can be given at all."""
        given = asked.parameters
        if asked.doubled:
            raise OAuthError("invalid_request", "A parameter is there twice.")
        if "response_type" not in given:
            raise OAuthError("invalid_request", "response_type is required.")
        if given["response_type"] != "code":
            raise OAuthError("unsupported_response_type", "response_type must be code.")
        if not _CHALLENGE.fullmatch(given.get("code_challenge", "")) or given.get("code_challenge_method") != "S256":
            raise OAuthError("invalid_request", "A code_challenge with code_challenge_method S256 is required.")
        if SCOPE not in given.get("scope", SCOPE).split():
            raise OAuthError("invalid_scope", "The only scope is mcp.")
        if given.get("resource", f"{self.base_url}/mcp") != f"{self.base_url}/mcp":
            raise OAuthError("invalid_target", f"resource must be {self.base_url}/mcp.")

    def answer(self, asked: Asked, **words: str) -> Response:
        """Send the visitor back to the app; who answers is always said, against mix-ups."""
        state = {"state": asked.parameters["state"]} if "state" in asked.parameters else {}
        query = urlencode({**words, **state, "iss": self.base_url})
        separator = "&" if "?" in asked.redirect_uri else "?"
        return see_other(f"{asked.redirect_uri}{separator}{query}")

    def refuse(self, asked: Asked, problem: OAuthError) -> Response:
        """Send the visitor back to the app with what is wrong.

        To a web address only: another starts a program on the visitor's device, which nobody has approved.
        """
        if not is_web(asked.redirect_uri):
            raise Unanswerable(f"The app was not connected. {problem.text} You can close this page.")
        return self.answer(asked, error=problem.code, error_description=problem.text)

    def _client(self, identity: str) -> Client | None:
        with self.stage.database.reading(EVERY) as rows:
            return clients.find(rows, identity)


def is_same(given: str, registered: str, *, any_loopback_port: bool) -> bool:
    """Whether an app asks to be answered where it registered; apps on a device may change the port."""
    return given == registered or (any_loopback_port and _without_port(given) == _without_port(registered))


_PORTED = re.compile(r"(http://(?:localhost|127\.0\.0\.1|\[::1\])):([0-9]{1,5})(?=[/?]|$)")


def _without_port(address: str) -> str:
    found = _PORTED.match(address)
    return f"{found[1]}{address[found.end() :]}" if found and 1 <= int(found[2]) <= LARGEST_PORT else address


def _parameters(query: bytes) -> tuple[dict[str, str], frozenset[str]]:
    """The parameters, and the names of those that are there twice; an empty one counts as left out."""
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise Unanswerable("The address is not valid.") from None
    names = [name for name, _ in pairs]
    doubled = frozenset(name for name in names if names.count(name) > 1)
    parameters = {name: value for name, value in pairs if value}
    if any("\0" in value for value in parameters.values()):
        raise Unanswerable("The address is not valid.")
    return parameters, doubled
