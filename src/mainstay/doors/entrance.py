"""How a program comes in: a bearer token into an Actor, counted against its limit, with its last use noted."""

from dataclasses import dataclass
from datetime import datetime

from mainstay.backing.database import EVERY
from mainstay.backing.limits import Limits, Verdict
from mainstay.doors.http import Request
from mainstay.doors.running import Runner
from mainstay.identity.authenticate import actor_of_bearer, actor_of_key
from mainstay.identity.last_used import LastUsed
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import TooMany

REQUESTS_A_MINUTE = 600


@dataclass(frozen=True, slots=True)
class Entrance:
    """What the doors for programs share."""

    stage: Stage
    limits: Limits
    last_used: LastUsed
    runner: Runner

    async def enter(self, request: Request, door: Door) -> tuple[Actor, Verdict]:
        """Who comes in, counted against their limit, which a key has once for all doors; or a refusal.

        Only the header counts: a token in a query or a form is ignored.
        """
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        token = secret.strip() if scheme.lower() == "bearer" else ""
        now = self.stage.clock()
        actor = await self.runner.read(self._authenticate, token, door, now)
        self.last_used.note(actor.organisation, actor.credential, now)
        return actor, await self.limits.take(actor.credential, REQUESTS_A_MINUTE)

    def _authenticate(self, token: str, door: Door, now: datetime) -> Actor:
        with self.stage.database.glancing(EVERY) as rows:
            # Only keys open the HTTP API; the tool server takes an app's tokens too.
            if door is Door.API:
                return actor_of_key(rows, token, door)
            return actor_of_bearer(rows, token, door, now)


class OverLimit(TooMany):
    """The credential has used up its minute."""

    def __init__(self) -> None:
        super().__init__(f"More than {REQUESTS_A_MINUTE} requests in a minute. Wait a minute, then go on.")
