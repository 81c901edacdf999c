"""The page door: routes requests to pages and turns errors into pages."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from mainstay.doors.document_answers import REFRESH, RETRY_AFTER, FileNotReady
from mainstay.doors.http import (
    RETRY_LATER,
    SERVER_ERROR,
    UNAVAILABLE,
    Headers,
    HttpError,
    Request,
    Response,
    error_response,
    is_unavailable,
    log_fault,
)
from mainstay.doors.pages.forms import FormError, query_parameters
from mainstay.doors.pages.rendering import redirect, render_template
from mainstay.doors.pages.static_files import STATIC_FILES
from mainstay.doors.path_router import PathRouter
from mainstay.values.message import PROGRAM_FORMAT, Message

# Answers a request with a page. The mapping holds the values of the `{…}` parts of the path.
View = Callable[[Request, Mapping[str, str]], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """The method and path of a page, such as GET `/people/{id}`."""

    method: str
    path: str
    view: View

    @property
    def name(self) -> str:
        """The name of the route in metrics."""
        return f"{self.method} {self.path}"


def form_routes(path: str, view: View, page_path: str) -> list[Route]:
    """Return the routes of an address that only accepts a form.

    A GET, for example when a refused form is reloaded, redirects to the page of the form.
    """

    async def redirect_to_form(request: Request, path_values: Mapping[str, str]) -> Response:
        target = page_path.format_map({name: quote(value, safe="") for name, value in path_values.items()})
        parameters = query_parameters(request)
        return redirect(f"{target}?{urlencode(parameters)}" if parameters else target)

    return [Route("POST", path, view), Route("GET", path, redirect_to_form)]


class PagesDoor:
    """Answers requests with pages, and with an error page if there is none."""

    def __init__(self, routes: Sequence[Route], not_found: View, first_metric: int) -> None:
        """Prepare the routes. Metrics count static files as number `first_metric`, and routes as those after it."""
        self.routes = tuple(routes)
        self._not_found = not_found
        self._files = {address: replace(file, route_number=first_metric) for address, file in STATIC_FILES.items()}
        self._paths: PathRouter[tuple[View, int]] = PathRouter()
        for number, route in enumerate(routes, start=first_metric + 1):
            self._paths.add(route.method, route.path, (route.view, number))

    async def __call__(self, request: Request) -> Response:
        """Answer a request that no other door handles."""
        if file := self._files.get(request.path):
            return file if request.method in _READ_METHODS else _method_not_allowed(request, _READ_METHODS)
        match = self._paths.find(request.path)
        if match is None:
            return await _call_view(self._not_found, request, {})
        endpoint = match.methods.get(request.method)
        if endpoint is None:
            return _method_not_allowed(request, list(match.methods))
        view, number = endpoint
        response = await _call_view(view, request, match.values)
        response.route_number = number
        return response


async def _call_view(view: View, request: Request, path_values: Mapping[str, str]) -> Response:
    """Return the page, or an error page that explains why there is none."""
    try:
        return await view(request, path_values)
    except FormError as form_error:
        return respond_with_error(request, form_error.status, form_error.message)
    except FileNotReady as not_ready:
        return _preparing_page(request, not_ready)
    except HttpError as http_error:
        return respond_with_error(request, http_error.status, http_error.message)
    except Exception as exception:
        log_fault(exception, request)
        if is_unavailable(exception):
            return respond_with_error(request, 503, UNAVAILABLE, RETRY_LATER)
        return respond_with_error(request, 500, SERVER_ERROR)


_READ_METHODS = ("GET", "HEAD")
_ERROR_TITLES = {
    400: Message("Something went wrong"),
    403: Message("Something went wrong"),
    404: Message("Page not found"),
    405: Message("Something went wrong"),
    408: Message("Request timed out"),
    413: Message("Too large"),
    414: Message("Address too long"),
    415: Message("Something went wrong"),
    429: Message("Too many attempts"),
    500: Message("Something went wrong"),
    503: Message("Not available at the moment"),
}


def respond_with_error(request: Request, status: int, message: Message | str, headers: Headers = ()) -> Response:
    """Return an error page, or the same as JSON for clients that do not accept HTML."""
    if "text/html" not in request.headers.get("accept", ""):
        return error_response(status, PROGRAM_FORMAT.render(message), headers)
    return error_page(status, message, headers)


def error_page(status: int, message: Message | str, headers: Headers = ()) -> Response:
    """Return an error page, when the client is known to be a browser."""
    return render_template(
        "apology.html", status, allows_app_redirect=True, headers=headers, title=_ERROR_TITLES[status], text=message
    )


def _preparing_page(request: Request, waiting: FileNotReady) -> Response:
    """Return a page that reloads until the file is ready; programs get a `Retry-After` header."""
    if "text/html" not in request.headers.get("accept", ""):
        return Response(202, waiting.body, RETRY_AFTER)
    return render_template(
        "preparing.html", 202, allows_app_redirect=True, headers=(*RETRY_AFTER, *REFRESH), name=waiting.name
    )


def _method_not_allowed(request: Request, methods: Sequence[str]) -> Response:
    allowed = ", ".join(sorted(methods))
    return respond_with_error(request, 405, Message("This page can't be opened this way."), (("allow", allowed),))
