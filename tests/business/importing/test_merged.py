"""Files of another system that still name a customer who was merged here: whatever they say is about who took over."""

from typing import NamedTuple

import pytest

from business.importing.test_row_import import bring, check, listed
from cast import Cast
from evidence import history
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import get_customer
from mainstay.business.customers.places import list_contacts, list_sites
from mainstay.business.jobs.operations import list_jobs


class Merged(NamedTuple):
    """A customer that ended, and the last of those who took over what was theirs."""

    id: str
    stays: str


@pytest.fixture
def merged(cast: Cast) -> Merged:
    """Twice, one behind the other, once all three were brought over with what belongs to the first."""
    bring(cast, "customers", ["Name", "Ref"], ["Calder", "C-1"], ["Ryburn", "C-2"], ["Colne", "C-3"])
    bring(cast, "sites", SITES, MILL)
    bring(cast, "contacts", CONTACTS, ANN)
    bring(cast, "jobs", JOBS, BOILER)
    ended, between, stays = (customer["id"] for customer in listed(cast))
    for one, other in ((ended, between), (between, stays)):
        cast.perform(merge_customers, customerId=one, intoCustomerId=other, confirmed=True)
    return Merged(ended, stays)


SITES = ["Customer", "Site name", "Address", "Ref"]
MILL = ["C-1", "Mill", "1 Mill Road", "S-1"]
CONTACTS = ["Customer", "Name", "Role"]
ANN = ["C-1", "Ann", "caretaker"]
JOBS = ["Customer", "Title", "Site", "Ref"]
BOILER = ["C-1", "Boiler", "S-1", "J-1"]


def test_a_row_with_their_reference_is_about_the_other_who_keeps_its_own(cast: Cast, merged: Merged) -> None:
    before = cast.perform(get_customer, customerId=merged.id)
    assert bring(cast, "customers", ["Name", "Phone", "Ref"], ["Colne", "1", "C-1"]) == (0, 1, 0)
    after = cast.perform(get_customer, customerId=merged.stays)
    assert (after["phone"], after["externalRef"]) == ("1", "C-3")
    assert cast.perform(get_customer, customerId=merged.id) == before
    assert history(cast, merged.id)[-1] == "merge_customers"
    # And then it is as the file says.
    assert bring(cast, "customers", ["Name", "Phone", "Ref"], ["Colne", "1", "C-1"]) == (0, 0, 1)


def test_two_rows_about_the_one_customer_that_is_left_are_told(cast: Cast, merged: Merged) -> None:
    faults = check(cast, "customers", ["Name", "Ref"], ["Calder", "C-1"], ["Irwell", "C-4"], ["Colne", "C-3"]).faults
    [(row, label, problem)] = faults
    assert (row, label) == (4, "Reference elsewhere")
    assert problem.startswith("leads to the same customer as that of row 2: the two were merged here.")
    assert [customer["id"] for customer in listed(cast)] == [merged.stays]


@pytest.mark.parametrize(
    ("kind", "headings", "line"), [("sites", SITES, MILL), ("contacts", CONTACTS, ANN), ("jobs", JOBS, BOILER)]
)
def test_what_was_theirs_is_known_again(
    cast: Cast, merged: Merged, kind: str, headings: list[str], line: list[str]
) -> None:
    assert bring(cast, kind, headings, line) == (0, 0, 1)
    assert cast.perform(get_customer, customerId=merged.stays)["version"] == 1


def test_what_is_new_of_theirs_is_the_other_s(cast: Cast, merged: Merged) -> None:
    assert bring(cast, "sites", SITES, ["C-1", "Barn", "2 Lane", "S-2"]) == (1, 0, 0)
    assert bring(cast, "contacts", CONTACTS, ["C-2", "Bob", ""]) == (1, 0, 0)
    # A site is found by its name among those of the other.
    assert bring(cast, "jobs", JOBS, ["C-1", "Roof", "barn", "J-2"]) == (1, 0, 0)
    for operation in (list_sites, list_contacts, list_jobs):
        assert {one["customerId"] for one in listed(cast, operation)} == {merged.stays}
    assert listed(cast, list_jobs)[-1]["siteName"] == "Barn"
