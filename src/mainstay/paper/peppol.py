"""What the Peppol network asks of an invoice beyond the norm, and what countries ask there of their own."""

from collections.abc import Iterator

from mainstay.paper.codes import PEPPOL_SCHEMES
from mainstay.paper.snapshot import Party, Place, Snapshot

# Sellers there have rules of their own, for numbers and payments, which what we write does not keep.
_UNSPOKEN = {"DK", "GR", "IS"}
# What a seller in a country tells, whoever buys; and what both tell where the buyer is there too.
_OF_SELLERS = {
    "IT": ("seller.address.line1", "seller.address.city", "seller.address.postalCode"),
    "NL": ("seller.address.line1", "seller.address.city", "seller.address.postalCode"),
}
_AT_HOME = {
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
# The list that the numbers of companies are from, where the network wants it told.
REGISTERS = {"NL": "0106"}


def can_go_there(snapshot: Snapshot) -> bool:
    """Whether we know the rules of the seller's country."""
    return country_of(snapshot.seller) not in _UNSPOKEN


def missing_there(snapshot: Snapshot) -> Iterator[str]:
    """Which fields are missing that only the network asks for; an address there is given, never guessed."""
    for name, party in (("seller", snapshot.seller), ("buyer", snapshot.buyer)):
        if not party.e_invoice_address or party.e_invoice_address.scheme not in PEPPOL_SCHEMES:
            yield f"{name}.eInvoiceAddress"
    if not snapshot.reference and not snapshot.order_number:
        yield "reference"
    home = country_of(snapshot.seller) or ""
    asked = [*_OF_SELLERS.get(home, ())]
    if home == country_of(snapshot.buyer):
        asked += _AT_HOME.get(home, ())
    if home == "NL":
        asked += ["preceding"] if snapshot.kind == "creditNote" else ["seller.bank"]
    if snapshot.kind == "creditNote":
        # It asks for no transfer, so it needs no account.
        asked = [field for field in asked if field != "seller.bank"]
    told = _told(snapshot)
    yield from (field for field in asked if not told[field])


def country_of(party: Party) -> str | None:
    """Where someone is."""
    return party.address.country if party.address else None


def _told(snapshot: Snapshot) -> dict[str, object]:
    """What countries ask for, and what there is of it."""
    seller, buyer = snapshot.seller, snapshot.buyer
    bank = seller.bank
    told: dict[str, object] = {
        "seller.phone": seller.phone,
        "seller.email": seller.email,
        "seller.bank": bank and (bank.iban or bank.account),
        "preceding": snapshot.preceding,
    }
    for name, place in (("seller", seller.address or Place()), ("buyer", buyer.address or Place())):
        told[f"{name}.address.line1"] = place.line1
        told[f"{name}.address.city"] = place.city
        told[f"{name}.address.postalCode"] = place.postal_code
    return told
