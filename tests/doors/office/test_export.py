"""Every list as CSV: exactly what is listed for this person, safe to open."""

import csv
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from io import BytesIO, StringIO
from pathlib import Path
from threading import Event
from typing import cast as typed
from zoneinfo import ZoneInfo

import httpx2
import pytest

from doors.office.test_customers import extract_main
from mainstay.business.customers.operations import list_customers
from mainstay.business.customers.sites_and_contacts import list_sites
from mainstay.business.issuing.pdf_printer import Printer
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.organisation.model import OrganisationOut
from mainstay.business.people.model import PersonOut
from mainstay.business.people.operations import invite_person, list_people, update_person
from mainstay.business.people.roles import remove_person
from mainstay.business.people.store import PEOPLE as KEPT
from mainstay.business.pricelist.suppliers import list_suppliers
from mainstay.composition import open_sealer
from mainstay.doors.http import RequestHandler
from mainstay.doors.office.kit.list_export import MAX_ROWS, ListExport
from mainstay.doors.office.kit.office_pages import OfficePages
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.spreadsheet_rows import columns_of, columns_of_fields
from mainstay.doors.office.work.people import PEOPLE_LAYOUT
from mainstay.doors.pages.door import PagesDoor
from mainstay.doors.pages.session import Visitors
from mainstay.doors.runner import Runner
from mainstay.identity.keys import KeyOut
from mainstay.infrastructure.content_reader import ContentReader
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.files import FolderFileStore, TemporaryFiles
from mainstay.infrastructure.rate_limits import MachineRateLimits
from mainstay.kernel.context import Context
from mainstay.values.moments import parse_moment
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.schemas import ListInput, PageResult
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.imports import upload_import
from support.in_process import InProcessServer
from support.prices import make_kit_item, make_price_item, make_supplier
from support.servers import RunningServer

LISTS = ["/people", "/price-list", "/suppliers", "/settings/taxes"]
LISTS += ["/settings/developer/keys", "/settings/developer/mcp", "/settings/developer/webhooks"]


def read_csv(answer: httpx2.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(StringIO(answer.content.decode("utf-8-sig"), newline=""), strict=True))


def read_names(answer: httpx2.Response) -> list[str]:
    return [line["Name"] for line in read_csv(answer)]


def list_passing_files(server: RunningServer) -> list[Path]:
    return [*DataFolder(server.settings.data).temporary_files.iterdir()]


def export_people(cast: Cast, role: Role = Role.OWNER, max_rows: int = MAX_ROWS) -> str:
    """The people as this person gets them."""
    kept = _RetainedBytes()
    export = ListExport(cast.performer, cast.actor(role), list_people, {"order": "name"}, "UTC", "req_1")
    replace(export, max_rows=max_rows).write(kept)
    return kept.content.decode("utf-8-sig")


class _RetainedBytes(BytesIO):
    content = b""

    def close(self) -> None:
        self.content = self.getvalue()
        super().close()


@pytest.mark.parametrize("path", LISTS)
def test_every_list_has_a_link_to_its_csv_which_is_a_file_to_save(server: RunningServer, cast: Cast, path: str) -> None:
    cast.make_key()
    olivia = sign_in_new_person(server, cast)
    page = olivia.get(path)
    assert f'href="{path}/export.csv' in page.text
    answer = olivia.get(f"{path}/export.csv")
    assert len(read_csv(answer)) == page.text.count('<th scope="row">')
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert answer.headers["cache-control"] == "no-store"


