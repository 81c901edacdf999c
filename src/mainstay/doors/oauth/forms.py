"""The forms of OAuth's program endpoints: form-encoded, each parameter once, and the client that shows who it is."""

import base64
import binascii
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_plus

from mainstay.backing.database import EVERY
from mainstay.doors.http import Headers, Request
from mainstay.doors.oauth.answers import OAuthError
from mainstay.doors.running import Runner
from mainstay.identity import clients
from mainstay.identity.clients import Client
from mainstay.kernel.perform import Stage

BODY_LIMIT = 65_536


async def read_form(request: Request) -> dict[str, str]:
    """The parameters of a POST."""
    if request.method != "POST":
        raise OAuthError("invalid_request", "Only POST is answered here.", 405, (("allow", "POST"),))
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise OAuthError("invalid_request", "Send the parameters as application/x-www-form-urlencoded.")
    return read_parameters(await request.body(BODY_LIMIT))


def read_parameters(encoded: bytes) -> dict[str, str]:
    """Form-encoded parameters, each at most once; an empty one counts as left out."""
    try:
        pairs = parse_qsl(encoded.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise OAuthError("invalid_request", "The parameters are not valid form encoding.") from None
    parameters: dict[str, str] = {}
    for name, value in pairs:
        if name in parameters:
            raise OAuthError("invalid_request", f"The parameter {name[:50]!r} is there twice.")
        if "\0" in value:
            raise OAuthError("invalid_request", f"The parameter {name[:50]!r} is not valid text.")
        parameters[name] = value
    return {name: value for name, value in parameters.items() if value}


def required(form: dict[str, str], name: str) -> str:
    """A parameter that must be there."""
    if name not in form:
        raise OAuthError("invalid_request", f"{name} is required.")
    return form[name]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a request shows of its client."""

    id: str
    secret: str | None
    method: str

    def refusal(self) -> OAuthError:
        headers: Headers = ()
        if self.method == "client_secret_basic":
            headers = (("www-authenticate", 'Basic realm="Mainstay"'),)
        return OAuthError("invalid_client", "The client is not known, or did not show who it is.", 401, headers)


async def authenticated_client(request: Request, form: dict[str, str], stage: Stage, runner: Runner) -> Client:
    """The client of a request, which must show who it is in the way it registered."""
    shown = _shown(request, form)

    def find() -> Client | None:
        with stage.database.reading(EVERY) as rows:
            return clients.find(rows, shown.id)

    client = await runner.read(find)
    if client is None:
        raise shown.refusal()
    if client.method == "none":
        proven = shown.secret is None
    else:
        right_way = shown.method == client.method or not client.metadata["method_was_named"]
        proven = right_way and shown.secret is not None and client.has_secret(shown.secret)
    if not proven:
        raise shown.refusal()
    return client


def _shown(request: Request, form: dict[str, str]) -> _Shown:
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        if "client_id" not in form:
            raise OAuthError("invalid_client", "The client is not known, or did not show who it is.", 401)
        secret = form.get("client_secret")
        return _Shown(form["client_id"], secret, "client_secret_post" if secret else "none")
    if "client_secret" in form:
        raise OAuthError("invalid_request", "The client must show who it is in one way only.")
    try:
        text = base64.b64decode(credentials.strip(), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        text = ""
    identity, _, secret = (unquote_plus(part) for part in text.partition(":"))
    shown = _Shown(identity, secret, "client_secret_basic")
    if "\0" in identity or form.get("client_id", identity) != identity:
        raise shown.refusal()
    return shown
