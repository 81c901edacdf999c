"""Sealed text: it may lie in the open, in a cookie or a row, and only this installation can read it.

The text is hidden by a stream of SHAKE-256 under a key and a number that is never used again, then closed with an HMAC
over all of it, what it is about and how long it is good for: both of the standard library, so that no library of
ciphers is needed for a few short-lived texts.
"""

import binascii
import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from datetime import datetime

_NUMBER_BYTES = 16
_UNTIL_BYTES = 8
_TAG_BYTES = 32


@dataclass(frozen=True, slots=True)
class Sealer:
    """Seals and opens with the installation's secret."""

    secret: bytes = field(repr=False)

    def seal(self, about: str, text: str, until: datetime) -> str:
        """Seal a text that is good until then, for what it is about and nothing else."""
        opening = secrets.token_bytes(_NUMBER_BYTES) + int(until.timestamp()).to_bytes(_UNTIL_BYTES)
        closed = opening + self._veiled(opening, text.encode())
        return urlsafe_b64encode(closed + self._tag(about, closed)).decode()

    def open(self, about: str, sealed: str, now: datetime) -> str | None:
        """The text, if we sealed it for this and it is still good."""
        try:
            whole = urlsafe_b64decode(sealed)
        except (binascii.Error, ValueError):
            return None
        closed, tag = whole[:-_TAG_BYTES], whole[-_TAG_BYTES:]
        if not hmac.compare_digest(tag, self._tag(about, closed)):
            return None
        opening, hidden = closed[: _NUMBER_BYTES + _UNTIL_BYTES], closed[_NUMBER_BYTES + _UNTIL_BYTES :]
        good = now.timestamp() < int.from_bytes(opening[_NUMBER_BYTES:])
        return self._veiled(opening, hidden).decode() if good else None

    def _veiled(self, opening: bytes, data: bytes) -> bytes:
        """The same once hides, twice shows."""
        stream = hashlib.shake_256(self._key("veil") + opening).digest(len(data))
        return bytes(mine ^ veil for mine, veil in zip(data, stream, strict=True))

    def _tag(self, about: str, closed: bytes) -> bytes:
        return hmac.digest(self._key("tag"), hashlib.sha256(about.encode()).digest() + closed, hashlib.sha256)

    def _key(self, use: str) -> bytes:
        return hmac.digest(self.secret, f"sealing {use}".encode(), hashlib.sha256)
