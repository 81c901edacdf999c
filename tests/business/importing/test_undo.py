"""An import can be undone: what it made is gone and what it changed is as before, but for what others have built on."""

from typing import Any, NamedTuple
from typing import cast as known_as

import pytest

from business.importing.test_row_import import bring, listed
from business.importing.test_steps import interrupt, pausing
from cast import Cast
from evidence import contents_of, events, history, trail
from importing import ROW_BY_ROW, FileImport, upload
from mainstay.backing.database import EVERY, Row, WholeDatabase
from mainstay.backing.proof import Books
from mainstay.backing.schema import read_tables
from mainstay.business.customers.duplicates import list_duplicate_customers
from mainstay.business.customers.operations import archive_customer, list_customers, update_customer
from mainstay.business.customers.places import list_sites
from mainstay.business.importing.references import REFERENCES
from mainstay.business.importing.run import CHECKED, UNDOING, UNDONE
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.people.standing import change_role
from mainstay.business.pricelist.operations import list_price_items, save_price_item
from mainstay.business.records.notes import add_note
from mainstay.catalogue import PROOFS
from mainstay.settings import Settings
from mainstay.staging import open_files
from mainstay.terms.rights import Role
from quoting import a_draft, usual_tax
from trade import a_customer, a_job, a_site, work_off
from wares import a_kit, a_supplier, an_item

# What tells of acts, of imports, or of nothing but that something was written; the words of records are proved.
_BESIDE = {
    "audit",
    "audit_record",
    "event",
    "outbox",
    "import_run",
    "import_cells",
    "import_change",
    "number_series",
    "organisation",
}
_WRITTEN = {"version", "updated_at", "updated_by"}


def kept(cast: Cast) -> dict[str, list[dict[str, Any]]]:
    """All records of an organisation, but for how often and when they were written."""
    with cast.stage.database.reading(EVERY) as rows:
        tables = {table.name: table.columns for table in read_tables(rows, cast.stage.database.engine)}
    return {
        name: [_without_writing(tables[name], row) for row in rows_]
        for name, rows_ in contents_of(cast).items()
        if name not in _BESIDE and not name.startswith("search_")
    }


def _without_writing(columns: tuple[str, ...], row: Row) -> dict[str, Any]:
    return {name: value for name, value in zip(columns, row, strict=True) if name not in _WRITTEN}


def flaws(settings: Settings, cast: Cast) -> list[object]:
    """What the proofs of `mainstay check` find wrong with an organisation."""
    database = known_as("WholeDatabase", cast.stage.database)
    with database.surveying() as everything:
        rows = everything.within(cast.organisation)
        rows.now = lambda: "2026-11-18T00:00:00Z"
        books = Books(rows, database.engine, open_files(settings), cast.stage.clock(), database.trying)
        return [(proof.name, flaw) for proof in PROOFS if not proof.whole for flaw in proof.flaws(books)]


class File(NamedTuple):
    """A file of one kind: rows that are new, and rows about records that are there."""

    headings: list[str]
    new: list[list[str]]
    known: list[list[str]]


FILES = {
    "customers": File(
        ["Name", "Street", "Town", "Days to pay", "Ref"],
        [["Colne", "1 Lane", "Leeds", "30", "C-9"], ["Irwell", "", "", "", "C-8"]],
        [["Calder & Co", "", "York", "14", "C-1"], ["ryburn", "9 Street", "", "", ""]],
    ),
    "sites": File(
        ["Customer", "Site name", "Address", "Access", "Ref"],
        [["C-1", "Barn", "2 Lane", "Ring", "S-9"], ["C-1", "", "3 Lane", "", "S-8"]],
        [["C-1", "Mill", "9 Mill Road", "Key", "S-1"]],
    ),
    "contacts": File(
        ["Customer", "Name", "Role", "E-mail"],
        [["C-1", "Bob", "", "bob@calder.example"], ["Ryburn", "Cat", "", ""]],
        [["C-1", "ann", "owner", "ann@calder.example"]],
    ),
    "jobs": File(
        ["Customer", "Title", "Site", "Due", "Budget", "Tags", "Ref"],
        [["C-1", "Roof", "S-1", "2027-01-01", "12.50", "gas", "J-9"], ["Ryburn", "Door", "", "", "", "", "J-8"]],
        [["C-1", "New boiler", "S-1", "2027-02-01", "99", "heat, gas", "J-1"]],
    ),
    "suppliers": File(
        ["Name", "E-mail", "Town", "Ref"],
        [["Colne", "orders@colne.example", "Leeds", "V-9"]],
        [["Pennine", "orders@pennine.example", "York", "V-1"]],
    ),
    "price items": File(
        ["Code", "Name", "Price", "Cost", "Supplier", "Ref"],
        [["TAP", "Tap", "5", "2", "Pennine", "P-9"]],
        [["BLR", "Big boiler", "900", "600", "Pennine", "P-1"], ["KIT", "Heating", "50", "", "", "P-2"]],
    ),
}


