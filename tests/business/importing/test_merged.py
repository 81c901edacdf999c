"""Rows of files that name a merged customer go to the customer they were merged into."""

from typing import NamedTuple

import pytest

from business.importing.test_row_import import check_rows, import_rows, list_records
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import get_customer
from mainstay.business.customers.sites_and_contacts import list_contacts, list_sites
from mainstay.business.jobs.operations import list_jobs
from support.cast import Cast
from support.stored_state import operations_on


class MergedCustomer(NamedTuple):
    """A merged customer, and the id of the customer who remains."""

    id: str
    stays: str


@pytest.fixture
def merged_customer(cast: Cast) -> MergedCustomer:
    """Import three customers, then merge the first into the second and that one into the third."""
    import_rows(cast, "customers", ["Name", "Ref"], ["Calder", "C-1"], ["Ryburn", "C-2"], ["Colne", "C-3"])
    import_rows(cast, "sites", SITES, MILL)
    import_rows(cast, "contacts", CONTACTS, ANN)
    import_rows(cast, "jobs", JOBS, BOILER)
    ended, between, stays = (customer["id"] for customer in list_records(cast))
    for one, other in ((ended, between), (between, stays)):
        cast.perform(merge_customers, customerId=one, intoCustomerId=other, confirmed=True)
    return MergedCustomer(ended, stays)


SITES = ["Customer", "Site name", "Address", "Ref"]
MILL = ["C-1", "Mill", "1 Mill Road", "S-1"]
CONTACTS = ["Customer", "Name", "Role"]
ANN = ["C-1", "Ann", "caretaker"]
JOBS = ["Customer", "Title", "Site", "Ref"]
BOILER = ["C-1", "Boiler", "S-1", "J-1"]


def test_a_row_with_their_reference_is_about_the_other_who_keeps_its_own(
    cast: Cast, merged_customer: MergedCustomer
) -> None:
    before = cast.perform(get_customer, customerId=merged_customer.id)
    assert import_rows(cast, "customers", ["Name", "Phone", "Ref"], ["Colne", "1", "C-1"]) == (0, 1, 0)
    after = cast.perform(get_customer, customerId=merged_customer.stays)
    assert (after["phone"], after["externalRef"]) == ("1", "C-3")
    assert cast.perform(get_customer, customerId=merged_customer.id) == before
    assert operations_on(cast, merged_customer.id)[-1] == "merge_customers"
    # And then it is as the file says.
    assert import_rows(cast, "customers", ["Name", "Phone", "Ref"], ["Colne", "1", "C-1"]) == (0, 0, 1)


def test_two_rows_about_the_one_customer_that_is_left_are_told(cast: Cast, merged_customer: MergedCustomer) -> None:
    faults = check_rows(
        cast, "customers", ["Name", "Ref"], ["Calder", "C-1"], ["Irwell", "C-4"], ["Colne", "C-3"]
    ).faults
    [fault] = faults
    assert (fault.row, fault.label) == (4, "External ID")
    assert fault.problem.startswith("is now the same customer as in row 2, because they were merged.")
    assert [customer["id"] for customer in list_records(cast)] == [merged_customer.stays]


@pytest.mark.parametrize(
    ("kind", "headings", "line"), [("sites", SITES, MILL), ("contacts", CONTACTS, ANN), ("jobs", JOBS, BOILER)]
)
def test_what_was_theirs_is_known_again(
    cast: Cast, merged_customer: MergedCustomer, kind: str, headings: list[str], line: list[str]
) -> None:
    assert import_rows(cast, kind, headings, line) == (0, 0, 1)
    assert cast.perform(get_customer, customerId=merged_customer.stays)["version"] == 1


def test_what_is_new_of_theirs_is_the_other_s(cast: Cast, merged_customer: MergedCustomer) -> None:
    assert import_rows(cast, "sites", SITES, ["C-1", "Barn", "2 Lane", "S-2"]) == (1, 0, 0)
    assert import_rows(cast, "contacts", CONTACTS, ["C-2", "Bob", ""]) == (1, 0, 0)
    # A site is found by its name among those of the other.
    assert import_rows(cast, "jobs", JOBS, ["C-1", "Roof", "barn", "J-2"]) == (1, 0, 0)
    for operation in (list_sites, list_contacts, list_jobs):
        assert {one["customerId"] for one in list_records(cast, operation)} == {merged_customer.stays}
    assert list_records(cast, list_jobs)[-1]["siteName"] == "Barn"
