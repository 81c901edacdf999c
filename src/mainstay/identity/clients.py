"""OAuth clients: apps that registered themselves, or whose ID is the address of a document that describes them.

Neither gives an app any permissions.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from mainstay.identity.secrets import CLIENT_SECRET, hash_secret, new_secret
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database, DatabaseHandle
from mainstay.settings import MAX_PORT
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text

UNAPPROVED_LIFETIME = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """An app as it described itself."""

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

    @property
    def is_document(self) -> bool:
        """Whether its ID is the address of a document that describes it."""
        return is_document_address(self.id)

    @property
    def digest(self) -> str:
        """A digest of what people decide about: its name and its redirect addresses."""
        return hashlib.sha256(orjson.dumps([self.name, self.redirect_uris])).hexdigest()

    def has_redirect(self, address: str, *, any_loopback_port: bool = False) -> bool:
        """Return whether this is one of its redirect addresses.

        The port of a loopback address may differ if the operator allows it, and always if a document lists it: the
        document is the same on every device.
        """
        any_port = any_loopback_port or self.is_document
        return any(is_same_redirect(address, known, any_loopback_port=any_port) for known in self.redirect_uris)

    def has_secret(self, secret: str) -> bool:
        """Return whether this is the client's secret."""
        return self.secret_hash is not None and hmac.compare_digest(hash_secret(secret), self.secret_hash)


def is_document_address(client_id: str) -> bool:
    """Return whether the ID of a client is the address of a document, and not one that was issued here."""
    return client_id.startswith("https://")


def is_same_redirect(sent: str, known: str, *, any_loopback_port: bool) -> bool:
    """Return whether a redirect address is the known one; an app on a device may change the port."""
    return sent == known or (any_loopback_port and _drop_port(sent) == _drop_port(known))


_LOOPBACK_WITH_PORT = re.compile(r"(http://(?:localhost|127\.0\.0\.1|\[::1\])):([0-9]{1,5})(?=[/?]|$)")


def _drop_port(address: str) -> str:
    match = _LOOPBACK_WITH_PORT.match(address)
    return f"{match[1]}{address[match.end() :]}" if match and 1 <= int(match[2]) <= MAX_PORT else address


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


def save_document(
    database: Database, client_id: str, metadata: dict[str, Any], fresh_until: datetime, now: datetime
) -> OAuthClient:
    """Save what a fetched document says of the client whose ID is its address, and return the client."""
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run(
            "INSERT INTO oauth_client (id, metadata, created_at, fresh_until) VALUES (:id, :metadata, :at, :until)"
            " ON CONFLICT (id) DO UPDATE SET metadata = excluded.metadata, fresh_until = excluded.fresh_until",
            id=client_id,
            metadata=orjson.dumps(metadata).decode(),
            at=moment_text(now),
            until=moment_text(fresh_until),
        )
    return OAuthClient(client_id, metadata, None)


def find_fresh(db: DatabaseHandle, client_id: str, now: datetime) -> OAuthClient | None:
    """Return the client whose document has this address, if it was fetched recently enough."""
    row = db.one("SELECT 1 FROM oauth_client WHERE id = :id AND fresh_until > :now", id=client_id, now=moment_text(now))
    return find(db, client_id) if row else None


def find(db: DatabaseHandle, record_id: str) -> OAuthClient | None:
    """Return the client with this ID, or None."""
    row = db.one("SELECT id, metadata, secret_hash FROM oauth_client WHERE id = :id", id=record_id)
    if row is None:
        return None
    return OAuthClient(str(row[0]), orjson.loads(str(row[1])), None if row[2] is None else str(row[2]))


def delete_unapproved(db: DatabaseHandle, now: datetime) -> None:
    """Delete the clients that nobody has approved within a day."""
    db.run(
        "DELETE FROM oauth_client WHERE approved_at IS NULL AND created_at < :before",
        before=moment_text(now - UNAPPROVED_LIFETIME),
    )
