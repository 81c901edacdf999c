"""Documents are printed in a child process: a document that ends it is not printed, and the next one is."""

import os

import pytest

from mainstay.backing.children import ChildLimits
from mainstay.business.issuing import printer as printing
from mainstay.business.issuing.printer import Printer
from mainstay.paper.pdf import NotPrinted, render
from papers import issued
from pictures import drawn


def test_a_document_is_the_same_as_printed_here() -> None:
    snapshot, logo = issued(), drawn(size=(200, 100))
    text = snapshot.model_dump_json(by_alias=True, exclude_none=True)
    assert Printer().print(text, logo) == render(snapshot, logo)
    assert Printer().print(text, None, "draft") == render(snapshot, None, "draft")


def test_a_document_that_takes_too_much_is_not_printed_and_the_next_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = issued().model_dump_json(by_alias=True, exclude_none=True)
    with monkeypatch.context() as patched:
        patched.setattr(printing, "LIMITS", ChildLimits(memory_bytes=30_000_000))
        with pytest.raises(NotPrinted):
            Printer().print(text, None)
    assert Printer().print(text, None).startswith(b"%PDF-")


def test_this_process_loads_no_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainstay.paper.pdf.compiled", lambda *_: pytest.fail(f"printed in process {os.getpid()}"))
    text = issued().model_dump_json(by_alias=True, exclude_none=True)
    assert Printer().print(text, None).startswith(b"%PDF-")
