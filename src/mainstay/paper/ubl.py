"""An e-invoice in the form of OASIS (Universal Business Language 2.1), which the Peppol network carries."""

from decimal import Decimal
from xml.etree.ElementTree import Element

from mainstay.paper.einvoice import PartyTerms, PaymentTerms, Terms
from mainstay.paper.einvoice_lines import Allowance, InvoiceLine, Tax
from mainstay.paper.snapshot import Place, Preceding
from mainstay.paper.tree import Content, document, element

_ROOT = "urn:oasis:names:specification:ubl:schema:xsd:{name}-2"
_NAMESPACES = {
    "xmlns:cac": _ROOT.format(name="CommonAggregateComponents"),
    "xmlns:cbc": _ROOT.format(name="CommonBasicComponents"),
}
_NORM = "urn:cen.eu:en16931:2017"
_PEPPOL = f"{_NORM}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
_PEPPOL_PROCESS = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
_DISCOUNT = "95"  # UNTDID 5189


def written(terms: Terms) -> bytes:
    """The XML."""
    return _Writer(terms).document()


class _Writer:
    """Writes one e-invoice: nearly every amount says its currency."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.credit = terms.is_credit_note

    def document(self) -> bytes:
        terms, credit = self.terms, self.credit
        name = "CreditNote" if credit else "Invoice"
        return document(
            name,
            {"xmlns": _ROOT.format(name=name), **_NAMESPACES},
            element("cbc:CustomizationID", _PEPPOL if terms.for_peppol else _NORM),
            element("cbc:ProfileID", _PEPPOL_PROCESS if terms.for_peppol else None),
            element("cbc:ID", terms.number),
            element("cbc:IssueDate", terms.issued_on),
            element("cbc:DueDate", None if credit else terms.due_on),
            element(f"cbc:{name}TypeCode", terms.code),
            element("cbc:Note", terms.note),
            element("cbc:DocumentCurrencyCode", terms.currency),
            element("cbc:BuyerReference", terms.reference),
            self._period(),
            element("cac:OrderReference", element("cbc:ID", terms.order_number)),
            *(_preceding(invoice) for invoice in terms.preceding),
            element("cac:AccountingSupplierParty", _party(terms.seller)),
            element("cac:AccountingCustomerParty", _party(terms.buyer)),
            self._delivery(),
            self._payment(terms.payment) if terms.payment else None,
            element("cac:PaymentTerms", element("cbc:Note", terms.payment_note)),
            *(self._allowance(each) for each in terms.allowances),
            self._taxes(),
            self._sums(),
            *(self._line(line) for line in terms.lines),
        )

    def _amount(self, name: str, amount: Decimal | None) -> Element | None:
        return element(name, amount, currencyID=self.terms.currency)

    def _period(self) -> Element | None:
        start, end = self.terms.period or (None, None)
        return element("cac:InvoicePeriod", element("cbc:StartDate", start), element("cbc:EndDate", end))

    def _delivery(self) -> Element | None:
        name, place = self.terms.deliver_to or (None, Place())
        return element(
            "cac:Delivery",
            element("cbc:ActualDeliveryDate", self.terms.delivered_on),
            element("cac:DeliveryLocation", _address("cac:Address", place)),
            element("cac:DeliveryParty", element("cac:PartyName", element("cbc:Name", name))),
        )

    def _payment(self, payment: PaymentTerms) -> Element | None:
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

    def _allowance(self, allowance: Allowance, *, of_line: bool = False) -> Element | None:
        return element(
            "cac:AllowanceCharge",
            element("cbc:ChargeIndicator", "true" if allowance.is_charge else "false"),
            element("cbc:AllowanceChargeReasonCode", None if allowance.is_charge else _DISCOUNT),
            element("cbc:AllowanceChargeReason", allowance.reason),
            element("cbc:MultiplierFactorNumeric", allowance.percent),
            self._amount("cbc:Amount", abs(allowance.amount)),
            self._amount("cbc:BaseAmount", allowance.of),
            None if of_line else _tax("cac:TaxCategory", allowance.kind),
        )

    def _taxes(self) -> Element | None:
        return element(
            "cac:TaxTotal",
            self._amount("cbc:TaxAmount", self.terms.tax),
            *(
                element(
                    "cac:TaxSubtotal",
                    self._amount("cbc:TaxableAmount", group.net),
                    self._amount("cbc:TaxAmount", group.tax),
                    # The network wants a percentage here also where there is none: nothing.
                    _tax("cac:TaxCategory", group.kind, group.reason, outside=Decimal(0)),
                )
                for group in self.terms.taxes
            ),
        )

    def _sums(self) -> Element | None:
        terms = self.terms
        return element(
            "cac:LegalMonetaryTotal",
            self._amount("cbc:LineExtensionAmount", terms.lines_net),
            self._amount("cbc:TaxExclusiveAmount", terms.net),
            self._amount("cbc:TaxInclusiveAmount", terms.total),
            self._amount("cbc:AllowanceTotalAmount", terms.allowed(charges=False)),
            self._amount("cbc:ChargeTotalAmount", terms.allowed(charges=True)),
            self._amount("cbc:PrepaidAmount", terms.total - terms.due or None),
            self._amount("cbc:PayableAmount", terms.due),
        )

    def _line(self, line: InvoiceLine) -> Element | None:
        return element(
            "cac:CreditNoteLine" if self.credit else "cac:InvoiceLine",
            element("cbc:ID", line.id),
            element(
                "cbc:CreditedQuantity" if self.credit else "cbc:InvoicedQuantity", line.quantity, unitCode=line.unit
            ),
            self._amount("cbc:LineExtensionAmount", line.net),
            self._allowance(line.allowance, of_line=True) if line.allowance else None,
            element(
                "cac:Item",
                element("cbc:Description", line.description),
                element("cbc:Name", line.name),
                _tax("cac:ClassifiedTaxCategory", line.kind),
            ),
            element("cac:Price", self._amount("cbc:PriceAmount", line.price)),
        )


def _party(party: PartyTerms) -> Element | None:
    scheme, identifier = party.network or ("", None)
    return element(
        "cac:Party",
        element("cbc:EndpointID", identifier, schemeID=scheme),
        element("cac:PartyName", element("cbc:Name", party.trading_name)),
        _address("cac:PostalAddress", party.address),
        _tax_scheme(party.vat_number, "VAT"),
        _tax_scheme(party.tax_number, "TAX"),
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


def _tax_scheme(number: str | None, scheme: str) -> Element | None:
    if number is None:
        return None
    return element(
        "cac:PartyTaxScheme", element("cbc:CompanyID", number), element("cac:TaxScheme", element("cbc:ID", scheme))
    )


def _address(name: str, place: Place) -> Element | None:
    return element(
        name,
        element("cbc:StreetName", place.line1),
        element("cbc:AdditionalStreetName", place.line2),
        element("cbc:CityName", place.city),
        element("cbc:PostalZone", place.postal_code),
        element("cbc:CountrySubentity", place.region),
        element("cac:Country", element("cbc:IdentificationCode", place.country)),
    )


def _tax(name: str, kind: Tax, reason: str | None = None, outside: Content = None) -> Element | None:
    return element(
        name,
        element("cbc:ID", kind.category),
        # Outside of tax there is no percentage (BR-O-05).
        element("cbc:Percent", outside if kind.category == "O" else kind.percent),
        element("cbc:TaxExemptionReason", reason),
        element("cac:TaxScheme", element("cbc:ID", "VAT")),
    )


def _preceding(invoice: Preceding) -> Element | None:
    return element(
        "cac:BillingReference",
        element(
            "cac:InvoiceDocumentReference",
            element("cbc:ID", invoice.number),
            element("cbc:IssueDate", invoice.issued_on),
        ),
    )
