"""Templates into answers, with the headers that every page has."""

from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined

from mainstay.business.issuing.printed import is_issued
from mainstay.doors.http import Headers, Response
from mainstay.doors.pages.forms import masked, new_once
from mainstay.doors.pages.limits import LIMITS
from mainstay.doors.pages.static import ADDRESSES
from mainstay.doors.pages.words import FILTERS

HTML = "text/html; charset=utf-8"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_ALWAYS: Headers = (
    # `no-referrer` would make browsers hide a form's origin from us too, and we ask for it.
    ("referrer-policy", "same-origin"),
    ("x-frame-options", "DENY"),
)
_OFFICE: Headers = (
    *_ALWAYS,
    ("content-security-policy", f"{_POLICY}; form-action 'self'"),
    ("cross-origin-opener-policy", "same-origin"),
)
# A browser applies form-action to every redirect that follows a form, and an opener policy parts a popup from the app
# that opened it: either would break the way back to an app that someone connects.
_JOURNEY: Headers = (*_ALWAYS, ("content-security-policy", _POLICY))

_INPUT_TYPES = {
    "decimal": "text",
    "price": "text",
    "minutes": "text",
}

_TEMPLATES = Environment(
    loader=PackageLoader("mainstay.doors.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
    cache_size=-1,
)
_TEMPLATES.globals["static"] = ADDRESSES.__getitem__
_TEMPLATES.filters.update(FILTERS)
_TEMPLATES.tests["issued"] = is_issued
_TEMPLATES.globals["limits"] = LIMITS
# What a layout looks at on every page.
_TEMPLATES.globals.update(visitor=None, notice=None, problem=None, faults={})
# What the parts of forms need: how a browser is to ask for a kind of value, and a name for one filling-in.
_TEMPLATES.globals["input_type"] = lambda kind: _INPUT_TYPES.get(kind, kind)
_TEMPLATES.globals.update(new_once=new_once, masked=masked)


class _FormParts:
    """The parts of forms, which are everywhere at hand: read when one is first asked for, as other templates are."""

    def __getattr__(self, part: str) -> Any:
        found = getattr(_TEMPLATES.get_template("form.html").module, part)
        # Found here from now on.
        setattr(self, part, found)
        return found


_TEMPLATES.globals["form"] = _FormParts()


def read_templates(translated: Path) -> None:
    """Read all, before the server processes begin: one that cannot be read stops the server, not a visitor.

    What they are translated to is kept in a folder, so that the next start need not do it again; one that has changed
    since is translated anew.
    """
    translated.mkdir(mode=0o700, exist_ok=True)
    kept = _TEMPLATES.bytecode_cache = FileSystemBytecodeCache(str(translated))
    try:
        _read_all()
    except (EOFError, UnpicklingError):
        # The power went while one was written.
        kept.clear()
        _read_all()


def _read_all() -> None:
    for name in _TEMPLATES.list_templates():
        _TEMPLATES.get_template(name)


def render(
    template: str, status: int = 200, *, journey: bool = False, headers: Headers = (), **context: Any
) -> Response:
    """A page. A journey leads through sign-in to an app of someone else and back."""
    body = _TEMPLATES.get_template(template).render(context).encode()
    shared = _JOURNEY if journey else _OFFICE
    return Response(status, body, (*shared, *headers), content_type=HTML)


def see_other(path: str, headers: Headers = ()) -> Response:
    """Go on at another address of this server, or at one that was registered before."""
    return Response(303, b"", (("location", path), *_ALWAYS, *headers), content_type=HTML)
