"""Signatures by "Standard Webhooks", which let a receiver check that a delivery is from us and unchanged.

Secrets are not stored. Each is derived from the webhook's ID, the number of the secret and the installation's secret.
"""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from mainstay.values.moments import parse_moment

# How long the previous secret also signs after a rotation.
OVERLAP = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Signer:
    """Derives the secrets of webhooks, and signs with them."""

    secret: bytes = field(repr=False)

    def reveal_secret(self, webhook_id: str, generation: int) -> str:
        """Return the secret for its receiver. It is shown only once."""
        return f"whsec_{b64encode(self._derive_key(webhook_id, generation)).decode()}"

    def build_headers(
        self, webhook_id: str, generations: Sequence[int], message: str, at: datetime, body: bytes
    ) -> dict[str, str]:
        """Return the headers of a delivery, with one signature for each secret that is valid now."""
        timestamp = int(at.timestamp())
        content = b"%s.%d.%s" % (message.encode(), timestamp, body)
        signatures = (
            hmac.digest(self._derive_key(webhook_id, number), content, hashlib.sha256) for number in generations
        )
        return {
            "webhook-id": message,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join(f"v1,{b64encode(signature).decode()}" for signature in signatures),
        }

    def _derive_key(self, webhook_id: str, generation: int) -> bytes:
        return hmac.digest(self.secret, f"webhook {webhook_id} {generation}".encode(), hashlib.sha256)


def valid_generations(newest: int, rotated_at: str | None, now: datetime) -> tuple[int, ...]:
    """Return the numbers of the secrets that sign at this time, the newest first."""
    return (newest, newest - 1) if old_secret_until(rotated_at, now) else (newest,)


def old_secret_until(rotated_at: str | None, now: datetime) -> datetime | None:
    """Return until when the previous secret also signs, or None if it does not any more."""
    until = parse_moment(rotated_at) + OVERLAP if rotated_at else now
    return until if until > now else None
