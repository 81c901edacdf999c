"""Stylesheets, scripts, fonts, icons and the manifest, from memory under addresses that change with their content."""

import hashlib
import re
from importlib.resources import files

from mainstay.doors.compression import compress, is_worth_compressing
from mainstay.doors.http import Response

# CSS and the manifest come last because they refer to the other files by their new addresses.
_MEDIA_TYPES = {
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
    "png": "image/png",
    "css": "text/css; charset=utf-8",
    "webmanifest": "application/manifest+json",
}
_REFERRING = {"css", "webmanifest"}
# Comments are for us: they would be a seventh of what a browser loads. The lines stay, so that an error names the right
# one. A script has comments on lines of their own.
_COMMENTS = {"css": re.compile(rb"/\*.*?\*/", re.DOTALL), "js": re.compile(rb"^ *//.*$", re.MULTILINE)}
_CACHE_FOREVER = "public, max-age=31536000, immutable"


def _load_files() -> tuple[dict[str, str], dict[str, Response]]:
    addresses: dict[str, str] = {}
    responses = {}
    folder = sorted(files(__package__).joinpath("static").iterdir(), key=lambda file: file.name)
    for ending, media_type in _MEDIA_TYPES.items():
        for file in folder:
            if file.name.rpartition(".")[2] != ending:
                continue
            content = strip_comments(file.read_bytes(), ending)
            for name, known_address in addresses.items() if ending in _REFERRING else ():
                content = content.replace(f'"{name}"'.encode(), f'"{known_address}"'.encode())
            address = f"/static/{hashlib.sha256(content).hexdigest()[:16]}/{file.name}"
            addresses[file.name] = address
            is_compressed = is_worth_compressing(media_type, len(content))
            responses[address] = Response(
                200,
                content,
                content_type=media_type,
                cache_control=_CACHE_FOREVER,
                gzipped_body=compress(content, media_type, reused=True) if is_compressed else None,
            )
    return addresses, responses


def strip_comments(content: bytes, ending: str) -> bytes:
    """Return a stylesheet or script without its comments; other files as they are."""
    comments = _COMMENTS.get(ending)
    return comments.sub(lambda comment: b"\n" * comment[0].count(b"\n"), content) if comments else content


# The address of each file by its name, and the response for each address.
STATIC_ADDRESSES, STATIC_FILES = _load_files()
