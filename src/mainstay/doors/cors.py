"""Cross-origin requests, for the doors that carry their credential in a header: any page may call, with no cookies."""

from mainstay.doors.http import Headers, Request, Response

ANYONE: Headers = (
    ("access-control-allow-origin", "*"),
    ("access-control-expose-headers", "WWW-Authenticate, Retry-After"),
)


def preflight(request: Request, methods: str) -> Response:
    """The answer to a browser that asks before it sends."""
    # Echoed, because a star does not stand for Authorization.
    asked = request.headers.get("access-control-request-headers", "authorization, content-type")
    headers = (
        *ANYONE,
        ("access-control-allow-methods", methods),
        ("access-control-allow-headers", asked),
        ("access-control-max-age", "600"),
        ("vary", "Access-Control-Request-Headers"),
    )
    return Response(204, b"", headers)
