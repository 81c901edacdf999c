"""Everything in one archive: every list and every file, for those who may, as they see it; also when lapsed."""

import csv
import os
import re
from dataclasses import dataclass, replace
from io import BytesIO, StringIO
from pathlib import Path
from time import time
from typing import Any
from zipfile import ZipFile

import httpx2
import orjson
import pytest

from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.roles import change_role, remove_person
from mainstay.business.purchasing.operations import list_purchase_orders
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits
from mainstay.catalogue import CATALOGUE
from mainstay.composition import open_performer
from mainstay.doors.office.kit import list_export
from mainstay.doors.office.kit.office_pages import id_input_of
from mainstay.doors.office.settings.full_export import EXPORTS_PER_HOUR, FullExport
from mainstay.doors.office.settings.full_export_contents import (
    EXCLUDED_LISTS,
    complete_queries,
    exported_lists,
    file_name_of,
    issued_files_list,
)
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.files import FolderFileStore, TemporaryFiles
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from rules.examples import make_samples
from support.attachments import PDF, add_file, make_attachment_jobs
from support.browser_session import BrowserSession, sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast, make_cast
from support.installations import Installations
from support.invoices import BOILER, FLUE, credit_issued, credit_notes_of, issue_invoice, make_invoice, void_issued
from support.purchases import place_order, receive_order
from support.quotes import issue_quote, make_default_tax_rate, open_document_files
from support.servers import RunningServer
from support.visits import plan_test_visit
from support.waiting import wait_until
from support.webhooks import set_columns

LONG_AGO = "2020-01-01T00:00:00.000Z"
PATH = "/settings/export/everything.zip"


@dataclass(frozen=True)
class ArchiveContents:
    """What is in an archive."""

    files: dict[str, bytes]

    def read_table(self, name: str) -> list[dict[str, str]]:
        text = self.files[f"csv/{name}.csv"].decode("utf-8-sig")
        return list(csv.DictReader(StringIO(text, newline=""), strict=True))

    def read_records(self, name: str) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.files[f"json/{name}.jsonl"].splitlines()]


def open_archive(content: bytes) -> ArchiveContents:
    with ZipFile(BytesIO(content)) as archive:
        assert archive.testzip() is None
        return ArchiveContents({name: archive.read(name) for name in archive.namelist()})


def start_export(session: BrowserSession) -> httpx2.Response:
    return session.submit_page(session.get("/settings/export").text, "/settings/export/start")


def download_archive(session: BrowserSession) -> httpx2.Response:
    """Make an archive, and download it when it is ready."""
    assert start_export(session).status_code == 303
    wait_until(lambda: "Your archive is ready" in visible_text(session.get("/settings/export").text))
    return session.get(PATH)


def make_archive(cast: Cast, settings: Settings, role: Role = Role.OWNER) -> ArchiveContents:
    folder = DataFolder(settings.data)
    passing = TemporaryFiles(folder.temporary_files)
    folder.create()
    passing.folder.mkdir(exist_ok=True)
    content = BytesIO()
    FullExport(
        cast.performer, cast.actor(role, door=Door.OFFICE), "UTC", "req_1", FolderFileStore(folder.files), passing
    ).write(content)
    return open_archive(content.getvalue())


def test_every_list_of_the_catalogue_is_in_it_or_left_out_for_a_reason() -> None:
    lists = {
        operation.name
        for operation in CATALOGUE.operations
        if operation.returns_page and Door.OFFICE in operation.doors
    }
    assert EXCLUDED_LISTS.keys() <= lists
    needed = {
        operation.name
        for operation in CATALOGUE.operations
        if operation.returns_page and any(field.is_required() for field in operation.input.model_fields.values())
    }
    assert needed <= EXCLUDED_LISTS.keys(), "a list that cannot be asked for as a whole needs a reason"


