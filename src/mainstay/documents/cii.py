"""Write an e-invoice as UN/CEFACT Cross Industry Invoice, which Factur-X and ZUGFeRD embed in the PDF."""

from xml.etree.ElementTree import Element

from mainstay.documents.einvoice import EInvoiceTerms, PartyTerms, PaymentTerms
from mainstay.documents.einvoice_lines import Allowance, EInvoiceTaxGroup, InvoiceLine, TaxKind
from mainstay.documents.snapshot import AddressSnapshot, PrecedingSnapshot
from mainstay.documents.xml_writer import element, write_document

_NAMESPACES = {
    "xmlns:rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "xmlns:ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "xmlns:udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
    "xmlns:qdt": "urn:un:unece:uncefact:data:standard:QualifiedDataType:100",
}
_GUIDELINE = "urn:cen.eu:en16931:2017"
_DISCOUNT = "95"  # UNTDID 5189


def write_cii(terms: EInvoiceTerms) -> bytes:
    """Return the XML of an e-invoice."""
    return write_document(
        "rsm:CrossIndustryInvoice",
        _NAMESPACES,
        element(
            "rsm:ExchangedDocumentContext",
            element("ram:GuidelineSpecifiedDocumentContextParameter", element("ram:ID", _GUIDELINE)),
        ),
        element(
            "rsm:ExchangedDocument",
            element("ram:ID", terms.number),
            element("ram:TypeCode", terms.code),
            _write_date("ram:IssueDateTime", terms.issued_on),
            element("ram:IncludedNote", element("ram:Content", terms.note)),
        ),
        element(
            "rsm:SupplyChainTradeTransaction",
            *(_write_line(line) for line in terms.lines),
            _write_agreement(terms),
            _write_delivery(terms),
            _write_settlement(terms),
        ),
    )


def _write_line(line: InvoiceLine) -> Element | None:
    return element(
        "ram:IncludedSupplyChainTradeLineItem",
        element("ram:AssociatedDocumentLineDocument", element("ram:LineID", line.id)),
        element(
            "ram:SpecifiedTradeProduct",
            element("ram:Name", line.name),
            element("ram:Description", line.description),
        ),
        element(
            "ram:SpecifiedLineTradeAgreement",
            element("ram:NetPriceProductTradePrice", element("ram:ChargeAmount", line.price)),
        ),
        element("ram:SpecifiedLineTradeDelivery", element("ram:BilledQuantity", line.quantity, unitCode=line.unit)),
        element(
            "ram:SpecifiedLineTradeSettlement",
            _write_tax("ram:ApplicableTradeTax", line.kind),
            _write_allowance(line.allowance, of_line=True) if line.allowance else None,
            element("ram:SpecifiedTradeSettlementLineMonetarySummation", element("ram:LineTotalAmount", line.net)),
        ),
    )


def _write_agreement(terms: EInvoiceTerms) -> Element | None:
    return element(
        "ram:ApplicableHeaderTradeAgreement",
        element("ram:BuyerReference", terms.reference),
        _write_party("ram:SellerTradeParty", terms.seller),
        _write_party("ram:BuyerTradeParty", terms.buyer),
        element("ram:BuyerOrderReferencedDocument", element("ram:IssuerAssignedID", terms.order_number)),
    )


def _write_party(name: str, party: PartyTerms) -> Element | None:
    scheme, address = party.network or ("", None)
    return element(
        name,
        element("ram:Name", party.name),
        element(
            "ram:SpecifiedLegalOrganization",
            element("ram:ID", party.registration, schemeID=party.register),
            element("ram:TradingBusinessName", party.trading_name),
        ),
        element(
            "ram:DefinedTradeContact",
            element("ram:PersonName", party.contact),
            element("ram:TelephoneUniversalCommunication", element("ram:CompleteNumber", party.phone)),
            element("ram:EmailURIUniversalCommunication", element("ram:URIID", party.email)),
        ),
        _write_address(party.address),
        element("ram:URIUniversalCommunication", element("ram:URIID", address, schemeID=scheme)),
        element("ram:SpecifiedTaxRegistration", element("ram:ID", party.vat_number, schemeID="VA")),
        element("ram:SpecifiedTaxRegistration", element("ram:ID", party.tax_number, schemeID="FC")),
    )


def _write_address(address: AddressSnapshot) -> Element | None:
    return element(
        "ram:PostalTradeAddress",
        element("ram:PostcodeCode", address.postal_code),
        element("ram:LineOne", address.line1),
        element("ram:LineTwo", address.line2),
        element("ram:CityName", address.city),
        element("ram:CountryID", address.country),
        element("ram:CountrySubDivisionName", address.region),
    )


