"""Codes and tokens: each works once or for a while, whatever the concurrency.

Whether a code or refresh token was used is a row, changed by compare-and-set. Whoever loses has used it a second time:
that ends the connection, in a transaction that is committed before the refusal is told.
"""

import base64
import hashlib
import hmac
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from mainstay.backing.database import EVERY, Handle
from mainstay.identity.clients import Client
from mainstay.identity.connections import LIVES, end_connection, start_connection
from mainstay.identity.secrets import ACCESS_TOKEN, REFRESH_TOKEN, new_secret, secret_hash
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import house
from mainstay.terms.refusal import Blocked, Refusal
from mainstay.values.moments import moment_text

ACCESS_LIFETIME = timedelta(hours=1)
REFRESH_LIFETIME = timedelta(days=60)

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class InvalidGrant(Refusal):
    """Something is wrong with the code or refresh token; what it is, is not told."""

    def __init__(self) -> None:
        super().__init__("The code or refresh token is not valid any more. Start the sign-in again.")


@dataclass(frozen=True, slots=True)
class Tokens:
    """What an app gets, shown this once."""

    access: str
    refresh: str


@dataclass(frozen=True, slots=True)
class _Grant:
    """What is exchanged: a code or a refresh token, and the connection it belongs to."""

    organisation: str
    connection: str
    table: str
    hash: str

    @property
    def is_first(self) -> bool:
        """Whether nothing was exchanged for the connection before."""
        return self.table == "oauth_code"


@dataclass(frozen=True, slots=True)
class TokenOffice:
    """Gives out tokens and ends connections; `request` is the id under which the trail knows what was asked."""

    stage: Stage

    def find_owner(self, secret: str) -> str:
        """The organisation that a code or token belongs to, for which its exchange waits; EVERY if it is not known."""
        with self.stage.database.reading(EVERY) as rows:
            row = rows.one(
                "SELECT organisation_id FROM oauth_code WHERE hash = :hash"
                " UNION ALL SELECT organisation_id FROM oauth_token WHERE hash = :hash",
                hash=secret_hash(secret),
            )
        return str(row[0]) if row else EVERY

    def redeem(self, client: Client, code: str, redirect: str | None, verifier: str, request: str) -> Tokens:
        """Exchange a code. A thief without the verifier can neither burn it nor end the connection."""
        hash_ = secret_hash(code)
        with self.stage.database.reading(EVERY) as rows:
            row = rows.one(
                "SELECT organisation_id, connection_id, redirect_uri, challenge FROM oauth_code"
                " WHERE hash = :hash AND client_id = :client",
                hash=hash_,
                client=client.id,
            )
        if row is None:
            raise InvalidGrant
        organisation, connection, registered, challenge = map(str, row)
        if redirect not in {None, registered} or not _proves(verifier, challenge):
            raise InvalidGrant
        return self._exchange(client, _Grant(organisation, connection, "oauth_code", hash_), request)

    def refresh(self, client: Client, token: str, request: str) -> Tokens:
        """Exchange a refresh token for new tokens."""
        grant = self._find(client, token)
        if grant is None or not token.startswith(REFRESH_TOKEN):
            raise InvalidGrant
        return self._exchange(client, grant, request)

    def revoke(self, client: Client, token: str, request: str) -> None:
        """End the connection of an access or refresh token; any other text is no news."""
        grant = self._find(client, token)
        if grant:
            self._end(grant, "The app gave its access back.", request)

    def _find(self, client: Client, token: str) -> _Grant | None:
        hash_ = secret_hash(token)
        with self.stage.database.reading(EVERY) as rows:
            row = rows.one(
                "SELECT organisation_id, connection_id FROM oauth_token WHERE hash = :hash AND client_id = :client",
                hash=hash_,
                client=client.id,
            )
        return _Grant(str(row[0]), str(row[1]), "oauth_token", hash_) if row else None

    def _exchange(self, client: Client, grant: _Grant, request: str) -> Tokens:
        now = self.stage.clock()
        at = moment_text(now)
        tokens = None
        with self.stage.together(grant.organisation) as stage, stage.database.changing(grant.organisation) as rows:
            used = rows.one(
                f"UPDATE {grant.table} SET used_at = :at WHERE hash = :hash AND used_at IS NULL RETURNING expires_at",
                hash=grant.hash,
                at=at,
            )
            if used and str(used[0]) > at and _lives(rows, grant.connection):
                tokens = _issue(rows, client, grant.connection, now)
                if grant.is_first:
                    self._do(stage, start_connection, grant, request)
        if used is None:
            # One of the two who had it is a thief.
            self._end(grant, "A code or refresh token of it was used a second time.", request)
        # Told only now, when what was decided is committed.
        if tokens is None:
            raise InvalidGrant
        return tokens

    def _end(self, grant: _Grant, reason: str, request: str) -> None:
        """End a connection as everything ends, with a line in the trail; one that has ended stays so."""
        with suppress(Blocked):
            self._do(self.stage, end_connection, grant, request, reason=reason)

    def _do(self, stage: Stage, operation: Operation, grant: _Grant, request: str, **more: str) -> None:
        given = orjson.dumps({"connectionId": grant.connection} | more)
        stage.perform(operation, house(grant.organisation), given, Envelope(request))


def forget_expired(rows: Handle, now: datetime) -> None:
    """Remove what has expired: it opens nothing, and its second use can no longer be told from a first."""
    for table in ("oauth_code", "oauth_token", "oauth_ticket"):
        rows.run(f"DELETE FROM {table} WHERE expires_at < :before", before=moment_text(now - timedelta(days=1)))


def _proves(verifier: str, challenge: str) -> bool:
    """Whether a verifier is the one behind a challenge (PKCE, S256)."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(digest, challenge.encode())


def _lives(rows: Handle, connection: str) -> bool:
    """Whether the connection has not ended and its person is still here and may connect apps."""
    row = rows.one(
        "SELECT 1 FROM connection"
        " JOIN person ON person.organisation_id = connection.organisation_id AND person.id = connection.person_id"
        f" WHERE connection.organisation_id = :organisation AND connection.id = :id AND {LIVES}",
        id=connection,
    )
    return row is not None


def _issue(rows: Handle, client: Client, connection: str, now: datetime) -> Tokens:
    tokens = Tokens(new_secret(ACCESS_TOKEN), new_secret(REFRESH_TOKEN))
    for token, kind, lifetime in (
        (tokens.access, "access", ACCESS_LIFETIME),
        (tokens.refresh, "refresh", REFRESH_LIFETIME),
    ):
        rows.run(
            "INSERT INTO oauth_token (hash, organisation_id, connection_id, client_id, kind, expires_at)"
            " VALUES (:hash, :organisation, :connection, :client, :kind, :expires)",
            hash=secret_hash(token),
            connection=connection,
            client=client.id,
            kind=kind,
            expires=moment_text(now + lifetime),
        )
    return tokens
