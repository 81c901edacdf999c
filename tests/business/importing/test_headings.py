"""Column headings of other systems, and which fields they are recognised as."""

from mainstay.business.importing.record_kinds import find_import_kinds
from mainstay.catalogue import CATALOGUE

IMPORT_KINDS = find_import_kinds(CATALOGUE)


def test_what_others_call_a_customer_and_its_address_is_recognised() -> None:
    headings = ["Client Name", "Billing Street", "Billing City", "Billing Postcode", "Mobile number", "Client ID"]
    known = ["name", "billingAddress.line1", "billingAddress.city", "billingAddress.postalCode", "phone", "externalRef"]
    assert IMPORT_KINDS["customers"].guess_mapping(headings) == {name: at for at, name in enumerate(known)}
    assert IMPORT_KINDS["jobs"].guess_mapping(["Client Name", "Job title"]) == {"customerId": 0, "title": 1}
    assert IMPORT_KINDS["sites"].guess_mapping(["Client", "Site address"]) == {"customerId": 0, "address.line1": 1}
