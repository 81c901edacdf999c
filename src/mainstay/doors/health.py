"""Health probes: whether the server runs, and whether it can do its work."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.doors.http import Request, Response, error_response
from mainstay.doors.runner import Runner
from mainstay.infrastructure.database import DatabaseUnavailable


@dataclass(frozen=True, slots=True)
class Health:
    """Answers the probes of load balancers and process managers."""

    check_ready: Callable[[], bool]
    runner: Runner

    async def answer_alive(self, _request: Request) -> Response:
        """Answer that the process runs."""
        return Response(200, b'{"status":"alive"}')

    async def answer_ready(self, _request: Request) -> Response:
        """Answer whether the database can be reached and has the schema that this program needs."""
        try:
            ready = await self.runner.run_probe(self.check_ready)
        except DatabaseUnavailable:
            ready = False
        return Response(200, b'{"status":"ready"}') if ready else error_response(503, "The database cannot be reached.")
