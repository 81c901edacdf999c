"""Forms: what was filled in, and whether it was filled in on a page of ours."""

import hashlib
import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from urllib.parse import parse_qsl

from mainstay.backing.deadline import begin_anew
from mainstay.doors.http import Interrupted, Request
from mainstay.doors.running import Runner
from mainstay.terms.refusal import Refusal

# What anyone may send; and what people may who are signed in: a document with all the lines that it may have, each as
# long as it may be, in a script of which a browser sends every letter as twelve.
LIMIT = 65_536
LONG_LIMIT = 6_000_000
# So many fields it has at most.
_MOST_FIELDS = 10_000
# And so much may be asked for in an address.
_MOST_WORDS = 20
# How HTTP says that a body is more than is taken.
TOO_LARGE = 413
CSRF_FIELD = "csrf"
ONCE_FIELD = "once"

_FORM = re.compile(r"application/x-www-form-urlencoded *(; *charset=\"?utf-8\"? *)?", re.IGNORECASE)
_OURS = {"same-origin", "none"}


class WrongForm(Exception):
    """What was posted is no form of ours."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class TooLong(Refusal):
    """Someone who is signed in has sent more than a form may hold."""

    def __init__(self) -> None:
        super().__init__(
            "This form holds more than can be sent at once, so nothing was saved. Go back in your browser, where what "
            "you typed still stands; take some of it out, save, and add it in further steps."
        )


async def read_form(request: Request, base_url: str) -> dict[str, str]:
    """The fields of a form that a page of this server sent; who may send it is for `check_csrf`."""
    _check(request, base_url)
    return _fields(await request.body(LIMIT))


async def read_long_form(request: Request, base_url: str, runner: Runner) -> dict[str, str]:
    """The same of someone who is signed in, and may have much to send."""
    _check(request, base_url)
    try:
        body = b"".join([piece async for piece in request.pieces(LONG_LIMIT)])
    except Interrupted as interrupted:
        raise TooLong if interrupted.status == TOO_LARGE else interrupted from None
    begin_anew()
    if body.count(b"&") >= _MOST_FIELDS:
        raise TooLong
    # What is long takes a while to read, in nobody else's way.
    return _fields(body) if len(body) <= LIMIT else await runner.run(_fields, body)


def _check(request: Request, base_url: str) -> None:
    check_origin(request, base_url)
    if not _FORM.fullmatch(request.headers.get("content-type", "")):
        raise WrongForm(415, "This address takes forms only.")


def _fields(body: bytes) -> dict[str, str]:
    fields: dict[str, str] = {}
    for part in body.split(b"&") if body else ():
        name, _, value = part.replace(b"+", b" ").partition(b"=")
        word = _text(name)
        if word in fields:
            raise WrongForm(400, f"The field {word} was sent twice.")
        fields[word] = _text(value)
    return fields


def query_words(request: Request) -> dict[str, str]:
    """What stands behind the `?` of a page's address.

    What is no text there is read as signs by which nothing is called: left out, it would narrow nothing any more.
    """
    try:
        return dict(parse_qsl(request.query.decode("ascii", "replace"), max_num_fields=_MOST_WORDS))
    except ValueError:
        raise WrongForm(400, "This address asks for more than a page can tell. Follow a link to the page.") from None


def csrf_token(secret: str, about: str = "") -> str:
    """The token that forms carry: derived from the secret in the visitor's cookie, which no other site can read."""
    seal = hmac.digest(secret.encode(), f"csrf {about}".encode(), hashlib.sha256)
    return urlsafe_b64encode(seal).rstrip(b"=").decode()


def masked(token: str) -> str:
    """A token as one page carries it: never the same twice, so that nobody learns it by how short a page becomes."""
    mask = secrets.token_bytes(len(token))
    return (mask + _mixed(token.encode(), mask)).hex()


def _unmasked(carried: str) -> bytes:
    """The token that a form carries; what is none has none."""
    try:
        both = bytes.fromhex(carried)
    except ValueError:
        return b""
    half = len(both) // 2
    return _mixed(both[half:], both[:half])


def _mixed(token: bytes, mask: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(token, mask, strict=False))


def check_csrf(fields: dict[str, str], token: str) -> None:
    """Go on only with a form that carries this token, masked; takes it out of the fields."""
    if not hmac.compare_digest(_unmasked(fields.pop(CSRF_FIELD, "")), token.encode()):
        raise WrongForm(
            403, "This page was open for too long or belongs to another sign-in. Go back, reload it, repeat."
        )


def new_once() -> str:
    """What one showing of a form carries: however often it is sent, it counts once."""
    return secrets.token_urlsafe(_ONCE_BYTES)


def take_once(fields: dict[str, str]) -> str | None:
    """The token of the form that was sent; takes it out of the fields."""
    token = fields.pop(ONCE_FIELD, "")
    return token if _ONCE.fullmatch(token) else None


_ONCE_BYTES = 16
_ONCE = re.compile(r"[A-Za-z0-9_-]{22}")


def check_origin(request: Request, base_url: str) -> None:
    """Go on only with what a page of this server sent."""
    headers = request.headers
    origin = headers.get("origin")
    ours = {base_url}
    if base_url.startswith("http://"):
        # A developer's server is reached by several names of the loopback; the front has checked that the Host is ours.
        ours.add("http://" + headers.get("host", ""))
    if (origin is not None and origin not in ours) or headers.get("sec-fetch-site", "none") not in _OURS:
        raise WrongForm(403, "This form was sent by another site.")


def _text(encoded: bytes) -> str:
    return clean_text(_ENCODED.sub(lambda run: bytes.fromhex(run[0].replace(b"%", b"").decode()), encoded))


# Bytes that no address may hold, as many as there are in a row: of a script that is not Latin, whole words.
_ENCODED = re.compile(rb"(?:%[0-9A-Fa-f]{2})+")


def clean_text(sent: bytes) -> str:
    """What was filled in, as text."""
    try:
        text = sent.decode()
    except UnicodeDecodeError:
        raise WrongForm(400, "The form is not valid text.") from None
    if "\0" in text:
        raise WrongForm(400, "The form is not valid text.")
    # Browsers end lines in two characters; here they end in one.
    return text.replace("\r\n", "\n")
