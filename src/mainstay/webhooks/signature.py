"""Signatures of the paper "Standard Webhooks", by which a receiver knows that a delivery is ours and unaltered.

Secrets are not kept: each is derived from the webhook's id, the number of the secret and the installation's secret.
"""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from mainstay.values.moments import parse_moment

# How long the secret before a rotation signs too.
OVERLAP = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Signer:
    """Makes the secrets of webhooks, and signs with them."""

    secret: bytes = field(repr=False)

    def shown(self, webhook: str, generation: int) -> str:
        """The secret as its receiver is given it, once."""
        return f"whsec_{b64encode(self._key(webhook, generation)).decode()}"

    def headers(
        self, webhook: str, generations: Sequence[int], message: str, at: datetime, body: bytes
    ) -> dict[str, str]:
        """What a delivery carries beside its body: one signature for each secret that is good now."""
        timestamp = int(at.timestamp())
        content = b"%s.%d.%s" % (message.encode(), timestamp, body)
        signatures = (hmac.digest(self._key(webhook, number), content, hashlib.sha256) for number in generations)
        return {
            "webhook-id": message,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join(f"v1,{b64encode(signature).decode()}" for signature in signatures),
        }

    def _key(self, webhook: str, generation: int) -> bytes:
        return hmac.digest(self.secret, f"webhook {webhook} {generation}".encode(), hashlib.sha256)


def good_generations(newest: int, rotated_at: str | None, now: datetime) -> tuple[int, ...]:
    """The numbers of the secrets that sign at a moment, the newest first."""
    return (newest, newest - 1) if old_secret_until(rotated_at, now) else (newest,)


def old_secret_until(rotated_at: str | None, now: datetime) -> datetime | None:
    """Until when the secret before the last rotation signs too, if it still does."""
    until = parse_moment(rotated_at) + OVERLAP if rotated_at else now
    return until if until > now else None
