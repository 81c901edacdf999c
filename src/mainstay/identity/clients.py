"""OAuth clients: apps that registered themselves. Registering gives an app no permissions."""

import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from mainstay.identity.secrets import CLIENT_SECRET, hash_secret, new_secret
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database, DatabaseHandle
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text

UNAPPROVED_LIFETIME = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """An app as it registered itself."""

    id: str
    metadata: dict[str, Any]
    secret_hash: str | None

    @property
    def name(self) -> str:
        """The name that the app gave itself. Nobody has verified it."""
        return str(self.metadata["client_name"])

    @property
    def redirect_uris(self) -> list[str]:
        """The addresses that the app may be redirected to."""
        return list(self.metadata["redirect_uris"])

    @property
    def auth_method(self) -> str:
        """How the app authenticates itself: `none`, `client_secret_post` or `client_secret_basic`."""
        return str(self.metadata["token_endpoint_auth_method"])

    def has_secret(self, secret: str) -> bool:
        """Return whether this is the client's secret."""
        return self.secret_hash is not None and hmac.compare_digest(hash_secret(secret), self.secret_hash)


def register_client(database: Database, metadata: dict[str, Any], now: datetime) -> tuple[OAuthClient, str | None]:
    """Save a new client and return it with its secret.

    The secret is returned only this once. A public client has none.
    """
    secret = None if metadata["token_endpoint_auth_method"] == "none" else new_secret(CLIENT_SECRET)
    client = OAuthClient(new_id("client"), metadata, hash_secret(secret) if secret else None)
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run(
            "INSERT INTO oauth_client (id, metadata, secret_hash, created_at) VALUES (:id, :metadata, :hash, :at)",
            id=client.id,
            metadata=orjson.dumps(metadata).decode(),
            hash=client.secret_hash,
            at=moment_text(now),
        )
    return client, secret


def find(db: DatabaseHandle, record_id: str) -> OAuthClient | None:
    """Return the client with this ID, or None."""
    row = db.one("SELECT id, metadata, secret_hash FROM oauth_client WHERE id = :id", id=record_id)
    if row is None:
        return None
    return OAuthClient(str(row[0]), orjson.loads(str(row[1])), None if row[2] is None else str(row[2]))


def forget_unapproved(db: DatabaseHandle, now: datetime) -> None:
    """Delete the clients that nobody has approved within a day."""
    db.run(
        "DELETE FROM oauth_client WHERE approved_at IS NULL AND created_at < :before",
        before=moment_text(now - UNAPPROVED_LIFETIME),
    )
