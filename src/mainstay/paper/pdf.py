"""PDFs: beautiful to read, the same bytes whenever they are made, and with the e-invoice inside where there is one.

A letter no font has would stop the making, so none is left by `sheet.py`. What others wrote is handed to Typst as data
and never as code. One process makes documents: letters and their shapes take 200 MB of memory once they are loaded.
"""

import json
from base64 import b64encode
from datetime import UTC, datetime
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from mainstay.late import late
from mainstay.paper import cii, einvoice
from mainstay.paper.letters import FONTS
from mainstay.paper.sheet import sheet_of
from mainstay.paper.snapshot import Snapshot
from mainstay.paper.xmp import with_einvoice
from mainstay.values.panics import is_panic

Copy = Literal["void", "draft"]


class NotPrinted(Exception):
    """The document cannot be made."""


# Alone in its folder, which is all that Typst may read.
TEMPLATE = Path(__file__).parent / "layout" / "template.typ"
_LONGEST_SIDE = 600  # dots of a logo: three hundred an inch at the width it is printed
_one_at_a_time = Lock()


def render(snapshot: Snapshot, logo: bytes | None = None, copy: Copy | None = None) -> bytes:
    """The PDF of a document; `copy` stamps it, and leaves out the e-invoice, which a stamp would not change.

    `logo` is a PNG or JPEG picture.
    """
    sheet = sheet_of(snapshot, copy)
    if logo is not None:
        sheet["logo"] = _drawn(logo)
    inputs = {"sheet": json.dumps(sheet, ensure_ascii=False)}
    if copy is not None or einvoice.standing(snapshot).e_invoice.status != "included":
        return compiled(inputs, snapshot.issued_on)
    inputs["xml"] = cii.written(einvoice.terms_of(snapshot)).decode()
    return with_einvoice(compiled(inputs, snapshot.issued_on))


def compiled(inputs: dict[str, str], on: str) -> bytes:
    """The template with these inputs, as if it were made at the beginning of this day."""
    at = int(datetime.fromisoformat(on).replace(tzinfo=UTC).timestamp())
    with _one_at_a_time:
        try:
            # Without inputs of its own the compiler would print the document before, of another customer.
            made: bytes = _compiler().compile(format="pdf", sys_inputs=inputs, pdf_standards=["a-3b"], timestamp=at)
        except BaseException as fault:
            if not is_panic(fault):
                raise
            # As any other fault of one document, which ends nothing but its own making; what is left is not trusted.
            _compiler.cache_clear()
            raise NotPrinted(f"Typst gave up: {fault}") from None
    return made


@cache
def _compiler() -> Any:
    typst = late("typst")
    fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[FONTS])
    return typst.Compiler(TEMPLATE, root=TEMPLATE.parent, font_paths=fonts)


@lru_cache(maxsize=32)
def _drawn(logo: bytes) -> str:
    """A logo with no more dots than are printed, inside a drawing: Typst takes text only."""
    with late("PIL.Image").open(BytesIO(logo), formats=("PNG", "JPEG")) as picture:
        drawn = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
        kind = picture.format
    drawn.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    small = BytesIO()
    drawn.save(small, kind)
    size = f'width="{drawn.width}" height="{drawn.height}"'
    data = f"data:image/{kind.lower()};base64,{b64encode(small.getvalue()).decode()}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><image {size} href="{data}"/></svg>'
