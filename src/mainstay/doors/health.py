"""Whether the server lives, and whether it can do its work."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from mainstay.backing.database import Unreachable
from mainstay.doors.http import Request, Response, error


@dataclass(frozen=True, slots=True)
class Health:
    """Answers the probes of whoever keeps the server running."""

    ready: Callable[[], bool]
    threads: Executor

    async def alive(self, _request: Request) -> Response:
        """The process answers."""
        return Response(200, b'{"status":"alive"}')

    async def is_ready(self, _request: Request) -> Response:
        """The database is there and has the schema that this program needs."""
        try:
            ready = await asyncio.get_running_loop().run_in_executor(self.threads, self.ready)
        except Unreachable:
            ready = False
        return Response(200, b'{"status":"ready"}') if ready else error(503, "The database cannot be reached.")


async def nowhere(_request: Request) -> Response:
    """What no door is for."""
    return error(404, "There is nothing at this address. The API begins at /api/v1.")