def test_a_list_is_asked_for_all_there_is(cast: Cast) -> None:
    assert complete_queries(CATALOGUE, list_visits)[0] == {"order": "latest", "status": "planned"}
    assert {"order": "latest", "status": "declined"} in complete_queries(CATALOGUE, list_time_off)
    for lists in exported_lists(CATALOGUE, cast.actor(Role.OWNER, door=Door.OFFICE)):
        for queries in complete_queries(CATALOGUE, lists):
            cast.answer(lists, Role.OWNER, RequestDetails("req_1"), **queries)


@pytest.mark.engines("sqlite", "postgresql")
def test_every_record_is_in_it_once_in_whatever_state(performer: Performer, settings: Settings) -> None:
    # Nothing is looked up: the webhooks here lead to loopback, where nobody sends anything.
    cast = make_samples(replace(performer, guard=AddressGuard(allow_private=True))).cast
    cancelled, past, _planned = (plan_test_visit(cast, None, title="Fair", kind="other")["id"] for _ in range(3))
    set_columns(cast, "visit", cancelled, status="cancelled")
    set_columns(cast, "visit", past, starts_at=LONG_AGO, ends_at="2020-01-01T01:00:00.000Z", begins_at=LONG_AGO)
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    found = make_archive(cast, settings)
    counted = {}
    for lists in exported_lists(CATALOGUE, cast.actor(Role.OWNER, door=Door.OFFICE)):
        listing = next((operation.on for operation in CATALOGUE.operations_on(lists.output) if operation.on), None)
        records = found.read_records(file_name_of(lists))
        assert len(found.read_table(file_name_of(lists))) == len(records)
        ids = [record["id"] for record in records if "id" in record]
        assert len(ids) == len(set(ids))
        if listing is None or listing.list_condition:
            # What is over is not listed at all, such as the access of someone who left.
            continue
        with performer.database.read_transaction(cast.organisation) as db:
            row = db.one(f"SELECT count(*) FROM {listing.table} WHERE organisation_id = :organisation")
        assert row is not None
        counted[lists.name] = (len(records), int(row[0] or 0))
    assert {name: count for name, count in counted.items() if count[0] != count[1]} == {}
    assert counted["list_people"] == (6, 6)
    assert counted["list_customers"][0] >= 3
    assert counted["list_visits"][0] >= 3
    assert len(found.read_records("notes")) == 1


@pytest.mark.engines("sqlite", "postgresql")
def test_each_record_is_as_whole_in_it_as_it_is_got_by_itself(performer: Performer, settings: Settings) -> None:
    cast = make_samples(replace(performer, guard=AddressGuard(allow_private=True))).cast
    receive_order(cast, place_order(cast), "4", "1")
    credit_issued(cast, issue_invoice(cast))
    found, owner = make_archive(cast, settings), cast.actor(Role.OWNER, door=Door.OFFICE)
    compared = set()
    for prefix, lists in CATALOGUE.list_operations.items():
        if lists.name in EXCLUDED_LISTS:
            continue
        gets = CATALOGUE.get_operations[prefix]
        for record in found.read_records(file_name_of(lists)):
            alone = cast.answer(
                gets, owner, RequestDetails("req_1", record_only=True), **id_input_of(gets, record["id"])
            )
            # Which visits lie within someone's time off is found out when it is looked at; all visits are in it.
            assert record == orjson.loads(alone.body) | ({"collisions": None} if prefix == "leave" else {})
            compared.add(lists.name)
    assert compared >= {"list_quotes", "list_purchase_orders", "list_bills", "list_invoices", "list_credit_notes"}
    [came] = [order["receipts"] for order in found.read_records("purchase-orders") if order["receipts"]]
    assert [line["quantity"] for line in came[0]["lines"]] == ["4.00", "1.00"]


