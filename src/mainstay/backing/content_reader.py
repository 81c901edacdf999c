"""Reads files that people hand in, in a child process: a hostile one ends the child and is refused."""

from pathlib import Path
from typing import Any

from mainstay.backing.child import BadContent
from mainstay.backing.children import ChildFailed, ChildLimits, ChildPool
from mainstay.backing.contents import Content, NotTaken, examined
from mainstay.backing.images import NotAPicture, redrawn
from mainstay.backing.log import log
from mainstay.backing.tables import NotATable, Table, read_table

# A photograph of 52 megapixels takes 400 MB while it is decoded, and two seconds.
LIMITS = ChildLimits(memory_bytes=900_000_000, cpu_seconds=10, seconds=30)
_TOO_MUCH = "takes too much memory or time to read"


class ContentReader:
    """What the doors hand files to. Each call waits for a child of the pool."""

    def __init__(self, children: int = 2) -> None:
        self._pool = ChildPool(children, LIMITS)

    def read_table(self, path: Path) -> Table:
        """The table of a CSV file or a workbook, or NotATable."""
        try:
            found, _ = self._pool.run(f"{__name__}:table_task", str(path))
        except BadContent as fault:
            raise NotATable(str(fault)) from None
        except ChildFailed as fault:
            _log_failure(fault)
            raise NotATable(f"The file {_TOO_MUCH}. Save only the sheet you need, or save it as CSV.") from None
        return Table(found["headings"], [(number, cells) for number, cells in found["rows"]], found["remarks"])

    def examine(self, path: Path, name: str) -> Content:
        """What kind of file it is, and what is kept of it, or NotTaken."""
        try:
            media_type, (content, *small) = self._pool.run(f"{__name__}:examine_task", str(path), name)
        except BadContent as fault:
            raise NotTaken(str(fault)) from None
        except ChildFailed as fault:
            _log_failure(fault)
            raise NotTaken(f"{_TOO_MUCH}. Open it in another program and save it again, smaller") from None
        return Content(media_type, content, *small)

    def redraw(self, path: Path, side: int) -> bytes:
        """A picture with no side longer than this, or NotAPicture."""
        try:
            _, (picture,) = self._pool.run(f"{__name__}:redraw_task", str(path), side)
        except BadContent as fault:
            raise NotAPicture(str(fault)) from None
        except ChildFailed as fault:
            _log_failure(fault)
            raise NotAPicture(f"{_TOO_MUCH}. Save it again, smaller") from None
        return picture


# Run in the child.
def table_task(path: str) -> tuple[Any, tuple[bytes, ...]]:
    """Read a table."""
    table = read_table(Path(path))
    return {"headings": table.headings, "rows": table.rows, "remarks": table.remarks}, ()


def examine_task(path: str, name: str) -> tuple[Any, tuple[bytes, ...]]:
    """Examine a file."""
    found = examined(Path(path), name)
    return found.media_type, (found.content,) if found.small is None else (found.content, found.small)


def redraw_task(path: str, side: int) -> tuple[Any, tuple[bytes, ...]]:
    """Redraw a picture."""
    return None, (redrawn(Path(path), side),)


def _log_failure(fault: ChildFailed) -> None:
    log("content could not be read", level="warn", problem=str(fault))
