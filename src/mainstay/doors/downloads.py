"""Answers that send files, with headers that stop a browser from treating a file as a page of this site."""

from pathlib import Path
from urllib.parse import quote

from mainstay.doors.http import FileBody, Headers, Response
from mainstay.infrastructure.files import FileStore
from mainstay.vocabulary.refusal import NotFound

# Files come from users, so they may run nothing, load nothing and not be embedded.
_SAFETY_HEADERS: Headers = (
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
)
_PRIVATE_FOREVER = "private, max-age=31536000, immutable"


def respond_with_temporary_file(
    path: Path, file_name: str, content_type: str, *, gzipped: bool | None = None
) -> Response:
    """Answer with a file to save that was made for this answer and is deleted after it was sent.

    `gzipped` says whether the file is compressed, or is None if it never is. If it can be, the answer varies with the
    Accept-Encoding header.
    """
    coding: Headers = () if gzipped is None else (("vary", "Accept-Encoding"),)
    if gzipped:
        coding = (*coding, ("content-encoding", "gzip"))
    return Response(
        200,
        FileBody(path, path.stat().st_size, is_temporary=True),
        (*_SAFETY_HEADERS, build_disposition("attachment", file_name), *coding),
        content_type=content_type,
    )


def respond_with_picture(path: Path, file_name: str, content_type: str) -> Response:
    """Answer with a stored picture; its address changes with its content, so browsers may cache it forever."""
    return Response(
        200,
        FileBody(path, path.stat().st_size),
        (*_SAFETY_HEADERS, build_disposition("inline", file_name)),
        content_type=content_type,
        cache_control=_PRIVATE_FOREVER,
    )


def respond_with_stored_file(path: Path, file_name: str, content_type: str, *, inline: bool) -> Response:
    """Answer with a stored file; the browser must not cache it, because the next user may not have access to it."""
    return Response(
        200,
        FileBody(path, path.stat().st_size),
        (*_SAFETY_HEADERS, build_disposition("inline" if inline else "attachment", file_name)),
        content_type=f"{content_type}; charset=utf-8" if content_type.startswith("text/") else content_type,
    )


def fetch_stored_file(files: FileStore, name: str, file_name: str, content_type: str, *, inline: bool) -> Response:
    """Answer with a file of the store; raise NotFound if it is lost, for example if only the database was restored."""
    try:
        return respond_with_stored_file(files.fetch_path(name), file_name, content_type, inline=inline)
    except FileNotFoundError:
        raise NotFound("file") from None


def respond_with_generated_file(content: bytes, file_name: str, content_type: str) -> Response:
    """Answer with generated content that the browser shows."""
    return Response(200, content, (*_SAFETY_HEADERS, build_disposition("inline", file_name)), content_type=content_type)


def build_disposition(mode: str, file_name: str) -> tuple[str, str]:
    """Return the Content-Disposition header (RFC 6266), with an ASCII file name for old clients and the real one."""
    ascii_name = "".join(char if _is_plain(char) else "_" for char in file_name)
    return "content-disposition", f"{mode}; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(file_name, safe='')}"


def _is_plain(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char in " .-_()")
