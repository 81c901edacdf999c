"""Authentication of programs by bearer token: finds the actor, counts the request and notes the last use."""

from dataclasses import dataclass
from datetime import datetime

from mainstay.doors.http import Request
from mainstay.doors.runner import Runner
from mainstay.identity.authenticate import actor_of_bearer, actor_of_key
from mainstay.identity.last_used import LastUsed
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.rate_limits import RateLimitResult, RateLimits
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.refusal import TooManyRequests

REQUESTS_A_MINUTE = 600


@dataclass(frozen=True, slots=True)
class BearerAuth:
    """Authenticates the requests of programs, for the HTTP API and the tool server."""

    performer: Performer
    limits: RateLimits
    last_used: LastUsed
    runner: Runner

    async def authenticate(self, request: Request, door: Door) -> tuple[Actor, RateLimitResult]:
        """Return the actor of a request and whether it is within its rate limit; refuse an unknown token.

        A credential has one limit for all doors. Only the header is read: a token in a query or a form is ignored.
        """
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        token = secret.strip() if scheme.lower() == "bearer" else ""
        now = self.performer.clock()
        actor = await self.runner.run_read(self._find_actor, token, door, now)
        self.last_used.note_use(actor.organisation, actor.credential, now)
        return actor, await self.limits.take(actor.credential, REQUESTS_A_MINUTE)

    def _find_actor(self, token: str, door: Door, now: datetime) -> Actor:
        with self.performer.database.single_read(ALL_ORGANISATIONS) as db:
            # The HTTP API takes API keys only; the tool server also takes the access tokens of apps.
            if door is Door.API:
                return actor_of_key(db, token, door, now)
            return actor_of_bearer(db, token, door, now)


class RateLimitExceeded(TooManyRequests):
    """The refusal of a credential that has used up its requests for this minute."""

    def __init__(self) -> None:
        super().__init__(
            Message("More than {limit} requests in a minute. Wait a minute, then try again.", limit=REQUESTS_A_MINUTE)
        )
