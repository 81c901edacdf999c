"""Shared parts of the pages that a customer opens by a secret link: recognition of the link, and rate limits."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from mainstay.doors.document_answers import DocumentAnswers
from mainstay.doors.http import Headers, Request, Response
from mainstay.doors.office.sign_in.public_pages import PublicPages
from mainstay.doors.pages.door import View, respond_with_error
from mainstay.doors.pages.forms import FormError
from mainstay.identity import links
from mainstay.identity.authenticate import actor_of_link
from mainstay.identity.links import LinkKind, LinkMaker
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation, OperationReturning
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import NotFound, Refusal

A = TypeVar("A")

# Page views from one address, for all links together: more than any reader needs, too few to guess links.
VIEWS_PER_MINUTE = 120
NOINDEX_HEADERS: Headers = (("x-robots-tag", "noindex, nofollow"),)
_NO_LINK = Message("This link doesn't work any more. Ask the sender for a new one.")

# A page for the customer to whom the link belongs.
SecretLinkView = Callable[[Request, Actor], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class SecretLinkPages:
    """Access to the public pages of one kind of record."""

    public_pages: PublicPages
    link_maker: LinkMaker
    kind: LinkKind

    def guard(self, view: SecretLinkView) -> View:
        """Wrap a page so that it needs a valid link, and limit its views from one address."""

        async def guarded(request: Request, path_values: Mapping[str, str]) -> Response:
            address = self.public_pages.client_address(request)
            if not await self.public_pages.count_use("links from", address, VIEWS_PER_MINUTE, 60.0):
                return respond_with_error(
                    request, 429, Message("Too many requests. Wait a minute, then try again."), (("retry-after", "60"),)
                )
            actor = await self.public_pages.runner.run_read(partial(self._find_actor, path_values["token"]))
            if actor is None:
                return respond_with_error(request, 404, _NO_LINK, NOINDEX_HEADERS)
            try:
                return await view(request, actor)
            except NotFound:
                return respond_with_error(request, 404, _NO_LINK, NOINDEX_HEADERS)
            except Refusal as refusal:
                raise FormError(400, refusal.message) from None

        return guarded

    async def perform(self, request: Request, actor: Actor, operation: OperationReturning[A], raw: bytes) -> A:
        """Perform an operation as the customer."""
        visitors = self.public_pages.visitors
        answer = await visitors.runner.perform(visitors.performer, operation, actor, raw, RequestDetails(request.id))
        return operation.read_answer(answer.body)

    async def download_file(self, request: Request, actor: Actor, operation: Operation, raw: bytes) -> Response:
        """Return the file that an operation answers with."""
        visitors = self.public_pages.visitors
        document_answers = DocumentAnswers(visitors.performer, visitors.runner, visitors.files)
        response = await document_answers.answer(operation, actor, raw, RequestDetails(request.id))
        response.headers = (*response.headers, *NOINDEX_HEADERS)
        return response

    def _find_actor(self, token: str) -> Actor | None:
        record = self.link_maker.verify_token(self.kind, token)
        database = self.public_pages.visitors.performer.database
        if record is None:
            return None
        with database.read_transaction(ALL_ORGANISATIONS) as db:
            organisation = links.find_linked_organisation(db, self.kind, record)
        if organisation is None:
            return None
        with database.read_transaction(organisation) as db:
            try:
                return actor_of_link(db, record)
            except NotFound:
                return None
