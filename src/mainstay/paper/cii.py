"""An e-invoice in the form of UN/CEFACT (Cross Industry Invoice), which goes into the PDF as Factur-X and ZUGFeRD."""

from xml.etree.ElementTree import Element

from mainstay.paper.einvoice import PartyTerms, PaymentTerms, Terms
from mainstay.paper.einvoice_lines import Allowance, InvoiceLine, Tax, TaxGroup
from mainstay.paper.snapshot import Place, Preceding
from mainstay.paper.tree import document, element

_NAMESPACES = {
    "xmlns:rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "xmlns:ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "xmlns:udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
    "xmlns:qdt": "urn:un:unece:uncefact:data:standard:QualifiedDataType:100",
}
_GUIDELINE = "urn:cen.eu:en16931:2017"
_DISCOUNT = "95"  # UNTDID 5189


def written(terms: Terms) -> bytes:
    """The XML."""
    return document(
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
            _date("ram:IssueDateTime", terms.issued_on),
            element("ram:IncludedNote", element("ram:Content", terms.note)),
        ),
        element(
            "rsm:SupplyChainTradeTransaction",
            *(_line(line) for line in terms.lines),
            _agreement(terms),
            _delivery(terms),
            _settlement(terms),
        ),
    )


def _line(line: InvoiceLine) -> Element | None:
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
            _tax("ram:ApplicableTradeTax", line.kind),
            _allowance(line.allowance, of_line=True) if line.allowance else None,
            element("ram:SpecifiedTradeSettlementLineMonetarySummation", element("ram:LineTotalAmount", line.net)),
        ),
    )


def _agreement(terms: Terms) -> Element | None:
    return element(
        "ram:ApplicableHeaderTradeAgreement",
        element("ram:BuyerReference", terms.reference),
        _party("ram:SellerTradeParty", terms.seller),
        _party("ram:BuyerTradeParty", terms.buyer),
        element("ram:BuyerOrderReferencedDocument", element("ram:IssuerAssignedID", terms.order_number)),
    )


def _party(name: str, party: PartyTerms) -> Element | None:
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
        _address(party.address),
        element("ram:URIUniversalCommunication", element("ram:URIID", address, schemeID=scheme)),
        element("ram:SpecifiedTaxRegistration", element("ram:ID", party.vat_number, schemeID="VA")),
        element("ram:SpecifiedTaxRegistration", element("ram:ID", party.tax_number, schemeID="FC")),
    )


def _address(place: Place) -> Element | None:
    return element(
        "ram:PostalTradeAddress",
        element("ram:PostcodeCode", place.postal_code),
        element("ram:LineOne", place.line1),
        element("ram:LineTwo", place.line2),
        element("ram:CityName", place.city),
        element("ram:CountryID", place.country),
        element("ram:CountrySubDivisionName", place.region),
    )


def _delivery(terms: Terms) -> Element:
    name, place = terms.deliver_to or (None, Place())
    made = element(
        "ram:ApplicableHeaderTradeDelivery",
        element("ram:ShipToTradeParty", element("ram:Name", name), _address(place)),
        element("ram:ActualDeliverySupplyChainEvent", _date("ram:OccurrenceDateTime", terms.delivered_on)),
    )
    # It is there also when there is nothing to say.
    return Element("ram:ApplicableHeaderTradeDelivery") if made is None else made


def _settlement(terms: Terms) -> Element | None:
    start, end = terms.period or (None, None)
    return element(
        "ram:ApplicableHeaderTradeSettlement",
        element("ram:PaymentReference", terms.number),
        element("ram:InvoiceCurrencyCode", terms.currency),
        _payment(terms.payment) if terms.payment else None,
        *(_tax_group(group) for group in terms.taxes),
        element("ram:BillingSpecifiedPeriod", _date("ram:StartDateTime", start), _date("ram:EndDateTime", end)),
        *(_allowance(each) for each in terms.allowances),
        element(
            "ram:SpecifiedTradePaymentTerms",
            element("ram:Description", terms.payment_note),
            _date("ram:DueDateDateTime", terms.due_on),
        ),
        _sums(terms),
        *(_preceding(invoice) for invoice in terms.preceding),
    )


def _payment(payment: PaymentTerms) -> Element | None:
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


def _tax_group(group: TaxGroup) -> Element | None:
    return element(
        "ram:ApplicableTradeTax",
        element("ram:CalculatedAmount", group.tax),
        element("ram:TypeCode", "VAT"),
        element("ram:ExemptionReason", group.reason),
        element("ram:BasisAmount", group.net),
        element("ram:CategoryCode", group.kind.category),
        element("ram:RateApplicablePercent", group.kind.percent),
    )


def _tax(name: str, kind: Tax) -> Element | None:
    return element(
        name,
        element("ram:TypeCode", "VAT"),
        element("ram:CategoryCode", kind.category),
        # Outside of tax there is no percentage (BR-O-05).
        element("ram:RateApplicablePercent", None if kind.category == "O" else kind.percent),
    )


def _allowance(allowance: Allowance, *, of_line: bool = False) -> Element | None:
    return element(
        "ram:SpecifiedTradeAllowanceCharge",
        element("ram:ChargeIndicator", element("udt:Indicator", "true" if allowance.is_charge else "false")),
        element("ram:CalculationPercent", allowance.percent),
        element("ram:BasisAmount", allowance.of),
        element("ram:ActualAmount", abs(allowance.amount)),
        element("ram:ReasonCode", None if allowance.is_charge else _DISCOUNT),
        element("ram:Reason", allowance.reason),
        None if of_line else _tax("ram:CategoryTradeTax", allowance.kind),
    )


def _sums(terms: Terms) -> Element | None:
    return element(
        "ram:SpecifiedTradeSettlementHeaderMonetarySummation",
        element("ram:LineTotalAmount", terms.lines_net),
        element("ram:ChargeTotalAmount", terms.allowed(charges=True)),
        element("ram:AllowanceTotalAmount", terms.allowed(charges=False)),
        element("ram:TaxBasisTotalAmount", terms.net),
        element("ram:TaxTotalAmount", terms.tax, currencyID=terms.currency),
        element("ram:GrandTotalAmount", terms.total),
        element("ram:TotalPrepaidAmount", terms.total - terms.due or None),
        element("ram:DuePayableAmount", terms.due),
    )


def _preceding(invoice: Preceding) -> Element | None:
    return element(
        "ram:InvoiceReferencedDocument",
        element("ram:IssuerAssignedID", invoice.number),
        _date("ram:FormattedIssueDateTime", invoice.issued_on, form="qdt:DateTimeString"),
    )


def _date(name: str, on: str | None, form: str = "udt:DateTimeString") -> Element | None:
    return element(name, element(form, on.replace("-", "") if on else None, format="102"))
