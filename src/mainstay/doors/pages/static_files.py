"""Stylesheets, scripts, fonts, icons and the manifest, from memory under addresses that change with their content."""

import hashlib
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
_CACHE_FOREVER = "public, max-age=31536000, immutable"


def _load_files() -> tuple[dict[str, str], dict[str, Response]]:
    addresses: dict[str, str] = {}
    responses = {}
    folder = sorted(files(__package__).joinpath("static").iterdir(), key=lambda file: file.name)
    for ending, media_type in _MEDIA_TYPES.items():
        for file in folder:
            if file.name.rpartition(".")[2] != ending:
                continue
            content = file.read_bytes()
            for name, known_address in addresses.items() if ending in _REFERRING else ():
                content = content.replace(f'"{name}"'.encode(), f'"{known_address}"'.encode())
            address = f"/static/{hashlib.sha256(content).hexdigest()[:16]}/{file.name}"
            addresses[file.name] = address
            responses[address] = Response(
                200,
                content,
                content_type=media_type,
                cache_control=_CACHE_FOREVER,
                gzipped_body=compress(content, reused=True) if is_worth_compressing(media_type, len(content)) else None,
            )
    return addresses, responses


# The address of each file by its name, and the response for each address.
STATIC_ADDRESSES, STATIC_FILES = _load_files()
