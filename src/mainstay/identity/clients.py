"""OAuth clients: apps that registered themselves. Being registered gives no right to anything."""

import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from mainstay.backing.database import EVERY, Database, Handle
from mainstay.identity.secrets import CLIENT_SECRET, new_secret, secret_hash
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text

NEVER_APPROVED_KEPT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Client:
    """An app as it registered itself."""

    id: str
    metadata: dict[str, Any]
    secret_hash: str | None

    @property
    def name(self) -> str:
        """What it calls itself; nobody has checked."""
        return str(self.metadata["client_name"])

    @property
    def redirects(self) -> list[str]:
        """Where it may be answered."""
        return list(self.metadata["redirect_uris"])

    @property
    def method(self) -> str:
        """How it shows who it is: `none`, `client_secret_post` or `client_secret_basic`."""
        return str(self.metadata["token_endpoint_auth_method"])

    def has_secret(self, secret: str) -> bool:
        """Whether this is its secret."""
        return self.secret_hash is not None and hmac.compare_digest(secret_hash(secret), self.secret_hash)


def register(database: Database, metadata: dict[str, Any], now: datetime) -> tuple[Client, str | None]:
    """Keep a new client; with its secret, shown this once, unless it is a public one."""
    secret = None if metadata["token_endpoint_auth_method"] == "none" else new_secret(CLIENT_SECRET)
    client = Client(new_id("client"), metadata, secret_hash(secret) if secret else None)
    with database.changing(EVERY) as rows:
        rows.run(
            "INSERT INTO oauth_client (id, metadata, secret_hash, created_at) VALUES (:id, :metadata, :hash, :at)",
            id=client.id,
            metadata=orjson.dumps(metadata).decode(),
            hash=client.secret_hash,
            at=moment_text(now),
        )
    return client, secret


def find(rows: Handle, identity: str) -> Client | None:
    """The client of this id."""
    row = rows.one("SELECT id, metadata, secret_hash FROM oauth_client WHERE id = :id", id=identity)
    if row is None:
        return None
    return Client(str(row[0]), orjson.loads(str(row[1])), None if row[2] is None else str(row[2]))


def forget_never_approved(rows: Handle, now: datetime) -> None:
    """Remove clients that nobody has approved for a day."""
    rows.run(
        "DELETE FROM oauth_client WHERE approved_at IS NULL AND created_at < :before",
        before=moment_text(now - NEVER_APPROVED_KEPT),
    )
