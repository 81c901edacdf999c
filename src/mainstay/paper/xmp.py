"""Says in a PDF that an e-invoice is inside: the words of Factur-X among what the file tells of itself.

Typst attaches the file but cannot write these words. They are put into the metadata it wrote, which is found by the
file's own directory (never by searching: customers' words are in the file too), and the directory is written anew.
Where a newer Typst writes another form, this refuses instead of guessing.
"""

import re

_FACTS = {
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
_ENTRY = len(b"0000000016 00000 n\r\n")
_ROOT = re.compile(rb"/Root (\d+) 0 R")
_METADATA = re.compile(rb"/Metadata (\d+) 0 R")
_STREAM = re.compile(rb"(\d+ 0 obj\n<</Length )(\d+)(/Type/Metadata/Subtype/XML>>\nstream\n)")


class UnknownForm(Exception):
    """The PDF is not written as Typst 0.15 writes it."""


def with_einvoice(pdf: bytes) -> bytes:
    """The same document, which now says what its attachment is."""
    start = int(_found(_START, pdf, max(0, len(pdf) - 64))[1])
    count = int(_at(_DIRECTORY, pdf, start)[1])
    entries = start + len(f"xref\n0 {count}\n")
    places = [int(pdf[entries + _ENTRY * number :][:10]) for number in range(count)]

    catalogue = places[int(_found(_ROOT, pdf, entries + _ENTRY * count)[1])]
    metadata = _at(_STREAM, pdf, places[int(_found(_METADATA, pdf, catalogue)[1])])
    length = int(metadata[2])
    packet = _told(pdf[metadata.end() : metadata.end() + length])

    written = metadata[1] + str(len(packet)).encode() + metadata[3] + packet
    longer = len(written) - (metadata.end() - metadata.start()) - length
    behind = pdf[metadata.end() + length : entries]
    directory = b"".join(
        b"%010d" % (place + longer if place > metadata.start() else place)
        + pdf[entries + _ENTRY * number + 10 : entries + _ENTRY * (number + 1)]
        for number, place in enumerate(places)
    )
    trailer = pdf[entries + _ENTRY * count : pdf.rindex(b"startxref")]
    return (
        pdf[: metadata.start()] + written + behind + directory + trailer + b"startxref\n%d\n%%%%EOF" % (start + longer)
    )


def _told(packet: bytes) -> bytes:
    """The metadata, with what Factur-X has to say and with the form of it."""
    if packet.count(_SCHEMAS_END) != 1 or packet.count(_DESCRIPTION_END) != 1:
        raise UnknownForm
    properties = "".join(
        '<rdf:li rdf:parseType="Resource"><pdfaProperty:category>external</pdfaProperty:category>'
        f"<pdfaProperty:description>{about}</pdfaProperty:description><pdfaProperty:name>{name}</pdfaProperty:name>"
        "<pdfaProperty:valueType>Text</pdfaProperty:valueType></rdf:li>"
        for name, (_, about) in _FACTS.items()
    ).encode()
    schema = (
        b'<rdf:li rdf:parseType="Resource"><pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>'
        b"<pdfaSchema:namespaceURI>"
        + _NAMESPACE
        + b"</pdfaSchema:namespaceURI><pdfaSchema:prefix>fx</pdfaSchema:prefix>"
        b"<pdfaSchema:property><rdf:Seq>" + properties + b"</rdf:Seq></pdfaSchema:property></rdf:li>"
    )
    facts = "".join(f"<fx:{name}>{value}</fx:{name}>" for name, (value, _) in _FACTS.items()).encode()
    description = b'<rdf:Description rdf:about="" xmlns:fx="' + _NAMESPACE + b'">' + facts + b"</rdf:Description>"
    return packet.replace(_SCHEMAS_END, schema + _SCHEMAS_END).replace(
        _DESCRIPTION_END, b"</rdf:Description>" + description + b"</rdf:RDF>"
    )


def _found(pattern: re.Pattern[bytes], pdf: bytes, start: int) -> re.Match[bytes]:
    found = pattern.search(pdf, start)
    if found is None:
        raise UnknownForm
    return found


def _at(pattern: re.Pattern[bytes], pdf: bytes, start: int) -> re.Match[bytes]:
    found = pattern.match(pdf, start)
    if found is None:
        raise UnknownForm
    return found
