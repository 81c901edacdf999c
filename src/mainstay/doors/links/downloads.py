"""The links by which programs download files: `/downloads/{secret}` opens one file, for a few minutes."""

from dataclasses import dataclass
from functools import partial

import orjson

from mainstay.business.records.attachments import get_document
from mainstay.business.records.file_links import DownloadGrant
from mainstay.doors.document_answers import RETRY_AFTER, DocumentAnswers, FileNotReady
from mainstay.doors.downloads import fetch_stored_file
from mainstay.doors.http import Request, Response, error_response
from mainstay.doors.links.link_access import LinkAccess, UnknownLink, answer_link, check_method
from mainstay.identity.secrets import DOWNLOAD_LINK
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import NotFound

NO_LINK = "This download link doesn't work. It may have expired. Ask for a new one with get_download_link."
NOT_READY = "The file is still being made. Try again in two seconds."


@dataclass(frozen=True, slots=True)
class DownloadDoor:
    """Sends files to programs, if those may see them now."""

    access: LinkAccess
    document_answers: DocumentAnswers
    # The number of this route in the metrics.
    route_number: int

    async def __call__(self, request: Request) -> Response:
        """Answer a request to `/downloads/{secret}`."""
        return await answer_link(request, self._send, NO_LINK, self.route_number)

    async def _send(self, request: Request, secret: str) -> Response:
        check_method(request, "GET", "HEAD")
        await self.access.count_request(request)
        performer = self.document_answers.performer
        text = performer.program_links.read_text(DOWNLOAD_LINK, secret, performer.clock())
        if text is None:
            raise UnknownLink
        grant = DownloadGrant(*text.split())
        actor = await self.access.find_actor(grant.organisation, grant.credential)
        try:
            return await self._send_file(request, actor, grant)
        except NotFound:
            raise UnknownLink from None
        except FileNotReady:
            return error_response(503, NOT_READY, RETRY_AFTER)

    async def _send_file(self, request: Request, actor: Actor, grant: DownloadGrant) -> Response:
        answers, details = self.document_answers, RequestDetails(request.id)
        operation = answers.performer.catalogue.find_operation(grant.operation)
        if operation is None or operation.on is None:
            raise UnknownLink
        raw = orjson.dumps({operation.on.id_alias: grant.record_id})
        if operation.returns_file:
            return await answers.answer(operation, actor, raw, details, is_saved=True)
        answer = await answers.runner.perform(answers.performer, get_document, actor, raw, details)
        document = get_document.read_answer(answer.body)
        return await answers.runner.run(
            partial(fetch_stored_file, answers.files, document.sha256, document.name, document.media_type, inline=False)
        )
