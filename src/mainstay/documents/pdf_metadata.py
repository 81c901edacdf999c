"""Add the Factur-X entries to the metadata of a PDF, which say that it contains an e-invoice.

Typst attaches the file but cannot write these entries. They are inserted into the metadata that it wrote. The metadata
is located by the PDF's cross-reference table (never by searching, because the PDF also contains text by customers), and
the table is then rewritten. If a newer Typst writes PDFs differently, this raises an error instead of guessing.
"""

import re

_ENTRIES = {
    "DocumentType": ("INVOICE", "The type of the hybrid document"),
    "DocumentFileName": ("factur-x.xml", "The name of the embedded XML document"),
    "Version": ("1.0", "The version of the XML schema"),
    "ConformanceLevel": ("EN 16931", "The conformance level of the XML document"),
}
_NAMESPACE = b"urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
_SCHEMAS_END = b"</rdf:Bag></pdfaExtension:schemas>"
_DESCRIPTION_END = b"</rdf:Description></rdf:RDF>"

_START = re.compile(rb"startxref\n(\d+)\n%%EOF\s*$")
_DIRECTORY = re.compile(rb"xref\n0 (\d+)\n")
_ENTRY_BYTES = len(b"0000000016 00000 n\r\n")
_ROOT = re.compile(rb"/Root (\d+) 0 R")
_METADATA = re.compile(rb"/Metadata (\d+) 0 R")
_STREAM = re.compile(rb"(\d+ 0 obj\n<</Length )(\d+)(/Type/Metadata/Subtype/XML>>\nstream\n)")


class UnexpectedPdf(Exception):
    """The PDF is not structured as Typst 0.15 does it."""


def declare_einvoice(pdf: bytes) -> bytes:
    """Return the same PDF with metadata that declares the attached e-invoice."""
    start = int(_search(_START, pdf, max(0, len(pdf) - 64))[1])
    count = int(_match_at(_DIRECTORY, pdf, start)[1])
    entries = start + len(f"xref\n0 {count}\n")
    offsets = [int(pdf[entries + _ENTRY_BYTES * number :][:10]) for number in range(count)]

    catalogue = offsets[int(_search(_ROOT, pdf, entries + _ENTRY_BYTES * count)[1])]
    metadata = _match_at(_STREAM, pdf, offsets[int(_search(_METADATA, pdf, catalogue)[1])])
    length = int(metadata[2])
    packet = _add_entries(pdf[metadata.end() : metadata.end() + length])

    metadata_object = metadata[1] + str(len(packet)).encode() + metadata[3] + packet
    growth = len(metadata_object) - (metadata.end() - metadata.start()) - length
    rest = pdf[metadata.end() + length : entries]
    directory = b"".join(
        b"%010d" % (offset + growth if offset > metadata.start() else offset)
        + pdf[entries + _ENTRY_BYTES * number + 10 : entries + _ENTRY_BYTES * (number + 1)]
        for number, offset in enumerate(offsets)
    )
    trailer = pdf[entries + _ENTRY_BYTES * count : pdf.rindex(b"startxref")]
    return (
        pdf[: metadata.start()]
        + metadata_object
        + rest
        + directory
        + trailer
        + b"startxref\n%d\n%%%%EOF" % (start + growth)
    )


def _add_entries(packet: bytes) -> bytes:
    """Return the metadata with the Factur-X entries and their schema."""
    if packet.count(_SCHEMAS_END) != 1 or packet.count(_DESCRIPTION_END) != 1:
        raise UnexpectedPdf
    properties = "".join(
        '<rdf:li rdf:parseType="Resource"><pdfaProperty:category>external</pdfaProperty:category>'
        f"<pdfaProperty:description>{about}</pdfaProperty:description><pdfaProperty:name>{name}</pdfaProperty:name>"
        "<pdfaProperty:valueType>Text</pdfaProperty:valueType></rdf:li>"
        for name, (_, about) in _ENTRIES.items()
    ).encode()
    schema = (
        b'<rdf:li rdf:parseType="Resource"><pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>'
        b"<pdfaSchema:namespaceURI>"
        + _NAMESPACE
        + b"</pdfaSchema:namespaceURI><pdfaSchema:prefix>fx</pdfaSchema:prefix>"
        b"<pdfaSchema:property><rdf:Seq>" + properties + b"</rdf:Seq></pdfaSchema:property></rdf:li>"
    )
    values = "".join(f"<fx:{name}>{value}</fx:{name}>" for name, (value, _) in _ENTRIES.items()).encode()
    description = b'<rdf:Description rdf:about="" xmlns:fx="' + _NAMESPACE + b'">' + values + b"</rdf:Description>"
    return packet.replace(_SCHEMAS_END, schema + _SCHEMAS_END).replace(
        _DESCRIPTION_END, b"</rdf:Description>" + description + b"</rdf:RDF>"
    )


def _search(pattern: re.Pattern[bytes], pdf: bytes, start: int) -> re.Match[bytes]:
    found = pattern.search(pdf, start)
    if found is None:
        raise UnexpectedPdf
    return found


def _match_at(pattern: re.Pattern[bytes], pdf: bytes, start: int) -> re.Match[bytes]:
    found = pattern.match(pdf, start)
    if found is None:
        raise UnexpectedPdf
    return found