@pytest.fixture
def firm(cast: Cast) -> Cast:
    """A firm with records of every kind, as other systems know them."""
    bring(cast, "customers", ["Name", "Street", "Town", "Ref"], ["Calder", "2 Weir Lane", "Halifax", "C-1"])
    a_customer(cast, "Ryburn")
    bring(cast, "sites", ["Customer", "Site name", "Address", "Ref"], ["C-1", "Mill", "1 Mill Road", "S-1"])
    bring(cast, "contacts", ["Customer", "Name", "Role"], ["C-1", "Ann", "caretaker"])
    bring(cast, "jobs", ["Customer", "Title", "Site", "Tags", "Ref"], ["C-1", "Boiler", "S-1", "heat", "J-1"])
    a_supplier(cast, "Pennine")
    boiler = an_item(cast, "Boiler", code="BLR", sellPrice="800", costPrice="500")
    a_kit(cast, {boiler: "2"}, "Heating", code="KIT")
    return cast


def a_file(cast: Cast, kind: str) -> FileImport:
    file = FILES[kind]
    return upload(cast, kind, file.headings, [*file.new, *file.known])


@pytest.mark.parametrize("kind", FILES)
def test_undoing_leaves_everything_as_it_was(settings: Settings, firm: Cast, stranger: Cast, kind: str) -> None:
    bring(stranger, "customers", ["Name", "Ref"], ["Calder", "C-1"], ["Colne", "C-9"])
    theirs, before = contents_of(stranger), kept(firm)
    one = a_file(firm, kind)
    outcome = one.bring(ROW_BY_ROW)
    assert (outcome.made, outcome.changed) == (len(FILES[kind].new), len(FILES[kind].known))
    assert kept(firm) != before
    run = one.undo(ROW_BY_ROW)
    assert (run.undone.removed, run.undone.changed_back, run.undone.stays) == (outcome.made, outcome.changed, [])
    assert (run.status, kept(firm), contents_of(stranger)) == (UNDONE, before, theirs)
    work_off(firm)
    assert flaws(settings, firm) == []


@pytest.mark.parametrize("kind", FILES)
def test_a_refusal_in_the_middle_takes_everything_back(settings: Settings, firm: Cast, kind: str) -> None:
    before = kept(firm)
    file = FILES[kind]
    # The last row is wrong only because of what happens after the check: the person loses the right to import.
    one = upload(firm, kind, file.headings, [*file.new, *file.known, LAST[kind]])
    assert one.check().faults == []
    orla = firm.people[Role.OFFICE]
    steps = len(file.new) + len(file.known)
    hooks = [lambda: None] * (steps - 1)
    outcome = one.bring(
        pausing(*hooks, lambda: firm.perform(change_role, personId=orla, role="member", confirmed=True))
    )
    assert outcome.faults[0].row == 2
    run = one.run
    assert (run.status, (run.result or {})["refused"][0]) == (CHECKED, steps + 2)
    assert "may not do this" in (run.result or {})["refused"][2]
    assert (run.undone.removed, run.undone.changed_back) == (len(file.new), len(file.known))
    after = kept(firm)
    assert {name for name in before if before[name] != after[name]} <= {"person"}
    work_off(firm)
    assert flaws(settings, firm) == []


LAST = {
    "customers": ["Last", "", "", "", "C-L"],
    "sites": ["C-1", "Last", "1 Last Lane", "", "S-L"],
    "contacts": ["C-1", "Last", "", ""],
    "jobs": ["C-1", "Last", "", "", "", "", "J-L"],
    "suppliers": ["Last", "", "", "V-L"],
    "price items": ["LAST", "Last", "5", "", "", "P-L"],
}


