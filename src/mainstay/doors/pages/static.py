"""Style and script, served from memory under addresses that change with their content."""

import hashlib
from importlib.resources import files

from mainstay.doors.http import Response

_KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_FOREVER = "public, max-age=31536000, immutable"


def _load() -> tuple[dict[str, str], dict[str, Response]]:
    addresses = {}
    answers = {}
    for file in files(__package__).joinpath("static").iterdir():
        kind = _KINDS.get(file.name.rpartition(".")[2])
        if kind is None:
            continue
        content = file.read_bytes()
        address = f"/static/{hashlib.sha256(content).hexdigest()[:16]}/{file.name}"
        addresses[file.name] = address
        answers[address] = Response(
            200, content, (("x-content-type-options", "nosniff"),), content_type=kind, cache=_FOREVER
        )
    return addresses, answers


# Where each file is, by name, and what is there, by address.
ADDRESSES, FILES = _load()
