"""OAuth codes and tokens. A code or refresh token works once; an access token works until it expires.

The row of a code or refresh token says whether it was used. One UPDATE checks and changes that, so only one of several
concurrent requests succeeds. A second use ends the connection, in a transaction that is committed before the refusal
is raised.
"""

import base64
import hashlib
import hmac
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from mainstay.identity.clients import OAuthClient
from mainstay.identity.connections import CONNECTION_IS_VALID, end_connection, start_connection
from mainstay.identity.secrets import ACCESS_TOKEN, REFRESH_TOKEN, hash_secret, new_secret
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseHandle
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import system_actor
from mainstay.vocabulary.refusal import Blocked, Refusal

ACCESS_LIFETIME = timedelta(hours=1)
REFRESH_LIFETIME = timedelta(days=60)

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class InvalidGrant(Refusal):
    """Something is wrong with the code or refresh token. The message does not say what; a thief must not learn it."""

    def __init__(self) -> None:
        super().__init__(Message("The code or refresh token is no longer valid. Start the sign-in again."))


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that an app gets. They are shown only this once."""

    access: str
    refresh: str


@dataclass(frozen=True, slots=True)
class _Grant:
    """A code or refresh token that is exchanged, and the connection it belongs to."""

    organisation_id: str
    connection_id: str
    table: str
    hash: str

    @property
    def is_code(self) -> bool:
        """Whether it is a code. Its exchange starts the connection."""
        return self.table == "oauth_code"


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """Issues tokens and ends connections.

    The audit trail lists what happened under `request_id`.
    """

    performer: Performer

    def find_organisation(self, secret: str) -> str:
        """Return the organisation that a code or token belongs to, or ALL_ORGANISATIONS if it is unknown.

        The caller needs it to lock the organisation before the exchange.
        """
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            row = db.one(
                "SELECT organisation_id FROM oauth_code WHERE hash = :hash"
                " UNION ALL SELECT organisation_id FROM oauth_token WHERE hash = :hash",
                hash=hash_secret(secret),
            )
        return str(row[0]) if row else ALL_ORGANISATIONS

    def redeem_code(
        self, client: OAuthClient, code: str, redirect_uri: str | None, verifier: str, request_id: str
    ) -> Tokens:
        """Exchange a code for tokens.

        A thief who has no verifier can neither use up the code nor end the connection.
        """
        code_hash = hash_secret(code)
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            row = db.one(
                "SELECT organisation_id, connection_id, redirect_uri, challenge FROM oauth_code"
                " WHERE hash = :hash AND client_id = :client",
                hash=code_hash,
                client=client.id,
            )
        if row is None:
            raise InvalidGrant
        organisation_id, connection_id, registered_uri, challenge = map(str, row)
        if redirect_uri not in {None, registered_uri} or not _is_verifier_of(verifier, challenge):
            raise InvalidGrant
        if client.is_document and not client.has_redirect(registered_uri):
            # The app's document has changed since the code was issued.
            raise InvalidGrant
        return self._exchange(client, _Grant(organisation_id, connection_id, "oauth_code", code_hash), request_id)

    def refresh_tokens(self, client: OAuthClient, token: str, request_id: str) -> Tokens:
        """Exchange a refresh token for new tokens."""
        grant = self._find_grant(client, token)
        if grant is None or not token.startswith(REFRESH_TOKEN):
            raise InvalidGrant
        return self._exchange(client, grant, request_id)

    def revoke_token(self, client: OAuthClient, token: str, request_id: str) -> None:
        """End the connection of an access or refresh token. An unknown token is ignored."""
        grant = self._find_grant(client, token)
        if grant:
            self._end_connection(grant, "The app gave its access back.", request_id)

    def _find_grant(self, client: OAuthClient, token: str) -> _Grant | None:
        token_hash = hash_secret(token)
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            row = db.one(
                "SELECT organisation_id, connection_id FROM oauth_token WHERE hash = :hash AND client_id = :client",
                hash=token_hash,
                client=client.id,
            )
        return _Grant(str(row[0]), str(row[1]), "oauth_token", token_hash) if row else None

    def _exchange(self, client: OAuthClient, grant: _Grant, request_id: str) -> Tokens:
        now = self.performer.clock()
        now_text = moment_text(now)
        tokens = None
        with (
            self.performer.open_batch(grant.organisation_id) as batch,
            batch.database.write_transaction(grant.organisation_id) as db,
        ):
            used = db.one(
                f"UPDATE {grant.table} SET used_at = :at WHERE hash = :hash AND used_at IS NULL RETURNING expires_at",
                hash=grant.hash,
                at=now_text,
            )
            if used and str(used[0]) > now_text and _is_valid(db, grant.connection_id, now_text):
                tokens = _issue_tokens(db, client, grant.connection_id, now)
                if grant.is_code:
                    self._perform(batch, start_connection, grant, request_id)
        if used is None:
            # It was used twice, so one of the two users is a thief.
            self._end_connection(grant, "One of its codes or refresh tokens was used twice.", request_id)
        # Raised only now, after the transaction was committed.
        if tokens is None:
            raise InvalidGrant
        return tokens

    def _end_connection(self, grant: _Grant, reason: str, request_id: str) -> None:
        """End a connection through its operation, so that the audit trail lists it. An ended one stays as it is."""
        with suppress(Blocked):
            self._perform(self.performer, end_connection, grant, request_id, reason=reason)

    def _perform(
        self, performer: Performer, operation: Operation, grant: _Grant, request_id: str, **fields: str
    ) -> None:
        input_json = orjson.dumps({"connectionId": grant.connection_id} | fields)
        performer.perform(operation, system_actor(grant.organisation_id), input_json, RequestDetails(request_id))


def delete_expired(db: DatabaseHandle, now: datetime) -> None:
    """Delete the codes, tokens and tickets that expired at least a day ago.

    They give no access any more. A second use of a deleted one is refused as unknown, and does not end the connection.
    """
    for table in ("oauth_code", "oauth_token", "oauth_ticket"):
        db.run(f"DELETE FROM {table} WHERE expires_at < :before", before=moment_text(now - timedelta(days=1)))


def _is_verifier_of(verifier: str, challenge: str) -> bool:
    """Return whether a verifier matches a challenge (PKCE, S256)."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(digest, challenge.encode())


def _is_valid(db: DatabaseHandle, connection_id: str, now_text: str) -> bool:
    """Return whether a connection is valid: it has not ended, and its person is active and may connect apps."""
    row = db.one(
        "SELECT 1 FROM connection"
        " JOIN person ON person.organisation_id = connection.organisation_id AND person.id = connection.person_id"
        f" WHERE connection.organisation_id = :organisation AND connection.id = :id AND {CONNECTION_IS_VALID}",
        id=connection_id,
        now=now_text,
    )
    return row is not None


def _issue_tokens(db: DatabaseHandle, client: OAuthClient, connection_id: str, now: datetime) -> Tokens:
    tokens = Tokens(new_secret(ACCESS_TOKEN), new_secret(REFRESH_TOKEN))
    for token, kind, lifetime in (
        (tokens.access, "access", ACCESS_LIFETIME),
        (tokens.refresh, "refresh", REFRESH_LIFETIME),
    ):
        db.run(
            "INSERT INTO oauth_token (hash, organisation_id, connection_id, client_id, kind, expires_at)"
            " VALUES (:hash, :organisation, :connection, :client, :kind, :expires)",
            hash=hash_secret(token),
            connection=connection_id,
            client=client.id,
            kind=kind,
            expires=moment_text(now + lifetime),
        )
    return tokens