def test_a_row_that_is_wrong_by_now_is_told_with_all_others_that_are(firm: Cast) -> None:
    ryburn = next(one["id"] for one in listed(firm) if one["name"] == "Ryburn")
    lines = [["C-1", "Roof"], ["Ryburn", "Door"], ["C-1", "Wall"], ["Ryburn", "Gate"]]
    one = upload(firm, "jobs", ["Customer", "Title"], lines)
    assert one.check().faults == []
    outcome = one.bring(pausing(lambda: firm.perform(archive_customer, customerId=ryburn)))
    problem = "Ryburn is archived. Restore the customer first."
    assert outcome.faults == [(3, "", problem), (5, "", problem)]
    assert (one.run.result or {})["refused"] == [3, "", problem]
    assert [job["title"] for job in listed(firm, list_jobs)] == ["Boiler"]
    # The automatic undo is nobody's act but Mainstay's own.
    assert trail(firm)[-1]["operation"] == "undo_import"
    assert trail(firm)[-1]["actor"]["kind"] == "house"


def test_what_others_have_built_on_stays_and_is_named(settings: Settings, firm: Cast) -> None:
    lines = [[name, ref, phone] for name, ref, phone in (
        ("Free", "N-1", "1"), ("Worked for", "N-2", "1"), ("Noted", "N-3", "1"), ("Renamed", "N-4", "1"),
        ("Calder", "C-1", "77"), ("Ryburn", "", "88"),
    )]  # fmt: skip
    one = upload(firm, "customers", ["Name", "Ref", "Phone"], lines)
    assert one.bring().made == 4
    ids = {customer["name"]: customer["id"] for customer in listed(firm)}
    job = a_job(firm, ids["Worked for"])
    firm.perform(add_note, recordId=ids["Noted"], text="Rings back.")
    firm.perform(update_customer, customerId=ids["Renamed"], name="Renamed since")
    firm.perform(update_customer, customerId=ids["Calder"], email="office@calder.example")
    before = {customer["id"]: customer for customer in listed(firm)}
    run = one.undo(ROW_BY_ROW)
    assert (run.undone.removed, run.undone.changed_back) == (1, 1)
    # Newest first.
    assert run.undone.stays == [
        ("Calder", ids["Calder"], "of later changes"),
        ("Renamed since", ids["Renamed"], "of later changes"),
        ("Noted", ids["Noted"], "notes were added"),
        ("Worked for", ids["Worked for"], "jobs were added"),
    ]
    after = {customer["id"]: customer for customer in listed(firm)}
    assert before.keys() - after.keys() == {ids["Free"]}
    assert after[ids["Ryburn"]]["phone"] is None
    assert {one: after[one] for one in after if one != ids["Ryburn"]} == {
        one: before[one] for one in after if one != ids["Ryburn"]
    }
    assert listed(firm, list_jobs)[-1]["id"] == job["id"]
    work_off(firm)
    assert flaws(settings, firm) == []


def test_no_customer_is_a_duplicate_of_one_that_was_removed(settings: Settings, firm: Cast) -> None:
    one = upload(firm, "customers", ["Name", "Ref"], [["Colne Ltd", "N-1"]])
    one.bring()
    first = listed(firm)[-1]["id"]
    second, third = a_customer(firm, "Colne"), a_customer(firm, "Colne Limited")
    assert same_as(firm) == {second: [first], third: [first]}
    assert one.undo().undone.removed == 1
    assert same_as(firm) == {third: [second]}
    work_off(firm)
    assert flaws(settings, firm) == []


def same_as(cast: Cast) -> dict[str, list[str]]:
    """The customers who may be there twice, with those who they may be."""
    rows = listed(cast, list_duplicate_customers)
    return {row["id"]: [other["id"] for other in row["sameAs"]] for row in rows}


