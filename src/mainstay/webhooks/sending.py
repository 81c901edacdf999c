"""One attempt at a delivery: what is sent, and what became of it."""

from dataclasses import dataclass
from datetime import datetime

_SUCCESS = range(200, 300)


@dataclass(frozen=True, slots=True)
class Sending:
    """A delivery that was taken, to be sent now."""

    organisation: str
    webhook: str
    delivery: str
    # Which attempt it is in all, and how many have failed since it was last asked for.
    number: int
    failed: int
    url: str
    generations: tuple[int, ...]
    event: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of a sending: an answer, or the kind of error that was met instead."""

    sending: Sending
    at: datetime
    milliseconds: int
    status: int | None = None
    error: str | None = None
    answer: bytes = b""
    retry_after: str | None = None
    headers: dict[str, str] | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the receiver has it."""
        return self.status in _SUCCESS
