"""Work that goes on after the answer, such as an import: the page shows its progress, and can be left."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field

# How often the page of such work loads itself again, even without scripts.
REFRESH_HEADERS = (("refresh", "2"),)
# Work that takes no longer than this is finished before the page is shown.
MOMENT_SECONDS = 0.5


@dataclass(frozen=True)
class BackgroundWork:
    """The work of one kind of page that runs in this process."""

    # Without a reference to them, tasks could be garbage-collected.
    _running: set["asyncio.Future[None]"] = field(default_factory=set)

    async def start(self, work: Coroutine[None, None, None]) -> None:
        """Start work, and wait for it a moment."""
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        await asyncio.wait({task}, timeout=MOMENT_SECONDS)
