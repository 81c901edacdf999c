"""Refusals in the language of HTTP: one table, one shape."""

from mainstay.doors.http import Headers, Response, error
from mainstay.kernel.refusal import Kind, Refusal

STATUSES = {
    Kind.INVALID: 422,
    Kind.UNAUTHENTICATED: 401,
    Kind.FORBIDDEN: 403,
    Kind.LAPSED: 402,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.STALE: 412,
    Kind.TOO_MANY: 429,
}

_HEADERS: dict[Kind, Headers] = {
    Kind.UNAUTHENTICATED: ((b"www-authenticate", b"Bearer"),),
    # The contract's one value, whatever the limit.
    Kind.TOO_MANY: ((b"retry-after", b"60"),),
}


def refused(refusal: Refusal, route: int = 0) -> Response:
    """The answer to what cannot be done."""
    return error(STATUSES[refusal.kind], refusal.text, _HEADERS.get(refusal.kind, ()), route)
