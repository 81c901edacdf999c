"""Documents a second, beside bare Typst: what words, e-invoice, payment code and the file's own words of it cost.

`python -m bench.papers` measures this part alone.
"""

import json
from dataclasses import dataclass
from itertools import count
from time import perf_counter

import typst

from mainstay.documents import pdf
from mainstay.documents.characters import FONTS
from mainstay.documents.document_content import build_content
from mainstay.documents.snapshot import Snapshot

_LINES = 20


@dataclass(frozen=True, slots=True)
class PdfRates:
    """Invoices of twenty lines that are made in a second: by us, and by Typst of words that are there already."""

    ours: float
    bare: float


def measure_pdfs(seconds: float) -> PdfRates:
    """Make invoices for this long with each, by turns: a busy moment of the machine is felt by both."""
    compiler = _make_compiler()
    ours: list[float] = []
    bare: list[float] = []
    # The first of each loads fonts.
    for number in count():
        # Each is another invoice: Typst remembers what it has laid out before.
        invoice, other = _make_invoice(2 * number), build_content(_make_invoice(2 * number + 1))
        words = {"sheet": json.dumps(other, ensure_ascii=False)}
        began = perf_counter()
        pdf.render_document(invoice)
        between = perf_counter()
        compiler.compile(format="pdf", sys_inputs=words, pdf_standards=["a-3b"], timestamp=0)
        ours.append(between - began)
        bare.append(perf_counter() - between)
        if number and min(sum(ours[1:]), sum(bare[1:])) > seconds:
            break
    return PdfRates(*((len(times) - 1) / sum(times[1:]) for times in (ours, bare)))


def _make_compiler() -> typst.Compiler:
    fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[FONTS])
    return typst.Compiler(pdf.TEMPLATE, root=pdf.TEMPLATE.parent, font_paths=fonts)


def _make_invoice(number: int) -> Snapshot:
    vat = {"id": "vat", "name": "VAT 19 %", "components": [{"name": "VAT", "percent": "19"}]}
    net, tax = f"{_LINES * 100}.00", f"{_LINES * 19}.00"
    address = {"line1": "Werkstraße 5", "city": "Köln", "postalCode": "50667", "country": "DE"}
    return Snapshot.model_validate(
        {
            "kind": "invoice",
            "number": f"INV-{number:06}",
            "currency": "EUR",
            "issuedOn": "2026-11-16",
            "dueOn": "2026-11-30",
            "title": f"Boiler replacement {number}",
            "seller": {
                "name": "Rohr & Söhne",
                "taxNumber": "DE136695976",
                "address": address,
                "bank": {"iban": "DE89370400440532013000"},
            },
            "buyer": {"name": f"Müller Bau {number}", "address": address},
            "taxRates": [vat],
            "lines": [
                {
                    "id": str(place),
                    "description": f"Work {number} of the day {place}",
                    "unit": "h",
                    "unitPrice": "100",
                    "amount": "100.00",
                    "taxRateId": "vat",
                }
                for place in range(_LINES)
            ],
            "totals": {
                "net": net,
                "total": f"{_LINES * 119}.00",
                "tax": [
                    {
                        "taxRateId": "vat",
                        "net": net,
                        "amount": tax,
                        "components": [{"name": "VAT", "percent": "19", "amount": tax}],
                    }
                ],
            },
        }
    )


if __name__ == "__main__":
    found = measure_pdfs(10)
    print(f"{found.ours:.1f} documents a second, bare Typst {found.bare:.1f}: {found.ours / found.bare:.2f} of it")
