"""Files are read in a child process: what it finds comes back whole, and what ends it is refused."""

import csv
from pathlib import Path

import pytest

from mainstay.backing.children import ChildLimits
from mainstay.backing.content_reader import ContentReader
from mainstay.backing.contents import NotTaken, examined
from mainstay.backing.images import NotAPicture, redrawn
from mainstay.backing.tables import NotATable, read_table
from pictures import drawn
from workbooks import sheet, workbook


@pytest.fixture
def reader() -> ContentReader:
    return ContentReader()


@pytest.fixture
def short_of_memory(monkeypatch: pytest.MonkeyPatch) -> ContentReader:
    """One whose children may take hardly more than they begin with."""
    monkeypatch.setattr("mainstay.backing.content_reader.LIMITS", ChildLimits(memory_bytes=60_000_000))
    return ContentReader()


def written(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


def test_a_table_is_the_same_as_read_here(reader: ContentReader, tmp_path: Path) -> None:
    path = written(tmp_path, workbook(sheet(["Name", "Größe"], ["Bolt", 8], ["Nut", ""])))
    assert reader.read_table(path) == read_table(path)


def test_a_file_is_the_same_as_examined_here(reader: ContentReader, tmp_path: Path) -> None:
    photo = written(tmp_path, drawn("JPEG", (3000, 2000)))
    assert reader.examine(photo, "roof.jpg") == examined(photo, "roof.jpg")
    note = written(tmp_path, b"Call back on Monday.")
    assert reader.examine(note, "note.txt") == examined(note, "note.txt")


def test_a_picture_is_the_same_as_redrawn_here(reader: ContentReader, tmp_path: Path) -> None:
    path = written(tmp_path, drawn(size=(1500, 700)))
    assert reader.redraw(path, 1000) == redrawn(path, 1000)


def test_a_refusal_comes_in_its_own_words(reader: ContentReader, tmp_path: Path) -> None:
    path = written(tmp_path, b"")
    with pytest.raises(NotATable, match=r"^The file is empty\."):
        reader.read_table(path)
    with pytest.raises(NotTaken, match=r"^is empty$"):
        reader.examine(path, "empty.txt")
    with pytest.raises(NotAPicture, match=r"^is not a PNG or JPEG picture$"):
        reader.redraw(path, 1000)


def test_what_takes_too_much_is_refused_and_the_next_file_is_read(
    short_of_memory: ContentReader, tmp_path: Path
) -> None:
    large = written(tmp_path, drawn(size=(4000, 4000)))
    with pytest.raises(NotTaken, match="takes too much memory or time to read"):
        short_of_memory.examine(large, "large.png")
    with pytest.raises(NotAPicture, match="takes too much memory or time to read"):
        short_of_memory.redraw(large, 4000)
    with (tmp_path / "table.csv").open("w") as file:
        csv.writer(file).writerows([["Name", "Note"], *([f"Bolt {number}", "x" * 4000] for number in range(2000))])
    with pytest.raises(NotATable, match="takes too much memory or time to read"):
        short_of_memory.read_table(tmp_path / "table.csv")
    assert short_of_memory.examine(written(tmp_path, b"A note."), "note.txt").content == b"A note."
