"""Rendering of templates into responses, with the headers that every page has."""

from functools import cache
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined

from mainstay.business.issuing.document_files import is_issued
from mainstay.doors.http import Headers, Response
from mainstay.doors.pages.escaping import PageEnvironment
from mainstay.doors.pages.formatting import TEMPLATE_FILTERS
from mainstay.doors.pages.forms import mask_token, new_once_token
from mainstay.doors.pages.page_language import current_language
from mainstay.doors.pages.page_limits import PAGE_LIMITS
from mainstay.doors.pages.static_files import STATIC_ADDRESSES
from mainstay.doors.pages.translated_text import make_text_functions
from mainstay.values.reader_language import ENGLISH, ReaderLanguage

HTML_TYPE = "text/html; charset=utf-8"

_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_COMMON_HEADERS: Headers = (
    # `no-referrer` would make browsers hide a form's origin from us too, and we ask for it.
    ("referrer-policy", "same-origin"),
    ("x-frame-options", "DENY"),
)
_OFFICE_HEADERS: Headers = (
    *_COMMON_HEADERS,
    ("content-security-policy", f"{_CONTENT_POLICY}; form-action 'self'"),
    ("cross-origin-opener-policy", "same-origin"),
)
# Without form-action and opener policy: browsers apply form-action to every redirect that follows a form, and an opener
# policy separates a popup from the app that opened it. Either would break the redirect back to an app being connected.
_APP_REDIRECT_HEADERS: Headers = (*_COMMON_HEADERS, ("content-security-policy", _CONTENT_POLICY))

_INPUT_TYPES = {
    "decimal": "text",
    "price": "text",
    "minutes": "text",
}


class _FormParts:
    """The form macros, available in every template. The macro file is loaded at first use, like other templates."""

    def __init__(self, templates: Environment) -> None:
        self._templates = templates

    def __getattr__(self, name: str) -> Any:
        macro = getattr(self._templates.get_template("form.html").module, name)
        # Cached as an attribute, so that `__getattr__` runs once for each macro.
        setattr(self, name, macro)
        return macro


def _make_environment(language: ReaderLanguage, compiled: BytecodeCache | None = None) -> Environment:
    """Return the templates with the texts of one language."""
    templates = PageEnvironment(
        loader=PackageLoader("mainstay.doors.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
        bytecode_cache=compiled,
    )
    templates.globals["static"] = STATIC_ADDRESSES.__getitem__
    templates.filters.update(TEMPLATE_FILTERS)
    templates.tests["issued"] = is_issued
    templates.globals["limits"] = PAGE_LIMITS
    templates.globals.update(make_text_functions(language), page_language=language.code)
    # Defaults of the variables that the layout reads on every page.
    templates.globals.update(visitor=None, notice=None, problem=None, faults={})
    # What form macros need: the input type for a kind of value, and the tokens that a form carries.
    templates.globals["input_type"] = lambda kind: _INPUT_TYPES.get(kind, kind)
    templates.globals.update(new_once=new_once_token, masked=mask_token, form=_FormParts(templates))
    return templates


TEMPLATES = _make_environment(ENGLISH)


# The compiled templates are the same in every language, so all environments share their cache in the data folder.
@cache
def _load_translated_templates(language: ReaderLanguage) -> Environment:
    return _make_environment(language, TEMPLATES.bytecode_cache)


def compile_templates(cache_folder: Path) -> None:
    """Load all templates before the server processes start, so that a broken one stops the server instead of a visitor.

    The compiled templates are cached in a folder for the next start. A template that has changed is compiled again.
    """
    cache_folder.mkdir(mode=0o700, exist_ok=True)
    cache = TEMPLATES.bytecode_cache = FileSystemBytecodeCache(str(cache_folder))
    try:
        _load_all()
    except (EOFError, UnpicklingError):
        # The cache is damaged, for example after a power failure while a file was being written.
        cache.clear()
        _load_all()


def _load_all() -> None:
    for name in TEMPLATES.list_templates():
        TEMPLATES.get_template(name)


def render_template(
    template: str, status: int = 200, *, allows_app_redirect: bool = False, headers: Headers = (), **context: Any
) -> Response:
    """Return a template as a page.

    `allows_app_redirect` marks pages on the path through sign-in to a third-party app and back.
    """
    language = current_language()
    templates = TEMPLATES if language is ENGLISH else _load_translated_templates(language)
    body = templates.get_template(template).render(context).encode()
    shared_headers = _APP_REDIRECT_HEADERS if allows_app_redirect else _OFFICE_HEADERS
    return Response(status, body, (*shared_headers, *headers), content_type=HTML_TYPE)


def redirect(path: str, headers: Headers = ()) -> Response:
    """Redirect to another address of this server, or to one that was registered before."""
    return Response(303, b"", (("location", path), *_COMMON_HEADERS, *headers), content_type=HTML_TYPE)
