"""Write an e-invoice as OASIS Universal Business Language 2.1, which the Peppol network uses."""

from decimal import Decimal
from xml.etree.ElementTree import Element

from mainstay.documents.einvoice import EInvoiceTerms, PartyTerms, PaymentTerms
from mainstay.documents.einvoice_lines import Allowance, InvoiceLine, TaxKind
from mainstay.documents.snapshot import AddressSnapshot, PrecedingSnapshot
from mainstay.documents.xml_writer import XmlContent, element, write_document

_SCHEMA_URN = "urn:oasis:names:specification:ubl:schema:xsd:{name}-2"
_NAMESPACES = {
    "xmlns:cac": _SCHEMA_URN.format(name="CommonAggregateComponents"),
    "xmlns:cbc": _SCHEMA_URN.format(name="CommonBasicComponents"),
}
_EN16931 = "urn:cen.eu:en16931:2017"
_PEPPOL = f"{_EN16931}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
_PEPPOL_PROCESS = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
_DISCOUNT = "95"  # UNTDID 5189


def write_ubl(terms: EInvoiceTerms) -> bytes:
    """Return the XML of an e-invoice."""
    return _UblWriter(terms).write()


class _UblWriter:
    """Writes one e-invoice. It is a class because nearly every amount needs the currency."""

    def __init__(self, terms: EInvoiceTerms) -> None:
        self.terms = terms
        self.is_credit_note = terms.is_credit_note

    def write(self) -> bytes:
        terms, is_credit_note = self.terms, self.is_credit_note
        name = "CreditNote" if is_credit_note else "Invoice"
        return write_document(
            name,
            {"xmlns": _SCHEMA_URN.format(name=name), **_NAMESPACES},
            element("cbc:CustomizationID", _PEPPOL if terms.for_peppol else _EN16931),
            element("cbc:ProfileID", _PEPPOL_PROCESS if terms.for_peppol else None),
            element("cbc:ID", terms.number),
            element("cbc:IssueDate", terms.issued_on),
            element("cbc:DueDate", None if is_credit_note else terms.due_on),
            element(f"cbc:{name}TypeCode", terms.code),
            element("cbc:Note", terms.note),
            element("cbc:DocumentCurrencyCode", terms.currency),
            element("cbc:BuyerReference", terms.reference),
            self._write_period(),
            element("cac:OrderReference", element("cbc:ID", terms.order_number)),
            *(_write_preceding(invoice) for invoice in terms.preceding),
            element("cac:AccountingSupplierParty", _write_party(terms.seller)),
            element("cac:AccountingCustomerParty", _write_party(terms.buyer)),
            self._write_delivery(),
            self._write_payment(terms.payment) if terms.payment else None,
            element("cac:PaymentTerms", element("cbc:Note", terms.payment_note)),
            *(self._write_allowance(allowance) for allowance in terms.allowances),
            self._write_taxes(),
            self._write_sums(),
            *(self._write_line(line) for line in terms.lines),
        )

    def _write_amount(self, name: str, amount: Decimal | None) -> Element | None:
        return element(name, amount, currencyID=self.terms.currency)

    def _write_period(self) -> Element | None:
        start, end = self.terms.period or (None, None)
        return element("cac:InvoicePeriod", element("cbc:StartDate", start), element("cbc:EndDate", end))

    def _write_delivery(self) -> Element | None:
        name, address = self.terms.deliver_to or (None, AddressSnapshot())
        return element(
            "cac:Delivery",
            element("cbc:ActualDeliveryDate", self.terms.delivered_on),
            element("cac:DeliveryLocation", _write_address("cac:Address", address)),
            element("cac:DeliveryParty", element("cac:PartyName", element("cbc:Name", name))),
        )

    def _write_payment(self, payment: PaymentTerms) -> Element | None:
        return element(
            "cac:PaymentMeans",
            element("cbc:PaymentMeansCode", payment.code),
            element("cbc:PaymentID", self.terms.number),
            element(
                "cac:PayeeFinancialAccount",
                element("cbc:ID", payment.account),
                element("cbc:Name", payment.holder),
                element("cac:FinancialInstitutionBranch", element("cbc:ID", payment.bic)),
            ),
        )

    def _write_allowance(self, allowance: Allowance, *, of_line: bool = False) -> Element | None:
        return element(
            "cac:AllowanceCharge",
            element("cbc:ChargeIndicator", "true" if allowance.is_charge else "false"),
            element("cbc:AllowanceChargeReasonCode", None if allowance.is_charge else _DISCOUNT),
            element("cbc:AllowanceChargeReason", allowance.reason),
            element("cbc:MultiplierFactorNumeric", allowance.percent),
            self._write_amount("cbc:Amount", abs(allowance.amount)),
            self._write_amount("cbc:BaseAmount", allowance.base),
            None if of_line else _write_tax("cac:TaxCategory", allowance.kind),
        )

    def _write_taxes(self) -> Element | None:
        return element(
            "cac:TaxTotal",
            self._write_amount("cbc:TaxAmount", self.terms.tax),
            *(
                element(
                    "cac:TaxSubtotal",
                    self._write_amount("cbc:TaxableAmount", group.net),
                    self._write_amount("cbc:TaxAmount", group.tax),
                    # Peppol requires a percentage here even outside of tax: zero.
                    _write_tax("cac:TaxCategory", group.kind, group.reason, outside=Decimal(0)),
                )
                for group in self.terms.taxes
            ),
        )

    def _write_sums(self) -> Element | None:
        terms = self.terms
        return element(
            "cac:LegalMonetaryTotal",
            self._write_amount("cbc:LineExtensionAmount", terms.lines_net),
            self._write_amount("cbc:TaxExclusiveAmount", terms.net),
            self._write_amount("cbc:TaxInclusiveAmount", terms.total),
            self._write_amount("cbc:AllowanceTotalAmount", terms.sum_allowances(charges=False)),
            self._write_amount("cbc:ChargeTotalAmount", terms.sum_allowances(charges=True)),
            self._write_amount("cbc:PrepaidAmount", terms.total - terms.due or None),
            self._write_amount("cbc:PayableAmount", terms.due),
        )

    def _write_line(self, line: InvoiceLine) -> Element | None:
        return element(
            "cac:CreditNoteLine" if self.is_credit_note else "cac:InvoiceLine",
            element("cbc:ID", line.id),
            element(
                "cbc:CreditedQuantity" if self.is_credit_note else "cbc:InvoicedQuantity",
                line.quantity,
                unitCode=line.unit,
            ),
            self._write_amount("cbc:LineExtensionAmount", line.net),
            self._write_allowance(line.allowance, of_line=True) if line.allowance else None,
            element(
                "cac:Item",
                element("cbc:Description", line.description),
                element("cbc:Name", line.name),
                _write_tax("cac:ClassifiedTaxCategory", line.kind),
            ),
            element("cac:Price", self._write_amount("cbc:PriceAmount", line.price)),
        )


