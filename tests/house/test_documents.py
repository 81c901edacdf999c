from pathlib import Path

import pytest

from house.documents import ROOT, documents
from mainstay.catalogue import OPERATIONS


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_the_document_is_what_would_be_written_today(path: Path) -> None:
    assert path.read_text("utf-8") == documents()[path], "run `make documents`"


def test_every_operation_stands_in_the_table() -> None:
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    assert [f"| `{operation.name}` |" in text for operation in OPERATIONS] == [True] * len(OPERATIONS)
