"""Cross-origin requests to the doors that read their credential from a header: any page may call, without cookies."""

from mainstay.doors.http import Headers, Request, Response

ANY_ORIGIN: Headers = (
    ("access-control-allow-origin", "*"),
    ("access-control-expose-headers", "WWW-Authenticate, Retry-After"),
)


def answer_preflight(request: Request, methods: str) -> Response:
    """Answer the preflight request of a browser."""
    # Echo the requested headers, because a star does not include Authorization.
    requested = request.headers.get("access-control-request-headers", "authorization, content-type")
    headers = (
        *ANY_ORIGIN,
        ("access-control-allow-methods", methods),
        ("access-control-allow-headers", requested),
        ("access-control-max-age", "600"),
        ("vary", "Access-Control-Request-Headers"),
    )
    return Response(204, b"", headers)
