"""The pages of photos and files: upload, view, download and remove."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mainstay.business.records.attachments import (
    MAX_FILE_BYTES,
    add_document,
    get_document,
    to_document_input,
)
from mainstay.business.records.model import DocumentOut
from mainstay.business.records.store import DOCUMENTS
from mainstay.doors.downloads import fetch_stored_file
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.linked_changes import LinkedChange, perform_linked
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.record_panels import PANELS_WITHOUT_FILES
from mainstay.doors.office.kit.reference_fields import record_title_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.page_language import translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.doors.pages.uploads import UploadedFile, UploadLimit
from mainstay.infrastructure.deadline import reset_deadline
from mainstay.infrastructure.file_types import ExaminedFile, UnacceptedFile, to_single_line_name
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.values.sizes import size_text
from mainstay.vocabulary.refusal import Fault, Invalid, NotFound

# The limits of one form: files that were chosen or dropped, and a photo that was taken.
UPLOAD_LIMITS = {
    "files": UploadLimit(MAX_FILE_BYTES, max_files=10, max_total_bytes=60_000_000),
    "photo": UploadLimit(MAX_FILE_BYTES),
}

DOCUMENT_LAYOUT = RecordLayout(
    kind=DOCUMENTS,
    has_list=False,
    lead="",
    title_of=lambda document: str(document.name),
    subtitle_of=lambda document: size_text(document.bytes),
    columns=(),
    facts=("visibility",),
    panels=PANELS_WITHOUT_FILES,
    page_body="file.html",
)


@dataclass(frozen=True)
class DocumentPages:
    """The pages of attachments, and the downloads."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        protect, path = self.office.require_sign_in, DOCUMENT_LAYOUT.path
        upload = Form(
            self.office, find_by_path, self._upload, self._show_refused_files, read_fields=self._receive_files
        )
        layout = replace(DOCUMENT_LAYOUT, path_after_delete=lambda document: self.office.path_of(document.record_id))
        return [
            *RecordPages(self.office, layout, add_variables=self._page_variables).routes(),
            Route("POST", path, protect(upload.submit)),
            Route("GET", path, protect(self.redirect_back)),
            Route("GET", f"{path}/{{id}}/file", protect(self.download)),
            Route("GET", f"{path}/{{id}}/thumbnail", protect(self.show_thumbnail)),
        ]

    async def _receive_files(self, request: OfficeRequest) -> dict[str, str]:
        """Receive the files of someone who may add them."""
        check_permission(add_document, request.actor)
        return await self.office.read_form_with_files(request, UPLOAD_LIMITS)

    async def _upload(self, form: OpenForm[PathValues]) -> Response:
        """Add the uploaded files, all of them or none, and redirect to the record."""
        request, record = form.request, form.fields.get("recordId", "")
        path = self.office.path_of(record)
        uploaded_files = [file for name in UPLOAD_LIMITS for file in request.uploaded_files.get(name, ())]
        shared_input: dict[str, object] = {"recordId": record, "visibility": form.fields.get("visibility", "field")}
        if not uploaded_files:
            raise Invalid([Fault("File", Message("is missing"))], Message("Choose a file first."))
        await FileAdder(self.office).add(request, uploaded_files, shared_input)
        return redirect(f"{path}?done={add_document.name}#files")

    async def _show_refused_files(self, form: OpenForm[PathValues]) -> Response:
        """Say why no file was added. Files cannot be shown again in a form."""
        if form.refusal is None or isinstance(form.refusal, NotFound):
            raise form.refusal or NotFound("page")
        return self.office.render_page(
            "refused.html",
            form.request,
            form.status,
            title=translate_text("Files not added"),
            text=f"{form.refusal.text.rstrip('.')}.",
            back=self.office.path_of(form.fields.get("recordId", "")),
            back_words="Back",
            area="",
        )

    async def redirect_back(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Redirect to the record, when the page of a refused upload is reloaded."""
        return redirect(self.office.path_of(query_parameters(request.http_request).get("recordId", "")))

    async def download(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the content of a file, if the viewer may see it."""
        document = await self.office.perform(request, get_document, {"documentId": path_values["id"]})
        return await self._serve_file(
            document.sha256, document.name, document.media_type, inline=document.kind == "photo"
        )

    async def show_thumbnail(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the thumbnail of a photo."""
        document = await self.office.perform(request, get_document, {"documentId": path_values["id"]})
        if not document.thumbnail:
            raise NotFound("page")
        return await self._serve_file(document.thumbnail, document.name, document.media_type, inline=True)

    async def _serve_file(self, name: str, file_name: str, media_type: str, *, inline: bool) -> Response:
        visitors = self.office.visitors
        return await visitors.runner.run(
            partial(fetch_stored_file, visitors.files, name, file_name, media_type, inline=inline)
        )

    async def _page_variables(self, request: OfficeRequest, document: DocumentOut | None) -> dict[str, Any]:
        """Return the link to the file's record, for the page of a file."""
        record = document.record_id if document else ""
        title = record_title_of(await self.office.get_record(request, record))
        return {"within": {"path": f"{self.office.path_of(record)}#files", "name": title}}


@dataclass(frozen=True)
class FileAdder:
    """Adds uploaded files to a record, and performs other changes with them: all or none."""

    office: OfficePages

    async def add(
        self,
        request: OfficeRequest,
        uploaded_files: Sequence[UploadedFile],
        shared_input: Mapping[str, object],
        first: Sequence[LinkedChange] = (),
    ) -> None:
        """Perform these changes, then add the files."""
        for _uploaded in uploaded_files:
            await self.office.visitors.file_intake.count_file(request.actor.organisation)
        contents = await self._examine_files(request, uploaded_files)
        inputs = [
            LinkedChange(add_document, {**shared_input, **to_document_input(content, file.file_name)})
            for file, content in zip(uploaded_files, contents, strict=True)
        ]
        await self.office.visitors.runner.run_change(
            request.actor.organisation, self._perform_and_store, request, [*first, *inputs], contents
        )

    async def _examine_files(
        self, request: OfficeRequest, uploaded_files: Sequence[UploadedFile]
    ) -> list[ExaminedFile]:
        """Examine the files one by one, so that colleagues who upload at the same time take turns."""
        intake = self.office.visitors.file_intake
        contents, faults = [], []
        for file in uploaded_files:
            try:
                contents.append(await intake.examine(request.actor.organisation, file.path, file.file_name))
            except UnacceptedFile as error:
                faults.append(Fault(to_single_line_name(file.file_name), error.message))
        if faults:
            raise Invalid(faults)
        # Reading the files may have used up the time limit of the request.
        reset_deadline()
        return contents

    def _perform_and_store(
        self, request: OfficeRequest, changes: Sequence[LinkedChange], contents: Sequence[ExaminedFile]
    ) -> None:
        """Perform all changes and store the files, or do neither."""

        def perform(*, commit: bool) -> None:
            perform_linked(self.office, request, changes, keep=commit)

        self.office.visitors.file_intake.store_with(request.actor.organisation, contents, perform)
