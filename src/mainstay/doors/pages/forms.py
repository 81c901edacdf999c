"""Reading of sent forms, and protection against forms that other sites sent."""

import hashlib
import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from urllib.parse import parse_qsl

from mainstay.doors.http import HttpError, Request
from mainstay.doors.runner import Runner
from mainstay.infrastructure.deadline import reset_deadline
from mainstay.values.message import Message, ShownMessage
from mainstay.vocabulary.refusal import Refusal

# The largest form of anyone, and of people who are signed in. The latter holds a document with the most lines, each of
# the greatest length, in a script whose letters are sent as twelve bytes each.
FORM_LIMIT = 65_536
LONG_FORM_LIMIT = 6_000_000
# The most fields of a form.
_MAX_FIELDS = 10_000
# The most parameters in the query of an address.
_MAX_PARAMETERS = 20
# The HTTP status of a body that is too large.
TOO_LARGE = 413
CSRF_FIELD = "csrf"
ONCE_FIELD = "once"

_FORM_TYPE = re.compile(r"application/x-www-form-urlencoded *(; *charset=\"?utf-8\"? *)?", re.IGNORECASE)
_OWN_SITES = {"same-origin", "none"}


class FormError(Exception):
    """The request is not a valid form of one of our pages."""

    def __init__(self, status: int, message: ShownMessage) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class FormTooLong(Refusal):
    """The form of someone who is signed in is too large."""

    def __init__(self) -> None:
        super().__init__(
            Message(
                "This form is too long, so nothing was saved. Go back in your browser: your text is still there. "
                "Remove some of it and save, then add the rest."
            )
        )


async def read_page_form(request: Request, base_url: str) -> dict[str, str]:
    """Return the fields of a form that a page of this server sent. The caller checks the CSRF token."""
    _check_request(request, base_url)
    return _parse_fields(await request.read_body(FORM_LIMIT))


async def read_long_form(request: Request, base_url: str, runner: Runner) -> dict[str, str]:
    """Return the fields of a large form. Only for visitors who are signed in."""
    _check_request(request, base_url)
    try:
        body = b"".join([piece async for piece in request.stream_body(LONG_FORM_LIMIT)])
    except HttpError as http_error:
        raise FormTooLong if http_error.status == TOO_LARGE else http_error from None
    reset_deadline()
    if body.count(b"&") >= _MAX_FIELDS:
        raise FormTooLong
    # A long form takes a while to parse, so a thread does it.
    return _parse_fields(body) if len(body) <= FORM_LIMIT else await runner.run(_parse_fields, body)


def _check_request(request: Request, base_url: str) -> None:
    check_origin(request, base_url)
    if not _FORM_TYPE.fullmatch(request.headers.get("content-type", "")):
        raise FormError(415, Message("This address only accepts forms."))


def _parse_fields(body: bytes) -> dict[str, str]:
    fields: dict[str, str] = {}
    for part in body.split(b"&") if body else ():
        name, _, value = part.replace(b"+", b" ").partition(b"=")
        field = _decode_text(name)
        if field in fields:
            raise FormError(400, Message("The field {field} was sent twice.", field=field))
        fields[field] = _decode_text(value)
    return fields


def query_parameters(request: Request) -> dict[str, str]:
    """Return the query parameters of a page's address.

    Invalid bytes become replacement characters, which match nothing. Leaving the value out would remove a filter.
    """
    try:
        return dict(parse_qsl(request.query.decode("ascii", "replace"), max_num_fields=_MAX_PARAMETERS))
    except ValueError:
        raise FormError(400, Message("This address has too many parameters. Follow a link to the page.")) from None


def csrf_token(secret: str, purpose: str = "") -> str:
    """Return the CSRF token of forms, derived from the secret in the visitor's cookie, which no other site can read."""
    seal = hmac.digest(secret.encode(), f"csrf {purpose}".encode(), hashlib.sha256)
    return urlsafe_b64encode(seal).rstrip(b"=").decode()


def mask_token(token: str) -> str:
    """Mask a token with random bytes, so that compressed page sizes do not reveal it (BREACH)."""
    mask = secrets.token_bytes(len(token))
    return (mask + _xor_bytes(token.encode(), mask)).hex()


def _unmask_token(text: str) -> bytes:
    """Return the token within a masked one, or nothing if the text is not valid."""
    try:
        content = bytes.fromhex(text)
    except ValueError:
        return b""
    half = len(content) // 2
    return _xor_bytes(content[half:], content[:half])


def _xor_bytes(token: bytes, mask: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(token, mask, strict=False))


def check_csrf(fields: dict[str, str], token: str) -> None:
    """Remove the masked CSRF token from the fields. Raise FormError unless it is this one."""
    if not hmac.compare_digest(_unmask_token(fields.pop(CSRF_FIELD, "")), token.encode()):
        raise FormError(403, Message("This page has expired. Go back, reload it and try again."))


def new_once_token() -> str:
    """Return a new token for one display of a form, so that sending it twice counts once."""
    return secrets.token_urlsafe(_ONCE_TOKEN_BYTES)


def take_once_token(fields: dict[str, str]) -> str | None:
    """Remove the token of `new_once_token` from the fields and return it, or None if it is not valid."""
    token = fields.pop(ONCE_FIELD, "")
    return token if _ONCE_TOKEN.fullmatch(token) else None


_ONCE_TOKEN_BYTES = 16
_ONCE_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")


def check_origin(request: Request, base_url: str) -> None:
    """Raise FormError unless a page of this server sent the request."""
    headers = request.headers
    origin = headers.get("origin")
    own_origins = {base_url}
    if base_url.startswith("http://"):
        # A developer's server has several loopback names. The HTTP app has already checked the Host header.
        own_origins.add("http://" + headers.get("host", ""))
    if (origin is not None and origin not in own_origins) or headers.get("sec-fetch-site", "none") not in _OWN_SITES:
        raise FormError(403, Message("This form was sent from another site."))


def _decode_text(encoded: bytes) -> str:
    return clean_text(_ENCODED.sub(lambda run: bytes.fromhex(run[0].replace(b"%", b"").decode()), encoded))


# A run of percent-encoded bytes, decoded together: in a non-Latin script, a whole word.
_ENCODED = re.compile(rb"(?:%[0-9A-Fa-f]{2})+")


def clean_text(content: bytes) -> str:
    """Decode a form value as text with plain line breaks."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise FormError(400, Message("The form is not valid text.")) from None
    if "\0" in text:
        raise FormError(400, Message("The form is not valid text."))
    # Browsers end lines with two characters, Mainstay with one.
    return text.replace("\r\n", "\n")
