"""Operations, keys and sign-ins, as whatever makes the stock of the bench needs them."""

from typing import Any

import orjson

from mainstay.identity import sessions
from mainstay.identity.secrets import API_KEY, new_secret, secret_hash
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor
from mainstay.values.ids import new_id


def perform(stage: Stage, operation: Operation, acting: Actor, **given: object) -> dict[str, Any]:
    """Perform an operation; what it answered."""
    answer = stage.perform(operation, acting, orjson.dumps(given), Envelope(new_id("req")))
    result: dict[str, Any] = orjson.loads(answer.body)
    return result


def insert_key(ctx: Context, person: str) -> str:
    """A new key with which this person may write; its secret."""
    secret = new_secret(API_KEY)
    ctx.rows.run(
        "INSERT INTO api_key (organisation_id, id, person_id, name, access, hash, last_four, created_at)"
        " VALUES (:organisation, :id, :person, 'Bench', 'write', :hash, :last_four, :at)",
        id=new_id("key"),
        person=person,
        hash=secret_hash(secret),
        last_four=secret[-4:],
        at=ctx.at,
    )
    return secret


def sign_in(ctx: Context, person: str) -> str:
    """The secret of a browser in which this person has signed in."""
    found = ctx.rows.one("SELECT account_id FROM person WHERE organisation_id = :organisation AND id = :id", id=person)
    return sessions.begin(ctx.rows, str(found and found[0]), ctx.actor.organisation, "bench", ctx.now)
