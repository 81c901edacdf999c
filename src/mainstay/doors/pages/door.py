"""Finds the page of an address."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from mainstay.doors.http import OUR_FAULT, Headers, Interrupted, Request, Response, error, log_fault
from mainstay.doors.pages.forms import WrongForm
from mainstay.doors.pages.render import render
from mainstay.doors.pages.static import FILES

# A page is given the request and, where its path has one, the `{…}` segment; "" otherwise.
Page = Callable[[Request, str], Awaitable[Response]]

_LONGEST_SEGMENT = 200


@dataclass(frozen=True, slots=True)
class Route:
    """Where a page is: `/people/{id}`, with at most one open segment."""

    method: str
    path: str
    page: Page


class PagesDoor:
    """Answers with pages, and calmly where there is none."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._fixed: dict[str, dict[str, Page]] = {}
        # By what stands before and after the open segment.
        self._open: dict[tuple[str, str], dict[str, Page]] = {}
        for route in routes:
            before, brace, rest = route.path.partition("{")
            if brace:
                pages = self._open.setdefault((before, rest.partition("}")[2]), {})
            else:
                pages = self._fixed.setdefault(route.path, {})
            pages[route.method] = route.page

    async def __call__(self, request: Request) -> Response:
        """Answer a request that no other door is for."""
        if file := FILES.get(request.path):
            return file if request.method in _READS else _not_allowed(request, _READS)
        pages, segment = self._find(request.path)
        if pages is None:
            return apology(request, 404, "There is nothing at this address.")
        page = pages.get("GET" if request.method == "HEAD" else request.method)
        if page is None:
            return _not_allowed(request, [*pages, *(["HEAD"] if "GET" in pages else [])])
        return await _shown(page, request, segment)

    def _find(self, path: str) -> tuple[Mapping[str, Page] | None, str]:
        if pages := self._fixed.get(path):
            return pages, ""
        for (before, after), pages in self._open.items():
            if path.startswith(before) and path.endswith(after):
                segment = path[len(before) : len(path) - len(after)]
                if 0 < len(segment) <= _LONGEST_SEGMENT and "/" not in segment and segment.isascii():
                    return pages, segment
        return None, ""


async def _shown(page: Page, request: Request, segment: str) -> Response:
    """The page, or calm words about what is in its way."""
    try:
        return await page(request, segment)
    except WrongForm as wrong:
        return apology(request, wrong.status, wrong.text)
    except Interrupted as interrupted:
        return apology(request, interrupted.status, interrupted.text)
    except Exception as fault:
        log_fault(fault, request)
        return apology(request, 500, OUR_FAULT)


_READS = ("GET", "HEAD")
_TITLES = {
    400: "That did not work",
    403: "That did not work",
    404: "Nothing here",
    405: "Not like this",
    408: "That took too long",
    413: "That was too much",
    415: "That did not work",
    429: "Too many attempts",
    500: "That did not work",
}


def apology(request: Request, status: int, text: str, headers: Headers = ()) -> Response:
    """A page that says what is in the way; for programs, which do not ask for pages, the same in JSON."""
    if "text/html" not in request.headers.get("accept", ""):
        return error(status, text, headers)
    return apology_page(status, text, headers)


def apology_page(status: int, text: str, headers: Headers = ()) -> Response:
    """The page itself, where whoever asks is a person for certain."""
    return render("apology.html", status, journey=True, headers=headers, title=_TITLES[status], text=text)


def _not_allowed(request: Request, methods: Sequence[str]) -> Response:
    allowed = ", ".join(sorted(methods))
    return apology(request, 405, "This address is not used in that way.", (("allow", allowed),))
