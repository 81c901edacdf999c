"""Operations, keys and sign-ins, as whatever makes the stock of the bench needs them."""

from typing import Any

import orjson

from mainstay.identity import sessions
from mainstay.identity.secrets import API_KEY, hash_secret, new_secret
from mainstay.identity.sessions import NewSession
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor


def perform(performer: Performer, operation: Operation, actor: Actor, **given: object) -> dict[str, Any]:
    """Perform an operation and return its answer."""
    answer = performer.perform(operation, actor, orjson.dumps(given), RequestDetails(new_id("req")))
    result: dict[str, Any] = orjson.loads(answer.body)
    return result


def insert_key(ctx: Context, person: str) -> str:
    """A new key with which this person may write; its secret."""
    secret = new_secret(API_KEY)
    ctx.db.run(
        "INSERT INTO api_key (organisation_id, id, person_id, name, access, hash, last_four, created_at)"
        " VALUES (:organisation, :id, :person, 'Bench', 'write', :hash, :last_four, :at)",
        id=new_id("key"),
        person=person,
        hash=hash_secret(secret),
        last_four=secret[-4:],
        at=ctx.now_text,
    )
    return secret


def sign_in(ctx: Context, person: str) -> str:
    """The secret of a browser in which this person has signed in."""
    found = ctx.db.one("SELECT account_id FROM person WHERE organisation_id = :organisation AND id = :id", id=person)
    return sessions.begin_session(ctx.db, NewSession(str(found and found[0]), ctx.actor.organisation, "bench"), ctx.now)
