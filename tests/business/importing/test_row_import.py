"""Rows of files are imported through the usual operations: all faults are reported first, then all rows or none."""

from typing import Any

import pytest

from mainstay.business.customers.operations import (
    archive_customer,
    create_customer,
    get_customer,
    list_customers,
    update_customer,
)
from mainstay.business.customers.sites_and_contacts import list_contacts, list_sites
from mainstay.business.importing.import_model import ImportOutcome
from mainstay.business.importing.record_kinds import find_import_kinds
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.pricelist.operations import list_price_items, save_price_item
from mainstay.business.pricelist.suppliers import list_suppliers
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.records.history import get_history
from mainstay.catalogue import CATALOGUE
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.imports import upload_import
from support.prices import make_kit_item, make_price_item, make_supplier, make_tax_rate

IMPORT_KINDS = find_import_kinds(CATALOGUE)


def check_headings(kind: str, headings: list[str]) -> list[str]:
    """Return the headings after checking that each is recognised as a column."""
    assert len(IMPORT_KINDS[kind].guess_mapping(headings)) == len(headings)
    return headings


def check_rows(cast: Cast, kind: str, headings: list[str], *lines: list[str]) -> ImportOutcome:
    return upload_import(cast, kind, check_headings(kind, headings), [*lines]).check()


def import_rows(cast: Cast, kind: str, headings: list[str], *lines: list[str]) -> tuple[int, int, int]:
    """Import rows without faults; return how many were new, changed and unchanged."""
    outcome = upload_import(cast, kind, check_headings(kind, headings), [*lines]).import_rows()
    assert outcome.faults == []
    return outcome.created, outcome.changed, outcome.unchanged


def list_records(cast: Cast, operation: Any = list_customers, **given: object) -> list[dict[str, Any]]:
    return list(cast.perform(operation, Role.OFFICE, limit=100, **given)["data"])[::-1]


CUSTOMERS = ["Company name", "Type", "E-mail", "Street", "Town", "Country", "Payment terms", "Customer ID"]
CALDER = ["Calder", "business", "office@calder.example", "2 Weir Lane", "Halifax", "United Kingdom", "30 days", "C-1"]
RYBURN = ["Ryburn", "", "", "", "", "", "", "C-2"]


def test_customers_are_brought_over_each_by_an_act_of_its_own(cast: Cast) -> None:
    assert import_rows(cast, "customers", CUSTOMERS, CALDER, RYBURN) == (2, 0, 0)
    calder, ryburn = list_records(cast)
    assert (calder["name"], calder["kind"], calder["paymentTermsDays"]) == ("Calder", "company", 30)
    assert (calder["billingAddress"]["city"], calder["billingAddress"]["country"]) == ("Halifax", "GB")
    assert (calder["externalRef"], ryburn["externalRef"]) == ("C-1", "C-2")
    [made] = cast.perform(get_history, recordId=calder["id"])["data"]
    assert (made["operation"], made["by"]["person"]["name"]) == ("create_customer", "Orla Office")


def test_payment_terms_are_days_with_or_without_the_word(cast: Cast) -> None:
    terms = {"30 days": 30, "14 Days": 14, "7days": 7, "1 day": 1, "60": 60}
    import_rows(cast, "customers", ["Name", "Payment terms"], *([f"Calder {text}", text] for text in terms))
    assert [one["paymentTermsDays"] for one in list_records(cast)] == [*terms.values()]
    outcome = check_rows(cast, "customers", ["Name", "Payment terms"], ["Ryburn", "30s"], ["Pennine", "days"])
    assert [fault.row for fault in outcome.faults] == [2, 3]


def test_cells_of_blanks_are_checked_at_once(cast: Cast) -> None:
    # Nobody measures time here: when each cell took seconds, this did not come to an end.
    blanks = ["Calder", f"30{' ' * 32_000}weeks"]
    assert check_rows(cast, "customers", ["Name", "Payment terms"], *[blanks] * 300).created == 0


def test_to_look_at_rows_changes_nothing(cast: Cast) -> None:
    outcome = check_rows(cast, "customers", CUSTOMERS, CALDER, RYBURN)
    assert (outcome.created, outcome.faults) == (2, [])
    assert list_records(cast) == []


