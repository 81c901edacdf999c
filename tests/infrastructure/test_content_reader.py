"""Files are read in a child process, and its results come back unchanged.

A file that makes the process exceed its limits is refused.
"""

import csv
from pathlib import Path

import pytest

from mainstay.infrastructure.child_pool import ChildLimits
from mainstay.infrastructure.content_reader import ContentReader
from mainstay.infrastructure.file_types import UnacceptedFile, examine_file
from mainstay.infrastructure.images import UnacceptedPicture, redraw_picture
from mainstay.infrastructure.tables import UnreadableTable, read_table
from support.images import draw_image
from support.workbooks import make_sheet_rows, make_workbook


@pytest.fixture
def reader() -> ContentReader:
    return ContentReader()


@pytest.fixture
def low_memory_reader(monkeypatch: pytest.MonkeyPatch) -> ContentReader:
    """A reader whose child processes have hardly any memory to spare."""
    monkeypatch.setattr("mainstay.infrastructure.content_reader.LIMITS", ChildLimits(memory_bytes=60_000_000))
    return ContentReader()


def write_file(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


def test_a_table_is_read_as_in_this_process(reader: ContentReader, tmp_path: Path) -> None:
    path = write_file(tmp_path, make_workbook(make_sheet_rows(["Name", "Größe"], ["Bolt", 8], ["Nut", ""])))
    assert reader.read_table(path) == read_table(path)


def test_a_file_is_examined_as_in_this_process(reader: ContentReader, tmp_path: Path) -> None:
    photo = write_file(tmp_path, draw_image("JPEG", (3000, 2000)))
    assert reader.examine(photo, "roof.jpg") == examine_file(photo, "roof.jpg")
    note = write_file(tmp_path, b"Call back on Monday.")
    assert reader.examine(note, "note.txt") == examine_file(note, "note.txt")


def test_a_picture_is_redrawn_as_in_this_process(reader: ContentReader, tmp_path: Path) -> None:
    path = write_file(tmp_path, draw_image(size=(1500, 700)))
    assert reader.redraw(path, 1000) == redraw_picture(path, 1000)


def test_a_refusal_comes_in_its_own_words(reader: ContentReader, tmp_path: Path) -> None:
    path = write_file(tmp_path, b"")
    with pytest.raises(UnreadableTable, match=r"^The file is empty\."):
        reader.read_table(path)
    with pytest.raises(UnacceptedFile, match=r"^is empty$"):
        reader.examine(path, "empty.txt")
    with pytest.raises(UnacceptedPicture, match=r"^is not a PNG or JPEG picture$"):
        reader.redraw(path, 1000)


def test_what_takes_too_much_is_refused_and_the_next_file_is_read(
    low_memory_reader: ContentReader, tmp_path: Path
) -> None:
    large = write_file(tmp_path, draw_image(size=(4000, 4000)))
    with pytest.raises(UnacceptedFile, match="takes too much memory or time to read"):
        low_memory_reader.examine(large, "large.png")
    with pytest.raises(UnacceptedPicture, match="takes too much memory or time to read"):
        low_memory_reader.redraw(large, 4000)
    with (tmp_path / "table.csv").open("w") as file:
        csv.writer(file).writerows([["Name", "Note"], *([f"Bolt {number}", "x" * 4000] for number in range(2000))])
    with pytest.raises(UnreadableTable, match="takes too much memory or time to read"):
        low_memory_reader.read_table(tmp_path / "table.csv")
    assert low_memory_reader.examine(write_file(tmp_path, b"A note."), "note.txt").content == b"A note."