def _write_delivery(terms: EInvoiceTerms) -> Element:
    name, address = terms.deliver_to or (None, AddressSnapshot())
    delivery = element(
        "ram:ApplicableHeaderTradeDelivery",
        element("ram:ShipToTradeParty", element("ram:Name", name), _write_address(address)),
        element("ram:ActualDeliverySupplyChainEvent", _write_date("ram:OccurrenceDateTime", terms.delivered_on)),
    )
    # The element is required, even if it is empty.
    return Element("ram:ApplicableHeaderTradeDelivery") if delivery is None else delivery


def _write_settlement(terms: EInvoiceTerms) -> Element | None:
    start, end = terms.period or (None, None)
    return element(
        "ram:ApplicableHeaderTradeSettlement",
        element("ram:PaymentReference", terms.number),
        element("ram:InvoiceCurrencyCode", terms.currency),
        _write_payment(terms.payment) if terms.payment else None,
        *(_write_tax_group(group) for group in terms.taxes),
        element(
            "ram:BillingSpecifiedPeriod", _write_date("ram:StartDateTime", start), _write_date("ram:EndDateTime", end)
        ),
        *(_write_allowance(allowance) for allowance in terms.allowances),
        element(
            "ram:SpecifiedTradePaymentTerms",
            element("ram:Description", terms.payment_note),
            _write_date("ram:DueDateDateTime", terms.due_on),
        ),
        _write_sums(terms),
        *(_write_preceding(invoice) for invoice in terms.preceding),
    )


def _write_payment(payment: PaymentTerms) -> Element | None:
    return element(
        "ram:SpecifiedTradeSettlementPaymentMeans",
        element("ram:TypeCode", payment.code),
        element(
            "ram:PayeePartyCreditorFinancialAccount",
            element("ram:IBANID", payment.account if payment.is_iban else None),
            element("ram:AccountName", payment.holder),
            element("ram:ProprietaryID", None if payment.is_iban else payment.account),
        ),
        element("ram:PayeeSpecifiedCreditorFinancialInstitution", element("ram:BICID", payment.bic)),
    )


def _write_tax_group(group: EInvoiceTaxGroup) -> Element | None:
    return element(
        "ram:ApplicableTradeTax",
        element("ram:CalculatedAmount", group.tax),
        element("ram:TypeCode", "VAT"),
        element("ram:ExemptionReason", group.reason),
        element("ram:BasisAmount", group.net),
        element("ram:CategoryCode", group.kind.category),
        element("ram:RateApplicablePercent", group.kind.percent),
    )


def _write_tax(name: str, kind: TaxKind) -> Element | None:
    return element(
        name,
        element("ram:TypeCode", "VAT"),
        element("ram:CategoryCode", kind.category),
        # Outside of tax there is no percentage (BR-O-05).
        element("ram:RateApplicablePercent", None if kind.category == "O" else kind.percent),
    )


def _write_allowance(allowance: Allowance, *, of_line: bool = False) -> Element | None:
    return element(
        "ram:SpecifiedTradeAllowanceCharge",
        element("ram:ChargeIndicator", element("udt:Indicator", "true" if allowance.is_charge else "false")),
        element("ram:CalculationPercent", allowance.percent),
        element("ram:BasisAmount", allowance.base),
        element("ram:ActualAmount", abs(allowance.amount)),
        element("ram:ReasonCode", None if allowance.is_charge else _DISCOUNT),
        element("ram:Reason", allowance.reason),
        None if of_line else _write_tax("ram:CategoryTradeTax", allowance.kind),
    )


def _write_sums(terms: EInvoiceTerms) -> Element | None:
    return element(
        "ram:SpecifiedTradeSettlementHeaderMonetarySummation",
        element("ram:LineTotalAmount", terms.lines_net),
        element("ram:ChargeTotalAmount", terms.sum_allowances(charges=True)),
        element("ram:AllowanceTotalAmount", terms.sum_allowances(charges=False)),
        element("ram:TaxBasisTotalAmount", terms.net),
        element("ram:TaxTotalAmount", terms.tax, currencyID=terms.currency),
        element("ram:GrandTotalAmount", terms.total),
        element("ram:TotalPrepaidAmount", terms.total - terms.due or None),
        element("ram:DuePayableAmount", terms.due),
    )


def _write_preceding(invoice: PrecedingSnapshot) -> Element | None:
    return element(
        "ram:InvoiceReferencedDocument",
        element("ram:IssuerAssignedID", invoice.number),
        _write_date("ram:FormattedIssueDateTime", invoice.issued_on, form="qdt:DateTimeString"),
    )


def _write_date(name: str, date: str | None, form: str = "udt:DateTimeString") -> Element | None:
    return element(name, element(form, date.replace("-", "") if date else None, format="102"))
