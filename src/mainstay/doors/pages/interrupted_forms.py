"""Forms that were sent after the session had ended: the typed text is stored for a while, for the person who typed it.

It is stored encrypted and without passwords, only if the browser has signed in to an account before, and only for that
account. So nobody sees what someone else typed on the same machine, or a text that others planted there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from mainstay.doors.http import HttpError, Request
from mainstay.doors.pages.forms import CSRF_FIELD, ONCE_FIELD, TOO_LARGE, FormError, read_page_form
from mainstay.doors.runner import Runner
from mainstay.identity import devices, return_tickets
from mainstay.identity.encryption import Encryptor
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.rate_limits import RateLimits
from mainstay.kernel.perform import Performer

MAX_LENGTH = 16_384
# Used instead of a ticket if the text was too long to store.
NOT_STORED = "too-long"
STORED_A_MINUTE = 10

_TOKEN_FIELDS = {CSRF_FIELD, ONCE_FIELD}


@dataclass(frozen=True, slots=True)
class InterruptedForms:
    """Stores and returns what was typed into such forms."""

    performer: Performer
    runner: Runner
    rate_limits: RateLimits
    sealer: Encryptor

    async def store(self, request: Request, base_url: str, device_secrets: Sequence[str]) -> str | None:
        """Store what was typed in a browser with these device secrets. Return a ticket to it, or None.

        If the text is too long, return `NOT_STORED`, so that the page can say so.
        """
        account = await self.runner.run_read(self._find_account, device_secrets)
        if account is None:
            return None
        try:
            fields = await read_page_form(request, base_url)
        except FormError:
            return None
        except HttpError as http_error:
            return NOT_STORED if http_error.status == TOO_LARGE else None
        typed = {
            name: text for name, text in fields.items() if name not in _TOKEN_FIELDS and "password" not in name.lower()
        }
        text = orjson.dumps(typed).decode()
        if len(text) > MAX_LENGTH:
            return NOT_STORED
        if not typed or not (await self.rate_limits.take(f"late {account}", STORED_A_MINUTE)).accepted:
            return None
        return await self.runner.run(self._store_typed, account, text)

    async def find(self, ticket: str, account_id: str) -> dict[str, str]:
        """Return what this account typed, or nothing if it has expired."""
        return await self.runner.run_read(self._find_typed, ticket, account_id) if ticket else {}

    def _find_account(self, device_secrets: Sequence[str]) -> str | None:
        """Return the account that signed in last with this browser, or None."""
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            now = self.performer.clock()
            return next(filter(None, (devices.account_of(db, secret, now) for secret in device_secrets)), None)

    def _store_typed(self, account_id: str, text: str) -> str:
        now = self.performer.clock()
        sealed = self.sealer.encrypt(_seal_purpose(account_id), text, now + return_tickets.LIFETIME)
        with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            return return_tickets.store_typed(db, account_id, sealed, now)

    def _find_typed(self, ticket: str, account_id: str) -> dict[str, str]:
        now = self.performer.clock()
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            sealed = return_tickets.find_typed(db, ticket, account_id, now)
        text = self.sealer.decrypt(_seal_purpose(account_id), sealed, now) if sealed else None
        typed: dict[str, str] = orjson.loads(text) if text else {}
        return typed


def _seal_purpose(account_id: str) -> str:
    return f"typed by {account_id}"
