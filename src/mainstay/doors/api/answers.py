"""Refusals in the language of HTTP: one table, one shape."""

from mainstay.doors.http import Headers, Response, error
from mainstay.terms.refusal import (
    Conflict,
    Forbidden,
    Invalid,
    Lapsed,
    NotFound,
    Refusal,
    Stale,
    TooMany,
    Unauthenticated,
)

_STATUSES: dict[type[Refusal], int] = {
    Unauthenticated: 401,
    Lapsed: 402,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    Stale: 412,
    Invalid: 422,
    TooMany: 429,
}

_HEADERS: dict[int, Headers] = {
    401: (("www-authenticate", "Bearer"),),
    # The contract's one value, whatever the limit.
    429: (("retry-after", "60"),),
}


def refused(refusal: Refusal, route: int = 0) -> Response:
    """The answer to what cannot be done."""
    status = next(_STATUSES[kind] for kind in type(refusal).__mro__ if kind in _STATUSES)
    return error(status, refusal.text, _HEADERS.get(status, ()), route)
