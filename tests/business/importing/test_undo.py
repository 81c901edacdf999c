"""An import can be undone: what it created goes and what it changed returns, unless others have built on it."""

from typing import Any, NamedTuple

import pytest

from business.importing.test_row_import import import_rows, list_records
from business.importing.test_steps import import_until_interrupted, make_pace
from mainstay.business.customers.duplicates import list_duplicate_customers
from mainstay.business.customers.operations import archive_customer, list_customers, update_customer
from mainstay.business.customers.sites_and_contacts import list_sites
from mainstay.business.importing.import_model import CHECKED, UNDOING, UNDONE, RowFault
from mainstay.business.importing.record_kinds import find_import_kinds
from mainstay.business.importing.references import find_references
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.people.roles import change_role
from mainstay.business.pricelist.operations import list_price_items, save_price_item
from mainstay.business.records.notes import add_note
from mainstay.catalogue import CATALOGUE
from mainstay.infrastructure.database import ALL_ORGANISATIONS, Row
from mainstay.infrastructure.schema import read_tables
from mainstay.settings import Settings
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job, make_site, run_all_tasks
from support.imports import ROW_BY_ROW, FileImport, upload_import
from support.prices import make_kit_item, make_price_item, make_supplier
from support.quotes import make_default_tax_rate, make_quote
from support.stored_state import list_events_of, operations_on, read_rows_of, read_trail
from support.violations import find_violations

# What tells of acts, of imports, or of nothing but that something was written; the words of records are proved.
_IGNORED_TABLES = {
    "audit",
    "audit_record",
    "event",
    "outbox",
    "import_run",
    "import_cells",
    "import_change",
    "number_series",
    "organisation",
    "undo",
}
_WRITE_COLUMNS = {"version", "updated_at", "updated_by"}


def read_records(cast: Cast) -> dict[str, list[dict[str, Any]]]:
    """Return all records of an organisation without their versions and times of writing."""
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        tables = {table.name: table.columns for table in read_tables(db, cast.performer.database.engine)}
    return {
        name: [_drop_write_columns(tables[name], row) for row in rows_]
        for name, rows_ in read_rows_of(cast).items()
        if name not in _IGNORED_TABLES and not name.startswith("search_")
    }


def _drop_write_columns(columns: tuple[str, ...], row: Row) -> dict[str, Any]:
    return {name: value for name, value in zip(columns, row, strict=True) if name not in _WRITE_COLUMNS}


class ImportFile(NamedTuple):
    """An import file of one kind of record: rows that are new, and rows about existing records."""

    headings: list[str]
    new: list[list[str]]
    existing: list[list[str]]


FILES = {
    "customers": ImportFile(
        ["Name", "Street", "Town", "Days to pay", "Ref"],
        [["Colne", "1 Lane", "Leeds", "30", "C-9"], ["Irwell", "", "", "", "C-8"]],
        [["Calder & Co", "", "York", "14", "C-1"], ["ryburn", "9 Street", "", "", ""]],
    ),
    "sites": ImportFile(
        ["Customer", "Site name", "Address", "Access", "Ref"],
        [["C-1", "Barn", "2 Lane", "Ring", "S-9"], ["C-1", "", "3 Lane", "", "S-8"]],
        [["C-1", "Mill", "9 Mill Road", "Key", "S-1"]],
    ),
    "contacts": ImportFile(
        ["Customer", "Name", "Role", "E-mail"],
        [["C-1", "Bob", "", "bob@calder.example"], ["Ryburn", "Cat", "", ""]],
        [["C-1", "ann", "owner", "ann@calder.example"]],
    ),
    "jobs": ImportFile(
        ["Customer", "Title", "Site", "Due", "Budget", "Tags", "Ref"],
        [["C-1", "Roof", "S-1", "2027-01-01", "12.50", "gas", "J-9"], ["Ryburn", "Door", "", "", "", "", "J-8"]],
        [["C-1", "New boiler", "S-1", "2027-02-01", "99", "heat, gas", "J-1"]],
    ),
    "suppliers": ImportFile(
        ["Name", "E-mail", "Town", "Ref"],
        [["Colne", "orders@colne.example", "Leeds", "V-9"]],
        [["Pennine", "orders@pennine.example", "York", "V-1"]],
    ),
    "price items": ImportFile(
        ["Code", "Name", "Price", "Cost", "Supplier", "Ref"],
        [["TAP", "Tap", "5", "2", "Pennine", "P-9"]],
        [["BLR", "Big boiler", "900", "600", "Pennine", "P-1"], ["KIT", "Heating", "50", "", "", "P-2"]],
    ),
}