def _write_party(party: PartyTerms) -> Element | None:
    scheme, identifier = party.network or ("", None)
    return element(
        "cac:Party",
        element("cbc:EndpointID", identifier, schemeID=scheme),
        element("cac:PartyName", element("cbc:Name", party.trading_name)),
        _write_address("cac:PostalAddress", party.address),
        _write_tax_scheme(party.vat_number, "VAT"),
        _write_tax_scheme(party.tax_number, "TAX"),
        element(
            "cac:PartyLegalEntity",
            element("cbc:RegistrationName", party.name),
            element("cbc:CompanyID", party.registration, schemeID=party.register),
        ),
        element(
            "cac:Contact",
            element("cbc:Name", party.contact),
            element("cbc:Telephone", party.phone),
            element("cbc:ElectronicMail", party.email),
        ),
    )


def _write_tax_scheme(number: str | None, scheme: str) -> Element | None:
    if number is None:
        return None
    return element(
        "cac:PartyTaxScheme", element("cbc:CompanyID", number), element("cac:TaxScheme", element("cbc:ID", scheme))
    )


def _write_address(name: str, address: AddressSnapshot) -> Element | None:
    return element(
        name,
        element("cbc:StreetName", address.line1),
        element("cbc:AdditionalStreetName", address.line2),
        element("cbc:CityName", address.city),
        element("cbc:PostalZone", address.postal_code),
        element("cbc:CountrySubentity", address.region),
        element("cac:Country", element("cbc:IdentificationCode", address.country)),
    )


def _write_tax(name: str, kind: TaxKind, reason: str | None = None, outside: XmlContent = None) -> Element | None:
    return element(
        name,
        element("cbc:ID", kind.category),
        # Outside of tax there is no percentage (BR-O-05).
        element("cbc:Percent", outside if kind.category == "O" else kind.percent),
        element("cbc:TaxExemptionReason", reason),
        element("cac:TaxScheme", element("cbc:ID", "VAT")),
    )


def _write_preceding(invoice: PrecedingSnapshot) -> Element | None:
    return element(
        "cac:BillingReference",
        element(
            "cac:InvoiceDocumentReference",
            element("cbc:ID", invoice.number),
            element("cbc:IssueDate", invoice.issued_on),
        ),
    )
