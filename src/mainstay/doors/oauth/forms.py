"""Reads the forms of the OAuth endpoints for programs, and authenticates their clients."""

import base64
import binascii
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_plus

from mainstay.doors.http import Headers, Request
from mainstay.doors.oauth.errors import OAuthError
from mainstay.doors.runner import Runner
from mainstay.identity import clients
from mainstay.identity.clients import OAuthClient
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.perform import Performer

BODY_LIMIT = 65_536


async def read_form(request: Request) -> dict[str, str]:
    """Read the parameters of a POST."""
    if request.method != "POST":
        raise OAuthError("invalid_request", "Only POST is allowed here.", 405, (("allow", "POST"),))
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise OAuthError("invalid_request", "Send the parameters as application/x-www-form-urlencoded.")
    return parse_parameters(await request.read_body(BODY_LIMIT))


def parse_parameters(encoded: bytes) -> dict[str, str]:
    """Parse form-encoded parameters, each at most once; an empty one counts as missing."""
    try:
        pairs = parse_qsl(encoded.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise OAuthError("invalid_request", "The parameters are not valid form encoding.") from None
    parameters: dict[str, str] = {}
    for name, value in pairs:
        if name in parameters:
            raise OAuthError("invalid_request", f"The parameter {name[:50]!r} was sent twice.")
        if "\0" in value:
            raise OAuthError("invalid_request", f"The parameter {name[:50]!r} is not valid text.")
        parameters[name] = value
    return {name: value for name, value in parameters.items() if value}


def require_parameter(form: dict[str, str], name: str) -> str:
    """Return a parameter that must be there."""
    if name not in form:
        raise OAuthError("invalid_request", f"{name} is required.")
    return form[name]


@dataclass(frozen=True, slots=True)
class _ClientCredentials:
    """The credentials of a client, as a request sends them."""

    id: str
    secret: str | None
    method: str

    def to_error(self) -> OAuthError:
        headers: Headers = ()
        if self.method == "client_secret_basic":
            headers = (("www-authenticate", 'Basic realm="Mainstay"'),)
        return OAuthError("invalid_client", "The client is unknown, or could not be authenticated.", 401, headers)


async def authenticate_client(
    request: Request, form: dict[str, str], performer: Performer, runner: Runner
) -> OAuthClient:
    """Return the client of a request; refuse it unless it authenticates with the method that it registered."""
    credentials = _read_credentials(request, form)

    def find() -> OAuthClient | None:
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return clients.find(db, credentials.id)

    client = await runner.run_read(find)
    if client is None:
        raise credentials.to_error()
    if client.auth_method == "none":
        is_proven = credentials.secret is None
    else:
        is_right_method = credentials.method == client.auth_method or not client.metadata["method_was_named"]
        is_proven = is_right_method and credentials.secret is not None and client.has_secret(credentials.secret)
    if not is_proven:
        raise credentials.to_error()
    return client


def _read_credentials(request: Request, form: dict[str, str]) -> _ClientCredentials:
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        if "client_id" not in form:
            raise OAuthError("invalid_client", "The client is unknown, or could not be authenticated.", 401)
        secret = form.get("client_secret")
        return _ClientCredentials(form["client_id"], secret, "client_secret_post" if secret else "none")
    if "client_secret" in form:
        raise OAuthError("invalid_request", "Use only one way to authenticate the client.")
    try:
        text = base64.b64decode(credentials.strip(), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        text = ""
    client_id, _, secret = (unquote_plus(part) for part in text.partition(":"))
    sent = _ClientCredentials(client_id, secret, "client_secret_basic")
    if "\0" in client_id or form.get("client_id", client_id) != client_id:
        raise sent.to_error()
    return sent