def test_the_same_file_twice_makes_nothing_twice_and_leaves_no_trace(cast: Cast) -> None:
    import_rows(cast, "customers", CUSTOMERS, CALDER, RYBURN)
    before = list_records(cast)
    assert import_rows(cast, "customers", CUSTOMERS, CALDER, RYBURN) == (0, 0, 2)
    assert list_records(cast) == before
    assert len(cast.perform(get_history, recordId=before[0]["id"])["data"]) == 1


def test_a_known_reference_changes_what_is_different_and_an_empty_cell_nothing(cast: Cast) -> None:
    import_rows(cast, "customers", CUSTOMERS, CALDER)
    again = ["Calder & Co", "", "", "", "Leeds", "", "", "C-1"]
    assert import_rows(cast, "customers", CUSTOMERS, again) == (0, 1, 0)
    [calder] = list_records(cast)
    assert (calder["name"], calder["email"], calder["version"]) == ("Calder & Co", "office@calder.example", 2)
    assert (calder["billingAddress"]["line1"], calder["billingAddress"]["city"]) == ("2 Weir Lane", "Leeds")


def test_without_references_a_file_is_known_again_by_names(cast: Cast) -> None:
    by_hand = cast.perform(create_customer, name="Café Möller", phone="1")["id"]
    lines = [["CAFE MOLLER", "2"], ["Hebden", "3"]]
    assert import_rows(cast, "customers", ["Name", "Phone"], *lines) == (1, 1, 0)
    assert import_rows(cast, "customers", ["Name", "Phone"], *lines) == (0, 0, 2)
    # Also when someone was renamed since.
    hebden = list_records(cast)[1]
    cast.perform(update_customer, customerId=hebden["id"], name="Hebden Mill")
    assert import_rows(cast, "customers", ["Name", "Phone"], *lines) == (0, 1, 1)
    assert [customer["id"] for customer in list_records(cast)] == [by_hand, hebden["id"]]


def test_what_was_brought_over_by_an_earlier_version_is_known_again(cast: Cast) -> None:
    # What this name was kept under ever since files are brought over.
    cast.perform(create_customer, name="Otherwise now", externalRef="import feba65cfabde10613d0b")
    assert import_rows(cast, "customers", ["Name"], ["Søren Łódź Straße"]) == (0, 1, 0)


def test_who_was_added_by_hand_gets_the_reference_of_the_file(cast: Cast) -> None:
    by_hand = cast.perform(create_customer, name="Calder")["id"]
    assert import_rows(cast, "customers", ["Name", "Ref"], ["Calder", "C-1"]) == (0, 1, 0)
    assert cast.perform(get_customer, customerId=by_hand)["externalRef"] == "C-1"
    # Another one of the same name is another one.
    assert import_rows(cast, "customers", ["Name", "Ref"], ["Calder", "C-1"], ["Calder", "C-2"]) == (1, 0, 1)


def test_every_fault_of_every_row_is_told_and_nothing_is_brought_over(cast: Cast) -> None:
    headings = ["Name", "Email", "Country", "Days to pay", "Ref"]
    lines = [
        ["Good", "", "", "", "1"],
        ["", "not an address", "Narnia", "soon", "2"],
        ["x" * 300, "", "", "400", "3"],
        ["Again", "", "", "", "1"],
    ]
    expected = {
        (3, "Name"), (3, "Email"), (3, "Country"), (3, "Payment terms (days)"),
        (4, "Name"), (4, "Payment terms (days)"), (5, "External ID"),
    }  # fmt: skip
    outcome = check_rows(cast, "customers", headings, *lines)
    assert {(fault.row, fault.label) for fault in outcome.faults} == expected
    assert "is the same as in row 2" in [fault.problem for fault in outcome.faults if fault.row == 5]
    brought = upload_import(cast, "customers", headings, lines).import_rows()
    assert {(fault.row, fault.label) for fault in brought.faults} == expected
    assert list_records(cast) == []


def test_two_rows_that_cannot_be_told_apart_are_told_so(cast: Cast) -> None:
    [fault] = check_rows(cast, "customers", ["Name"], ["Calder"], ["calder"]).faults
    assert (fault.row, fault.label) == (3, "External ID")
    assert "row 2 looks the same" in fault.problem