@pytest.fixture
def firm(cast: Cast) -> Cast:
    """A firm with records of every kind and their references in other systems."""
    import_rows(cast, "customers", ["Name", "Street", "Town", "Ref"], ["Calder", "2 Weir Lane", "Halifax", "C-1"])
    make_customer(cast, "Ryburn")
    import_rows(cast, "sites", ["Customer", "Site name", "Address", "Ref"], ["C-1", "Mill", "1 Mill Road", "S-1"])
    import_rows(cast, "contacts", ["Customer", "Name", "Role"], ["C-1", "Ann", "caretaker"])
    import_rows(cast, "jobs", ["Customer", "Title", "Site", "Tags", "Ref"], ["C-1", "Boiler", "S-1", "heat", "J-1"])
    make_supplier(cast, "Pennine")
    boiler = make_price_item(cast, "Boiler", code="BLR", sellPrice="800", costPrice="500")
    make_kit_item(cast, {boiler: "2"}, "Heating", code="KIT")
    return cast


def upload_file(cast: Cast, kind: str) -> FileImport:
    file = FILES[kind]
    return upload_import(cast, kind, file.headings, [*file.new, *file.existing])


@pytest.mark.parametrize("kind", FILES)
def test_undoing_leaves_everything_as_it_was(settings: Settings, firm: Cast, other_cast: Cast, kind: str) -> None:
    import_rows(other_cast, "customers", ["Name", "Ref"], ["Calder", "C-1"], ["Colne", "C-9"])
    theirs, before = read_rows_of(other_cast), read_records(firm)
    one = upload_file(firm, kind)
    outcome = one.import_rows(ROW_BY_ROW)
    assert (outcome.created, outcome.changed) == (len(FILES[kind].new), len(FILES[kind].existing))
    assert read_records(firm) != before
    run = one.undo(ROW_BY_ROW)
    assert (run.undo_outcome.removed, run.undo_outcome.changed_back, run.undo_outcome.remaining) == (
        outcome.created,
        outcome.changed,
        [],
    )
    assert (run.status, read_records(firm), read_rows_of(other_cast)) == (UNDONE, before, theirs)
    run_all_tasks(firm)
    assert find_violations(settings, firm) == []


@pytest.mark.parametrize("kind", FILES)
def test_a_refusal_in_the_middle_takes_everything_back(settings: Settings, firm: Cast, kind: str) -> None:
    before = read_records(firm)
    file = FILES[kind]
    # The last row is wrong only because of what happens after the check: the person loses the right to import.
    one = upload_import(firm, kind, file.headings, [*file.new, *file.existing, LAST_ROWS[kind]])
    assert one.check().faults == []
    orla = firm.people[Role.OFFICE]
    steps = len(file.new) + len(file.existing)
    hooks = [lambda: None] * (steps - 1)
    outcome = one.import_rows(
        make_pace(*hooks, lambda: firm.perform(change_role, personId=orla, role="member", confirmed=True))
    )
    assert outcome.faults[0].row == 2
    run = one.run
    assert (run.status, (run.result or {})["refused"][0]) == (CHECKED, steps + 2)
    assert "don't have access" in (run.result or {})["refused"][2]
    assert (run.undo_outcome.removed, run.undo_outcome.changed_back) == (len(file.new), len(file.existing))
    after = read_records(firm)
    assert {name for name in before if before[name] != after[name]} <= {"person"}
    run_all_tasks(firm)
    assert find_violations(settings, firm) == []


LAST_ROWS = {
    "customers": ["Last", "", "", "", "C-L"],
    "sites": ["C-1", "Last", "1 Last Lane", "", "S-L"],
    "contacts": ["C-1", "Last", "", ""],
    "jobs": ["C-1", "Last", "", "", "", "", "J-L"],
    "suppliers": ["Last", "", "", "V-L"],
    "price items": ["LAST", "Last", "5", "", "", "P-L"],
}


