"""PDFs: the same bytes ever after, one customer's words on one customer's document, and the e-invoice inside."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdf
import pytest
from facturx import get_facturx_xml_from_pdf
from PIL import Image

from mainstay.documents import cii
from mainstay.documents.einvoice import check_einvoice, einvoice_terms_of
from mainstay.documents.pdf import TEMPLATE, RenderingFailed, _compiler, compile_template, render_document
from mainstay.documents.pdf_metadata import UnexpectedPdf, declare_einvoice
from mainstay.documents.snapshot import Snapshot
from support.snapshots import (
    BUYER,
    GST_QST,
    NASTY_TEXTS,
    SELLER,
    VAT7,
    SnapshotItem,
    make_random_snapshot,
    make_snapshot,
)

E_INVOICES = [seed for seed in range(12) if check_einvoice(make_random_snapshot(seed)).e_invoice.status == "included"]


def read_pdf(pdf: bytes) -> pypdf.PdfReader:
    return pypdf.PdfReader(BytesIO(pdf), strict=True)


def text_of(pdf: bytes) -> str:
    return "\n".join(page.extract_text() for page in read_pdf(pdf).pages)


def words_of(pdf: bytes) -> str:
    """All words without the spaces between them, which readers put where lines end."""
    return "".join(text_of(pdf).split())


def draw_logo() -> bytes:
    drawn = BytesIO()
    Image.new("RGBA", (1000, 300), (200, 80, 20, 128)).save(drawn, "PNG")
    return drawn.getvalue()


def test_an_invoice_says_what_it_is_about() -> None:
    text = text_of(
        render_document(
            make_snapshot(SnapshotItem("Boiler\n24 kW", "2", "379"), title="New boiler", orderNumber="PO 77")
        )
    )
    for said in ("Invoice", "INV-0207", "16 November 2026", "Müller Bau AG", "Boiler", "24 kW", "758.00", "902.02"):
        assert said in text, said
    for said in ("New boiler", "PO 77", "VAT 19% on 758.00", "DE89 3704 0044 0532 0130 00", "Page 1 of 1"):
        assert said in text, said


@pytest.mark.parametrize(("name", "named"), [("2 Weir Lane", 0), ("North barn", 1), (None, 0)])
def test_a_site_that_is_called_by_its_address_is_printed_once(name: str | None, named: int) -> None:
    place = {"line1": "2 Weir Lane", "city": "Bonn", "country": "DE"}
    made = make_snapshot(SnapshotItem(), site={"name": name, "address": place})
    text = text_of(render_document(made))
    assert text.count("2 Weir Lane") == 1
    assert text.count("North barn") == named
    # Nor is an address the name of a place to deliver to in the e-invoice.
    deliver_to = einvoice_terms_of(made).deliver_to
    assert deliver_to
    assert deliver_to[0] == ("North barn" if named else None)


def test_it_is_the_same_bytes_whenever_it_is_made() -> None:
    made = render_document(make_snapshot(SnapshotItem()), logo=draw_logo())
    render_document(make_random_snapshot(3))
    assert render_document(make_snapshot(SnapshotItem()), logo=draw_logo()) == made


def test_it_is_the_same_bytes_in_another_process() -> None:
    code = (
        "import sys\nfrom mainstay.documents.pdf import render_document\n"
        "from support.snapshots import make_random_snapshot\n"
        "sys.stdout.buffer.write(render_document(make_random_snapshot(5)))"
    )
    path = {"PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=path
    ).stdout == render_document(make_random_snapshot(5))


def test_one_customer_never_reads_what_another_was_sent() -> None:
    first = render_document(
        make_snapshot(
            SnapshotItem("Secret of the first"), buyer={**BUYER, "name": "First Ltd"}, notes="For the first only"
        )
    )
    second = render_document(make_snapshot(SnapshotItem("Other work"), buyer={**BUYER, "name": "Second Ltd"}))
    assert "First Ltd" in text_of(first)
    assert "First" not in text_of(second)
    assert "first" not in text_of(second)
    # Where nothing is handed in, nothing is printed: the compiler still holds the one before.
    with pytest.raises(RuntimeError, match="sheet"):
        compile_template({}, "2026-11-16")


def test_documents_asked_for_at_once_are_made_one_after_the_other() -> None:
    with ThreadPoolExecutor(4) as threads:
        made = list(
            threads.map(lambda number: render_document(make_snapshot(SnapshotItem(), number=f"INV-{number}")), range(8))
        )
    assert [f"INV-{number}" in text_of(pdf) for number, pdf in enumerate(made)] == [True] * 8


@pytest.mark.parametrize("seed", E_INVOICES)
def test_the_e_invoice_inside_is_what_was_written(seed: int) -> None:
    snapshot = make_random_snapshot(seed)
    pdf = render_document(snapshot)
    reader = read_pdf(pdf)
    assert [*reader.attachments] == ["factur-x.xml"]
    assert reader.attachments["factur-x.xml"] == [cii.write_cii(einvoice_terms_of(snapshot))]
    root: Any = reader.trailer["/Root"]
    (file,) = (each.get_object() for each in root["/AF"])
    assert (file["/AFRelationship"], file["/EF"]["/F"]["/Subtype"]) == ("/Alternative", "/text/xml")
    metadata = root["/Metadata"].get_data().decode()
    for fact in ("<fx:DocumentFileName>factur-x.xml<", "<fx:ConformanceLevel>EN 16931<", "<pdfaid:part>3<"):
        assert fact in metadata
    # A library that reads e-invoices finds it too, and by its own rules.
    name, xml = get_facturx_xml_from_pdf(pdf, check_xsd=True, check_schematron=False)
    assert (name, xml) == ("factur-x.xml", cii.write_cii(einvoice_terms_of(snapshot)))


@pytest.mark.parametrize(
    ("snapshot", "copy"),
    [
        (make_snapshot(SnapshotItem(), kind="quote"), None),
        (make_snapshot(SnapshotItem(rate=GST_QST)), None),
        (make_snapshot(SnapshotItem(), dueOn=None), None),
        (make_snapshot(SnapshotItem()), "void"),
    ],
    ids=["a quote", "two taxes", "incomplete", "a stamped copy"],
)
def test_what_is_no_e_invoice_says_nothing_of_one(snapshot: Snapshot, copy: Any) -> None:
    reader = read_pdf(render_document(snapshot, copy=copy))
    assert [*reader.attachments] == []
    root: Any = reader.trailer["/Root"]
    assert b"factur-x" not in root["/Metadata"].get_data()


def test_the_directory_of_the_file_is_right_where_readers_would_forgive_it() -> None:
    pdf = render_document(make_snapshot(SnapshotItem()))
    start = int(pdf[pdf.rindex(b"startxref") :].split()[1])
    head = re.compile(rb"xref\n0 (\d+)\n").match(pdf, start)
    assert head is not None
    entries = [pdf[head.end() + 20 * number :][:20] for number in range(int(head[1]))]
    for number, entry in enumerate(entries[1:], 1):
        assert pdf[int(entry[:10]) :].startswith(b"%d 0 obj\n" % number)
    metadata = re.search(rb"<</Length (\d+)/Type/Metadata/Subtype/XML>>\nstream\n", pdf)
    assert metadata is not None
    assert pdf[metadata.end() + int(metadata[1]) :].startswith(b"\nendstream")


def test_another_form_of_pdf_is_refused() -> None:
    pdf = render_document(make_snapshot(SnapshotItem(), kind="quote"))
    with pytest.raises(UnexpectedPdf):
        declare_einvoice(pdf.replace(b"</pdfaExtension:schemas>", b"</pdfaExtension:Schemas>"))
    with pytest.raises(UnexpectedPdf):
        declare_einvoice(b"%PDF-1.7")


def test_what_others_wrote_is_printed_and_never_run() -> None:
    code = '#eval("1+1") #read("/etc/passwd") $x^2$ @ref *b* _i_ `raw` \\ {x} [y] // <script>alert(1)</script>'
    party = {**BUYER, "name": code, "contactName": code, "taxNumber": code, "address": {"line1": code, "city": code}}
    given: dict[str, Any] = dict.fromkeys(
        ("title", "reference", "orderNumber", "notes", "terms", "reason", "number"), code
    )
    snapshot = make_snapshot(
        SnapshotItem(
            f"{code}\n{code}", unit=code, rate={**VAT7, "note": code, "components": [{"name": code, "percent": "7"}]}
        ),
        f"# {code}",
        code,
        kind="creditNote",
        seller={**SELLER, **party, "legalName": code, "registrationNumber": code, "email": code, "phone": code},
        buyer=party,
        site={"name": code, "address": {"line1": f"{code} 2"}},
        job={"number": code},
        preceding=[{"number": code}],
        **given,
    )
    expected = "".join(code.split())
    assert words_of(render_document(snapshot)).count(expected) >= 25


@pytest.mark.parametrize(
    "text",
    [
        *NASTY_TEXTS,
        "👨‍👩‍👧 \U0001f9ff",
        "ab\u202edcba\u2069",
        "\u0e01\u0e33 \u3042 \uac00 \U00020000",
        "e\u0301\u0323\u05b0\u0651",
    ],
)
def test_no_letter_stops_a_document(text: str) -> None:
    words: dict[str, Any] = dict.fromkeys(("title", "notes", "terms", "reference"), text)
    assert (
        len(
            read_pdf(
                render_document(make_snapshot(SnapshotItem(text), f"# {text}", buyer={**BUYER, "name": text}, **words))
            ).pages
        )
        == 1
    )


def test_right_to_left_is_printed_in_its_letters() -> None:
    text = text_of(render_document(make_snapshot(SnapshotItem("עבודות צנרת"), SnapshotItem("صيانة"), title="تركيب")))
    assert "עבודות" in text or "תודובע" in text
    assert "\N{WHITE SQUARE}" not in text


def test_sixty_lines_go_over_pages_and_are_carried_forward() -> None:
    reader = read_pdf(
        render_document(make_snapshot(*[SnapshotItem(f"Position {place}", price="1") for place in range(1, 61)]))
    )
    pages = [page.extract_text() for page in reader.pages]
    assert len(pages) == 3
    assert all(f"Page {number} of 3" in page for number, page in enumerate(pages, 1))
    carried = [line for line in pages[0].splitlines() if "Carried forward" in line or "Brought forward" in line]
    assert len(carried) == 1
    assert "Brought forward" in pages[1]
    assert "Carried forward" not in pages[2]


def test_a_heading_never_stands_alone_at_the_end_of_a_page() -> None:
    for lines in range(26, 32):
        items = [SnapshotItem(f"Position {place}") for place in range(lines)]
        pages = [
            page.extract_text()
            for page in read_pdf(
                render_document(make_snapshot(*items, "# Materials", SnapshotItem("First of it")))
            ).pages
        ]
        assert [page for page in pages if "Materials" in page] == [page for page in pages if "First of it" in page]


@pytest.mark.parametrize(
    "lines",
    [
        ("# Ground floor", "# Bathroom", SnapshotItem("Tiles")),
        ("# Ground floor", "# Bathroom", "# Walls", "As agreed", SnapshotItem("Tiles"), "# Kitchen", "# Floor"),
        ("# Long \n" * 70, "# Bathroom", SnapshotItem("Tiles")),
        (*(f"# Heading {number}" for number in range(99)), SnapshotItem("Tiles")),
        ("# Ground floor", "# Bathroom"),
    ],
)
def test_headings_that_follow_each_other_are_all_printed(lines: tuple[str | SnapshotItem, ...]) -> None:
    text = text_of(render_document(make_snapshot(*lines)))
    said = [line.removeprefix("# ").strip() for line in lines if isinstance(line, str) and "\n" not in line]
    assert [heading for heading in said if heading not in text] == []
    assert text.count("Long") == (70 if "Long" in str(lines[0]) else 0)


def test_where_typst_gives_up_only_that_document_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = "table.header(level: 2, repeat: false, [Heading])"
    stumbling = tmp_path / "template.typ"
    stumbling.write_text(f"#v(500pt)\n#table(table.header([Title]), {header}, {header}, [Line])")
    with monkeypatch.context() as patched:
        patched.setattr("mainstay.documents.pdf.TEMPLATE", stumbling)
        _compiler.cache_clear()
        with pytest.raises(RenderingFailed, match="Typst gave up"):
            compile_template({}, "2026-11-16")
    # What made the other is not asked again.
    assert "INV-0207" in text_of(render_document(make_snapshot(SnapshotItem())))


def test_a_void_copy_is_stamped_and_says_the_same() -> None:
    plain, void = (
        text_of(render_document(make_snapshot(SnapshotItem()))),
        text_of(render_document(make_snapshot(SnapshotItem()), copy="void")),
    )
    assert "VOID" not in plain
    assert "VOID" in void
    assert "INV-0207" in void


@pytest.mark.parametrize(
    ("snapshot", "said"),
    [
        (
            make_snapshot(SnapshotItem(), kind="quote", validUntil="2026-12-16"),
            ["Quote", "Valid until", "Accept this quote", "Signature"],
        ),
        (
            make_snapshot(SnapshotItem(), SnapshotItem("Extra", optional=True, chosen=False), kind="quote"),
            ["Option", "not part of the total", "119.00"],
        ),
        (make_snapshot(SnapshotItem(), kind="quote", revision=3), ["Q-0318, revision 3"]),
        (
            make_snapshot(SnapshotItem(), kind="quote", deposit={"percent": "30", "amount": "35.70"}),
            ["Deposit on acceptance, 30%", "35.70"],
        ),
        (
            make_snapshot(SnapshotItem(), kind="creditNote", reason="Returned"),
            ["Credit note", "corrects invoice INV-0207 dated 2 November 2026", "Returned"],
        ),
        (
            make_snapshot(SnapshotItem(), kind="purchaseOrder", seller=BUYER, buyer=SELLER),
            ["Purchase order", "Supplier", "state PO-0031"],
        ),
        (
            make_snapshot(SnapshotItem(), kind="purchaseOrder", seller=BUYER, buyer=SELLER, collected=True),
            ["We will collect this order."],
        ),
        (make_snapshot(SnapshotItem(), type="deposit"), ["Deposit invoice"]),
        (make_snapshot(SnapshotItem(), type="final"), ["Final invoice"]),
        (make_snapshot(SnapshotItem(), type="final", kind="creditNote"), ["Credit note"]),
        (make_snapshot(SnapshotItem(), language="de"), ["Rechnung", "Zu zahlen", "119,00", "16. November 2026"]),
        (make_snapshot(SnapshotItem(price="0")), ["nothing left to pay"]),
        (make_snapshot(SnapshotItem(), pricesIncludeTax=True), ["Prices include tax", "84.03", "15.97"]),
        (make_snapshot(SnapshotItem(rate=GST_QST, price="140")), ["GST 5% on 140.00", "QST 9.975% on 140.00", "13.97"]),
    ],
)
def test_each_kind_of_document_says_what_it_should(snapshot: Snapshot, said: list[str]) -> None:
    text = " ".join(text_of(render_document(snapshot)).split())
    for words in said:
        assert words in text, words


@pytest.mark.parametrize("kind", ["invoice", "creditNote", "quote", "purchaseOrder"])
def test_a_document_of_which_hardly_anything_is_known_is_made(kind: str) -> None:
    bare = {
        "kind": kind,
        "number": "1",
        "currency": "EUR",
        "issuedOn": "2026-11-16",
        "totals": {"net": "0", "total": "0"},
    }
    text = text_of(
        render_document(Snapshot.model_validate({**bare, "seller": {"name": "Seller"}, "buyer": {"name": "Buyer"}}))
    )
    assert "Seller" in text
    assert "Buyer" in text


def test_the_template_can_read_nothing_but_itself() -> None:
    assert [path.name for path in TEMPLATE.parent.iterdir()] == ["template.typ"]


def test_a_logo_stands_instead_of_the_name() -> None:
    with_logo, without = (
        read_pdf(render_document(make_snapshot(SnapshotItem()), logo=draw_logo())),
        read_pdf(render_document(make_snapshot(SnapshotItem()))),
    )
    assert len(with_logo.pages[0].images) - len(without.pages[0].images) >= 1
    # Large pictures are made small: what is printed needs no more dots.
    assert max(image.image.width for image in with_logo.pages[0].images if image.image) <= 600


def test_importing_it_loads_no_library_that_makes_documents() -> None:
    code = "import sys, mainstay.documents.pdf, mainstay.documents.ubl; sys.stdout.write(' '.join(sys.modules))"
    path = {"PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=path).stdout
    assert {"typst", "segno", "babel", "PIL"}.isdisjoint(found.split())
