"""Forms that were sent after the sign-in had ended: what was typed is kept for a while, for whoever typed it.

It is kept sealed and without passwords, where the browser is known to have signed in to an account before, and for that
account alone: nobody finds what someone else typed on the same machine, or is shown words that others put there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from mainstay.backing.database import EVERY
from mainstay.backing.limits import Limits
from mainstay.doors.http import Interrupted, Request
from mainstay.doors.pages.forms import CSRF_FIELD, ONCE_FIELD, TOO_LARGE, WrongForm, read_form
from mainstay.doors.running import Runner
from mainstay.identity import devices, tickets
from mainstay.identity.sealing import Sealer
from mainstay.kernel.perform import Stage

LONGEST = 16_384
# Stands in the place of a ticket to what was too long.
NOT_KEPT = "too-long"
KEPT_A_MINUTE = 10

_OURS = {CSRF_FIELD, ONCE_FIELD}


@dataclass(frozen=True, slots=True)
class LateForms:
    """Keeps them."""

    stage: Stage
    runner: Runner
    limits: Limits
    sealer: Sealer

    async def keep(self, request: Request, base_url: str, carried: Sequence[str]) -> str | None:
        """Keep what was typed in a browser that carries these secrets of devices; a ticket to it, if there is any.

        Of what is too long to be kept, its page has to tell.
        """
        account = await self.runner.read(self._whose, carried)
        if account is None:
            return None
        try:
            fields = await read_form(request, base_url)
        except WrongForm:
            return None
        except Interrupted as interrupted:
            return NOT_KEPT if interrupted.status == TOO_LARGE else None
        typed = {name: text for name, text in fields.items() if name not in _OURS and "password" not in name.lower()}
        text = orjson.dumps(typed).decode()
        if len(text) > LONGEST:
            return NOT_KEPT
        if not typed or not (await self.limits.take(f"late {account}", KEPT_A_MINUTE)).accepted:
            return None
        return await self.runner.run(self._keep, account, text)

    async def find(self, ticket: str, account: str) -> dict[str, str]:
        """What this account typed, while it is kept."""
        return await self.runner.read(self._find, ticket, account) if ticket else {}

    def _whose(self, carried: Sequence[str]) -> str | None:
        """The account that signed in last in this browser."""
        with self.stage.database.reading(EVERY) as rows:
            now = self.stage.clock()
            return next(filter(None, (devices.account_of(rows, secret, now) for secret in carried)), None)

    def _keep(self, account: str, text: str) -> str:
        now = self.stage.clock()
        sealed = self.sealer.seal(_about(account), text, now + tickets.LIFE)
        with self.stage.database.changing(EVERY) as rows:
            return tickets.keep_typed(rows, account, sealed, now)

    def _find(self, ticket: str, account: str) -> dict[str, str]:
        now = self.stage.clock()
        with self.stage.database.reading(EVERY) as rows:
            sealed = tickets.find_typed(rows, ticket, account, now)
        text = self.sealer.open(_about(account), sealed, now) if sealed else None
        typed: dict[str, str] = orjson.loads(text) if text else {}
        return typed


def _about(account: str) -> str:
    return f"typed by {account}"
