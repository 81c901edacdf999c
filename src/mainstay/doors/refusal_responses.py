"""Refusals as HTTP answers: one table of status codes and one JSON shape."""

import orjson

from mainstay.doors.http import Headers, Response, error_response
from mainstay.kernel.preview import PreviewDiffers
from mainstay.vocabulary.refusal import (
    Conflict,
    Forbidden,
    Invalid,
    Lapsed,
    NotFound,
    Refusal,
    Stale,
    TooManyRequests,
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
    TooManyRequests: 429,
}

_HEADERS: dict[int, Headers] = {
    401: (("www-authenticate", "Bearer"),),
    # The API promises this value, whatever the limit is.
    429: (("retry-after", "60"),),
}


def refusal_response(refusal: Refusal, route_number: int = 0) -> Response:
    """Answer with a refusal."""
    status = next(_STATUSES[kind] for kind in type(refusal).__mro__ if kind in _STATUSES)
    response = error_response(status, refusal.text, _HEADERS.get(status, ()), route_number)
    if isinstance(refusal, PreviewDiffers):
        response.body = orjson.dumps({"error": refusal.text, "preview": orjson.Fragment(refusal.preview.body)})
    return response
