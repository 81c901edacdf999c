"""Health probes: whether the server runs, and whether it can do its work."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.doors.http import RETRY_LATER, Request, Response, error_response
from mainstay.doors.runner import Runner


@dataclass(frozen=True, slots=True)
class Health:
    """Answers the probes of load balancers and process managers."""

    find_problem: Callable[[], str | None]
    runner: Runner

    async def answer_alive(self, _request: Request) -> Response:
        """Answer that the process runs."""
        return Response(200, b'{"status":"alive"}')

    async def answer_ready(self, _request: Request) -> Response:
        """Answer whether this server can read and change its database, or why it cannot."""
        problem = await self.runner.run_probe(self.find_problem)
        return error_response(503, problem, RETRY_LATER) if problem else Response(200, b'{"status":"ready"}')
