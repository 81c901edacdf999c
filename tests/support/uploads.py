"""Multipart forms, made by hand, so that they can also be wrong."""

from collections.abc import Iterator
from pathlib import Path

import httpx2

from mainstay.infrastructure.data_folder import DataFolder
from support.browser_session import BrowserSession
from support.oauth_app import hidden_value
from support.servers import RunningServer

BOUNDARY = b"----a-boundary"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY.decode()}"
SET_LOGO = "/settings/set-logo"


def make_part(name: str, content: bytes, filename: str | None = None, *, head: bytes = b"") -> bytes:
    """Make one part of a form."""
    named = f'; filename="{filename}"' if filename is not None else ""
    disposition = f'Content-Disposition: form-data; name="{name}"{named}\r\n'.encode()
    return disposition + head + b"\r\n" + content


def make_multipart(*parts: bytes, end: bytes = b"--\r\n") -> bytes:
    """Make a form of these parts."""
    return b"".join(b"--" + BOUNDARY + b"\r\n" + one + b"\r\n" for one in parts) + b"--" + BOUNDARY + end


def read_form_tokens(session: BrowserSession, path: str = SET_LOGO) -> dict[str, str]:
    """Read the hidden fields of the form at a path."""
    page = session.get(path)
    assert page.status_code == httpx2.codes.OK, page.text
    return {name: hidden_value(page.text, name) for name in ("csrf", "version", "once")}


def make_token_parts(session: BrowserSession, path: str = SET_LOGO) -> list[bytes]:
    """Read the hidden fields of a form, as parts."""
    return [make_part(name, value.encode()) for name, value in read_form_tokens(session, path).items()]


def split_body(body: bytes, size: int) -> Iterator[bytes]:
    """Split a body into pieces."""
    for start in range(0, len(body), size):
        yield body[start : start + size]


def upload_logo(session: BrowserSession, content: bytes, filename: str = "logo.png") -> httpx2.Response:
    """Upload a logo, as the form of the page does."""
    return session.upload(SET_LOGO, read_form_tokens(session), logo=(filename, content))


def read_logo_address(session: BrowserSession) -> str:
    """Return the address of the logo on the settings page; empty if none is shown."""
    page = session.get("/settings").text
    _, found, behind = page.partition('class="logo" src="')
    return behind.partition('"')[0] if found else ""


def list_temporary_files(server: RunningServer) -> list[Path]:
    """Return the temporary files of requests that are there now."""
    paths = DataFolder(server.settings.data).temporary_files.iterdir()
    # Finished exports stay until they are fetched.
    return [path for path in paths if not path.name.startswith("finished.")]