def test_sites_contacts_and_jobs_name_their_customer_by_reference_or_name(cast: Cast) -> None:
    import_rows(cast, "customers", CUSTOMERS, CALDER, RYBURN)
    sites = [["C-1", "Mill", "1 Mill Road"], ["ryburn", "", "2 Lane"]]
    assert import_rows(cast, "sites", ["Customer", "Site name", "Address"], *sites) == (2, 0, 0)
    assert import_rows(cast, "sites", ["Customer", "Site name", "Address"], *sites) == (0, 0, 2)
    assert [(one["customerName"], one["name"]) for one in list_records(cast, list_sites)] == [
        ("Calder", "Mill"), ("Ryburn", "2 Lane"),
    ]  # fmt: skip
    contacts = [["Calder", "Ann", "caretaker"], ["Calder", "Bob", ""]]
    assert import_rows(cast, "contacts", ["Client", "Name", "Position"], *contacts) == (2, 0, 0)
    assert import_rows(cast, "contacts", ["Client", "Name", "Position"], *contacts) == (0, 0, 2)
    assert [one["role"] for one in list_records(cast, list_contacts)] == ["caretaker", None]
    headings = ["Customer", "Site", "Title", "Status", "Due date", "Amount", "Tags", "Job number"]
    jobs = [
        ["C-1", "mill", "Boiler", "Lead", "15.11.2026", "1200.50", "gas, heat", "J1"],
        ["Ryburn", "", "Roof", "", "2026-12-01", "", "", "J2"],
    ]
    assert import_rows(cast, "jobs", headings, *jobs) == (2, 0, 0)
    assert import_rows(cast, "jobs", headings, *jobs) == (0, 0, 2)
    boiler, roof = list_records(cast, list_jobs)
    assert (boiler["siteName"], boiler["status"], boiler["dueOn"]) == ("Mill", "enquiry", "2026-11-15")
    assert (boiler["budget"], boiler["tags"], roof["status"]) == ("1200.50", ["gas", "heat"], "open")
    jobs[0][2] = "New boiler"
    assert import_rows(cast, "jobs", headings, *jobs) == (0, 1, 1)


def test_jobs_without_references_are_known_again_by_everything_in_the_row(cast: Cast) -> None:
    cast.perform(create_customer, name="Calder")
    lines = [["Calder", "Service", "2026-01-01"], ["Calder", "Service", "2027-01-01"]]
    assert import_rows(cast, "jobs", ["Customer", "Title", "Due"], *lines) == (2, 0, 0)
    assert import_rows(cast, "jobs", ["Customer", "Title", "Due"], *lines) == (0, 0, 2)


def test_who_is_not_known_or_not_clear_is_told(cast: Cast) -> None:
    for _ in range(2):
        cast.perform(create_customer, name="Smith")
    gone = cast.perform(create_customer, name="Gone")["id"]
    cast.perform(archive_customer, customerId=gone)
    lines = [["Nobody", "A"], ["Smith", "B"], ["Gone", "C"], ["", "D"]]
    faults = check_rows(cast, "jobs", ["Customer", "Title"], *lines).faults
    assert [(fault.row, fault.label) for fault in faults] == [
        (2, "Customer"),
        (3, "Customer"),
        (4, ""),
        (5, "Customer"),
    ]
    result = [fault.problem for fault in faults]
    assert "was not found: Nobody" in result[0]
    assert "matches several records" in result[1]
    assert "Restore the customer first" in result[2]
    assert result[3] == "is required"


def test_a_record_stays_with_its_customer(cast: Cast) -> None:
    import_rows(cast, "customers", ["Name"], ["Calder"], ["Ryburn"])
    import_rows(cast, "jobs", ["Customer", "Title", "Ref"], ["Calder", "Boiler", "J1"])
    [fault] = check_rows(cast, "jobs", ["Customer", "Title", "Ref"], ["Ryburn", "Boiler", "J1"]).faults
    assert (fault.label, fault.problem) == ("Customer", "is not the customer of this job: Ryburn")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_whoever_may_not_add_customers_brings_none_over(cast: Cast, role: Role) -> None:
    outcome = upload_import(cast, "customers", ["Name"], [["Calder"]], role).import_rows()
    assert "don't have access" in outcome.faults[0].problem
    assert list_records(cast) == []