def test_the_same_filter_and_order_are_in_the_link_and_in_the_file(server: RunningServer, cast: Cast) -> None:
    cast.perform(invite_person, name="Ian Invited", email="ian@cast.example", role="office")
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    olivia = sign_in_new_person(server, cast)
    by_name = ["Adam Admin", "Ian Invited", "Olivia Owner", "Orla Office", "Sam Subcontractor", "Sara Someone"]

    assert 'href="/people/export.csv"' in olivia.get("/people").text
    assert read_names(olivia.get("/people/export.csv")) == by_name
    assert read_names(olivia.get("/people/export.csv?order=newest"))[:2] == ["Sara Someone", "Ian Invited"]
    assert (
        'href="/people/export.csv?status=left&amp;order=newest"' in olivia.get("/people?status=left&order=newest").text
    )
    assert read_names(olivia.get("/people/export.csv?order=name&status=left")) == ["Mia Member"]
    # Where in the list the page stands that links to it makes no difference.
    behind = f"startingAfter={cast.people[Role.ADMIN]}"
    assert read_names(olivia.get(f"/people/export.csv?order=name&{behind}")) == by_name


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            "/jobs/export.csv?status=zzz",
            "Choose Live, Enquiry, Open, In progress, On hold, Done, Closed or Cancelled for status.",
        ),
        ("/hours/export.csv?status=zzz", "Choose Running, Draft, Submitted, Approved or Rejected for status."),
        (
            "/settings/activity/export.csv?actedBy=zzz",
            "Choose Agent, Person, Assistant, App, Key, Customer, Operator or House for changed by.",
        ),
        ("/settings/activity/export.csv?personId=zzz", "Person was not found. Choose one from the list."),
    ],
)
def test_what_no_file_is_narrowed_to_is_told_in_words(server: RunningServer, cast: Cast, asked: str, told: str) -> None:
    answer = sign_in_new_person(server, cast).get(asked)
    assert answer.status_code == 422
    shown = visible_text(extract_main(answer.text))
    assert told in shown
    assert "'" not in shown
    assert "inProgress" not in shown


def test_all_pages_of_the_list_are_in_it(server: RunningServer, cast: Cast) -> None:
    for number in range(205):
        cast.perform(invite_person, name=f"Person {number:03}", email=f"p{number}@cast.example", role="member")
    found = read_names(sign_in_new_person(server, cast).get("/people/export.csv?order=name&status=invited"))
    assert found == [f"Person {number:03}" for number in range(205)]


def test_a_line_reads_as_people_read(server: RunningServer, cast: Cast) -> None:
    cast.perform(
        update_person,
        personId=cast.people[Role.MEMBER],
        skills=["gas", "roofing, flat"],
        costRate="24.5",
        companyName="Ünal \"und\" Söhne, 'Bau'",
        colour="#3366cc",
    )
    mia = next(
        line
        for line in read_csv(sign_in_new_person(server, cast).get("/people/export.csv"))
        if line["Name"] == "Mia Member"
    )
    assert list(mia)[:6] == ["Name", "Email", "Phone", "Role", "Status", "Skills"]
    assert (mia["Role"], mia["Status"], mia["Skills"]) == ("Field staff", "Active", "gas, roofing, flat")
    assert (mia["Cost per hour"], mia["Charge-out rate"], mia["Phone"]) == ("24.50", "", "")
    assert mia["Company"] == "Ünal \"und\" Söhne, 'Bau'"
    assert mia["Updated by"] == "Olivia Owner"
    assert not {"Id", "Object", "Version"} & mia.keys()


def test_what_a_kit_is_made_of_is_told_by_name(server: RunningServer, cast: Cast) -> None:
    boiler, pipe = make_price_item(cast, costPrice="600"), make_price_item(cast, "Copper pipe", costPrice="3")
    make_kit_item(cast, {boiler: "1", pipe: "2.5"})
    for role, cost in ((Role.OFFICE, "607.50"), (Role.MEMBER, "")):
        found = read_csv(sign_in_new_person(server, cast, role).get("/price-list/export.csv"))
        kit = next(line for line in found if line["Name"] == "New heating")
        assert (kit["Parts"], kit["Cost"]) == ("Combi boiler 1.00\nCopper pipe 2.50", cost)
        assert not any("item_" in text for text in kit.values())


def test_whoever_may_not_see_costs_finds_none(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], costRate="24.5")
    for role, shown in ((Role.OFFICE, "24.50"), (Role.MEMBER, "")):
        found = read_csv(sign_in_new_person(server, cast, role).get("/people/export.csv"))
        assert next(line for line in found if line["Name"] == "Mia Member")["Cost per hour"] == shown


@pytest.mark.parametrize("begins", ["=1+1", "+1", "-1", "@SUM(A1)", "\N{FULLWIDTH EQUALS SIGN}1"])
def test_no_cell_is_taken_for_a_formula(server: RunningServer, cast: Cast, begins: str) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], name=begins, skills=[begins, "gas"])
    found = read_csv(sign_in_new_person(server, cast).get("/people/export.csv"))
    [line] = [line for line in found if line["Email"] == "mia@cast.example"]
    assert (line["Name"], line["Skills"]) == (f"'{begins}", f"'{begins}, gas")


