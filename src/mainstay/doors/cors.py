"""Cross-origin requests, for the doors that carry their credential in a header: any page may call, with no cookies."""

from mainstay.doors.http import Headers, Request, Response

ANYONE: Headers = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"WWW-Authenticate, Retry-After"),
)


def preflight(request: Request, methods: bytes) -> Response:
    """The answer to a browser that asks before it sends."""
    # Echoed, because a star does not stand for Authorization.
    asked = request.headers.get(b"access-control-request-headers", b"authorization, content-type")
    headers = (
        *ANYONE,
        (b"access-control-allow-methods", methods),
        (b"access-control-allow-headers", asked),
        (b"access-control-max-age", b"600"),
        (b"vary", b"Access-Control-Request-Headers"),
    )
    return Response(204, b"", headers)