def test_records_of_others_are_neither_found_nor_changed(cast: Cast, other_cast: Cast) -> None:
    import_rows(other_cast, "customers", ["Name", "Ref"], ["Calder", "C-1"])
    assert import_rows(cast, "customers", ["Name", "Ref"], ["Calder", "C-1"]) == (1, 0, 0)
    assert check_rows(cast, "jobs", ["Customer", "Title"], ["C-1", "A"]).faults == []
    assert [one["version"] for one in list_records(other_cast)] == [1]


def test_suppliers_are_known_again_by_reference_or_name(cast: Cast) -> None:
    by_hand = make_supplier(cast, "Pennine")
    headings = ["Vendor", "E-mail", "Town", "Account number", "Payment terms", "Supplier no"]
    lines = [
        ["PENNINE", "orders@pennine.example", "Leeds", "HAR-1", "30 days", "S-1"],
        ["Ryburn", "", "", "", "", "S-2"],
    ]
    assert import_rows(cast, "suppliers", headings, *lines) == (1, 1, 0)
    assert import_rows(cast, "suppliers", headings, *lines) == (0, 0, 2)
    pennine, ryburn = list_records(cast, list_suppliers)
    assert (pennine["id"], pennine["externalRef"], pennine["name"]) == (by_hand, "S-1", "PENNINE")
    assert (pennine["accountNumber"], pennine["paymentTermsDays"], pennine["address"]["city"]) == ("HAR-1", 30, "Leeds")
    assert ryburn["name"] == "Ryburn"
    [fault] = check_rows(cast, "suppliers", ["Name", "E-mail"], ["Calder", "nobody"]).faults
    assert fault.label == "Email"


ITEMS = ["SKU", "Item", "Type", "UOM", "Unit price", "Cost price", "VAT rate", "Supplier"]
BOILER = ["blr-24", "Combi boiler", "Product", "pcs", "£1,250.50", "612,5", "vat 20 %", "Pennine"]
LABOUR = ["", "Heating engineer", "Labor", "h", "62", "", "", ""]


def make_rate_and_supplier(cast: Cast) -> None:
    make_tax_rate(cast)
    make_supplier(cast, "Pennine", externalRef="S-1")


def test_price_items_name_their_tax_rate_and_supplier(cast: Cast) -> None:
    make_rate_and_supplier(cast)
    assert import_rows(cast, "price items", ITEMS, BOILER, LABOUR) == (2, 0, 0)
    boiler, labour = list_records(cast, list_price_items)
    assert (boiler["code"], boiler["kind"], boiler["unit"]) == ("BLR-24", "material", "pcs")
    assert (boiler["sellPrice"], boiler["costPrice"]) == ("1250.50", "612.50")
    assert (boiler["taxRateName"], boiler["supplierName"]) == ("VAT 20 %", "Pennine")
    assert (labour["code"], labour["kind"], labour["sellPrice"]) == (None, "labour", "62.00")
    assert import_rows(cast, "price items", ITEMS, BOILER, LABOUR) == (0, 0, 2)
    by_reference = [*BOILER[:-1], "S-1"]
    assert import_rows(cast, "price items", ITEMS, by_reference) == (0, 0, 1)
    dearer = [*BOILER[:4], "1300", *BOILER[5:]]
    assert import_rows(cast, "price items", ITEMS, dearer) == (0, 1, 0)
    assert [item["sellPrice"] for item in list_records(cast, list_price_items)] == ["1300.00", "62.00"]


def test_a_code_makes_nothing_twice_whatever_else_a_file_calls_it(cast: Cast) -> None:
    by_hand = make_price_item(cast, code="BLR-24")
    assert import_rows(cast, "price items", ["Code", "Name", "Price"], ["blr-24", "New boiler", "900"]) == (0, 1, 0)
    # The file gets references: they become those of what was known by its code.
    headings = ["Code", "Name", "Price", "Ref"]
    assert import_rows(cast, "price items", ["Code", "Name", "Price"], ["FLT", "Filter", "9"]) == (1, 0, 0)
    lines = [["BLR-24", "New boiler", "900", "P-1"], ["FLT", "Filter", "9", "P-2"]]
    assert import_rows(cast, "price items", headings, *lines) == (0, 2, 0)
    boiler, filter_ = list_records(cast, list_price_items)
    assert (boiler["id"], boiler["name"], boiler["externalRef"]) == (by_hand, "New boiler", "P-1")
    assert filter_["externalRef"] == "P-2"
    # And a reference stays with its item, though the code is another now.
    assert import_rows(cast, "price items", headings, ["BLR-30", "New boiler", "900", "P-1"]) == (0, 1, 0)
    [fault] = check_rows(cast, "price items", headings, ["BLR-30", "Other", "9", "P-9"]).faults
    assert fault.problem.startswith("New boiler already has the code BLR-30.")


