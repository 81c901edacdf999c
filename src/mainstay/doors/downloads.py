"""Answers from files: with headers that let no browser take a file for something of ours."""

from pathlib import Path
from urllib.parse import quote

from mainstay.doors.http import FromFile, Headers, Response

# What is in a file was made by people: it runs nothing, loads nothing, and is no page of this site.
_SAFE: Headers = (
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
)
_ONE_S_OWN_FOREVER = "private, max-age=31536000, immutable"


def download(path: Path, called: str, content_type: str, *, packs: bool | None = None) -> Response:
    """A file that was made for this answer, to be saved under a name; it goes when it was sent.

    Whether it was packed hangs on who asks, where it could have been.
    """
    coding: Headers = () if packs is None else (("vary", "Accept-Encoding"),)
    if packs:
        coding = (*coding, ("content-encoding", "gzip"))
    return Response(
        200,
        FromFile(path, path.stat().st_size, passing=True),
        (*_SAFE, disposition("attachment", called), *coding),
        content_type=content_type,
    )


def picture(path: Path, called: str, content_type: str) -> Response:
    """A picture that is kept, at an address that changes with its content."""
    return Response(
        200,
        FromFile(path, path.stat().st_size),
        (*_SAFE, disposition("inline", called)),
        content_type=content_type,
        cache=_ONE_S_OWN_FOREVER,
    )


def kept_file(path: Path, called: str, content_type: str, *, shown: bool) -> Response:
    """A file that is kept, for those who see it now: nothing of it stays in the browser for those who come after."""
    return Response(
        200,
        FromFile(path, path.stat().st_size),
        (*_SAFE, disposition("inline" if shown else "attachment", called)),
        content_type=f"{content_type}; charset=utf-8" if content_type.startswith("text/") else content_type,
    )


def passing_file(content: bytes, called: str, content_type: str) -> Response:
    """A file that was made for this answer and is shown by the browser."""
    return Response(200, content, (*_SAFE, disposition("inline", called)), content_type=content_type)


def disposition(how: str, called: str) -> tuple[str, str]:
    """The header that names a file (RFC 6266): in ASCII for programs that know no more, and as it is for the others."""
    plain = "".join(letter if _is_plain(letter) else "_" for letter in called)
    return "content-disposition", f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(called, safe='')}"


def _is_plain(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter in " .-_()")
