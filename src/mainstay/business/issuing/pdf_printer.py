"""Prints documents in child processes, so that one that takes too much memory or time ends only its own process.

Typst keeps the memory of the largest document that it has printed, so a child is replaced when it has grown.
"""

from typing import Any

from mainstay.documents.pdf import Copy, RenderingFailed, render_document, render_picture, render_reports
from mainstay.documents.snapshot import Snapshot
from mainstay.infrastructure.child_pool import ChildFailed, ChildLimits, ChildPool

# A usual document takes 75 MB and a tenth of a second; the longest that can be written 550 MB and three seconds.
LIMITS = ChildLimits(memory_bytes=1_500_000_000, cpu_seconds=30, seconds=90, tasks=500, resident_bytes=200_000_000)


class Printer:
    """Prints documents in a pool of child processes."""

    def __init__(self, children: int = 2) -> None:
        self._pool = ChildPool(children, LIMITS)

    def print(self, snapshot: str, logo: bytes | None, copy: Copy | None = None) -> bytes:
        """Return the PDF of a snapshot, given as JSON; raise NotPrinted if it cannot be printed."""
        return self._run("print_task", logo, snapshot, copy)

    def picture(self, snapshot: str, logo: bytes | None, copy: Copy | None = None) -> bytes:
        """Return a picture of the first page of a snapshot, as WebP."""
        return self._run("picture_task", logo, snapshot, copy)

    def print_reports(self, sheet: str, day: str) -> bytes:
        """Return the PDF of several reports, given as JSON."""
        return self._run("reports_task", None, sheet, day)

    def _run(self, task: str, logo: bytes | None, *inputs: Any) -> bytes:
        try:
            _, (printed,) = self._pool.run(f"{__name__}:{task}", *inputs, blobs=(logo,) if logo else ())
        except ChildFailed as error:
            raise RenderingFailed(str(error)) from None
        return printed


def print_task(snapshot: str, copy: Copy | None, logo: bytes | None = None) -> tuple[Any, tuple[bytes, ...]]:
    """Print one document; runs in the child process."""
    return None, (render_document(Snapshot.model_validate_json(snapshot), logo, copy),)


def picture_task(snapshot: str, copy: Copy | None, logo: bytes | None = None) -> tuple[Any, tuple[bytes, ...]]:
    """Picture the first page of one document; runs in the child process."""
    return None, (render_picture(Snapshot.model_validate_json(snapshot), logo, copy),)


def reports_task(sheet: str, day: str) -> tuple[Any, tuple[bytes, ...]]:
    """Print several reports; runs in the child process."""
    return None, (render_reports(sheet, day),)
