"""Answers with the files of documents: whoever asks before one is made waits for the process that makes it."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from mainstay.backing.database import EVERY
from mainstay.backing.files import Files
from mainstay.business.issuing.printed import PDF, printing
from mainstay.doors.downloads import kept_file
from mainstay.doors.http import OUR_FAULT, Interrupted, Response
from mainstay.doors.running import Runner
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.ledger import outbox
from mainstay.terms.actor import Actor
from mainstay.terms.faults import Raw
from mainstay.terms.refusal import NotFound
from mainstay.values.moments import moment_text

WAIT_SECONDS = 10.0
_LOOK_EVERY = 0.1


@dataclass(frozen=True, slots=True)
class Papers:
    """What the doors share that give files of documents."""

    stage: Stage
    runner: Runner
    files: Files

    async def answer(self, operation: Operation, actor: Actor, raw: Raw, envelope: Envelope) -> Response:
        """The file that an operation names, once it is there."""
        loop = asyncio.get_running_loop()
        until, asked = loop.time() + WAIT_SECONDS, False
        while True:
            found = orjson.loads((await self.runner.perform(self.stage, operation, actor, raw, envelope)).body)
            if found["sha256"]:
                return await self._file(found["sha256"], found["name"], operation.gives or "")
            if not asked:
                await self.runner.change(self._ask, actor.organisation, found)
                asked = True
            if loop.time() > until:
                raise Interrupted(500, OUR_FAULT)
            await asyncio.sleep(_LOOK_EVERY)

    async def _file(self, sha256: str, called: str, kind: str) -> Response:
        # What a browser would show of an e-invoice tells people nothing.
        opened = partial(kept_file, self.files.path(sha256), called, kind, shown=kind == PDF)
        try:
            return await self.runner.change(opened)
        except FileNotFoundError:
            # The folder of files was not brought along with the database.
            raise NotFound("file") from None

    def _ask(self, organisation: str, paper: dict[str, Any]) -> None:
        """Have it made now, before all that nobody waits for; what is brought in from elsewhere is asked for first."""
        letter, now = printing(paper["recordId"], paper["name"], paper["form"]), self.stage.clock()
        with self.stage.database.changing(organisation) as rows:
            if not outbox.waits(rows, letter):
                outbox.put(rows, letter, moment_text(now))
        with self.stage.database.changing(EVERY) as rows:
            outbox.hurry(rows, organisation, letter, now)
        self.stage.ring()
