"""Previews of drafts, as a PDF and as a picture of its first page, to check before they are sent."""

from collections.abc import Callable, Mapping
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

FILE_NAME, PICTURE_NAME = "draft.pdf", "draft.png"


@dataclass(frozen=True)
class DraftPreviewPages:
    """The PDF preview of drafts of one kind. The operation returns the content of the draft."""

    office: OfficePages
    layout: RecordLayout
    operation: Operation

    def routes(self) -> list[Route]:
        """Return the routes of these files."""
        protect, path = self.office.require_sign_in, self.layout.path_of("{id}")
        return [
            Route("GET", f"{path}/{FILE_NAME}", protect(self.show)),
            Route("GET", f"{path}/{PICTURE_NAME}", protect(self.show_picture)),
        ]

    async def show(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the PDF, which is printed for this response."""
        pdf, name = await self._print(request, path_values["id"], self.office.visitors.printer.print_draft)
        return respond_with_generated_file(pdf, name, PDF)

    async def show_picture(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return a picture of the first page of the PDF."""
        picture, name = await self._print(request, path_values["id"], self.office.visitors.printer.picture_draft)
        return respond_with_generated_file(picture, name, "image/png")

    async def _print(
        self, request: OfficeRequest, record_id: str, render: Callable[[str, bytes | None], bytes]
    ) -> tuple[bytes, str]:
        """Render a draft, and return it with its name."""
        draft = await self.office.perform(request, self.operation, id_input_of(self.operation, record_id))
        logo = Snapshot.model_validate_json(draft.snapshot).issuer.logo
        organisation = request.actor.organisation
        try:
            printed = await self.office.visitors.runner.run_content_work(
                organisation, self._print_snapshot, draft.snapshot, logo, render
            )
        except RenderingFailed as error:
            log_error("draft not printed", error, request=request.http_request.id)
            raise Conflict(Message("The PDF could not be created. Shorten the texts, then try again.")) from None
        return printed, draft.name

    def _print_snapshot(self, snapshot: str, logo: str | None, render: Callable[[str, bytes | None], bytes]) -> bytes:
        path = self.office.visitors.files.path(logo) if logo else None
        picture = path.read_bytes() if path and path.exists() else None
        return render(snapshot, picture)
