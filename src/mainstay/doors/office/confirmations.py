"""The page where a person confirms what a program asked for: it is irreversible, too large, or lets someone in."""

from dataclasses import replace
from typing import NamedTuple

import orjson

from mainstay.changes.confirmations import Confirmation, find_confirmation
from mainstay.changes.idempotency import Answer
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, Preview, read_preview
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.rendering import redirect
from mainstay.identity.authenticate import actor_of_client
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.preview import PreviewDiffers
from mainstay.values.ids import is_id
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.refusal import Conflict, NotFound, Unauthenticated

PATH = "/confirm/{id}"


class Waiting(NamedTuple):
    """A confirmation, and the program that asked for the operation, with its permissions of now."""

    confirmation: Confirmation
    operation: Operation
    program: Actor

    @property
    def path(self) -> str:
        """The address of its page."""
        return PATH.format(id=self.confirmation.id)


class ConfirmationPages(NamedTuple):
    """The page of each confirmation. Only the person of the program opens it."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of this page."""
        return Form(self.office, self._find, self._confirm, self._render).routes(PATH)

    async def _find(self, request: OfficeRequest, path_values: PathValues) -> Waiting:
        return await self.office.visitors.runner.run_read(self._read, request, path_values.get("id", ""))

    def _read(self, request: OfficeRequest, confirmation_id: str) -> Waiting:
        performer = self.office.visitors.performer
        with performer.database.read_transaction(request.actor.organisation) as db:
            found = (
                find_confirmation(db, confirmation_id, performer.clock())
                if is_id(confirmation_id, "confirmation")
                else None
            )
            operation = self.office.operations.get(found.requested.operation) if found else None
            if found is None or operation is None or found.person_id != request.actor.id:
                raise NotFound("confirmation")
            try:
                program = actor_of_client(db, found.requested.credential, Door(found.requested.door), performer.clock())
            except Unauthenticated:
                raise Conflict(
                    Message("The access of the program has ended. This can no longer be confirmed.")
                ) from None
        return Waiting(found, operation, program)

    async def _confirm(self, form: OpenForm[Waiting]) -> Response:
        """Perform the operation as the program, once, if its preview is still what the page showed."""
        confirmation, key = form.subject.confirmation, form.subject.confirmation.requested.idempotency_key
        details = RequestDetails(
            form.request.http_request.id,
            idempotency_key=key,
            question_id=confirmation.id,
            confirmed_in_office=True,
            preview_token=form.fields.get("previewToken") or None,
        )
        try:
            await self._perform(form, details)
        except PreviewDiffers as refusal:
            return self._render_preview(form, read_preview(refusal.preview, refusal.text))
        return redirect(form.subject.path)

    async def _render(self, form: OpenForm[Waiting]) -> Response:
        """Show what would happen now, or that it is done."""
        if form.subject.confirmation.is_used:
            return self._render_preview(form, None)
        details = RequestDetails(form.request.http_request.id, dry_run=True)
        return self._render_preview(form, read_preview(await self._perform(form, details)))

    async def _perform(self, form: OpenForm[Waiting], details: RequestDetails) -> Answer:
        """Perform the operation as the program, or preview it."""
        waiting = form.subject
        given = orjson.loads(waiting.confirmation.requested.given)
        request = replace(form.request, actor=waiting.program)
        return await self.office.perform_request(request, waiting.operation, given, details)

    def _render_preview(self, form: OpenForm[Waiting], preview: Preview | None) -> Response:
        waiting = form.subject
        return self.office.render_page(
            "confirmation.html",
            form.request,
            preview.status if preview and preview.notice else form.status,
            area="Settings",
            operation=waiting.operation,
            program=waiting.program.client,
            preview=preview,
            problem=form.problem,
        )
