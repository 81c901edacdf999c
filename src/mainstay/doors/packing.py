"""Answers in fewer bytes, for those who take them so.

Only what is text and worth it: whole in memory, or piece by piece as a file is written that is sent then. Where a page
carries a token of a form, the token is masked anew on each: how well a page packs tells nothing about it.
"""

import gzip
import zlib
from functools import lru_cache
from typing import IO, cast

# What is shorter fits into one packet anyhow.
SMALLEST = 1024

_KINDS = frozenset(
    {
        "application/json",
        "text/html; charset=utf-8",
        "text/css; charset=utf-8",
        "text/javascript; charset=utf-8",
        "image/svg+xml",
    }
)
# For one answer, the least work gains nearly all there is; for what is packed once, the most is as good.
_QUICK, _BEST = 1, 9
# The window of zlib, with the frame of gzip around it.
_GZIP = 16 + zlib.MAX_WBITS


def is_worth(content_type: str, size: int) -> bool:
    """Whether such an answer gets so much shorter that it is worth the work."""
    return size > SMALLEST and content_type in _KINDS


@lru_cache(256)
def takes_gzip(accept: str) -> bool:
    """Whether an Accept-Encoding header takes gzip."""
    allowed: dict[str, bool] = {}
    for choice in accept.lower().split(","):
        coding, _, quality = (part.strip() for part in choice.partition(";"))
        allowed[coding] = quality.replace(" ", "") not in _NOT
    return allowed.get("gzip", allowed.get("*", False))


_NOT = {"q=0", "q=0.0", "q=0.00", "q=0.000"}


def packed(body: bytes, *, once: bool = False) -> bytes:
    """The same as gzip; what is kept and sent again and again is packed as well as it goes."""
    packer = zlib.compressobj(_BEST if once else _QUICK, zlib.DEFLATED, _GZIP)
    return packer.compress(body) + packer.flush()


def packing_into(file: IO[bytes]) -> IO[bytes]:
    """What packs all that is written to it into a file, with no more of it in memory than zlib's window."""
    return cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_QUICK, mtime=0))