def test_the_lines_of_documents_are_tables_of_their_own(cast: Cast, settings: Settings) -> None:
    make_default_tax_rate(cast)
    issue_invoice(cast, make_invoice(cast, lines=[BOILER, FLUE]))
    receive_order(cast, place_order(cast), "4")
    found = make_archive(cast, settings)
    rows = [(line["Number"], line["Customer"], line["Description"]) for line in found.read_table("invoice-lines")]
    assert rows == [("INV-0001", "Calder Property", "Combi boiler"), ("INV-0001", "Calder Property", "Flue")]
    flue = found.read_table("invoice-lines")[1]
    assert (flue["Quantity"], flue["Unit price"], flue["Amount"]) == ("2.00", "45.55", "91.10")
    assert not {"Id", "Source", "Item id"} & flue.keys()
    [invoice] = found.read_records("invoices")
    assert [(tax["percent"], tax["amount"]) for tax in invoice["taxes"]] == [("20.00", "218.22")]
    pipe, valve = found.read_table("purchase-order-lines")
    assert (pipe["Supplier"], pipe["Received"], valve["Received"]) == ("Pennine Supplies", "4.00", "0.00")
    # A record is one row, as ever.
    assert [line["Total"] for line in found.read_table("invoices")] == ["1309.32"]


