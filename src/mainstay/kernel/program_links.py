"""Links that programs get to single files: their secrets are made with the installation's secret, and never stored."""

import binascii
import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

_EXPIRY_BYTES = 8
_TAG_BYTES = 32


@dataclass(frozen=True, slots=True)
class ProgramLinks:
    """Makes and reads the secrets of links. Each kind of link has a prefix, by which logs hide its secrets."""

    load_secret: Callable[[], bytes] = field(repr=False)
    base_url: str

    def derive_secret(self, prefix: str, link_id: str) -> str:
        """Return the secret of a link that is stored under this id: always the same, and 43 characters long."""
        return prefix + _encode(self._sign(prefix, link_id.encode()))

    def sign_text(self, prefix: str, text: str, until: datetime) -> str:
        """Return a secret that contains a text, which everyone can read but nobody else can make."""
        signed = int(until.timestamp()).to_bytes(_EXPIRY_BYTES) + text.encode()
        return prefix + _encode(signed + self._sign(prefix, signed))

    def read_text(self, prefix: str, secret: str, now: datetime) -> str | None:
        """Return the text of a secret if it was made here and has not expired, otherwise None."""
        encoded = secret.removeprefix(prefix)
        try:
            decoded = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        except (binascii.Error, ValueError):
            return None
        signed, tag = decoded[:-_TAG_BYTES], decoded[-_TAG_BYTES:]
        # The decoder skips what does not belong to the encoding, so that several texts would mean the same.
        is_genuine = hmac.compare_digest(tag, self._sign(prefix, signed)) and secret == prefix + _encode(decoded)
        if not is_genuine or int.from_bytes(signed[:_EXPIRY_BYTES]) <= now.timestamp():
            return None
        return signed[_EXPIRY_BYTES:].decode()

    def _sign(self, prefix: str, text: bytes) -> bytes:
        key = hmac.digest(self.load_secret(), f"program link {prefix}".encode(), hashlib.sha256)
        return hmac.digest(key, text, hashlib.sha256)


def _encode(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()
