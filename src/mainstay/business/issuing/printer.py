"""Prints documents in a child process: one that takes too much memory or time is not printed, and nothing else ends.

Typst keeps the memory of the largest document that it has printed, so a child is replaced when it has grown.
"""

from typing import Any

from mainstay.backing.children import ChildFailed, ChildLimits, ChildPool
from mainstay.paper.pdf import Copy, NotPrinted, render
from mainstay.paper.snapshot import Snapshot

# A usual document takes 75 MB and a tenth of a second; the longest that can be written 550 MB and three seconds.
LIMITS = ChildLimits(memory_bytes=1_500_000_000, cpu_seconds=30, seconds=90, tasks=500, resident_bytes=200_000_000)


class Printer:
    """Prints in so many children at once."""

    def __init__(self, children: int = 2) -> None:
        self._pool = ChildPool(children, LIMITS)

    def print(self, snapshot: str, logo: bytes | None, copy: Copy | None = None) -> bytes:
        """The PDF of a snapshot, given as JSON, or NotPrinted."""
        try:
            _, (pdf,) = self._pool.run(f"{__name__}:print_task", snapshot, copy, blobs=(logo,) if logo else ())
        except ChildFailed as fault:
            raise NotPrinted(str(fault)) from None
        return pdf

    def print_draft(self, snapshot: str, logo: bytes | None) -> bytes:
        """The same with a stamp that says that it is a draft."""
        return self.print(snapshot, logo, "draft")


def print_task(snapshot: str, copy: Copy | None, logo: bytes | None = None) -> tuple[Any, tuple[bytes, ...]]:
    """Print, in the child."""
    return None, (render(Snapshot.model_validate_json(snapshot), logo, copy),)
