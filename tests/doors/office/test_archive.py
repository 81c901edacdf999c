"""Everything in one archive: every list and every file, for those who may, as they see it; also when lapsed."""

import csv
from dataclasses import dataclass, replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import orjson
import pytest

from billing import BOILER, FLUE, an_invoice, credited, issued, notes_of, voided
from cast import Cast, assemble
from filing import PDF, add, work_of
from house.examples import furnish
from installations import Installations
from mainstay.backing.files import Files, PassingFiles
from mainstay.backing.folder import DataFolder
from mainstay.backing.guard import Guard
from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.standing import remove_person
from mainstay.business.purchasing.operations import list_purchase_orders
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office import export
from mainstay.doors.office.archive import EXPORTS_AN_HOUR, Archive
from mainstay.doors.office.archived import LEFT_OUT, askings, exported, name_of, papers
from mainstay.doors.office.desk import about
from mainstay.kernel.context import Envelope
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.terms.actor import Door
from mainstay.terms.rights import Role
from ordering import ordered, received
from quoting import press, sent, usual_tax
from running import RunningServer
from scheduling import plan
from telling import set_columns
from uploading import left_behind
from visiting import visit, words

LONG_AGO = "2020-01-01T00:00:00.000Z"
PATH = "/settings/export/everything.zip"


@dataclass(frozen=True)
class Opened:
    """What is in an archive."""

    parts: dict[str, bytes]

    def table(self, name: str) -> list[dict[str, str]]:
        text = self.parts[f"csv/{name}.csv"].decode("utf-8-sig")
        return list(csv.DictReader(StringIO(text, newline=""), strict=True))

    def records(self, name: str) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.parts[f"json/{name}.jsonl"].splitlines()]


def opened(content: bytes) -> Opened:
    with ZipFile(BytesIO(content)) as archive:
        assert archive.testzip() is None
        return Opened({name: archive.read(name) for name in archive.namelist()})


def made(cast: Cast, settings: Settings, role: Role = Role.OWNER) -> Opened:
    folder = DataFolder(settings.data)
    passing = PassingFiles(folder.passing)
    folder.make()
    passing.folder.mkdir(exist_ok=True)
    content = BytesIO()
    Archive(cast.stage, cast.actor(role, door=Door.OFFICE), "UTC", "req_1", Files(folder.files), passing).write(content)
    return opened(content.getvalue())


def test_every_list_of_the_catalogue_is_in_it_or_left_out_for_a_reason() -> None:
    lists = {
        operation.name for operation in CATALOGUE.operations if operation.lists and Door.OFFICE in operation.offered
    }
    assert LEFT_OUT.keys() <= lists
    needed = {
        operation.name
        for operation in CATALOGUE.operations
        if operation.lists and any(field.is_required() for field in operation.input.model_fields.values())
    }
    assert needed <= LEFT_OUT.keys(), "a list that cannot be asked for as a whole needs a reason"


def test_a_list_is_asked_for_all_there_is(cast: Cast) -> None:
    assert askings(CATALOGUE, list_visits)[0] == {"order": "latest", "status": "planned"}
    assert {"order": "latest", "status": "declined"} in askings(CATALOGUE, list_time_off)
    for lists in exported(CATALOGUE, cast.actor(Role.OWNER, door=Door.OFFICE)):
        for asked in askings(CATALOGUE, lists):
            cast.answer(lists, Role.OWNER, Envelope("req_1"), **asked)


