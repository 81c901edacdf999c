"""Previews of documents that are sent, as a PDF and as a picture of its first page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mainstay.business.issuing.document_files import PDF, ProofOut
from mainstay.documents.pdf import Copy, RenderingFailed
from mainstay.documents.snapshot import Snapshot
from mainstay.doors.downloads import respond_with_generated_file
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, id_input_of
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import form_fields_of, to_operation_input
from mainstay.doors.pages.forms import query_parameters
from mainstay.infrastructure.files import read_if_stored
from mainstay.infrastructure.log import log_error
from mainstay.kernel.operation import OperationReturning
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict

# Prints a snapshot, as JSON, with a logo and perhaps a stamp.
_Render = Callable[[str, bytes | None, Copy | None], bytes]


@dataclass(frozen=True)
class DraftPreviewPages:
    """The preview of one kind of document. The operation returns its content, for what the address says."""

    office: OfficePages
    layout: RecordLayout
    operation: OperationReturning[ProofOut]
    # The file name, without its ending.
    name: str = "draft"
    # Reads the input that no form field of the operation has.
    read_input: Callable[[Mapping[str, str], DisplaySettings], dict[str, object]] = lambda _fields, _display: {}

    def routes(self) -> list[Route]:
        """Return the routes of these files."""
        protect, path = self.office.require_sign_in, f"{self.layout.path_of('{id}')}/{self.name}"
        return [
            Route("GET", f"{path}.pdf", protect(self.show)),
            Route("GET", f"{path}.webp", protect(self.show_picture)),
        ]

    async def show(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the PDF, which is printed for this response."""
        pdf, name = await self._print(request, path_values["id"], self.office.visitors.printer.print)
        return respond_with_generated_file(pdf, name, PDF)

    async def show_picture(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return a picture of the first page of the PDF."""
        picture, name = await self._print(request, path_values["id"], self.office.visitors.printer.picture)
        return respond_with_generated_file(picture, name, "image/webp")

    async def _print(self, request: OfficeRequest, record_id: str, render: _Render) -> tuple[bytes, str]:
        """Render a document, and return it with its name."""
        draft = await self.office.perform(request, self.operation, self._read_input(request, record_id))
        organisation = request.actor.organisation
        try:
            printed = await self.office.visitors.runner.run_print(organisation, self._print_snapshot, draft, render)
        except RenderingFailed as error:
            log_error("draft not printed", error, request=request.http_request.id)
            raise Conflict(
                Message("The PDF could not be created. Try again. If it fails again, shorten the texts.")
            ) from None
        return printed, draft.name

    def _read_input(self, request: OfficeRequest, record_id: str) -> dict[str, object]:
        query, display = query_parameters(request.http_request), request.display
        typed = to_operation_input(form_fields_of(self.operation, request.actor.permissions), query, display)
        given = {name: value for name, value in typed.items() if value not in (None, "", [])}
        return given | self.read_input(query, display) | id_input_of(self.operation, record_id)

    def _print_snapshot(self, draft: ProofOut, render: _Render) -> bytes:
        logo = Snapshot.model_validate_json(draft.snapshot).issuer.logo
        picture = read_if_stored(self.office.visitors.files, logo) if logo else None
        return render(draft.snapshot, picture, "draft" if draft.is_draft else None)
