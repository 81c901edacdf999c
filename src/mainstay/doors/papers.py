"""Answers with the files of documents. Someone who asks before a file is made waits a moment, then asks again."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from mainstay.backing.database import EVERY
from mainstay.backing.files import Files
from mainstay.business.issuing.printed import PDF, printing
from mainstay.doors.downloads import kept_file
from mainstay.doors.http import Headers, Response
from mainstay.doors.running import Runner
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.ledger import outbox
from mainstay.terms.actor import Actor
from mainstay.terms.faults import Raw
from mainstay.terms.refusal import Conflict, NotFound
from mainstay.values.moments import moment_text

# Most files are made within a second.
WAIT_SECONDS = 3.0
_LOOK_EVERY = 0.1
# When to ask again for a file that is still being made.
_ASK_AGAIN_SECONDS = "2"
RETRY_AFTER: Headers = (("retry-after", _ASK_AGAIN_SECONDS),)
# The same for a browser, which then loads the page again by itself.
REFRESH: Headers = (("refresh", _ASK_AGAIN_SECONDS),)


class NotReady(Exception):
    """The file is still being made."""

    def __init__(self, body: bytes) -> None:
        super().__init__("The file is still being made.")
        # What is known of the file, as JSON.
        self.body = body

    @property
    def name(self) -> str:
        """What the file will be called."""
        return str(orjson.loads(self.body)["name"])


@dataclass(frozen=True, slots=True)
class Papers:
    """What the doors share that give files of documents."""

    stage: Stage
    runner: Runner
    files: Files

    async def answer(self, operation: Operation, actor: Actor, raw: Raw, envelope: Envelope) -> Response:
        """The file that an operation names, or NotReady."""
        loop = asyncio.get_running_loop()
        until, asked = loop.time() + WAIT_SECONDS, False
        while True:
            body = (await self.runner.perform(self.stage, operation, actor, raw, envelope)).body
            found = orjson.loads(body)
            if found["sha256"]:
                return await self._file(found["sha256"], found["name"], operation.gives or "")
            if not asked:
                await self.runner.change(actor.organisation, self._ask, actor.organisation, found)
                asked = True
            if loop.time() > until:
                raise NotReady(body)
            await asyncio.sleep(_LOOK_EVERY)

    async def _file(self, sha256: str, called: str, kind: str) -> Response:
        # What a browser would show of an e-invoice tells people nothing.
        opened = partial(kept_file, self.files.path(sha256), called, kind, shown=kind == PDF)
        try:
            return await self.runner.run(opened)
        except FileNotFoundError:
            # The folder of files was not brought along with the database.
            raise NotFound("file") from None

    def _ask(self, organisation: str, paper: dict[str, Any]) -> None:
        """Have it made now, before all that nobody waits for."""
        letter, now = printing(paper["recordId"], paper["name"], paper["form"]), self.stage.clock()
        with self.stage.database.changing(organisation) as rows:
            if outbox.is_parked(rows, letter):
                raise Conflict(f"{paper['name']} could not be made. Ask whoever runs this Mainstay to try again.")
            if not outbox.waits(rows, letter):
                outbox.put(rows, letter, moment_text(now))
        with self.stage.database.changing(EVERY) as rows:
            outbox.hurry(rows, organisation, letter, now)
        self.stage.ring()
