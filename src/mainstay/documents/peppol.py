"""What the Peppol network, and countries in it, require of an invoice beyond the European standard."""

from collections.abc import Iterator

from mainstay.documents.codes import PEPPOL_SCHEMES
from mainstay.documents.snapshot import AddressSnapshot, PartySnapshot, Snapshot

# Sellers in these countries have their own rules for numbers and payments, which our e-invoices do not follow.
_UNSUPPORTED_COUNTRIES = {"DK", "GR", "IS"}
# The fields that are required if the seller is in a country.
_REQUIRED_OF_SELLERS = {
    "IT": ("seller.address.line1", "seller.address.city", "seller.address.postalCode"),
    "NL": ("seller.address.line1", "seller.address.city", "seller.address.postalCode"),
}
# The further fields that are required if the buyer is in the same country.
_REQUIRED_WITHIN_COUNTRY = {
    "DE": (
        "seller.phone",
        "seller.email",
        "seller.address.city",
        "seller.address.postalCode",
        "seller.bank",
        "buyer.address.city",
        "buyer.address.postalCode",
    ),
    "NL": ("buyer.address.line1", "buyer.address.city", "buyer.address.postalCode"),
}
# The code of the register that company numbers come from, in the countries where the network requires it.
COMPANY_REGISTER_CODES = {"NL": "0106"}


def are_peppol_rules_supported(snapshot: Snapshot) -> bool:
    """Return whether our e-invoices follow the rules that Peppol has for the seller's country."""
    return country_of(snapshot.seller) not in _UNSUPPORTED_COUNTRIES


def find_missing_for_peppol(snapshot: Snapshot) -> Iterator[str]:
    """Yield the missing fields that only Peppol requires. An electronic address is never guessed from other fields."""
    for name, party in (("seller", snapshot.seller), ("buyer", snapshot.buyer)):
        if not party.e_invoice_address or party.e_invoice_address.scheme not in PEPPOL_SCHEMES:
            yield f"{name}.eInvoiceAddress"
    if not snapshot.reference and not snapshot.order_number:
        yield "reference"
    seller_country = country_of(snapshot.seller) or ""
    required = [*_REQUIRED_OF_SELLERS.get(seller_country, ())]
    if seller_country == country_of(snapshot.buyer):
        required += _REQUIRED_WITHIN_COUNTRY.get(seller_country, ())
    if seller_country == "NL":
        required += ["preceding"] if snapshot.kind == "creditNote" else ["seller.bank"]
    if snapshot.kind == "creditNote":
        # A credit note asks for no transfer, so it needs no account.
        required = [field for field in required if field != "seller.bank"]
    values = _field_values(snapshot)
    yield from (field for field in required if not values[field])


def country_of(party: PartySnapshot) -> str | None:
    """Return the country of a party's address, or None."""
    return party.address.country if party.address else None


def _field_values(snapshot: Snapshot) -> dict[str, object]:
    """Return the values of the fields that countries require."""
    seller, buyer = snapshot.seller, snapshot.buyer
    bank = seller.bank
    values: dict[str, object] = {
        "seller.phone": seller.phone,
        "seller.email": seller.email,
        "seller.bank": bank and (bank.iban or bank.account),
        "preceding": snapshot.preceding,
    }
    for name, address in (
        ("seller", seller.address or AddressSnapshot()),
        ("buyer", buyer.address or AddressSnapshot()),
    ):
        values[f"{name}.address.line1"] = address.line1
        values[f"{name}.address.city"] = address.city
        values[f"{name}.address.postalCode"] = address.postal_code
    return values