def test_a_row_that_is_wrong_by_now_is_told_with_all_others_that_are(firm: Cast) -> None:
    ryburn = next(one["id"] for one in list_records(firm) if one["name"] == "Ryburn")
    lines = [["C-1", "Roof"], ["Ryburn", "Door"], ["C-1", "Wall"], ["Ryburn", "Gate"]]
    one = upload_import(firm, "jobs", ["Customer", "Title"], lines)
    assert one.check().faults == []
    outcome = one.import_rows(make_pace(lambda: firm.perform(archive_customer, customerId=ryburn)))
    problem = "Ryburn is archived. Restore the customer first."
    refused = RowFault(*(one.run.result or {})["refused"])
    faults = [(fault.row, fault.label, fault.problem) for fault in (*outcome.faults, refused)]
    assert faults == [(3, "", problem), (5, "", problem), (3, "", problem)]
    assert [job["title"] for job in list_records(firm, list_jobs)] == ["Boiler"]
    # The automatic undo is an act of the system actor.
    assert read_trail(firm)[-1]["operation"] == "undo_import"
    assert read_trail(firm)[-1]["actor"]["kind"] == "house"


def test_what_others_have_built_on_stays_and_is_named(settings: Settings, firm: Cast) -> None:
    lines = [[name, ref, phone] for name, ref, phone in (
        ("Free", "N-1", "1"), ("Worked for", "N-2", "1"), ("Noted", "N-3", "1"), ("Renamed", "N-4", "1"),
        ("Calder", "C-1", "77"), ("Ryburn", "", "88"),
    )]  # fmt: skip
    one = upload_import(firm, "customers", ["Name", "Ref", "Phone"], lines)
    assert one.import_rows().created == 4
    ids = {customer["name"]: customer["id"] for customer in list_records(firm)}
    job = make_job(firm, ids["Worked for"])
    firm.perform(add_note, recordId=ids["Noted"], text="Rings back.")
    firm.perform(update_customer, customerId=ids["Renamed"], name="Renamed since")
    firm.perform(update_customer, customerId=ids["Calder"], email="office@calder.example")
    before = {customer["id"]: customer for customer in list_records(firm)}
    run = one.undo(ROW_BY_ROW)
    assert (run.undo_outcome.removed, run.undo_outcome.changed_back) == (1, 1)
    # Newest first.
    remaining = [(one.name, one.record, str(one.message)) for one in run.undo_outcome.remaining]
    assert remaining == [
        ("Calder", ids["Calder"], "they were changed later"),
        ("Renamed since", ids["Renamed"], "they were changed later"),
        ("Noted", ids["Noted"], "notes were added"),
        ("Worked for", ids["Worked for"], "jobs were added"),
    ]
    after = {customer["id"]: customer for customer in list_records(firm)}
    assert before.keys() - after.keys() == {ids["Free"]}
    assert after[ids["Ryburn"]]["phone"] is None
    assert {one: after[one] for one in after if one != ids["Ryburn"]} == {
        one: before[one] for one in after if one != ids["Ryburn"]
    }
    assert list_records(firm, list_jobs)[-1]["id"] == job["id"]
    run_all_tasks(firm)
    assert find_violations(settings, firm) == []


def test_no_customer_is_a_duplicate_of_one_that_was_removed(settings: Settings, firm: Cast) -> None:
    one = upload_import(firm, "customers", ["Name", "Ref"], [["Colne Ltd", "N-1"]])
    one.import_rows()
    first = list_records(firm)[-1]["id"]
    second, third = make_customer(firm, "Colne"), make_customer(firm, "Colne Limited")
    assert list_duplicates(firm) == {second: [first], third: [first]}
    assert one.undo().undo_outcome.removed == 1
    assert list_duplicates(firm) == {third: [second]}
    run_all_tasks(firm)
    assert find_violations(settings, firm) == []


def list_duplicates(cast: Cast) -> dict[str, list[str]]:
    """Return the possible duplicates of each customer, by id."""
    rows = list_records(cast, list_duplicate_customers)
    return {row["id"]: [other["id"] for other in row["sameAs"]] for row in rows}


def test_a_price_item_on_a_document_stays(settings: Settings, firm: Cast) -> None:
    make_default_tax_rate(firm)
    lines = [["AA", "Tap", "5"], ["BB", "Pipe", "6"], ["CC", "Cap", "7"]]
    one = upload_import(firm, "price items", ["Code", "Name", "Price"], lines)
    one.import_rows()
    items = {item["code"]: item["id"] for item in list_records(firm, list_price_items)}
    make_quote(firm, lines=[{"itemId": "BB", "quantity": "1"}])
    make_kit_item(firm, {items["CC"]: "1"}, "Set of caps")
    run = one.undo(ROW_BY_ROW)
    assert [(stay.name, str(stay.message)) for stay in run.undo_outcome.remaining] == [
        ("CC Cap", "kits were added"),
        ("BB Pipe", "quotes were added"),
    ]
    assert {item["code"] for item in list_records(firm, list_price_items)} & items.keys() == {"BLR", "KIT", "BB", "CC"}
    assert find_violations(settings, firm) == []


