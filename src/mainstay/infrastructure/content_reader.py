"""Read uploaded files in a child process: a malicious file ends the child and is refused."""

from pathlib import Path
from typing import Any

from mainstay.infrastructure.child_pool import ChildFailed, ChildLimits, ChildPool
from mainstay.infrastructure.child_process import BadContent
from mainstay.infrastructure.file_types import ExaminedFile, UnacceptedFile, examine_file
from mainstay.infrastructure.images import UnacceptedPicture, redraw_picture
from mainstay.infrastructure.log import log
from mainstay.infrastructure.tables import UnreadableTable, UploadedTable, read_table
from mainstay.values.message import Message
from mainstay.values.stored_message import dump_message, load_message

# Decoding a photograph of 52 megapixels takes 400 MB and two seconds.
LIMITS = ChildLimits(memory_bytes=900_000_000, cpu_seconds=10, seconds=30)


class ContentReader:
    """Reads the files that the doors receive. Each call waits for a child of the pool."""

    def __init__(self, children: int = 2) -> None:
        self._pool = ChildPool(children, LIMITS)

    def read_table(self, path: Path) -> UploadedTable:
        """Return the table of a CSV file or a workbook, or raise UnreadableTable."""
        try:
            found, _ = self._pool.run(f"{__name__}:table_task", str(path))
        except BadContent as error:
            raise UnreadableTable(error.message) from None
        except ChildFailed as error:
            _log_failure(error)
            raise UnreadableTable(
                Message(
                    "The file takes too much memory or time to read. Save only the sheet you need, or save the file as"
                    " CSV."
                )
            ) from None
        return UploadedTable(
            found["headings"],
            [(number, cells) for number, cells in found["rows"]],
            [*map(load_message, found["remarks"])],
        )

    def examine(self, path: Path, name: str) -> ExaminedFile:
        """Return the type of a file and the content to store, or raise UnacceptedFile."""
        try:
            media_type, (content, *small) = self._pool.run(f"{__name__}:examine_task", str(path), name)
        except BadContent as error:
            raise UnacceptedFile(error.message) from None
        except ChildFailed as error:
            _log_failure(error)
            raise UnacceptedFile(
                Message("takes too much memory or time to read. Open it in another program and save a smaller version")
            ) from None
        return ExaminedFile(media_type, content, *small)

    def redraw(self, path: Path, side: int) -> bytes:
        """Return a picture with no side longer than this, or raise UnacceptedPicture."""
        try:
            _, (picture,) = self._pool.run(f"{__name__}:redraw_task", str(path), side)
        except BadContent as error:
            raise UnacceptedPicture(error.message) from None
        except ChildFailed as error:
            _log_failure(error)
            raise UnacceptedPicture(Message("takes too much memory or time to read. Save a smaller version")) from None
        return picture


# These functions run in the child.
def table_task(path: str) -> tuple[Any, tuple[bytes, ...]]:
    """Read a table."""
    table = read_table(Path(path))
    return {"headings": table.headings, "rows": table.rows, "remarks": [*map(dump_message, table.remarks)]}, ()


def examine_task(path: str, name: str) -> tuple[Any, tuple[bytes, ...]]:
    """Examine a file."""
    found = examine_file(Path(path), name)
    return found.media_type, (found.content,) if found.small is None else (found.content, found.small)


def redraw_task(path: str, side: int) -> tuple[Any, tuple[bytes, ...]]:
    """Redraw a picture."""
    return None, (redraw_picture(Path(path), side),)


def _log_failure(fault: ChildFailed) -> None:
    log("content could not be read", level="warn", problem=str(fault))
