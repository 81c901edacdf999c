"""Whether the server lives, and whether it can do its work."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.backing.database import Unreachable
from mainstay.doors.http import Request, Response, error
from mainstay.doors.running import Runner


@dataclass(frozen=True, slots=True)
class Health:
    """Answers the probes of whoever keeps the server running."""

    ready: Callable[[], bool]
    runner: Runner

    async def alive(self, _request: Request) -> Response:
        """The process answers."""
        return Response(200, b'{"status":"alive"}')

    async def is_ready(self, _request: Request) -> Response:
        """The database is there and has the schema that this program needs."""
        try:
            ready = await self.runner.probe(self.ready)
        except Unreachable:
            ready = False
        return Response(200, b'{"status":"ready"}') if ready else error(503, "The database cannot be reached.")