def test_a_price_item_on_a_document_stays(settings: Settings, firm: Cast) -> None:
    usual_tax(firm)
    lines = [["AA", "Tap", "5"], ["BB", "Pipe", "6"], ["CC", "Cap", "7"]]
    one = upload(firm, "price items", ["Code", "Name", "Price"], lines)
    one.bring()
    items = {item["code"]: item["id"] for item in listed(firm, list_price_items)}
    a_draft(firm, lines=[{"itemId": "BB", "quantity": "1"}])
    a_kit(firm, {items["CC"]: "1"}, "Set of caps")
    run = one.undo(ROW_BY_ROW)
    assert [(stay.name, stay.reason) for stay in run.undone.stays] == [
        ("CC Cap", "kits were added"),
        ("BB Pipe", "quotes were added"),
    ]
    assert {item["code"] for item in listed(firm, list_price_items)} & items.keys() == {"BLR", "KIT", "BB", "CC"}
    assert flaws(settings, firm) == []


def test_what_is_used_while_it_is_undone_stays(firm: Cast) -> None:
    one = upload(firm, "customers", ["Name", "Ref"], [["First", "N-1"], ["Second", "N-2"]])
    one.bring()
    first = next(customer["id"] for customer in listed(firm) if customer["name"] == "First")
    run = one.undo(pausing(lambda: a_site(firm, first)))
    assert (run.undone.removed, [stay.name for stay in run.undone.stays]) == (1, ["First"])


def test_a_record_that_two_rows_changed_is_as_before_both(firm: Cast) -> None:
    before = kept(firm)
    # The first is known by its name, and the second by what the file calls it from now on.
    one = upload(firm, "customers", ["Name", "Phone", "Ref"], [["Ryburn", "1", ""], ["Ryburn", "2", "C-2"]])
    assert one.bring().changed == 2
    assert one.undo().undone.stays == []
    assert kept(firm) == before


def test_a_kit_that_follows_its_part_is_not_taken_for_changed_by_others(firm: Cast) -> None:
    before = kept(firm)
    lines = [["KIT", "All heating", "1999"], ["BLR", "Big boiler", "900"]]
    one = upload(firm, "price items", ["Code", "Name", "Price"], lines)
    assert one.bring().changed == 2
    assert one.undo().undone.stays == []
    assert kept(firm) == before


def test_a_change_that_cannot_be_changed_back_stays(firm: Cast) -> None:
    one = upload(firm, "price items", ["Code", "Name", "Price", "Ref"], [["BLR-2", "Boiler", "800", "P-1"]])
    bring(firm, "price items", ["Code", "Name", "Price", "Ref"], ["BLR", "Boiler", "800", "P-1"])
    assert one.bring().changed == 1
    # Its code is another's now.
    an_item(firm, "Other boiler", code="BLR", sellPrice="1")
    [stay] = one.undo().undone.stays
    assert stay.reason.startswith("changing it back was refused (Other boiler has the code BLR already.")
    assert firm.perform(save_price_item, itemId=stay.record, unit="pcs")["code"] == "BLR-2"


def test_webhooks_hear_that_an_undone_job_is_cancelled(firm: Cast) -> None:
    one = upload(firm, "jobs", ["Customer", "Title", "Ref"], [["C-1", "Roof", "J-9"], ["C-1", "Better boiler", "J-1"]])
    one.bring()
    before = len(events(firm))
    one.undo()
    changed_back, cancelled = events(firm)[before:]
    assert (changed_back["type"], changed_back["data"]["object"]["title"]) == ("job.updated", "Boiler")
    told = cancelled["data"]["object"]
    assert (cancelled["type"], told["title"], told["status"]) == ("job.cancelled", "Roof", "cancelled")
    assert told["cancelReason"] == "The import was undone."


def test_the_trail_tells_who_undid_what(firm: Cast) -> None:
    one = upload(firm, "customers", ["Name", "Ref"], [["Free", "N-1"], ["Calder & Co", "C-1"]])
    one.bring()
    free, calder = (next(each for each in listed(firm) if each["name"] == name) for name in ("Free", "Calder & Co"))
    one.undo()
    assert history(firm, free["id"]) == ["create_customer", "undo_import"]
    assert history(firm, calder["id"]) == ["create_customer", "update_customer", "update_customer"]
    for act in trail(firm)[-2:]:
        assert (act["requestId"], act["actor"]["person"]["name"]) == (one.id, "Orla Office")


