"""Gzip compression of answers, for clients that accept it.

Only text that is long enough is compressed: a body in memory at once, or a file while it is written. A form token is
masked differently in each page, so the compressed length of a page says nothing about the token.
"""

import gzip
import zlib
from functools import lru_cache
from typing import IO, cast

# A shorter body fits into one packet anyway.
MIN_SIZE = 1024

# Level 3 is as fast as 1, and a tenth smaller. A page is worth more time: someone on a slow network waits for it.
_FAST_LEVEL, _PAGE_LEVEL, _BEST_LEVEL = 3, 6, 9
_PAGE_TYPE = "text/html; charset=utf-8"
_COMPRESSIBLE_TYPES = frozenset(
    {
        "application/json",
        _PAGE_TYPE,
        "text/css; charset=utf-8",
        "text/javascript; charset=utf-8",
        "image/svg+xml",
    }
)
# The largest window of zlib; 16 more asks for the gzip format.
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


def is_worth_compressing(content_type: str, size: int) -> bool:
    """Return whether an answer of this type and size is worth compressing."""
    return size > MIN_SIZE and content_type in _COMPRESSIBLE_TYPES


@lru_cache(256)
def accepts_gzip(accept: str) -> bool:
    """Return whether an Accept-Encoding header accepts gzip."""
    allowed: dict[str, bool] = {}
    for choice in accept.lower().split(","):
        coding, _, quality = (part.strip() for part in choice.partition(";"))
        allowed[coding] = quality.replace(" ", "") not in _REFUSED_QUALITIES
    return allowed.get("gzip", allowed.get("*", False))


_REFUSED_QUALITIES = {"q=0", "q=0.0", "q=0.00", "q=0.000"}


def compress(body: bytes, content_type: str, *, reused: bool = False) -> bytes:
    """Compress a body with gzip; use the best level if the result is stored and sent many times."""
    level = _BEST_LEVEL if reused else _PAGE_LEVEL if content_type == _PAGE_TYPE else _FAST_LEVEL
    compressor = zlib.compressobj(level, zlib.DEFLATED, _GZIP_WINDOW)
    return compressor.compress(body) + compressor.flush()


def open_gzip_writer(file: IO[bytes]) -> IO[bytes]:
    """Open a writer that compresses into a file; it holds no more than zlib's window in memory."""
    return cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_FAST_LEVEL, mtime=0))
