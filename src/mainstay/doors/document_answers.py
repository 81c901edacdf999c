"""Answers with the files of documents. If a file is not made yet, the request waits briefly, then fails."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from mainstay.business.issuing.document_files import PDF, create_print_task
from mainstay.changes import outbox
from mainstay.doors.downloads import fetch_stored_file
from mainstay.doors.http import Headers, Response
from mainstay.doors.runner import Runner
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.files import FileStore
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.validation import RawInput

# Most files are made within a second.
WAIT_SECONDS = 3.0
_POLL_SECONDS = 0.1
# After how many seconds a client should ask again for a file that is still being made.
_RETRY_SECONDS = "2"
RETRY_AFTER: Headers = (("retry-after", _RETRY_SECONDS),)
# The same for a browser, which then reloads the page.
REFRESH: Headers = (("refresh", _RETRY_SECONDS),)


class FileNotReady(Exception):
    """Raised when the file is still being made."""

    def __init__(self, body: bytes) -> None:
        super().__init__("The file is still being made.")
        # The output of the operation, as JSON.
        self.body = body

    @property
    def name(self) -> str:
        """The name that the file will have."""
        return str(orjson.loads(self.body)["name"])


@dataclass(frozen=True, slots=True)
class DocumentAnswers:
    """Answers requests for the files of documents, for every door that returns them."""

    performer: Performer
    runner: Runner
    files: FileStore

    async def answer(
        self, operation: Operation, actor: Actor, raw: RawInput, details: RequestDetails, *, is_saved: bool = False
    ) -> Response:
        """Answer with the file that an operation names; raise FileNotReady if it is not made in time.

        If it is to be saved, a browser does not show it.
        """
        loop = asyncio.get_running_loop()
        until, queued = loop.time() + WAIT_SECONDS, False
        while True:
            body = (await self.runner.perform(self.performer, operation, actor, raw, details)).body
            document = orjson.loads(body)
            if document["sha256"]:
                media_type = operation.returns_file or ""
                # Only a PDF is shown in the browser: the XML of an e-invoice would tell people nothing.
                inline = media_type == PDF and not is_saved
                return await self._send_file(document["sha256"], document["name"], media_type, inline=inline)
            if not queued:
                await self.runner.run_change(actor.organisation, self._queue_file, actor.organisation, document)
                queued = True
            if loop.time() > until:
                raise FileNotReady(body)
            await asyncio.sleep(_POLL_SECONDS)

    async def _send_file(self, sha256: str, file_name: str, media_type: str, *, inline: bool) -> Response:
        return await self.runner.run(
            partial(fetch_stored_file, self.files, sha256, file_name, media_type, inline=inline)
        )

    def _queue_file(self, organisation: str, document: dict[str, Any]) -> None:
        """Queue the task that makes the file, ahead of the tasks that nobody waits for."""
        task, now = create_print_task(document["recordId"], document["name"], document["form"]), self.performer.clock()
        with self.performer.database.write_transaction(organisation) as db:
            if outbox.is_parked(db, task):
                raise Conflict(
                    Message("{file} could not be created. Ask your administrator to retry it.", file=document["name"])
                )
            if not outbox.is_waiting(db, task):
                outbox.add_task(db, task, moment_text(now))
        with self.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            outbox.prioritise_task(db, organisation, task, now)
        self.performer.wake_worker()