@pytest.mark.engines("sqlite", "postgresql")
def test_every_record_is_in_it_once_in_whatever_state(stage: Stage, settings: Settings) -> None:
    # Nothing is looked up: the webhooks here lead to loopback, where nobody sends anything.
    cast = furnish(replace(stage, guard=Guard(allow_private=True))).cast
    cancelled, past, _planned = (plan(cast, None, title="Fair", kind="other")["id"] for _ in range(3))
    set_columns(cast, "visit", cancelled, status="cancelled")
    set_columns(cast, "visit", past, starts_at=LONG_AGO, ends_at="2020-01-01T01:00:00.000Z", begins_at=LONG_AGO)
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    found = made(cast, settings)
    counted = {}
    for lists in exported(CATALOGUE, cast.actor(Role.OWNER, door=Door.OFFICE)):
        listing = next((operation.on for operation in CATALOGUE.on(lists.output) if operation.on), None)
        records = found.records(name_of(lists))
        assert len(found.table(name_of(lists))) == len(records)
        ids = [record["id"] for record in records if "id" in record]
        assert len(ids) == len(set(ids))
        if listing is None or listing.listed:
            # What is over is not listed at all, such as the access of someone who left.
            continue
        with stage.database.reading(cast.organisation) as rows:
            row = rows.one(f"SELECT count(*) FROM {listing.table} WHERE organisation_id = :organisation")
        assert row is not None
        counted[lists.name] = (len(records), int(row[0] or 0))
    assert {name: count for name, count in counted.items() if count[0] != count[1]} == {}
    assert counted["list_people"] == (6, 6)
    assert counted["list_customers"][0] >= 3
    assert counted["list_visits"][0] >= 3
    assert len(found.records("notes")) == 1


@pytest.mark.engines("sqlite", "postgresql")
def test_each_record_is_as_whole_in_it_as_it_is_got_by_itself(stage: Stage, settings: Settings) -> None:
    cast = furnish(replace(stage, guard=Guard(allow_private=True))).cast
    received(cast, ordered(cast), "4", "1")
    credited(cast, issued(cast))
    found, owner = made(cast, settings), cast.actor(Role.OWNER, door=Door.OFFICE)
    compared = set()
    for prefix, lists in CATALOGUE.lists.items():
        if lists.name in LEFT_OUT:
            continue
        gets = CATALOGUE.gets[prefix]
        for record in found.records(name_of(lists)):
            alone = cast.answer(gets, owner, Envelope("req_1", bare=True), **about(gets, record["id"]))
            # Which visits lie within someone's time off is found out when it is looked at; all visits are in it.
            assert record == orjson.loads(alone.body) | ({"collisions": None} if prefix == "leave" else {})
            compared.add(lists.name)
    assert compared >= {"list_quotes", "list_purchase_orders", "list_bills", "list_invoices", "list_credit_notes"}
    [came] = [order["receipts"] for order in found.records("purchase-orders") if order["receipts"]]
    assert [line["quantity"] for line in came[0]["lines"]] == ["4.00", "1.00"]


def test_the_lines_of_documents_are_tables_of_their_own(cast: Cast, settings: Settings) -> None:
    usual_tax(cast)
    issued(cast, an_invoice(cast, lines=[BOILER, FLUE]))
    received(cast, ordered(cast), "4")
    found = made(cast, settings)
    told = [(line["Number"], line["Customer"], line["Description"]) for line in found.table("invoice-lines")]
    assert told == [("INV-0001", "Calder Property", "Combi boiler"), ("INV-0001", "Calder Property", "Flue")]
    flue = found.table("invoice-lines")[1]
    assert (flue["Quantity"], flue["Unit price"], flue["Amount"]) == ("2.00", "45.55", "91.10")
    assert not {"Id", "Source", "Item id"} & flue.keys()
    [invoice] = found.records("invoices")
    assert [(tax["percent"], tax["amount"]) for tax in invoice["taxes"]] == [("20.00", "218.22")]
    pipe, valve = found.table("purchase-order-lines")
    assert (pipe["Supplier"], pipe["Received"], valve["Received"]) == ("Pennine Supplies", "4.00", "0.00")
    # A record is one row, as ever.
    assert [line["Total"] for line in found.table("invoices")] == ["1309.32"]


