"""The page of the first start: whoever has the code of the log makes the first organisation, and is its owner."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.backing.database import EVERY
from mainstay.business.people.joining import create_organisation
from mainstay.doors.http import Request, Response
from mainstay.doors.office.threshold import Threshold, TooManyAttempts
from mainstay.doors.pages.asking import asked_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.identity import founding
from mainstay.identity.founding import PATH, Founding
from mainstay.kernel.context import Envelope
from mainstay.terms.actor import Door, operator
from mainstay.terms.refusal import Fault, Invalid, Refusal
from mainstay.values.usual import usual_in_countries

# Codes that may be tried from one address within a quarter of an hour.
WINDOW = 900.0
CODES_PER_ADDRESS = 10

_FIELDS = ("name", "country", "currency", "timeZone", "ownerName", "ownerEmail", "password")


@dataclass(slots=True)
class FoundingPages:
    """The page, for as long as nobody can sign in."""

    threshold: Threshold
    founding: Founding
    # Once someone can, it stays so, and need not be looked up again.
    _is_over: bool = False

    def routes(self) -> list[Route]:
        """Where it is."""
        return [Route("GET", PATH, self.show), Route("POST", PATH, self.found)]

    async def is_awaited(self) -> bool:
        """Whether the first organisation is still to be made."""
        if not self._is_over:
            self._is_over = not await self.threshold.runner.read(self._look)
        return not self._is_over

    async def show(self, request: Request, _: Mapping[str, str]) -> Response:
        """The form; the link in the log brings the code."""
        if not await self.is_awaited():
            return see_other("/sign-in")
        return self._page(request, {"code": query_words(request).get("code", "")})

    async def found(self, request: Request, _: Mapping[str, str]) -> Response:
        """Make the organisation and its owner, signed in."""
        fields = await self.threshold.visitors.stranger_form(request)
        if not await self.is_awaited():
            return see_other("/sign-in")
        try:
            await self._check_code(request, fields)
            owner = await self.threshold.runner.change(self.founding.organisation, self._perform, fields, request.id)
        except Refusal as refusal:
            # Perhaps because someone else was first.
            return self._page(request, fields, refusal) if await self.is_awaited() else see_other("/sign-in")
        known = await self.threshold.look_up(owner["email"])
        return await self.threshold.welcome(request, str(known.account), self.founding.organisation, "")

    async def _check_code(self, request: Request, fields: dict[str, str]) -> None:
        """Refuse a wrong code, before anything else is said about what was sent with it."""
        if not await self.threshold.take("code from", self.threshold.address(request), CODES_PER_ADDRESS, WINDOW):
            raise TooManyAttempts
        if not self.founding.is_code(fields.get("code", "")):
            raise Invalid([Fault("code", "is not the one in the log of the server")])

    def _page(self, request: Request, fields: dict[str, str], refusal: Refusal | None = None) -> Response:
        rights = operator(self.founding.organisation).rights
        return self.threshold.page(
            "founding.html",
            request,
            refusal,
            journey=False,
            fields={name: fields.get(name, "") for name in ("code", *_FIELDS)},
            choices={one.name: one.choices for one in asked_of(create_organisation, rights)},
            usual=usual_in_countries(),
        )

    def _look(self) -> bool:
        with self.threshold.visitors.stage.database.reading(EVERY) as rows:
            return founding.is_awaited(rows)

    def _perform(self, fields: dict[str, str], request: str) -> dict[str, Any]:
        given = {name: fields.get(name, "") for name in _FIELDS}
        acting = operator(self.founding.organisation, Door.OFFICE)
        stage = self.threshold.visitors.stage
        answer = stage.perform(create_organisation, acting, orjson.dumps(given), Envelope(request))
        owner: dict[str, Any] = orjson.loads(answer.body)
        return owner
