"""Encrypt short texts that are kept in a cookie or a row, so that only this installation can read them.

The text is encrypted with a stream of SHAKE-256 from a key and a nonce that is never used again. An HMAC then
authenticates the ciphertext, its purpose and its expiry. Both are in the standard library, so a few short-lived texts
need no cryptography library.
"""

import binascii
import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from datetime import datetime

_NONCE_BYTES = 16
_EXPIRY_BYTES = 8
_TAG_BYTES = 32


@dataclass(frozen=True, slots=True)
class Encryptor:
    """Encrypts and decrypts with the installation's secret."""

    secret: bytes = field(repr=False)

    def encrypt(self, purpose: str, text: str, until: datetime) -> str:
        """Encrypt a text for one purpose, valid until a given time."""
        header = secrets.token_bytes(_NONCE_BYTES) + int(until.timestamp()).to_bytes(_EXPIRY_BYTES)
        signed = header + self._apply_stream(header, text.encode())
        return urlsafe_b64encode(signed + self._compute_tag(purpose, signed)).decode()

    def decrypt(self, purpose: str, encrypted: str, now: datetime) -> str | None:
        """Return the text if it was encrypted here for this purpose and has not expired, otherwise None."""
        try:
            decoded = urlsafe_b64decode(encrypted)
        except (binascii.Error, ValueError):
            return None
        # The decoder skips what does not belong to the encoding, so that several texts would mean the same.
        if urlsafe_b64encode(decoded).decode() != encrypted:
            return None
        signed, tag = decoded[:-_TAG_BYTES], decoded[-_TAG_BYTES:]
        if not hmac.compare_digest(tag, self._compute_tag(purpose, signed)):
            return None
        header, ciphertext = signed[: _NONCE_BYTES + _EXPIRY_BYTES], signed[_NONCE_BYTES + _EXPIRY_BYTES :]
        is_fresh = now.timestamp() < int.from_bytes(header[_NONCE_BYTES:])
        return self._apply_stream(header, ciphertext).decode() if is_fresh else None

    def _apply_stream(self, header: bytes, data: bytes) -> bytes:
        """Encrypt or decrypt data; the same operation does both."""
        stream = hashlib.shake_256(self._derive_key("veil") + header).digest(len(data))
        return bytes(byte ^ mask for byte, mask in zip(data, stream, strict=True))

    def _compute_tag(self, purpose: str, signed: bytes) -> bytes:
        return hmac.digest(self._derive_key("tag"), hashlib.sha256(purpose.encode()).digest() + signed, hashlib.sha256)

    def _derive_key(self, use: str) -> bytes:
        return hmac.digest(self.secret, f"sealing {use}".encode(), hashlib.sha256)
