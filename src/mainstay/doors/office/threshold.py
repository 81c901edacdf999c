"""What the pages before sign-in share: their forms, the limits on attempts, and the step inside."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.backing.database import EVERY, Handle
from mainstay.doors.addresses import neighbourhood
from mainstay.doors.http import Request, Response
from mainstay.doors.office.desk import NOTICES, status_of, wrong
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import render, see_other
from mainstay.doors.pages.session import Visitors
from mainstay.doors.running import Runner
from mainstay.identity import devices, sessions, signing_in
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.entering import sign_in
from mainstay.identity.signing_in import KnownAddress
from mainstay.kernel.context import Envelope
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Refusal, TooMany

# Attempts within a quarter of an hour: for an account counted from its last success on.
WINDOW = 900.0
ATTEMPTS_PER_ACCOUNT = 20
ATTEMPTS_PER_ADDRESS = 300


class TooManyAttempts(TooMany):
    """Passwords were tried, or mails asked for, too often."""

    def __init__(self) -> None:
        super().__init__("There were too many attempts. Wait a while, then try again.")


@dataclass(frozen=True, slots=True)
class Threshold:
    """Stands between outside and inside."""

    visitors: Visitors

    @property
    def runner(self) -> Runner:
        """Where work runs."""
        return self.visitors.runner

    def page(
        self, template: str, request: Request, refusal: Refusal | None = None, *, journey: bool = True, **shown: Any
    ) -> Response:
        """A page for someone who is not signed in; most may be part of the way to an app, and are of that journey."""
        csrf, headers = self.visitors.stranger(request)
        if isinstance(refusal, TooMany):
            headers = (*headers, ("retry-after", "60"))
        told = {"notice": NOTICES.get(query_words(request).get("done", ""))} | wrong(refusal) | shown
        return render(template, status_of(refusal), journey=journey, headers=headers, csrf=csrf, **told)

    async def look_up(self, email: str) -> KnownAddress:
        """What is known of an address."""
        return await self.runner.read(self._looked_up, signing_in.look_up, email)

    async def look_up_account(self, account: str) -> KnownAddress:
        """What is known of the account of someone who is signed in."""
        return await self.runner.read(self._looked_up, signing_in.look_up_account, account)

    async def count_attempt(self, request: Request, known: KnownAddress) -> None:
        """Count an attempt at a password before it is made, or refuse it.

        A browser that has signed in to this account before has attempts of its own, which no stranger can use up.
        """
        device = await self.runner.read(self._device, known, self.visitors.devices(request))
        if device:
            accepted = await self.take("sign-in by", device, ATTEMPTS_PER_ACCOUNT, WINDOW)
        else:
            accepted = await self._count_stranger(request, known)
        if not accepted:
            raise TooManyAttempts

    async def _count_stranger(self, request: Request, known: KnownAddress) -> bool:
        by_address = await self.take("sign-in from", self.address(request), ATTEMPTS_PER_ADDRESS, WINDOW)
        account = f"{known.folded} {known.signed_in_at}"
        return by_address and await self.take("sign-in of", account, ATTEMPTS_PER_ACCOUNT, WINDOW)

    async def take(self, what: str, who: str, limit: int, window: float) -> bool:
        """Whether this may be done once more; who does it is not to be read from the counters."""
        name = f"{what} {hashlib.sha256(who.encode()).hexdigest()}"
        return (await self.visitors.limits.take(name, limit, window)).accepted

    def address(self, request: Request) -> str:
        """Where a request comes from, as limits see it."""
        return neighbourhood(self.visitors.addresses.of_client(request.peer, request.headers))

    async def welcome(self, request: Request, account: str, organisation: str | None, ticket: str) -> Response:
        """Begin a session for someone who has proved who they are, and lead them to where they wanted to go."""
        earlier = await self.visitors.visitor(request)
        arrival = {
            "browser": request.headers.get("user-agent", ""),
            "carried": self.visitors.devices(request),
            "ticket": ticket,
            "earlier": earlier.session if earlier and earlier.account == account else None,
        }
        begun = await self.runner.change(
            organisation or account, self._begin, account, organisation, arrival, request.id
        )
        cookies = (self.visitors.session_cookie(begun["session"]), self.visitors.device_cookie(*begun["devices"]))
        return see_other(begun["path"] or "/", cookies)

    async def know_browser(self, request: Request, account: str) -> tuple[str, str]:
        """Know this browser for the account from now on; the cookie that it carries for it."""
        carried = await self.runner.run(self._renew, account, self.visitors.devices(request))
        return self.visitors.device_cookie(*carried)

    def _looked_up(self, look_up: Callable[[Handle, str], KnownAddress], who: str) -> KnownAddress:
        with self.visitors.stage.database.reading(EVERY) as rows:
            return look_up(rows, who)

    def _device(self, known: KnownAddress, carried: Sequence[str]) -> str | None:
        stage = self.visitors.stage
        with stage.database.reading(EVERY) as rows:
            # Looked for in vain where there is no account: the work is the same.
            return devices.find(rows, known.account or "", carried, stage.clock())

    def _renew(self, account: str, carried: Sequence[str]) -> tuple[str, ...]:
        stage = self.visitors.stage
        with stage.database.changing(EVERY) as rows:
            return devices.renew(rows, account, carried, stage.clock())

    def _begin(self, account: str, organisation: str | None, arrival: dict[str, Any], request: str) -> dict[str, Any]:
        """Begin it in the organisation that was named, or in the first; whoever is in none is let in and told so."""
        stage = self.visitors.stage
        with stage.database.reading(EVERY) as rows:
            places = sessions.memberships(rows, account)
        place = next((place for place in places if place.organisation == organisation), places[0] if places else None)
        if place is None:
            with stage.database.changing(EVERY) as rows:
                secret = sessions.begin(rows, account, None, arrival["browser"], stage.clock())
            return {"session": secret, "devices": arrival["carried"], "path": None}
        with stage.database.reading(place.organisation) as rows:
            actor = actor_of_person(rows, place.person, Door.OFFICE)
        answer = stage.perform(sign_in, actor, orjson.dumps(arrival), Envelope(request))
        begun: dict[str, Any] = orjson.loads(answer.body)
        return begun