def test_what_is_used_while_it_is_undone_stays(firm: Cast) -> None:
    one = upload_import(firm, "customers", ["Name", "Ref"], [["First", "N-1"], ["Second", "N-2"]])
    one.import_rows()
    first = next(customer["id"] for customer in list_records(firm) if customer["name"] == "First")
    run = one.undo(make_pace(lambda: make_site(firm, first)))
    assert (run.undo_outcome.removed, [stay.name for stay in run.undo_outcome.remaining]) == (1, ["First"])


def test_a_record_that_two_rows_changed_is_as_before_both(firm: Cast) -> None:
    before = read_records(firm)
    # The first is known by its name, and the second by what the file calls it from now on.
    one = upload_import(firm, "customers", ["Name", "Phone", "Ref"], [["Ryburn", "1", ""], ["Ryburn", "2", "C-2"]])
    assert one.import_rows().changed == 2
    assert one.undo().undo_outcome.remaining == []
    assert read_records(firm) == before


def test_a_kit_that_follows_its_part_is_not_taken_for_changed_by_others(firm: Cast) -> None:
    before = read_records(firm)
    lines = [["KIT", "All heating", "1999"], ["BLR", "Big boiler", "900"]]
    one = upload_import(firm, "price items", ["Code", "Name", "Price"], lines)
    assert one.import_rows().changed == 2
    assert one.undo().undo_outcome.remaining == []
    assert read_records(firm) == before


def test_a_change_that_cannot_be_changed_back_stays(firm: Cast) -> None:
    one = upload_import(firm, "price items", ["Code", "Name", "Price", "Ref"], [["BLR-2", "Boiler", "800", "P-1"]])
    import_rows(firm, "price items", ["Code", "Name", "Price", "Ref"], ["BLR", "Boiler", "800", "P-1"])
    assert one.import_rows().changed == 1
    # Its code is another's now.
    make_price_item(firm, "Other boiler", code="BLR", sellPrice="1")
    [stay] = one.undo().undo_outcome.remaining
    assert str(stay.message).startswith("they could not be changed back (Other boiler already has the code BLR.")
    assert firm.perform(save_price_item, itemId=stay.record, unit="pcs")["code"] == "BLR-2"


def test_webhooks_hear_that_an_undone_job_is_cancelled(firm: Cast) -> None:
    one = upload_import(
        firm, "jobs", ["Customer", "Title", "Ref"], [["C-1", "Roof", "J-9"], ["C-1", "Better boiler", "J-1"]]
    )
    one.import_rows()
    before = len(list_events_of(firm))
    one.undo()
    changed_back, cancelled = list_events_of(firm)[before:]
    assert (changed_back["type"], changed_back["data"]["object"]["title"]) == ("job.updated", "Boiler")
    result = cancelled["data"]["object"]
    assert (cancelled["type"], result["title"], result["status"]) == ("job.cancelled", "Roof", "cancelled")
    assert result["cancelReason"] == "The import was undone."


def test_the_trail_tells_who_undid_what(firm: Cast) -> None:
    one = upload_import(firm, "customers", ["Name", "Ref"], [["Free", "N-1"], ["Calder & Co", "C-1"]])
    one.import_rows()
    free, calder = (
        next(each for each in list_records(firm) if each["name"] == name) for name in ("Free", "Calder & Co")
    )
    one.undo()
    assert operations_on(firm, free["id"]) == ["create_customer", "undo_import"]
    assert operations_on(firm, calder["id"]) == ["create_customer", "update_customer", "update_customer"]
    for act in read_trail(firm)[-2:]:
        assert (act["requestId"], act["actor"]["person"]["name"]) == (one.id, "Orla Office")


def test_an_interrupted_import_is_undone(firm: Cast) -> None:
    before = read_records(firm)
    one = upload_file(firm, "customers")
    import_until_interrupted(one, 3)
    run = one.undo(ROW_BY_ROW)
    assert (run.status, run.undo_outcome.removed, run.undo_outcome.changed_back) == (UNDONE, 2, 1)
    assert read_records(firm) == before


