"""One attempt at a delivery: what is sent, and the result."""

from dataclasses import dataclass
from datetime import datetime

_SUCCESS = range(200, 300)


@dataclass(frozen=True, slots=True)
class LeasedDelivery:
    """A delivery that a dispatcher has taken and sends now."""

    organisation: str
    webhook: str
    delivery: str
    # The number of this attempt, and how many have failed since the delivery was last requested.
    number: int
    failed: int
    url: str
    generations: tuple[int, ...]
    event: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of an attempt: an HTTP answer, or the kind of error that happened instead."""

    leased: LeasedDelivery
    at: datetime
    milliseconds: int
    status: int | None = None
    error: str | None = None
    answer: bytes = b""
    retry_after: str | None = None
    headers: dict[str, str] | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the receiver accepted the delivery."""
        return self.status in _SUCCESS
