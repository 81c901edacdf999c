"""All faults of a row are reported at once, for every kind of record, so that nobody corrects a file fault by fault."""

import pytest

from business.importing.test_row_import import check_rows, import_rows, list_records
from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.jobs.operations import list_jobs
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.imports import upload_import
from support.prices import make_tax_rate

# By the kind of a file: its headings, a row, and what is wrong with it, in the order of its columns.
FAULTY_ROWS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "jobs": (
        ["Customer", "Title", "Budget", "Due", "Site", "Priority"],
        ["Nobody", "n", "NaN", "31/31/31", "Mill", "soon"],
        ["Customer", "Agreed price", "Due date", "Priority"],
    ),
    "sites": (
        ["Customer", "Site name", "Town", "Country"],
        ["Nobody", "x" * 300, "Leeds", "Narnia"],
        ["Customer", "Name", "Country"],
    ),
    "contacts": (
        ["Customer", "Name", "E-mail", "Phone"],
        ["Nobody", "x" * 300, "not an address", "1" * 300],
        ["Customer", "Name", "Email", "Phone"],
    ),
    "customers": (
        ["Name", "Type", "E-mail", "Country", "Days to pay"],
        ["", "thing", "not an address", "Narnia", "soon"],
        ["Name", "Company or individual", "Email", "Country", "Payment terms (days)"],
    ),
    "suppliers": (
        ["Name", "E-mail", "Country", "Days to pay"],
        ["x" * 300, "not an address", "Narnia", "400"],
        ["Name", "Email", "Country", "Payment terms (days)"],
    ),
    "price items": (
        ["Name", "Kind", "Price", "Cost", "Tax rate", "Supplier"],
        ["x" * 300, "thing", "NaN", "-1", "VAT 99 %", "Nobody"],
        ["Name", "Type", "Price", "Cost", "Tax rate", "Supplier"],
    ),
}


@pytest.mark.parametrize("kind", FAULTY_ROWS)
def test_whom_a_row_names_and_what_it_says_are_both_told(cast: Cast, kind: str) -> None:
    make_tax_rate(cast)
    headings, line, wrong = FAULTY_ROWS[kind]
    result = [fault.label for fault in check_rows(cast, kind, headings, line).faults]
    assert sorted(result) == sorted(wrong)


def test_a_fault_names_what_stands_in_the_cell(cast: Cast) -> None:
    headings = ["Name", "Type", "E-mail", "Country"]
    [result] = check_rows(cast, "customers", headings, ["Calder", "", "", "Narnia"]).faults
    assert (result.label, result.problem) == ("Country", "is not a country code such as GB: Narnia")
    line = ["Ryburn", "", "", "a\nlong " + "x" * 500]
    [result] = check_rows(cast, "customers", headings, line).faults
    assert result.problem == "is not a country code such as GB: a long " + "x" * 33 + "…"

    [customer, due] = check_rows(cast, "jobs", ["Customer", "Title", "Due"], ["y" * 500, "Roof", "31/31/31"]).faults
    unknown = f"was not found: {'y' * 40}…. Import it first, or check the spelling"
    assert customer.problem == unknown
    assert due.problem == "is not a date such as 2026-11-15: 31/31/31"


def test_what_a_new_one_needs_is_told_with_whom_it_names(cast: Cast) -> None:
    faults = check_rows(cast, "sites", ["Customer", "Site name"], ["Nobody", "Mill"]).faults
    assert [fault.label for fault in faults] == ["Customer", "Address"]

    faults = check_rows(cast, "price items", ["Name", "Kind"], ["", "material"]).faults
    assert [fault.label for fault in faults] == ["Name", "Price"]


def test_what_stands_against_it_is_told_with_what_is_wrong(cast: Cast) -> None:
    gone = cast.perform(create_customer, name="Gone")["id"]
    cast.perform(archive_customer, customerId=gone)
    faults = check_rows(cast, "jobs", ["Customer", "Title", "Due"], ["Gone", "", "31/31/31"]).faults
    assert sorted(fault.label for fault in faults) == ["", "Due date", "Title"]
    assert faults[-1].problem == "Gone is archived. Restore the customer first."


def test_a_row_that_is_there_twice_is_looked_at_as_well(cast: Cast) -> None:
    lines = [["Calder", "", "C-1"], ["Calder", "nobody", "C-1"]]
    faults = check_rows(cast, "customers", ["Name", "E-mail", "Ref"], *lines).faults
    assert [(fault.row, fault.label) for fault in faults] == [(3, "External ID"), (3, "Email")]


def test_a_site_that_its_customer_does_not_have_is_told_with_the_rest(cast: Cast) -> None:
    cast.perform(create_customer, name="Calder")
    faults = check_rows(cast, "jobs", ["Customer", "Title", "Site", "Due"], ["Calder", "Boiler", "Mill", "soon"]).faults
    assert [fault.label for fault in faults] == ["Site", "Due date"]


def test_what_is_wrong_with_a_known_record_is_told_at_once(cast: Cast) -> None:
    import_rows(cast, "customers", ["Name"], ["Calder"], ["Ryburn"])
    headings = ["Customer", "Title", "Due", "Budget", "Ref"]
    import_rows(cast, "jobs", headings, ["Calder", "Boiler", "", "", "J-1"])
    faults = check_rows(cast, "jobs", headings, ["Ryburn", "Roof", "soon", "NaN", "J-1"]).faults
    assert sorted(fault.label for fault in faults) == ["Agreed price", "Customer", "Due date"]


def test_two_faults_of_prices_that_could_be_two_are_both_told(cast: Cast) -> None:
    german = upload_import(cast, "price items", ["Name", "Price", "Cost"], [["Pipe", "1.250", "1.100"]], country="DE")
    assert [fault.label for fault in german.check().faults] == ["Price", "Cost"]


def test_a_row_with_faults_counts_as_nothing_and_leaves_nothing(cast: Cast) -> None:
    cast.perform(create_customer, name="Calder")
    headings = ["Customer", "Title", "Due"]
    lines = [["Calder", "Boiler", "soon"], ["Calder", "Roof", ""]]
    outcome = upload_import(cast, "jobs", headings, lines).import_rows()
    assert (outcome.created, len(outcome.faults)) == (1, 1)
    assert list_records(cast, list_jobs) == []


def test_who_may_not_is_told_once(cast: Cast) -> None:
    [fault] = upload_import(cast, "price items", ["Name", "Price"], [["Pipe", "NaN"]], Role.MEMBER).check().faults
    assert "don't have access" in fault.problem
