"""Works on the turns of this process, and takes over those that another process left."""

import asyncio
from contextlib import suppress

from mainstay.business.assistant import store
from mainstay.business.assistant.operations import MAX_WORKING
from mainstay.business.assistant.store import AbandonedTurn
from mainstay.doors.assistant.assistant_parts import AssistantParts
from mainstay.doors.assistant.turn_work import TurnWork
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable
from mainstay.infrastructure.deadline import reset_deadline
from mainstay.infrastructure.log import log_error

# How often a process looks for turns on which nobody works.
_LOOK_SECONDS = 2.0
# How many turns a process works on at once. Mostly they wait for a model, which can be slow on purpose: so there is
# room for other organisations while several ask as many questions as they may.
MAX_TURNS_AT_ONCE = 10 * MAX_WORKING


class TurnRunner:
    """Runs the work on turns beside the requests of this process."""

    def __init__(self, parts: AssistantParts) -> None:
        self.parts = parts
        self._running: dict[str, tuple[TurnWork, asyncio.Task[None]]] = {}
        self._looking: asyncio.Task[None] | None = None
        # Whether this process ends, so that streams end too.
        self.is_closing = False

    async def start(self) -> None:
        """Begin to look for turns that were left."""
        self._looking = asyncio.create_task(self._look())

    async def close(self) -> None:
        """Leave the turns of this process to others, at once."""
        self.is_closing = True
        self.parts.live.wake_all()
        if self._looking:
            self._looking.cancel()
        running = [*self._running.values()]
        for work, task in running:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await work.release()

    def begin(self, organisation: str, turn_id: str) -> None:
        """Work on a turn in this process, unless it does already."""
        if turn_id in self._running or len(self._running) >= MAX_TURNS_AT_ONCE:
            return
        work = TurnWork(self.parts, organisation, turn_id)
        self._running[turn_id] = work, asyncio.create_task(self._work(turn_id, work))

    def stop_turn(self, turn_id: str) -> None:
        """Notice at once that a turn of this process was stopped."""
        if running := self._running.get(turn_id):
            running[0].stop()

    async def _work(self, turn_id: str, work: TurnWork) -> None:
        reset_deadline()
        try:
            await work.run()
        except DatabaseUnavailable as error:
            # Its lease expires, and then it goes on.
            log_error("assistant waits for the database", error, turn=turn_id)
        except Exception as error:
            log_error("assistant failed", error, turn=turn_id)
            await work.fail()
        finally:
            self._running.pop(turn_id, None)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            with suppress(DatabaseUnavailable):
                reset_deadline()
                for turn in await self.parts.runner.run_read(self._find_abandoned):
                    self.begin(turn.organisation, turn.id)

    def _find_abandoned(self) -> list[AbandonedTurn]:
        performer = self.parts.performer
        with performer.database.single_read(ALL_ORGANISATIONS) as db:
            return store.find_abandoned(db, performer.clock(), MAX_TURNS_AT_ONCE - len(self._running))