def test_an_interrupted_undo_is_continued(firm: Cast) -> None:
    before = read_records(firm)
    one = upload_file(firm, "customers")
    one.import_rows()
    with pytest.raises(RuntimeError):
        one.undo(make_pace(lambda: None, raise_error))
    assert (one.run.status, one.run.undo_outcome.count) == (UNDOING, 2)
    run = one.undo()
    assert (run.status, run.undo_outcome.removed, run.undo_outcome.changed_back) == (UNDONE, 2, 2)
    assert read_records(firm) == before


def raise_error() -> None:
    raise RuntimeError


def test_an_interrupted_undo_of_a_refused_import_ends_with_what_was_wrong(firm: Cast) -> None:
    ryburn = next(one["id"] for one in list_records(firm) if one["name"] == "Ryburn")
    lines = [["C-1", "Roof"], ["C-1", "Wall"], ["Ryburn", "Door"]]
    one = upload_import(firm, "jobs", ["Customer", "Title"], lines)
    with pytest.raises(RuntimeError):
        one.import_rows(make_pace(lambda: firm.perform(archive_customer, customerId=ryburn), lambda: None, raise_error))
    assert (one.run.status, one.run.undo_outcome.removed) == (UNDOING, 1)
    run = one.undo()
    assert (run.status, run.undo_outcome.removed, [fault.row for fault in one.outcome.faults]) == (CHECKED, 2, [4])
    assert [job["title"] for job in list_records(firm, list_jobs)] == ["Boiler"]


def test_records_of_other_imports_are_left_alone(firm: Cast) -> None:
    first = upload_import(firm, "customers", ["Name", "Ref"], [["Free", "N-1"]])
    first.import_rows()
    second = upload_import(firm, "customers", ["Name", "Ref"], [["Other", "N-2"]])
    second.import_rows()
    first.undo()
    assert [one["name"] for one in list_records(firm, list_customers)] == ["Calder", "Ryburn", "Other"]
    assert second.undo().undo_outcome.removed == 1


def test_an_undone_file_can_be_imported_again(firm: Cast) -> None:
    before = read_records(firm)
    for _ in range(2):
        one = upload_file(firm, "customers")
        assert one.import_rows().created == 2
        one.undo()
        assert read_records(firm) == before


def test_whatever_can_refer_to_an_imported_record_is_looked_at(cast: Cast) -> None:
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        tables = read_tables(db, cast.performer.database.engine)
    imported = {one.table: one.record_kind.prefix for one in find_import_kinds(CATALOGUE).values()}
    found = {
        (key.table, table.name, key.columns[-1])
        for table in tables
        for key in table.foreign_keys
        if key.table in imported
    }
    known = {
        (table, one.table, one.column)
        for table, prefix in imported.items()
        for one in find_references(CATALOGUE.kinds.values(), prefix)
    }
    # Those who see a job or a customer see it because of the job's people, who make it another version.
    follows = {("job", "own_job", "id"), ("customer", "own_customer", "id")}
    # What goes with its record: a customer with the keys by which duplicates of it are found, a kit with its parts.
    # Files never make a kit.
    parts = {("customer", "customer_key", "customer_id"), ("price_item", "kit_part", "kit_id")}
    assert found - known == follows | parts


def test_undoing_clears_the_lines_of_an_address_that_the_import_added(cast: Cast) -> None:
    import_rows(cast, "customers", ["Name", "Street", "Ref"], ["Calder", "2 Weir Lane", "C-1"])
    [before] = list_records(cast)
    one = upload_import(
        cast, "customers", ["Name", "Street", "Postcode", "Ref"], [["Calder", "3 Weir Lane", "HX6 2AG", "C-1"]]
    )
    one.import_rows(ROW_BY_ROW)
    [changed] = list_records(cast)
    assert (changed["billingAddress"]["line1"], changed["billingAddress"]["postalCode"]) == ("3 Weir Lane", "HX6 2AG")
    assert one.undo(ROW_BY_ROW).undo_outcome.changed_back == 1
    [after] = list_records(cast)
    assert after["billingAddress"] == before["billingAddress"]


def test_imported_customers_have_no_sites_but_those_of_their_own_file(cast: Cast) -> None:
    import_rows(cast, "customers", ["Name", "Street", "Ref"], ["Calder", "2 Weir Lane", "C-1"])
    assert list_records(cast, list_sites) == []
