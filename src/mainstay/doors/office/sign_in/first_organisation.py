"""The page of the first start: a person with the code from the log creates the first organisation and owns it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.business.people.invitations import create_organisation
from mainstay.doors.http import Request, Response
from mainstay.doors.office.sign_in.public_pages import PublicPages, TooManyAttempts
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import form_fields_of
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.rendering import redirect
from mainstay.identity import first_organisation as founding
from mainstay.identity.first_organisation import SET_UP_PATH, FirstOrganisation
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.values.country_defaults import defaults_by_country
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door, operator_actor
from mainstay.vocabulary.refusal import Fault, Invalid, Refusal

# How many codes can be tried from one address within a quarter of an hour.
WINDOW = 900.0
CODES_PER_ADDRESS = 10

_FIELDS = ("name", "country", "currency", "timeZone", "ownerName", "ownerEmail", "password")


@dataclass(slots=True)
class FirstOrganisationPages:
    """The page to create the first organisation, available until someone can sign in."""

    public_pages: PublicPages
    first_organisation: FirstOrganisation
    # Cached, because it never becomes False again once an organisation exists.
    _exists: bool = False

    def routes(self) -> list[Route]:
        """Return the routes of this page."""
        return [Route("GET", SET_UP_PATH, self.show), Route("POST", SET_UP_PATH, self.create)]

    async def is_awaited(self) -> bool:
        """Return whether the first organisation is still to be created."""
        if not self._exists:
            self._exists = not await self.public_pages.runner.run_read(self._read_is_awaited)
        return not self._exists

    async def show(self, request: Request, _: Mapping[str, str]) -> Response:
        """Show the form. The link in the log carries the code."""
        if not await self.is_awaited():
            return redirect("/sign-in")
        return self._render_page(request, {"code": query_parameters(request).get("code", "")})

    async def create(self, request: Request, _: Mapping[str, str]) -> Response:
        """Create the organisation and its owner, and sign the owner in."""
        fields = await self.public_pages.visitors.read_anonymous_form(request)
        if not await self.is_awaited():
            return redirect("/sign-in")
        try:
            await self._check_code(request, fields)
            owner = await self.public_pages.runner.run_change(
                self.first_organisation.organisation_id, self._create_organisation, fields, request.id
            )
        except Refusal as refusal:
            # Someone else may have created it first.
            return self._render_page(request, fields, refusal) if await self.is_awaited() else redirect("/sign-in")
        known = await self.public_pages.look_up(owner["email"])
        return await self.public_pages.start_session(
            request, str(known.account), self.first_organisation.organisation_id, ""
        )

    async def _check_code(self, request: Request, fields: dict[str, str]) -> None:
        """Refuse a wrong code before the rest of the form is validated."""
        if not await self.public_pages.count_use(
            "code from", self.public_pages.client_address(request), CODES_PER_ADDRESS, WINDOW
        ):
            raise TooManyAttempts
        if not self.first_organisation.is_code(fields.get("code", "")):
            raise Invalid([Fault("code", Message("is not the one in the server's log"))])

    def _render_page(self, request: Request, fields: dict[str, str], refusal: Refusal | None = None) -> Response:
        rights = operator_actor(self.first_organisation.organisation_id).permissions
        return self.public_pages.render_page(
            "first_organisation.html",
            request,
            refusal,
            allows_app_redirect=False,
            fields={name: fields.get(name, "") for name in ("code", *_FIELDS)},
            choices={one.name: one.choices for one in form_fields_of(create_organisation, rights)},
            usual=defaults_by_country(),
        )

    def _read_is_awaited(self) -> bool:
        with self.public_pages.visitors.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return founding.has_no_accounts(db)

    def _create_organisation(self, fields: dict[str, str], request_id: str) -> dict[str, Any]:
        given = {name: fields.get(name, "") for name in _FIELDS}
        actor = operator_actor(self.first_organisation.organisation_id, Door.OFFICE)
        performer = self.public_pages.visitors.performer
        answer = performer.perform(create_organisation, actor, orjson.dumps(given), RequestDetails(request_id))
        owner: dict[str, Any] = orjson.loads(answer.body)
        return owner