@pytest.mark.parametrize("path", ["/people/export.csv", "/reports/journal.csv", "/reports/revenue/export.csv"])
def test_it_comes_in_fewer_bytes_for_those_who_take_them_so(server: RunningServer, cast: Cast, path: str) -> None:
    for number in range(40):
        email = f"packed.{number}.{cast.organisation}@new.example"
        cast.perform(invite_person, name=f"Paula Packed {number}", email=email, role="member")
    session = sign_in_new_person(server, cast)
    plain = session.get(path, **{"Accept-Encoding": "identity"})
    short = session.get(path, **{"Accept-Encoding": "gzip"})
    assert (plain.headers.get("Content-Encoding"), short.headers["Content-Encoding"]) == (None, "gzip")
    assert plain.headers["Vary"] == short.headers["Vary"] == "Accept-Encoding"
    assert read_csv(short) == read_csv(plain)
    if path == "/people/export.csv":
        assert int(short.headers["Content-Length"]) < int(plain.headers["Content-Length"]) / 3


def test_it_is_bounded_and_says_so(cast: Cast) -> None:
    everyone = list(csv.reader(StringIO(export_people(cast))))
    assert [line[0] for line in everyone[1:]] == [
        "Adam Admin", "Mia Member", "Olivia Owner", "Orla Office", "Sam Subcontractor",
    ]  # fmt: skip
    assert list(csv.reader(StringIO(export_people(cast, max_rows=5)))) == everyone
    cut = list(csv.reader(StringIO(export_people(cast, max_rows=2))))
    assert cut == [*everyone[:3], ["Only the first 2 rows are included. Filter the list to get the others."]]


def test_an_address_has_a_column_for_each_of_its_parts_and_a_number_stays_one() -> None:
    record = {"address": {"line1": "=1+1", "line2": None, "city": "Bonn"}, "costRate": "-4.50", "name": "-4.50"}
    address = {column.label: column.text(record) for column in columns_of_fields(OrganisationOut, ["address"], "UTC")}
    assert list(address)[:3] == ["Address line 1", "Address line 2", "Town or city"]
    assert [*address.values()] == ["'=1+1", "", "Bonn", "", "", ""]
    rate, name = columns_of_fields(PersonOut, ["costRate", "name"], "UTC")
    assert (rate.text(record), name.text(record)) == ("-4.50", "'-4.50")


def test_who_made_it_comes_last_and_identifiers_not_at_all() -> None:
    assert [column.label for column in columns_of(PersonOut, "UTC")][-4:] == [
        "Created", "Created by", "Updated", "Updated by",
    ]  # fmt: skip
    labels = {column.label for model in (KeyOut, PersonOut) for column in columns_of(model, "UTC")}
    assert not {"Id", "Person id", "Version", "Object"} & labels


def test_dates_and_moments_are_written_as_programs_read_them(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), dueOn="2026-12-08")
    olivia = sign_in_new_person(server, cast)
    [line] = read_csv(olivia.get("/jobs/export.csv"))
    made = parse_moment(job["createdAt"]).astimezone(ZoneInfo("Europe/London"))
    assert (line["Due date"], line["Created"]) == ("2026-12-08", f"{made:%Y-%m-%d %H:%M}")
    # On pages people read them as they write them.
    assert "8 Dec 2026" in olivia.get("/jobs?view=list").text


