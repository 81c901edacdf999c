"""Finds the page of an address."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from mainstay.doors.http import OUR_FAULT, Headers, Interrupted, Request, Response, error, log_fault
from mainstay.doors.pages.forms import WrongForm, query_words
from mainstay.doors.pages.render import render, see_other
from mainstay.doors.pages.static import FILES
from mainstay.doors.papers import REFRESH, RETRY_AFTER, NotReady
from mainstay.doors.paths import Paths

# Makes a page: given the request, and what stands in the `{…}` of its path.
View = Callable[[Request, Mapping[str, str]], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """Where a page is: `/people/{id}`."""

    method: str
    path: str
    view: View

    @property
    def name(self) -> str:
        """What meters call it."""
        return f"{self.method} {self.path}"


def form_at(path: str, view: View, page: str) -> list[Route]:
    """An address that only takes a form: whoever opens it, or loads a refusal again, finds the page of the form."""

    async def lead(request: Request, at: Mapping[str, str]) -> Response:
        there = page.format_map({name: quote(value, safe="") for name, value in at.items()})
        words = query_words(request)
        return see_other(f"{there}?{urlencode(words)}" if words else there)

    return [Route("POST", path, view), Route("GET", path, lead)]


class PagesDoor:
    """Answers with pages, and calmly where there is none."""

    def __init__(self, routes: Sequence[Route], nowhere: View, meter: int) -> None:
        """What files are counted by has this number for the meters, and the routes have those behind it."""
        self.routes = tuple(routes)
        self._nowhere = nowhere
        self._files = {address: replace(file, route=meter) for address, file in FILES.items()}
        self._paths: Paths[tuple[View, int]] = Paths()
        for number, route in enumerate(routes, start=meter + 1):
            self._paths.add(route.method, route.path, (route.view, number))

    async def __call__(self, request: Request) -> Response:
        """Answer a request that no other door is for."""
        if file := self._files.get(request.path):
            return file if request.method in _READS else _not_allowed(request, _READS)
        found = self._paths.find(request.path)
        if found is None:
            return await _shown(self._nowhere, request, {})
        there = found.methods.get(request.method)
        if there is None:
            return _not_allowed(request, list(found.methods))
        view, number = there
        response = await _shown(view, request, found.values)
        response.route = number
        return response


async def _shown(view: View, request: Request, at: Mapping[str, str]) -> Response:
    """The page, or calm words about what is in its way."""
    try:
        return await view(request, at)
    except WrongForm as wrong:
        return apology(request, wrong.status, wrong.text)
    except NotReady as waiting:
        return _preparing(request, waiting)
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
    414: "That was too much",
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


def _preparing(request: Request, waiting: NotReady) -> Response:
    """A page that loads itself again until the file is there; programs are told when to ask again."""
    if "text/html" not in request.headers.get("accept", ""):
        return Response(202, waiting.body, RETRY_AFTER)
    return render("preparing.html", 202, journey=True, headers=(*RETRY_AFTER, *REFRESH), name=waiting.name)


def _not_allowed(request: Request, methods: Sequence[str]) -> Response:
    allowed = ", ".join(sorted(methods))
    return apology(request, 405, "This address is not used in that way.", (("allow", allowed),))
