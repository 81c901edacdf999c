"""The addresses to which programs send files: `/uploads/{secret}` takes one file, once."""

from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path

import orjson

from mainstay.business.records.attachments import MAX_FILE_BYTES, add_document, to_document_input
from mainstay.changes.idempotency import Answer
from mainstay.doors.file_intake import FileIntake
from mainstay.doors.http import HttpError, Request, Response
from mainstay.doors.links.link_access import LinkAccess, UnknownLink, answer_link, check_method
from mainstay.identity import upload_addresses
from mainstay.identity.upload_addresses import UploadAddress
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.deadline import reset_deadline
from mainstay.infrastructure.file_types import ExaminedFile, UnacceptedFile
from mainstay.infrastructure.files import TemporaryFiles
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.context import RequestDetails
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor

NO_ADDRESS = (
    "This upload address doesn't work. It may have been used, or have expired. Ask for a new one with request_upload."
)
_TOO_LARGE = Message("The file is larger than 15 MB.")
_NOT_A_FORM = Message("Send the bytes of the file as the body, not a form: curl -T boiler.jpg, for example.")
_IS_USED = "This address is used now: ask for a new one with request_upload."
_NO_BODY = Message("Send the bytes of the file as the body.")


@dataclass(frozen=True, slots=True)
class UploadDoor:
    """Receives files from programs, with the rights that those have when the file arrives."""

    access: LinkAccess
    intake: FileIntake
    temporary_files: TemporaryFiles
    # The number of this route in the metrics.
    route_number: int

    async def __call__(self, request: Request) -> Response:
        """Answer a request to `/uploads/{secret}`."""
        return await answer_link(request, self._receive, NO_ADDRESS, self.route_number)

    async def _receive(self, request: Request, secret: str) -> Response:
        check_method(request, "PUT", "POST")
        await self.access.count_request(request)
        runner = self.intake.runner
        address = await runner.run_read(self._find_address, secret)
        # Clients send a whole file before they read an answer, so those with a valid address may send a large body.
        request.expect_large_body()
        actor = await self.access.find_actor(address.organisation, address.credential)
        check_permission(add_document, actor)
        _check_headers(request)
        await self.intake.count_file(actor.organisation)
        # From here on the address is used, whatever becomes of the file.
        await runner.run_change(actor.organisation, self._use_address, address)
        try:
            content = await self._receive_content(request, address)
        except HttpError as problem:
            text = _TOO_LARGE if problem.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE else problem.text
            raise HttpError(problem.status, f"{text} {_IS_USED}") from None
        # Reading the file may have used up the time limit of the request.
        reset_deadline()
        store = partial(self._store, request.id, address, actor, content)
        answer = await runner.run_change(actor.organisation, store)
        return Response(201, answer.body)

    def _find_address(self, secret: str) -> UploadAddress:
        performer = self.intake.performer
        with performer.database.single_read(ALL_ORGANISATIONS) as db:
            address = upload_addresses.find_address(db, secret, performer.clock())
        if address is None:
            raise UnknownLink
        return address

    def _use_address(self, address: UploadAddress) -> None:
        """Use up an address; of several requests at once, the first does."""
        with self.intake.performer.database.write_transaction(address.organisation) as db:
            if not upload_addresses.use_address(db, address.id):
                raise UnknownLink

    async def _receive_content(self, request: Request, address: UploadAddress) -> ExaminedFile:
        path, file = self.temporary_files.create_file()
        try:
            with file:
                async for piece in request.stream_body(MAX_FILE_BYTES):
                    await self.intake.runner.run(file.write, piece)
            return await self._examine(address, path)
        finally:
            path.unlink(missing_ok=True)

    async def _examine(self, address: UploadAddress, path: Path) -> ExaminedFile:
        name, media_type = address.file.name, address.file.media_type
        try:
            content = await self.intake.examine(address.organisation, path, name)
        except UnacceptedFile as error:
            raise HttpError(415, f"{name} {error}.") from None
        if media_type not in {None, content.media_type}:
            raise HttpError(415, f"{name} is {content.media_type}, but {media_type} was announced.")
        return content

    def _store(self, request_id: str, address: UploadAddress, actor: Actor, content: ExaminedFile) -> Answer:
        expected = address.file
        given = to_document_input(content, expected.name)
        raw = orjson.dumps(given | {"recordId": expected.record_id, "visibility": expected.visibility})

        def perform(*, commit: bool) -> Answer:
            with self.intake.performer.open_batch(actor.organisation, commit=commit) as batch:
                return batch.perform(add_document, actor, raw, RequestDetails(request_id))

        return self.intake.store_with(actor.organisation, [content], perform)


def _check_headers(request: Request) -> None:
    """Refuse a body that can be no such file, before it is read and before the address is used."""
    headers = request.headers
    if headers.get("content-type", "").lower().startswith("multipart/"):
        raise HttpError(415, _NOT_A_FORM)
    request.refuse_compressed()
    length = headers.get("content-length")
    if length == "0" or (length is None and "transfer-encoding" not in headers):
        raise HttpError(400, _NO_BODY)
    if length is not None and int(length) > MAX_FILE_BYTES:
        raise HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
