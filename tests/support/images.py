"""Images of all kinds, good and bad, to upload."""

import struct
import zlib
from io import BytesIO
from typing import Any

from PIL import Image


def draw_image(kind: str = "PNG", size: tuple[int, int] = (40, 30), mode: str = "RGB", **saved: Any) -> bytes:
    """Draw an image whose left half is black."""
    picture = Image.new("RGB" if mode == "P" else mode, size, "white")
    picture.paste("black", (0, 0, size[0] // 2, size[1]))
    content = BytesIO()
    (picture.convert("P") if mode == "P" else picture).save(content, kind, **saved)
    return content.getvalue()


def draw_noise(size: tuple[int, int]) -> bytes:
    """Draw an image of noise, which no format makes smaller."""
    content = BytesIO()
    Image.effect_noise(size, 100).convert("RGB").save(content, "PNG")
    return content.getvalue()


def open_image(content: bytes) -> Image.Image:
    """Open and load an image."""
    picture = Image.open(BytesIO(content))
    picture.load()
    return picture


def make_png(*chunks: tuple[bytes, bytes]) -> bytes:
    """Make a PNG file of any chunks."""
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def make_png_header(width: int, height: int) -> tuple[bytes, bytes]:
    """Make the header chunk of a grey image of this size."""
    return b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)


_BOMB = b"a\0\0" + zlib.compress(bytes(5_000_000), 9)
_PIXEL = (b"IDAT", zlib.compress(b"\0\0"))
# Files that claim to be images and are refused, each with the name of what it is.
NOT_IMAGES = {
    "nothing": b"",
    "text": b"not a picture",
    "a page": b"<!doctype html><script>alert(1)</script>",
    "SVG": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "a page behind the mark of PNG": b"\x89PNG\r\n\x1a\n<script>alert(1)</script>",
    "the mark of JPEG alone": b"\xff\xd8\xff\xe0",
    "GIF": draw_image("GIF"),
    "WebP": draw_image("WEBP"),
    "BMP": draw_image("BMP"),
    "TIFF": draw_image("TIFF"),
    "an icon": draw_image("ICO"),
    "PDF": draw_image("PDF"),
    "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n(a) run\n",
    "half of a PNG": draw_image()[:-40],
    "half of a JPEG": draw_image("JPEG", (400, 400))[:700],
    "PNG without dots": make_png(make_png_header(10, 10), (b"IEND", b"")),
    "PNG of nothing": make_png(make_png_header(0, 0), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")),
    "PNG as large as a house": make_png(
        make_png_header(100_000, 100_000), (b"IDAT", zlib.compress(bytes(100_000))), (b"IEND", b"")
    ),
}  # fmt: skip
# Images with a small chunk that becomes huge when it is decompressed.
IMAGES_WITH_BOMBS = [
    make_png(make_png_header(1, 1), (kind, _BOMB), _PIXEL, (b"IEND", b"")) for kind in (b"zTXt", b"iCCP")
]