def test_an_interrupted_import_is_undone(firm: Cast) -> None:
    before = kept(firm)
    one = a_file(firm, "customers")
    interrupt(one, 3)
    run = one.undo(ROW_BY_ROW)
    assert (run.status, run.undone.removed, run.undone.changed_back) == (UNDONE, 2, 1)
    assert kept(firm) == before


def test_an_interrupted_undo_is_continued(firm: Cast) -> None:
    before = kept(firm)
    one = a_file(firm, "customers")
    one.bring()
    with pytest.raises(RuntimeError):
        one.undo(pausing(lambda: None, stop))
    assert (one.run.status, one.run.undone.count) == (UNDOING, 2)
    run = one.undo()
    assert (run.status, run.undone.removed, run.undone.changed_back) == (UNDONE, 2, 2)
    assert kept(firm) == before


def stop() -> None:
    raise RuntimeError


def test_an_interrupted_undo_of_a_refused_import_ends_with_what_was_wrong(firm: Cast) -> None:
    ryburn = next(one["id"] for one in listed(firm) if one["name"] == "Ryburn")
    lines = [["C-1", "Roof"], ["C-1", "Wall"], ["Ryburn", "Door"]]
    one = upload(firm, "jobs", ["Customer", "Title"], lines)
    with pytest.raises(RuntimeError):
        one.bring(pausing(lambda: firm.perform(archive_customer, customerId=ryburn), lambda: None, stop))
    assert (one.run.status, one.run.undone.removed) == (UNDOING, 1)
    run = one.undo()
    assert (run.status, run.undone.removed, [fault.row for fault in one.outcome.faults]) == (CHECKED, 2, [4])
    assert [job["title"] for job in listed(firm, list_jobs)] == ["Boiler"]


def test_records_of_other_imports_are_left_alone(firm: Cast) -> None:
    first = upload(firm, "customers", ["Name", "Ref"], [["Free", "N-1"]])
    first.bring()
    second = upload(firm, "customers", ["Name", "Ref"], [["Other", "N-2"]])
    second.bring()
    first.undo()
    assert [one["name"] for one in listed(firm, list_customers)] == ["Calder", "Ryburn", "Other"]
    assert second.undo().undone.removed == 1


def test_an_undone_file_can_be_imported_again(firm: Cast) -> None:
    before = kept(firm)
    for _ in range(2):
        one = a_file(firm, "customers")
        assert one.bring().made == 2
        one.undo()
        assert kept(firm) == before


def test_whatever_can_refer_to_an_imported_record_is_looked_at(cast: Cast) -> None:
    with cast.stage.database.reading(EVERY) as rows:
        tables = read_tables(rows, cast.stage.database.engine)
    found = {
        (key.table, table.name, key.columns[-1])
        for table in tables
        for key in table.references
        if key.table in REFERENCES
    }
    known = {(table, one.table, one.column) for table, some in REFERENCES.items() for one in some}
    # Those who see a job or a customer see it because of the job's people, who make it another version.
    follows = {("job", "own_job", "id"), ("customer", "own_customer", "id")}
    # What goes with its record: a customer with the keys by which duplicates of it are found, a kit with its parts.
    # Files never make a kit.
    parts = {("customer", "customer_key", "customer_id"), ("price_item", "kit_part", "kit_id")}
    assert found - known == follows | parts


def test_undoing_clears_the_lines_of_an_address_that_the_import_added(cast: Cast) -> None:
    bring(cast, "customers", ["Name", "Street", "Ref"], ["Calder", "2 Weir Lane", "C-1"])
    [before] = listed(cast)
    one = upload(
        cast, "customers", ["Name", "Street", "Postcode", "Ref"], [["Calder", "3 Weir Lane", "HX6 2AG", "C-1"]]
    )
    one.bring(ROW_BY_ROW)
    [changed] = listed(cast)
    assert (changed["billingAddress"]["line1"], changed["billingAddress"]["postalCode"]) == ("3 Weir Lane", "HX6 2AG")
    assert one.undo(ROW_BY_ROW).undone.changed_back == 1
    [after] = listed(cast)
    assert after["billingAddress"] == before["billingAddress"]


def test_imported_customers_have_no_sites_but_those_of_their_own_file(cast: Cast) -> None:
    bring(cast, "customers", ["Name", "Street", "Ref"], ["Calder", "2 Weir Lane", "C-1"])
    assert listed(cast, list_sites) == []
