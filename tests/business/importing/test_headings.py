"""What the columns of others are called, and which fields they are."""

from mainstay.business.importing.model import KINDS


def test_what_others_call_a_customer_and_its_address_is_recognised() -> None:
    headings = ["Client Name", "Billing Street", "Billing City", "Billing Postcode", "Mobile number", "Client ID"]
    known = ["name", "billingAddress.line1", "billingAddress.city", "billingAddress.postalCode", "phone", "externalRef"]
    assert KINDS["customers"].guess(headings) == {name: at for at, name in enumerate(known)}
    assert KINDS["jobs"].guess(["Client Name", "Job title"]) == {"customerId": 0, "title": 1}
    assert KINDS["sites"].guess(["Client", "Site address"]) == {"customerId": 0, "address.line1": 1}
