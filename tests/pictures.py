"""Pictures of all kinds, as people and others hand them in."""

import struct
import zlib
from io import BytesIO
from typing import Any

from PIL import Image


def drawn(kind: str = "PNG", size: tuple[int, int] = (40, 30), mode: str = "RGB", **saved: Any) -> bytes:
    """A picture, one half of it dark."""
    picture = Image.new("RGB" if mode == "P" else mode, size, "white")
    picture.paste("black", (0, 0, size[0] // 2, size[1]))
    content = BytesIO()
    (picture.convert("P") if mode == "P" else picture).save(content, kind, **saved)
    return content.getvalue()


def opened(content: bytes) -> Image.Image:
    """A picture as it can be looked at."""
    picture = Image.open(BytesIO(content))
    picture.load()
    return picture


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG file of these chunks, whatever they are."""
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def header(width: int, height: int) -> tuple[bytes, bytes]:
    """The chunk that says how large a picture of grey dots is."""
    return b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)


_UNFOLDING = b"a\0\0" + zlib.compress(bytes(5_000_000), 9)
_DOT = (b"IDAT", zlib.compress(b"\0\0"))
# What says that it is a picture, and is none that we take; each with the name of what it is.
NOT_PICTURES = {
    "nothing": b"",
    "text": b"not a picture",
    "a page": b"<!doctype html><script>alert(1)</script>",
    "SVG": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "a page behind the mark of PNG": b"\x89PNG\r\n\x1a\n<script>alert(1)</script>",
    "the mark of JPEG alone": b"\xff\xd8\xff\xe0",
    "GIF": drawn("GIF"),
    "WebP": drawn("WEBP"),
    "BMP": drawn("BMP"),
    "TIFF": drawn("TIFF"),
    "an icon": drawn("ICO"),
    "PDF": drawn("PDF"),
    "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n(a) run\n",
    "half of a PNG": drawn()[:-40],
    "half of a JPEG": drawn("JPEG", (400, 400))[:700],
    "PNG without dots": png(header(10, 10), (b"IEND", b"")),
    "PNG of nothing": png(header(0, 0), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")),
    "PNG as large as a house": png(header(100_000, 100_000), (b"IDAT", zlib.compress(bytes(100_000))), (b"IEND", b"")),
}  # fmt: skip
# Pictures beside which something stands that unfolds when it is read.
WITH_BOMBS = [png(header(1, 1), (kind, _UNFOLDING), _DOT, (b"IEND", b"")) for kind in (b"zTXt", b"iCCP")]