def test_our_import_reads_what_was_exported(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    address = {"line1": "Mill 3", "line2": "Floor 2", "city": "Łódź", "region": "LD", "postalCode": "90-001"}
    address["country"] = "PL"
    calder = make_customer(cast, billingAddress=address)
    make_site(cast, calder, name="Mill", address=address)
    make_job(cast, calder, dueOn="2026-12-08")
    make_supplier(cast, address=address)
    olivia = sign_in_new_person(server, cast)
    for kind, path, listed in _REIMPORTED_LISTS:
        rows = list(csv.reader(StringIO(olivia.get(f"{path}/export.csv").content.decode("utf-8-sig"), newline="")))
        outcome = upload_import(other_cast, kind, rows[0], rows[1:], Role.OWNER).import_rows()
        assert (outcome.created, outcome.faults) == (1, [])
        [there], [here] = (one.perform(listed)["data"] for one in (other_cast, cast))
        for name in ("billingAddress", "address", "siteAddress", "dueOn", "siteName", "customerName"):
            assert there.get(name) == here.get(name), name


# In this order: a site is brought back to its customer.
_REIMPORTED_LISTS = (
    ("customers", "/customers", list_customers),
    ("sites", "/sites", list_sites),
    ("jobs", "/jobs", list_jobs),
    ("suppliers", "/suppliers", list_suppliers),
)


def test_it_is_there_while_the_subscription_is_inactive(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_new_person(server, cast)
    cast.lapse()
    assert "Mia Member" in read_names(olivia.get("/people/export.csv"))


def test_another_organisation_s_people_are_not_in_it(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    other_cast.perform(invite_person, name="Ina Elsewhere", email="ina@else.example", role="office")
    assert "Ina Elsewhere" not in read_names(sign_in_new_person(server, cast).get("/people/export.csv"))


def test_it_is_for_those_who_see_the_list_and_leaves_nothing_behind(server: RunningServer, cast: Cast) -> None:
    before = list_passing_files(server)
    assert BrowserSession(server).get("/people/export.csv").status_code == 303
    assert sign_in_new_person(server, cast, Role.SUBCONTRACTOR).get("/people/export.csv").status_code == 403
    assert sign_in_new_person(server, cast, Role.MEMBER).get("/settings/developer/keys/export.csv").status_code == 403
    assert sign_in_new_person(server, cast).get("/people/export.csv?status=asleep").status_code == 422
    assert set(list_passing_files(server)) <= set(before)


def test_what_was_written_for_the_answer_is_removed(server: RunningServer, cast: Cast) -> None:
    inside = typed("InProcessServer", server)
    olivia = sign_in_new_person(server, cast)
    before = set(list_passing_files(server))
    olivia.get("/people/export.csv")
    [made] = set(list_passing_files(server)) - before
    assert made.stat().st_mode & 0o777 == 0o600
    # Kept for the server, which opens it in its own time, but no longer than the process.
    TemporaryFiles(DataFolder(inside.settings.data).temporary_files).close()
    assert not made.exists()


@pytest.fixture
def event() -> Event:
    return Event()


@pytest.fixture
def slow_doors(server: RunningServer, cast: Cast, event: Event) -> Iterator[InProcessServer]:
    """The doors, and a list of people that waits for an event."""
    inside, settings = typed("InProcessServer", server), server.settings

    def list_slowly(ctx: Context, given: ListInput) -> PageResult[PersonOut]:
        assert event.wait(20)
        return KEPT.page(ctx, given)

    folder = DataFolder(settings.data)
    runner = Runner(reads_inline=True)
    visitors = Visitors(
        cast.performer,
        runner,
        MachineRateLimits(folder.rate_limits),
        inside.app.server_names,
        settings.base_url,
        open_sealer(settings),
        FolderFileStore(folder.files),
        TemporaryFiles(folder.temporary_files),
        ContentReader(),
        Printer(),
    )

    class SlowLayout(RecordLayout):
        path, list_operation = "/slow", replace(list_people, function=list_slowly)

    values = {one.name: getattr(PEOPLE_LAYOUT, one.name) for one in fields(RecordLayout)}
    record_pages = RecordPages(OfficePages(visitors), SlowLayout(**values))
    door = PagesDoor(record_pages.routes(), OfficePages(visitors).require_sign_in(record_pages.show_record), 0)
    doors: dict[str, RequestHandler] = {**inside.app.doors, "/slow/export.csv": door}
    yield replace(inside, app=replace(inside.app, doors=doors))
    runner.threads.close()


def test_others_are_answered_while_it_is_written(slow_doors: InProcessServer, cast: Cast, event: Event) -> None:
    olivia = sign_in_new_person(slow_doors, cast)
    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(olivia.get, "/slow/export.csv")
        # The event is set by who was answered meanwhile.
        assert olivia.get("/people").status_code == 200
        event.set()
        assert "Mia Member" in read_names(writing.result(30))
