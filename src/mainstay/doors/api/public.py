"""The description of the API for everyone: for programs that make clients of it before they have a key."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.doors.cors import ANYONE, preflight
from mainstay.doors.http import Request, Response, error


@dataclass(frozen=True, slots=True)
class PublicDescription:
    """The same document as under `/api/v1`, without a key and for pages of any site."""

    describe: Callable[[], bytes]

    async def __call__(self, request: Request) -> Response:
        """Answer a request for it."""
        if request.method == "OPTIONS":
            return preflight(request, "GET, HEAD")
        if request.method not in {"GET", "HEAD"}:
            return error(405, "This method is not allowed here.", (("allow", "GET, HEAD"), *ANYONE))
        return Response(200, self.describe(), ANYONE, quiet=True)
