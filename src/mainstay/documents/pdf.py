"""Render documents as PDF, reproducibly and with the embedded e-invoice if there is one.

A character that no font has would stop Typst, so `document_content.py` replaces such characters. Text by others is
passed to Typst as data, never as code. Only one process renders documents, because the loaded fonts take 200 MB of
memory.
"""

import json
from base64 import b64encode
from datetime import UTC, datetime
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from mainstay.documents import cii, einvoice
from mainstay.documents.characters import FONTS
from mainstay.documents.document_content import build_content, make_printable
from mainstay.documents.pdf_metadata import declare_einvoice
from mainstay.documents.snapshot import Snapshot
from mainstay.lazy_import import import_lazily
from mainstay.values.rust_panics import is_panic

Copy = Literal["void", "draft"]


class RenderingFailed(Exception):
    """The document cannot be rendered."""


# Each template is alone in its folder, which is all that Typst may read.
TEMPLATE = Path(__file__).parent / "layout" / "template.typ"
REPORTS_TEMPLATE = Path(__file__).parent / "reports_layout" / "reports.typ"
_MAX_LOGO_SIDE = 600  # pixels of a logo: 300 per inch at the printed width
# A picture is shown 440 pixels wide; it is small to load, and sharp enough to recognise the document.
_PICTURE_RESOLUTION, _PICTURE_COLOURS = 80.0, 16
_compiler_lock = Lock()


def render_document(snapshot: Snapshot, logo: bytes | None = None, copy: Copy | None = None) -> bytes:
    """Return the PDF of a document.

    `copy` stamps it as void or draft. A stamped PDF contains no e-invoice, because the stamp would not be part of it.
    `logo` is a PNG or JPEG picture.
    """
    content = build_content(snapshot, copy)
    if logo is not None:
        content["logo"] = _logo_to_svg(logo)
    inputs = {"sheet": json.dumps(content, ensure_ascii=False)}
    if copy is not None or einvoice.check_einvoice(snapshot).e_invoice.status != "included":
        return compile_template(inputs, snapshot.issued_on)
    inputs["xml"] = cii.write_cii(einvoice.einvoice_terms_of(snapshot)).decode()
    return declare_einvoice(compile_template(inputs, snapshot.issued_on))


def render_picture(snapshot: Snapshot, logo: bytes | None = None, copy: Copy | None = None) -> bytes:
    """Return a picture of the first page of a document, as WebP."""
    content = build_content(snapshot, copy)
    if logo is not None:
        content["logo"] = _logo_to_svg(logo)
    inputs = {"sheet": json.dumps(content, ensure_ascii=False)}
    pages = _compile(TEMPLATE, inputs, snapshot.issued_on, format="png", ppi=_PICTURE_RESOLUTION)
    page: bytes = pages[0] if isinstance(pages, list) else pages
    with import_lazily("PIL.Image").open(BytesIO(page), formats=("PNG",)) as picture:
        fewer_colours = picture.convert("RGB").quantize(_PICTURE_COLOURS)
    small = BytesIO()
    # A third smaller than as a PNG.
    fewer_colours.save(small, "WEBP", lossless=True)
    return small.getvalue()


def compile_template(inputs: dict[str, str], day: str) -> bytes:
    """Compile the template with these inputs to a PDF, as if at the beginning of this day."""
    pdf: bytes = _compile(TEMPLATE, inputs, day, format="pdf", pdf_standards=["a-3b"])
    return pdf


def render_reports(sheet: str, day: str) -> bytes:
    """Return the PDF of several reports, whose content is given as JSON, as if at the beginning of this day."""
    content = json.dumps(make_printable(json.loads(sheet)), ensure_ascii=False)
    pdf: bytes = _compile(REPORTS_TEMPLATE, {"sheet": content}, day, format="pdf")
    return pdf


def _compile(template: Path, inputs: dict[str, str], day: str, **output: Any) -> Any:
    """Compile a template to the given kind of output."""
    at = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
    with _compiler_lock:
        try:
            # Without its own inputs the compiler would print the previous document, which is another customer's.
            return _compiler(template).compile(sys_inputs=inputs, timestamp=at, **output)
        except BaseException as error:
            if not is_panic(error):
                raise
            # A panic is treated like any other error in one document. The compiler may be damaged, so it is not used
            # again.
            _compiler.cache_clear()
            raise RenderingFailed(f"Typst gave up: {error}") from None


@cache
def _compiler(template: Path) -> Any:
    return import_lazily("typst").Compiler(template, root=template.parent, font_paths=_fonts())


@cache
def _fonts() -> Any:
    typst = import_lazily("typst")
    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[FONTS])


@lru_cache(maxsize=32)
def _logo_to_svg(logo: bytes) -> str:
    """Return a logo as SVG, with no more pixels than are printed, because Typst takes only text as input."""
    with import_lazily("PIL.Image").open(BytesIO(logo), formats=("PNG", "JPEG")) as picture:
        resized = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
        kind = picture.format
    resized.thumbnail((_MAX_LOGO_SIDE, _MAX_LOGO_SIDE))
    small = BytesIO()
    resized.save(small, kind)
    size = f'width="{resized.width}" height="{resized.height}"'
    data = f"data:image/{kind.lower()};base64,{b64encode(small.getvalue()).decode()}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><image {size} href="{data}"/></svg>'