@pytest.mark.engines("sqlite", "postgresql")
def test_the_papers_of_what_was_issued_are_in_it_once_they_are_made(
    engine: str, installations: Installations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of its own: where others are served, a worker would make those that nobody has asked for.
    settings = installations.make_with_accounts(engine, tmp_path)
    cast = make_cast(open_performer(settings))
    # However many pages there are.
    monkeypatch.setattr(list_export, "_PAGE_SIZE", 2)
    cast.perform(update_settings, invoiceNumbers={"prefix": "R/", "digits": 1, "next": 7})
    make_default_tax_rate(cast)
    printing = open_document_files(cast, settings.data)
    invoice, quote, order = issue_invoice(cast), issue_quote(cast), place_order(cast)
    note = credit_notes_of(cast, credit_issued(cast, issue_invoice(cast)))[0]
    void_issued(cast, invoice)
    make_invoice(cast)
    issue_invoice(cast)
    DataFolder(settings.data).create()
    printed = {
        f"papers/{path}": printing.fetch_file(cast.organisation, record["id"], form)
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
    found = make_archive(cast, settings)
    assert {name: part for name, part in found.files.items() if name.startswith("papers/")} == printed
    readme = found.files["README.txt"].decode()
    assert (
        readme.index("not created yet")
        < readme.index("papers/invoices/R_9.pdf")
        < readme.index("papers/invoices/R_8.pdf")
    )
    # A draft has none to be made, and what was made is not called missing.
    assert readme.count("papers/invoices/") == 2
    cast.performer.database.close()


def test_papers_are_for_those_who_are_given_them(cast: Cast) -> None:
    member, owner = (cast.actor(role, door=Door.OFFICE) for role in (Role.MEMBER, Role.OWNER))
    # Members see what comes for their jobs, and not what it costs.
    assert issued_files_list(CATALOGUE, member, list_purchase_orders) is None
    assert issued_files_list(CATALOGUE, owner, list_purchase_orders)
    assert issued_files_list(CATALOGUE, owner, list_visits) is None


def test_it_holds_tables_programs_lines_files_and_what_they_are(
    server: RunningServer, cast: Cast, other_cast: Cast
) -> None:
    work, content = make_attachment_jobs(cast), FolderFileStore(DataFolder(server.settings.data).files).store(PDF)
    added = add_file(cast, work.job, content=content, name="Größe.pdf")
    lost = add_file(cast, work.job, content="4" * 64, name="Lost.pdf")
    cast.perform(add_note, recordId=work.job, text="=1+1", visibility="office")
    gone = cast.perform(create_customer, name="=cmd|calc")["id"]
    cast.perform(archive_customer, customerId=gone)
    make_attachment_jobs(other_cast)
    olivia = sign_in_new_person(server, cast)
    answer = download_archive(olivia)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert answer.headers["content-disposition"].startswith("attachment; ")
    found = open_archive(answer.content)

    assert [line["Name"] for line in found.read_table("customers")] == ["Calder Property Services", "'=cmd|calc"]
    assert [(one["name"], one["status"]) for one in found.read_records("customers")][1] == ("=cmd|calc", "archived")
    assert [line["Note"] for line in found.read_table("notes")] == ["'=1+1"]
    assert len(found.read_records("jobs")) == 2
    assert orjson.loads(found.files["json/organisation.json"])["id"] == cast.organisation
    assert found.files[f"files/{work.job}/{added['id']} Größe.pdf"] == PDF
    readme = found.files["README.txt"].decode()
    assert "jobs: 2" in readme
    assert f"files/{work.job}/{lost['id']} Lost.pdf" in readme
    assert other_cast.organisation.encode() not in b"".join(found.files.values())


@pytest.mark.parametrize("role", list(Role))
def test_it_is_for_owners_and_admins(server: RunningServer, cast: Cast, role: Role) -> None:
    someone = sign_in_new_person(server, cast, role)
    may = role in {Role.OWNER, Role.ADMIN}
    assert someone.get("/settings/export").status_code == (200 if may else 403)
    # Nothing was made yet.
    assert someone.get(PATH).status_code == (404 if may else 403)
    page = someone.get("/settings/account").text
    assert someone.submit_page(page, "/settings/export/start").status_code == (303 if may else 403)
    assert ('href="/settings/export"' in someone.get("/settings").text) == may


def test_it_is_there_while_lapsed(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_new_person(server, cast)
    make_attachment_jobs(cast)
    cast.lapse()
    assert "Jobs" in visible_text(olivia.get("/settings/export").text)
    assert len(open_archive(download_archive(olivia).content).read_records("jobs")) == 2


def test_its_progress_is_shown_and_the_archive_is_found_again_for_a_day(server: RunningServer, cast: Cast) -> None:
    adam, colleague = sign_in_cast(server, cast, Role.ADMIN), sign_in_new_person(server, cast)
    temporary_files = TemporaryFiles(DataFolder(server.settings.data).temporary_files)
    name = f"export.{cast.people[Role.ADMIN]}"
    # As while another process makes it.
    temporary_files.set_progress(name, 3)
    page = adam.get("/settings/export")
    assert (page.headers["refresh"], '<progress max="' in page.text) == ("2", True)
    assert re.search(r"3 of \d+ lists", visible_text(page.text))
    assert adam.get(PATH).status_code == 404
    # One is enough.
    assert adam.submit_page(page.text, "/settings/export/start").status_code == 303
    assert temporary_files.progress_of(name) == 3
    temporary_files.set_progress(name, -1)
    assert "The archive couldn't be created." in visible_text(adam.get("/settings/export").text)

    assert open_archive(download_archive(adam).content).files
    page = adam.get("/settings/export")
    assert ("refresh" in page.headers, "Your archive is ready" in visible_text(page.text)) == (False, True)
    assert "You can download it for 1 day" in visible_text(page.text)
    # It is for the one who made it, who may not see all for ever.
    assert colleague.get(PATH).status_code == 404
    cast.perform(change_role, personId=cast.people[Role.ADMIN], role="member", confirmed=True)
    assert adam.get(PATH).status_code == 403
    path = temporary_files.find_finished(name)
    assert path
    two_days_ago = time() - 2 * 86400
    os.utime(path, (two_days_ago, two_days_ago))
    assert temporary_files.find_finished(name) is None
    # The next one that is made takes away what is over.
    download_archive(colleague)
    assert not path.exists()


def test_only_the_latest_is_kept_and_it_is_not_made_over_and_over(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_new_person(server, cast)
    folder = DataFolder(server.settings.data).temporary_files
    before = set(folder.glob("finished.*"))
    for _ in range(EXPORTS_PER_HOUR):
        assert download_archive(olivia).status_code == 200
    assert len(set(folder.glob("finished.*")) - before) == 1
    assert start_export(olivia).status_code == 429