@pytest.mark.engines("sqlite", "postgresql")
def test_the_papers_of_what_was_issued_are_in_it_once_they_are_made(
    engine: str, installations: Installations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of its own: where others are served, a worker would make those that nobody has asked for.
    settings = installations.furnished(engine, tmp_path)
    cast = assemble(open_stage(settings))
    # However many pages there are.
    monkeypatch.setattr(export, "_PAGE", 2)
    cast.perform(update_settings, invoiceNumbers={"prefix": "R/", "digits": 1, "next": 7})
    usual_tax(cast)
    printing = press(cast, settings.data)
    invoice, quote, order = issued(cast), sent(cast), ordered(cast)
    note = notes_of(cast, credited(cast, issued(cast)))[0]
    voided(cast, invoice)
    an_invoice(cast)
    issued(cast)
    DataFolder(settings.data).make()
    printed = {
        f"papers/{path}": printing.print(cast.organisation, record["id"], form)
        for path, record, form in (
            ("invoices/R_7.pdf", invoice, "pdf"),
            ("invoices/R_7 void.pdf", invoice, "void"),
            ("invoices/R_7.xml", invoice, "ubl"),
            ("quotes/Q-0001.pdf", quote, "pdf"),
            ("purchase-orders/PO-0001.pdf", order, "pdf"),
            ("credit-notes/CN-0001.pdf", note, "pdf"),
        )
    }
    # Also for those whose subscription has ended: they take what is theirs.
    cast.lapse()
    found = made(cast, settings)
    assert {name: part for name, part in found.parts.items() if name.startswith("papers/")} == printed
    told = found.parts["README.txt"].decode()
    assert told.index("not made yet") < told.index("papers/invoices/R_9.pdf") < told.index("papers/invoices/R_8.pdf")
    # A draft has none to be made, and what was made is not called missing.
    assert told.count("papers/invoices/") == 2
    cast.stage.database.close()


def test_papers_are_for_those_who_are_given_them(cast: Cast) -> None:
    member, owner = (cast.actor(role, door=Door.OFFICE) for role in (Role.MEMBER, Role.OWNER))
    # Members see what comes for their jobs, and not what it costs.
    assert papers(CATALOGUE, member, list_purchase_orders) is None
    assert papers(CATALOGUE, owner, list_purchase_orders)
    assert papers(CATALOGUE, owner, list_visits) is None


def test_it_holds_tables_programs_lines_files_and_what_they_are(
    server: RunningServer, cast: Cast, stranger: Cast
) -> None:
    work, content = work_of(cast), Files(DataFolder(server.settings.data).files).keep(PDF)
    added = add(cast, work.job, content=content, name="Größe.pdf")
    lost = add(cast, work.job, content="4" * 64, name="Lost.pdf")
    cast.perform(add_note, recordId=work.job, text="=1+1", visibility="office")
    gone = cast.perform(create_customer, name="=cmd|calc")["id"]
    cast.perform(archive_customer, customerId=gone)
    work_of(stranger)
    olivia = visit(server, cast)
    answer = olivia.get(PATH)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert answer.headers["content-disposition"].startswith("attachment; ")
    found = opened(answer.content)

    assert [line["Name"] for line in found.table("customers")] == ["Calder Property Services", "'=cmd|calc"]
    assert [(one["name"], one["status"]) for one in found.records("customers")][1] == ("=cmd|calc", "archived")
    assert [line["Note"] for line in found.table("notes")] == ["'=1+1"]
    assert len(found.records("jobs")) == 2
    assert orjson.loads(found.parts["json/organisation.json"])["id"] == cast.organisation
    assert found.parts[f"files/{work.job}/{added['id']} Größe.pdf"] == PDF
    told = found.parts["README.txt"].decode()
    assert "jobs: 2" in told
    assert f"files/{work.job}/{lost['id']} Lost.pdf" in told
    assert stranger.organisation.encode() not in b"".join(found.parts.values())


@pytest.mark.parametrize("role", list(Role))
def test_it_is_for_owners_and_admins(server: RunningServer, cast: Cast, role: Role) -> None:
    someone = visit(server, cast, role)
    may = role in {Role.OWNER, Role.ADMIN}
    for path in ("/settings/export", PATH):
        assert someone.get(path).status_code == (200 if may else 403)
    assert ('href="/settings/export"' in someone.get("/settings").text) == may


def test_it_is_there_while_lapsed(server: RunningServer, cast: Cast) -> None:
    olivia = visit(server, cast)
    work_of(cast)
    cast.lapse()
    assert "Jobs" in words(olivia.get("/settings/export").text)
    assert len(opened(olivia.get(PATH).content).records("jobs")) == 2


def test_it_leaves_nothing_but_what_is_sent_and_is_not_made_over_and_over(server: RunningServer, cast: Cast) -> None:
    olivia = visit(server, cast)
    before = set(left_behind(server))
    assert olivia.get(PATH).status_code == 200
    assert len(set(left_behind(server)) - before) == 1
    answers = [olivia.get(PATH).status_code for _ in range(EXPORTS_AN_HOUR)]
    assert answers == [200] * (EXPORTS_AN_HOUR - 1) + [429]
