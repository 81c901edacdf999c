"""Forms with files, put together by hand where a client would put them together right."""

from collections.abc import Iterator
from pathlib import Path

import httpx2

from apps import hidden
from mainstay.backing.folder import DataFolder
from running import RunningServer
from visiting import Visit

BOUNDARY = b"----a-boundary"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY.decode()}"
SET_LOGO = "/settings/set-logo"


def part(name: str, content: bytes, filename: str | None = None, *, head: bytes = b"") -> bytes:
    """One part of a form."""
    named = f'; filename="{filename}"' if filename is not None else ""
    disposition = f'Content-Disposition: form-data; name="{name}"{named}\r\n'.encode()
    return disposition + head + b"\r\n" + content


def multipart(*parts: bytes, end: bytes = b"--\r\n") -> bytes:
    """A form of these parts."""
    return b"".join(b"--" + BOUNDARY + b"\r\n" + one + b"\r\n" for one in parts) + b"--" + BOUNDARY + end


def tokens(visiting: Visit, path: str = SET_LOGO) -> dict[str, str]:
    """What the form at a path carries beside what is asked."""
    page = visiting.get(path)
    assert page.status_code == httpx2.codes.OK, page.text
    return {name: hidden(page.text, name) for name in ("csrf", "version", "once")}


def token_parts(visiting: Visit, path: str = SET_LOGO) -> list[bytes]:
    """The same as parts of a form."""
    return [part(name, value.encode()) for name, value in tokens(visiting, path).items()]


def in_pieces(body: bytes, size: int) -> Iterator[bytes]:
    """A body as it may come over the wire."""
    for start in range(0, len(body), size):
        yield body[start : start + size]


def set_logo(visiting: Visit, content: bytes, called: str = "logo.png") -> httpx2.Response:
    """Hand in a logo, as the form of the page does."""
    return visiting.upload(SET_LOGO, tokens(visiting), logo=(called, content))


def shown_logo(visiting: Visit) -> str:
    """The address of the logo on the page of the settings; nothing where none is shown."""
    page = visiting.get("/settings").text
    _, found, behind = page.partition('class="logo" src="')
    return behind.partition('"')[0] if found else ""


def left_behind(server: RunningServer) -> list[Path]:
    """The files of requests that are there now."""
    return [*DataFolder(server.settings.data).passing.iterdir()]
