"""Style and script, served from memory under addresses that change with their content."""

import hashlib
from importlib.resources import files

from mainstay.doors.http import Response
from mainstay.doors.packing import is_worth, packed

# Style comes last: it names the other files, by the addresses they have got.
_KINDS = {
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
    "css": "text/css; charset=utf-8",
}
_FOREVER = "public, max-age=31536000, immutable"


def _load() -> tuple[dict[str, str], dict[str, Response]]:
    addresses: dict[str, str] = {}
    answers = {}
    folder = sorted(files(__package__).joinpath("static").iterdir(), key=lambda file: file.name)
    for ending, kind in _KINDS.items():
        for file in folder:
            if file.name.rpartition(".")[2] != ending:
                continue
            content = file.read_bytes()
            for name, known in addresses.items() if ending == "css" else ():
                content = content.replace(f'url("{name}")'.encode(), f'url("{known}")'.encode())
            address = f"/static/{hashlib.sha256(content).hexdigest()[:16]}/{file.name}"
            addresses[file.name] = address
            answers[address] = Response(
                200,
                content,
                content_type=kind,
                cache=_FOREVER,
                packed=packed(content, once=True) if is_worth(kind, len(content)) else None,
            )
    return addresses, answers


# Where each file is, by name, and what is there, by address.
ADDRESSES, FILES = _load()
