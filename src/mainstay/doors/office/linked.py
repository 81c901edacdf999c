"""What the pages share that a customer opens by a secret link: who they are then, and how often they may look."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from mainstay.backing.database import EVERY
from mainstay.doors.http import Headers, Request, Response
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.pages.door import View, apology
from mainstay.doors.pages.forms import WrongForm
from mainstay.doors.papers import Papers
from mainstay.identity import links
from mainstay.identity.authenticate import actor_of_link
from mainstay.identity.links import Kind, LinkMaker
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import NotFound, Refusal

# From one address, whatever the link: far more than anyone reads, and far less than it takes to try links.
LOOKS_A_MINUTE = 120
UNLISTED: Headers = (("x-robots-tag", "noindex, nofollow"),)
_NO_LINK = "There is nothing at this address. Ask whoever gave it to you for the present one."

# A page for the customer whose link it is.
LinkedView = Callable[[Request, Actor], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class LinkedPages:
    """The pages of one kind of record."""

    threshold: Threshold
    link_maker: LinkMaker
    kind: Kind

    def entered(self, view: LinkedView) -> View:
        """The page for whoever has the link; so many looks a minute from one address."""

        async def guarded(request: Request, at: Mapping[str, str]) -> Response:
            address = self.threshold.address(request)
            if not await self.threshold.take("links from", address, LOOKS_A_MINUTE, 60.0):
                return apology(request, 429, "Wait a minute, then try again.", (("retry-after", "60"),))
            actor = await self.threshold.runner.read(partial(self._whose, at["token"]))
            if actor is None:
                return apology(request, 404, _NO_LINK, UNLISTED)
            try:
                return await view(request, actor)
            except NotFound:
                return apology(request, 404, _NO_LINK, UNLISTED)
            except Refusal as refusal:
                raise WrongForm(400, refusal.text) from None

        return guarded

    async def perform(self, request: Request, actor: Actor, operation: Operation, raw: bytes) -> dict[str, Any]:
        """Perform an operation as the customer."""
        visitors = self.threshold.visitors
        answer = await visitors.runner.perform(visitors.stage, operation, actor, raw, Envelope(request.id))
        found: dict[str, Any] = orjson.loads(answer.body)
        return found

    async def file(self, request: Request, actor: Actor, operation: Operation, raw: bytes) -> Response:
        """A file that an operation names."""
        visitors = self.threshold.visitors
        papers = Papers(visitors.stage, visitors.runner, visitors.files)
        response = await papers.answer(operation, actor, raw, Envelope(request.id))
        response.headers = (*response.headers, *UNLISTED)
        return response

    def _whose(self, token: str) -> Actor | None:
        record = self.link_maker.read(self.kind, token)
        database = self.threshold.visitors.stage.database
        if record is None:
            return None
        with database.reading(EVERY) as rows:
            organisation = links.find_owner(rows, self.kind, record)
        if organisation is None:
            return None
        with database.reading(organisation) as rows:
            try:
                return actor_of_link(rows, record)
            except NotFound:
                return None
