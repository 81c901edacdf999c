"""PDF previews of drafts, to check before they are sent."""

from collections.abc import Mapping
from dataclasses import dataclass

from mainstay.business.issuing.document_files import PDF
from mainstay.documents.pdf import RenderingFailed
from mainstay.documents.snapshot import Snapshot
from mainstay.doors.downloads import respond_with_generated_file
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, id_input_of
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.pages.door import Route
from mainstay.infrastructure.log import log_error
from mainstay.kernel.operation import Operation
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict

FILE_NAME = "draft.pdf"


@dataclass(frozen=True)
class DraftPreviewPages:
    """The PDF preview of drafts of one kind. The operation returns the content of the draft."""

    office: OfficePages
    layout: RecordLayout
    operation: Operation

    def routes(self) -> list[Route]:
        """Return the routes of this page."""
        return [Route("GET", f"{self.layout.path_of('{id}')}/{FILE_NAME}", self.office.require_sign_in(self.show))]

    async def show(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the PDF, which is printed for this response."""
        draft = await self.office.perform(request, self.operation, id_input_of(self.operation, path_values["id"]))
        logo = Snapshot.model_validate_json(draft.snapshot).issuer.logo
        organisation = request.actor.organisation
        try:
            pdf = await self.office.visitors.runner.run_content_work(
                organisation, self._print_pdf, draft.snapshot, logo
            )
        except RenderingFailed as error:
            log_error("draft not printed", error, request=request.http_request.id)
            raise Conflict(Message("The PDF could not be created. Shorten the texts, then try again.")) from None
        return respond_with_generated_file(pdf, draft.name, PDF)

    def _print_pdf(self, snapshot: str, logo: str | None) -> bytes:
        path = self.office.visitors.files.path(logo) if logo else None
        picture = path.read_bytes() if path and path.exists() else None
        return self.office.visitors.printer.print_draft(snapshot, picture)