def test_a_kit_stays_priced_by_its_parts_where_the_file_tells_the_same(cast: Cast) -> None:
    kit = make_kit_item(cast, {make_price_item(cast, sellPrice="10"): "2"}, code="KIT")
    assert import_rows(cast, "price items", ["Code", "Name", "Price"], ["KIT", "Heating", "20.00"]) == (0, 1, 0)
    assert list_records(cast, list_price_items)[1]["fromParts"] == ["sellPrice", "costPrice"]
    cast.perform(save_price_item, itemId=kit, status="archived")
    assert import_rows(cast, "price items", ["Code", "Name", "Price"], ["KIT", "Heating", "20.00"]) == (0, 0, 1)


def test_every_fault_of_every_price_is_told_and_nothing_is_brought_over(cast: Cast) -> None:
    make_rate_and_supplier(cast)
    old = make_tax_rate(cast, "VAT 17.5 %")
    cast.perform(save_tax_rate, taxRateId=old, status="archived")
    lines = [
        BOILER,
        ["A", "x" * 300, "Thing", "", "1,25,0", "-1", "", ""],
        ["B", "Valve", "", "", "", "", "", ""],
        ["C", "Tap", "", "", "5", "", "VAT 17.5 %", ""],
        ["D", "Pump", "", "", "5", "", "", "Nobody"],
        ["blr-24", "Again", "", "", "5", "", "", ""],
        ["", "heating ENGINEER", "", "", "5", "", "", ""],
        LABOUR,
    ]
    expected = {
        (3, "Name"), (3, "Type"), (3, "Price"), (3, "Cost"), (4, "Price"), (5, "Tax rate"), (6, "Supplier"),
        (7, "External ID"), (9, "External ID"),
    }  # fmt: skip
    outcome = check_rows(cast, "price items", ITEMS, *lines)
    assert {(fault.row, fault.label) for fault in outcome.faults} == expected
    assert "was not found: VAT 17.5 %" in next(fault.problem for fault in outcome.faults if fault.row == 5)
    brought = upload_import(cast, "price items", ITEMS, lines).import_rows()
    assert {(fault.row, fault.label) for fault in brought.faults} == expected
    assert list_records(cast, list_price_items) == []


def test_a_code_that_two_rows_have_is_told(cast: Cast) -> None:
    lines = [["A-1", "Pipe", "5", "P-1"], ["a-1", "Tap", "5", "P-2"]]
    [fault] = check_rows(cast, "price items", ["Code", "Name", "Price", "Ref"], *lines).faults
    assert (fault.row, fault.label, fault.problem) == (3, "Code", "is the same as in row 2")


def test_a_name_that_several_items_have_is_told(cast: Cast) -> None:
    for code in ("AA", "BB"):
        make_price_item(cast, "Pipe", code=code)
    [fault] = check_rows(cast, "price items", ["Name", "Price"], ["pipe", "5"]).faults
    assert (fault.label, fault.problem[:23]) == ("Name", "matches several records")


@pytest.mark.parametrize("kind", ["price items", "suppliers"])
def test_members_bring_no_prices_over(cast: Cast, kind: str) -> None:
    outcome = upload_import(cast, kind, ["Name"], [["Pipe"]], Role.MEMBER).import_rows()
    assert "don't have access" in outcome.faults[0].problem


def test_headings_are_guessed_and_each_column_is_taken_once() -> None:
    assert IMPORT_KINDS["customers"].guess_mapping(["Customer", "E-Mail Address", "post_code", "???", "Name"]) == {
        "name": 4, "email": 1, "billingAddress.postalCode": 2,
    }  # fmt: skip
    assert [column.label for column in IMPORT_KINDS["jobs"].missing_columns({"title": 0})] == ["Customer"]
