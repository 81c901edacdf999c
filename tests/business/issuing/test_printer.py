"""Documents are printed in a child process: a document that crashes it is not printed, and the next one is."""

import os

import pytest

from mainstay.business.issuing import pdf_printer as printing
from mainstay.business.issuing.pdf_printer import Printer
from mainstay.documents.pdf import RenderingFailed, render_document
from mainstay.infrastructure.child_pool import ChildLimits
from support.images import draw_image
from support.snapshots import make_snapshot


def test_a_document_is_the_same_as_printed_here() -> None:
    snapshot, logo = make_snapshot(), draw_image(size=(200, 100))
    text = snapshot.model_dump_json(by_alias=True, exclude_none=True)
    assert Printer().print(text, logo) == render_document(snapshot, logo)
    assert Printer().print(text, None, "draft") == render_document(snapshot, None, "draft")


def test_a_document_that_takes_too_much_is_not_printed_and_the_next_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = make_snapshot().model_dump_json(by_alias=True, exclude_none=True)
    with monkeypatch.context() as patched:
        patched.setattr(printing, "LIMITS", ChildLimits(memory_bytes=30_000_000))
        with pytest.raises(RenderingFailed):
            Printer().print(text, None)
    assert Printer().print(text, None).startswith(b"%PDF-")


def test_this_process_loads_no_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "mainstay.documents.pdf.compile_template", lambda *_: pytest.fail(f"printed in process {os.getpid()}")
    )
    text = make_snapshot().model_dump_json(by_alias=True, exclude_none=True)
    assert Printer().print(text, None).startswith(b"%PDF-")
