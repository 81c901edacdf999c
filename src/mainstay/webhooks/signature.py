"""Signatures by "Standard Webhooks", which let a receiver check that a delivery is from us and unchanged.

Secrets are not stored. Each is derived from the installation's secret, the webhook's ID and the secret's generation: 1
for the first one, and one more with each rotation.
"""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from mainstay.values.moments import parse_moment

# How long the previous secret also signs after a rotation.
SECRET_OVERLAP = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Signer:
    """Derives the secrets of webhooks, and signs with them."""

    installation_secret: bytes = field(repr=False)

    def reveal_secret(self, webhook_id: str, generation: int) -> str:
        """Return a secret of a webhook as its receiver needs it. It is shown only once."""
        return f"whsec_{b64encode(self._derive_key(webhook_id, generation)).decode()}"

    def build_headers(
        self, webhook_id: str, generations: Sequence[int], message_id: str, at: datetime, body: bytes
    ) -> dict[str, str]:
        """Return the headers of a delivery, with one signature for each of these secrets."""
        timestamp = int(at.timestamp())
        content = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
        signatures = (
            hmac.digest(self._derive_key(webhook_id, generation), content, hashlib.sha256) for generation in generations
        )
        return {
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join(f"v1,{b64encode(signature).decode()}" for signature in signatures),
        }

    def _derive_key(self, webhook_id: str, generation: int) -> bytes:
        return hmac.digest(self.installation_secret, f"webhook {webhook_id} {generation}".encode(), hashlib.sha256)


def find_valid_generations(newest: int, rotated_at: str | None, now: datetime) -> tuple[int, ...]:
    """Return the generations of the secrets that sign now, the newest first."""
    return (newest, newest - 1) if find_overlap_end(rotated_at, now) else (newest,)


def find_overlap_end(rotated_at: str | None, now: datetime) -> datetime | None:
    """Return the moment until which the previous secret also signs, or None if it no longer does."""
    if rotated_at is None:
        return None
    end = parse_moment(rotated_at) + SECRET_OVERLAP
    return end if end > now else None
