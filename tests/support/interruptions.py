"""Something happens to a process that works on a turn, when it next uses the database."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mainstay.doors.runner import Runner

T = TypeVar("T")


class ProcessDied(BaseException):
    """Ends the work as if its process had been killed: nothing is released, nothing is noted."""


@dataclass(frozen=True)
class InterruptedRunner(Runner):
    """A runner to whose work something happens."""

    interrupt: Callable[[], Awaitable[bool]] = field(kw_only=True)

    async def run_read(self, function: Callable[..., T], *args: Any) -> T:
        """Run a read, unless something happens before it."""
        dies = await self.interrupt()
        result = await Runner.run_read(self, function, *args)
        if dies:
            raise ProcessDied
        return result

    async def run_change(self, owner: str, function: Callable[..., T], *args: Any) -> T:
        """Run a change, unless something happens before it; or it is made, and the process dies after it."""
        dies = await self.interrupt()
        result = await Runner.run_change(self, owner, function, *args)
        if dies:
            raise ProcessDied
        return result


def at_access(number: int, act: Callable[[], object]) -> Callable[[], Awaitable[bool]]:
    """Return an interruption: do this before the database is used for the nth time. If it says so, it dies then."""
    accesses = 0

    async def interrupt() -> bool:
        nonlocal accesses
        accesses += 1
        return accesses == number and bool(act())

    return interrupt


def die() -> None:
    """End the process."""
    raise ProcessDied
