"""Settings → Import: from a file to its columns, to what is wrong with its rows, to records; never half."""

import csv
import re
from datetime import timedelta
from io import StringIO

import httpx2
import pytest

from mainstay.business.customers.operations import archive_customer, create_customer, list_customers
from mainstay.business.importing import store
from mainstay.business.jobs.operations import create_job, list_jobs
from mainstay.business.pricelist.operations import list_price_items
from mainstay.doors.office.kit import background_work
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.files import TemporaryFiles
from mainstay.infrastructure.tables import MAX_BYTES
from mainstay.vocabulary.permissions import Role
from support import hostile
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.oauth_app import hidden_value
from support.servers import RunningServer
from support.uploads import list_temporary_files
from support.waiting import wait_until
from support.workbooks import make_sheet_rows, make_workbook

PATH = "/settings/import"
CSV = b"Customer;Town;Customer ID\nCalder;Halifax;C-1\nRyburn;Leeds;C-2\n"


def upload_file(
    session: BrowserSession, content: bytes, kind: str = "customers", called: str = "customers.csv"
) -> httpx2.Response:
    page = session.get(PATH).text
    fields = {name: hidden_value(page, name) for name in ("csrf", "once")} | {"kind": kind}
    return session.upload(PATH, fields, file=(called, content))


def wait_until_finished(session: BrowserSession, path: str) -> str:
    """The page of a run, once nothing goes on any more."""

    def look() -> str | None:
        answer = session.get(path)
        assert answer.status_code == 200
        return None if answer.headers.get("refresh") else answer.text

    return wait_until(look)


def read_selected_columns(page: str) -> dict[str, str]:
    """The columns as a page has them selected."""
    found = {}
    for part in page.split('name="column ')[1:]:
        name, _, options = part.partition('"')
        before, selected, _ = options.partition("</select>")[0].partition('" selected')
        found[f"column {name}"] = before.rpartition('value="')[2] if selected else ""
    return found


def check_columns(session: BrowserSession, path: str, **columns: str) -> str:
    page = session.get(path).text
    fields = read_selected_columns(page) | {f"column {name}": value for name, value in columns.items()}
    answer = session.submit_page(page, f"{path}/check", **fields)
    assert answer.status_code == 303, visible_text(answer.text)
    return wait_until_finished(session, path)


def confirm_import(session: BrowserSession, path: str) -> str:
    answer = session.submit_page(session.get(path).text, f"{path}/confirm")
    assert answer.status_code == 303, visible_text(answer.text)
    return wait_until_finished(session, path)


def list_customer_names(cast: Cast) -> list[str]:
    return [customer["name"] for customer in cast.perform(list_customers, order="name")["data"]]


@pytest.mark.engines("sqlite", "postgresql")
@pytest.mark.parametrize(
    "content", [CSV, make_workbook(make_sheet_rows(["Name", "City"], ["Calder", "Halifax"], ["Ryburn", ""]))]
)
def test_a_file_becomes_customers_once_it_was_looked_at(server: RunningServer, cast: Cast, content: bytes) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    before = set(list_temporary_files(server))
    path = upload_file(orla, content).headers["location"]
    page = orla.get(path).text
    assert read_selected_columns(page)["column name"] == "0"
    assert read_selected_columns(page)["column billingAddress.city"] == "1"
    assert list_customer_names(cast) == []

    assert "2 new, 0 changed, 0 unchanged. Nothing has been imported yet." in visible_text(check_columns(orla, path))
    assert list_customer_names(cast) == []
    assert "2 new, 0 changed, 0 unchanged." in visible_text(confirm_import(orla, path))
    assert list_customer_names(cast) == ["Calder", "Ryburn"]
    # How far it was is forgotten behind what became of it.
    wait_until(lambda: set(list_temporary_files(server)) <= before)

    again = upload_file(orla, content).headers["location"]
    assert "0 new, 0 changed, 2 unchanged. Nothing has been imported yet." in visible_text(check_columns(orla, again))
    assert "0 new, 0 changed, 2 unchanged." in visible_text(confirm_import(orla, again))


def test_what_is_quickly_done_is_shown_at_once(
    server: RunningServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine: it is quick by this measure, and not by one of no time at all.
    monkeypatch.setattr(background_work, "MOMENT_SECONDS", 60.0)
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, b"Name\n" + b"".join(b"Calder %d\n" % number for number in range(100))).headers["location"]
    page = orla.get(path).text
    assert orla.submit_page(page, f"{path}/check", **read_selected_columns(page)).status_code == 303
    checked = orla.get(path)
    assert ("100 new, 0 changed" in visible_text(checked.text), "refresh" in checked.headers) == (True, False)
    assert orla.submit_page(checked.text, f"{path}/confirm").status_code == 303
    brought = orla.get(path)
    assert ("100 new" in visible_text(brought.text), "refresh" in brought.headers) == (True, False)


def test_what_is_wrong_is_listed_row_by_row_and_nothing_is_stored(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, b"Name,Email\nCalder,a@b.example\n,c@d.example\nRyburn,nobody\n").headers["location"]
    text = visible_text(check_columns(orla, path))
    assert "there are 2 problems." in text
    assert "3 Name is required" in text
    assert "4 Email" in text
    answer = orla.submit_page(orla.get(path).text, f"{path}/confirm")
    assert (answer.status_code, "Check the rows and fix the errors first." in visible_text(answer.text)) == (409, True)
    assert list_customer_names(cast) == []
    # With another choice of columns the rows are right, but for one.
    assert "there is 1 problem." in visible_text(check_columns(orla, path, email=""))


@pytest.mark.engines("sqlite", "postgresql")
def test_rows_with_faults_are_left_out_and_come_back_as_a_file_to_correct(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    content = b"Name,Email,Phone\nCalder,a@b.example,+44 1\n,nobody,=1\nRyburn,nowhere,2\nColne,,3\n"
    path = upload_file(orla, content, called="old system.csv").headers["location"]
    page = check_columns(orla, path)
    assert "Import 2 rows and leave out 2" in visible_text(page)
    # Not by accident: the button says it.
    assert orla.submit_page(page, f"{path}/confirm").status_code == 409
    assert orla.submit_page(page, f"{path}/confirm", do="leave out").status_code == 303
    done = visible_text(wait_until_finished(orla, path))
    assert "2 new, 0 changed, 0 unchanged. 2 rows were left out." in done
    assert "Download 2 rows to correct" in done
    assert list_customer_names(cast) == ["Calder", "Colne"]

    answer = orla.get(f"{path}/faulty-rows.csv")
    assert 'filename="old system to correct.csv"' in answer.headers["content-disposition"]
    headings, nameless, ryburn = csv.reader(StringIO(answer.content.decode("utf-8-sig"), newline=""), strict=True)
    assert headings == ["Name", "Email", "Phone", "Problems"]
    assert nameless[:3] == ["", "nobody", "'=1"]
    assert nameless[3].startswith("Name is required; Email is not")
    assert ryburn[:3] == ["Ryburn", "nowhere", "2"]
    # It is imported again, one row of it corrected; the other comes back once more, with one column of problems.
    corrected = answer.content.replace(b"nowhere", b"r@b.example")
    again = upload_file(orla, corrected, called="old system to correct.csv").headers["location"]
    checked = check_columns(orla, again)
    assert "Import 1 row and leave out 1" in visible_text(checked)
    assert "Problems,Problems" not in orla.get(f"{again}/faulty-rows.csv").text
    assert orla.submit_page(checked, f"{again}/confirm", do="leave out").status_code == 303
    assert "1 new" in visible_text(wait_until_finished(orla, again))
    assert list_customer_names(cast) == ["Calder", "Colne", "Ryburn"]
    # It is for the one who brought it, and only what was left out is forgotten when the import is undone.
    assert sign_in_new_person(server, cast).get(f"{path}/faulty-rows.csv").status_code == 404
    assert "Import undone: 2 removed" in visible_text(undo_import(orla, path))
    assert list_customer_names(cast) == ["Ryburn"]


def test_nothing_is_left_out_that_a_choice_of_columns_could_read(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, b"Name;Price\nCombi;1,250\n;2,500\n", "price items").headers["location"]
    page = check_columns(orla, path)
    assert "leave out" not in visible_text(page)
    assert orla.submit_page(page, f"{path}/confirm", do="leave out").status_code == 409
    # Nor where no row is left.
    path = upload_file(orla, b"Name,Email\n,a@b.example\n").headers["location"]
    page = check_columns(orla, path)
    assert orla.submit_page(page, f"{path}/confirm", do="leave out").status_code == 409


def test_columns_are_told_apart_by_hand(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, b"A,B\nHalifax,Calder\n").headers["location"]
    page = orla.get(path).text
    answer = orla.submit_page(page, f"{path}/check", **{"column billingAddress.city": "0"})
    assert (answer.status_code, "Choose a column for Name." in visible_text(answer.text)) == (422, True)
    for wrong in ("2", "-1", "x", "99999"):
        assert orla.submit_page(page, f"{path}/check", **{"column name": wrong}).status_code in {404, 422}
    check_columns(orla, path, **{"name": "1", "billingAddress.city": "0"})
    confirm_import(orla, path)
    assert list_customer_names(cast) == ["Calder"]


@pytest.mark.parametrize(
    ("kind", "known_by"),
    [
        ("customers", "their name"),
        ("sites", "their customer, name and address"),
        ("contacts", "their customer and name"),
        ("jobs", "all their fields"),
        ("suppliers", "their name"),
        ("price items", "their code or, without one, their name"),
    ],
)
def test_what_a_row_is_known_again_by_is_told_of_every_kind(
    server: RunningServer, cast: Cast, kind: str, known_by: str
) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    text = visible_text(orla.get(upload_file(orla, CSV, kind).headers["location"]).text)
    assert f"Rows without an external ID are matched by {known_by}, so" in text


def test_jobs_are_brought_over_too(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    for kind, content in (("customers", CSV), ("jobs", b"Customer,Title\nC-1,Boiler\nRyburn,Roof\n")):
        path = upload_file(orla, content, kind).headers["location"]
        check_columns(orla, path)
        confirm_import(orla, path)
    assert {job["title"] for job in cast.perform(list_jobs)["data"]} == {"Boiler", "Roof"}


BAD_FILES = {
    "nothing": b"",
    "no table": b"\x89PNG\r\n\x1a\n\0\0",
    "too many rows": b"Name\n" + b"a\n" * 100_000,
    "a workbook cut short": make_workbook(make_sheet_rows(["Name"], ["A"]))[:200],
    "a protected workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_what_cannot_be_read_is_told_on_the_page(server: RunningServer, cast: Cast, what: str) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    before = set(list_temporary_files(server))
    answer = upload_file(orla, BAD_FILES[what])
    assert (answer.status_code, "Import" in visible_text(answer.text)) == (422, True)
    assert 'role="alert"' in answer.text
    assert set(list_temporary_files(server)) <= before


def test_a_file_that_is_too_large_or_of_no_kind_is_told(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    assert upload_file(orla, bytes(MAX_BYTES + 1)).status_code == 413
    assert upload_file(orla, CSV, "invoices").status_code == 422


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_it_is_for_the_office(server: RunningServer, cast: Cast, role: Role) -> None:
    someone = sign_in_new_person(server, cast, role)
    assert someone.get(PATH).status_code == 403
    assert PATH not in someone.get("/settings").text
    page = someone.get("/settings/account").text
    fields = {name: hidden_value(page, name) for name in ("csrf", "once")} | {"kind": "customers"}
    assert someone.upload(PATH, fields, file=("a.csv", CSV)).status_code == 403


def test_a_file_is_for_the_one_who_brought_it(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    path = upload_file(sign_in_new_person(server, cast, Role.OFFICE), CSV).headers["location"]
    for other in (sign_in_new_person(server, cast), sign_in_new_person(server, other_cast)):
        assert other.get(path).status_code == 404
        for verb in ("check", "confirm", "undo"):
            assert other.submit_page(other.get(PATH).text, f"{path}/{verb}").status_code == 404


def test_nothing_is_brought_over_while_lapsed(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, CSV).headers["location"]
    check_columns(orla, path)
    page = orla.get(path).text
    cast.lapse()
    for verb in ("confirm", "undo"):
        assert orla.submit_page(page, f"{path}/{verb}").status_code == 402
    assert orla.get(PATH).status_code == 402


def test_what_is_confirmed_twice_is_brought_over_once(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, CSV).headers["location"]
    check_columns(orla, path)
    page = orla.get(path).text
    confirm_import(orla, path)
    assert orla.submit_page(page, f"{path}/confirm").status_code == 409
    assert orla.submit_page(page, f"{path}/check", **{"column name": "0"}).status_code == 409
    assert list_customer_names(cast) == ["Calder", "Ryburn"]


def interrupt_run(cast: Cast, path: str, status: str) -> str:
    """Leave a run as a server process does that dies in the middle; its id."""
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE import_run SET status = :status WHERE organisation_id = :organisation AND id = :id",
            status=status,
            id=path.rpartition("/")[2],
        )
    return path.rpartition("/")[2]


def test_an_interrupted_check_says_so_and_is_begun_again(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, CSV).headers["location"]
    interrupt_run(cast, path, "checking")
    assert "The check was interrupted. Nothing was imported." in visible_text(orla.get(path).text)
    assert "2 new, 0 changed" in visible_text(check_columns(orla, path))


def test_an_interrupted_import_says_how_far_it_came_and_is_continued(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, CSV).headers["location"]
    check_columns(orla, path)
    record_id = interrupt_run(cast, path, "importing")
    page = orla.get(path).text
    assert "The import was interrupted after 0 of 2 rows." in visible_text(page)
    assert (f"{path}/confirm" in page, f"{path}/undo" in page, f"{path}/check" in page) == (True, True, False)
    answer = orla.submit_page(page, f"{path}/check", **{"column name": "0"})
    assert (answer.status_code, "Continue or undo this import first." in visible_text(answer.text)) == (409, True)
    # While another process works on it, the page says how far that is.
    passing = TemporaryFiles(DataFolder(server.settings.data).temporary_files)
    passing.set_progress(record_id, 1)
    going_on = orla.get(path)
    assert '<progress max="2" value="1"' in going_on.text
    assert "Importing 1 of 2" in visible_text(orla.get(PATH).text)
    assert ("Importing 1 of 2 rows…" in visible_text(going_on.text), going_on.headers["refresh"]) == (True, "2")
    for verb in ("confirm", "undo"):
        assert orla.submit_page(orla.get(PATH).text, f"{path}/{verb}").status_code == 409
    passing.clear_progress(record_id)
    assert "2 new" in visible_text(confirm_import(orla, path))


@pytest.mark.engines("sqlite", "postgresql")
def test_an_import_is_undone_and_says_what_stays(server: RunningServer, cast: Cast) -> None:
    cast.perform(create_customer, name="Ryburn", externalRef="C-2", billingAddress={"city": "York"})
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, CSV + b"Colne;Leeds;C-3\n").headers["location"]
    check_columns(orla, path)
    done = confirm_import(orla, path)
    assert "2 new, 1 changed" in visible_text(done)
    assert "You can undo this import for 2 days." in visible_text(done)
    colne = next(one["id"] for one in cast.perform(list_customers)["data"] if one["name"] == "Colne")
    cast.perform(create_job, customerId=colne, title="Roof")
    page = undo_import(orla, path)
    assert "Import undone: 1 removed, 1 changed back." in visible_text(page)
    assert "Kept because jobs were added (1): Colne" in visible_text(page)
    assert f'<a href="/customers/{colne}">Colne</a>' in page
    assert list_customer_names(cast) == ["Colne", "Ryburn"]
    # It is over.
    for verb in ("undo", "confirm"):
        assert orla.submit_page(page, f"{path}/{verb}").status_code == 409
    assert "Undone" in visible_text(orla.get(PATH).text)


def undo_import(session: BrowserSession, path: str) -> str:
    answer = session.submit_page(session.get(path).text, f"{path}/undo")
    assert answer.status_code == 303, visible_text(answer.text)
    return wait_until_finished(session, path)


def test_an_interrupted_undo_is_continued(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, CSV).headers["location"]
    check_columns(orla, path)
    confirm_import(orla, path)
    record_id = interrupt_run(cast, path, "undoing")
    assert "Undoing was interrupted after 0 of 2 changes." in visible_text(orla.get(path).text)
    passing = TemporaryFiles(DataFolder(server.settings.data).temporary_files)
    passing.set_progress(record_id, 1)
    assert "Undoing 1 of 2 changes…" in visible_text(orla.get(path).text)
    passing.clear_progress(record_id)
    assert "Import undone: 2 removed, 0 changed back." in visible_text(undo_import(orla, path))
    assert list_customer_names(cast) == []


def test_an_import_that_is_refused_in_the_middle_says_where_and_that_nothing_was_kept(
    server: RunningServer, cast: Cast
) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    cast.perform(create_customer, name="Calder")
    gone = cast.perform(create_customer, name="Gone")["id"]
    path = upload_file(orla, b"Customer,Title\nCalder,Boiler\nGone,Roof\n", "jobs").headers["location"]
    check_columns(orla, path)
    # Between the check and the import.
    cast.perform(archive_customer, customerId=gone)
    text = visible_text(confirm_import(orla, path))
    assert "The import stopped at row 3 (Gone is archived. Restore the customer first.) and was undone:" in text
    assert "Nothing was kept." in text
    assert cast.perform(list_jobs)["data"] == []


@pytest.mark.engines("sqlite", "postgresql")
def test_a_file_is_kept_for_two_days(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    path = upload_file(orla, CSV).headers["location"]
    now = cast.performer.clock()
    imported, interrupted = (upload_file(orla, CSV).headers["location"] for _ in range(2))
    check_columns(orla, imported)
    confirm_import(orla, imported)
    interrupt_run(cast, interrupted, "importing")
    minutes = timedelta(minutes=5)
    for later, kept in (
        (store.RETENTION - minutes, {path, imported, interrupted}),
        # Only its page can continue or undo what was interrupted.
        (store.RETENTION + minutes, {interrupted}),
        (store.INTERRUPTED_RETENTION + minutes, set()),
    ):
        with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            store.delete_old(db, now + later)
        assert {one for one in (path, imported, interrupted) if orla.get(one).status_code == 200} == kept


def test_a_price_list_becomes_items_and_leads_to_them(server: RunningServer, cast: Cast) -> None:
    orla = sign_in_new_person(server, cast, Role.OFFICE)
    csv = b"Code;Name;Price\nBLR-24;Combi boiler;890\n"
    path = upload_file(orla, csv, "price items", "prices.csv").headers["location"]
    assert "1 new, 0 changed" in visible_text(check_columns(orla, path))
    done = confirm_import(orla, path)
    assert '<a class="button primary" href="/price-list">View price items</a>' in done
    (item,) = cast.perform(list_price_items)["data"]
    assert (item["code"], item["sellPrice"]) == ("BLR-24", "890.00")


def test_a_file_that_was_left_is_found_again_by_the_one_who_brought_it(server: RunningServer, cast: Cast) -> None:
    orla, other = sign_in_new_person(server, cast, Role.OFFICE), sign_in_new_person(server, cast, Role.OFFICE)
    assert "last 2 days" not in visible_text(orla.get(PATH).text)
    left = upload_file(orla, CSV, called="left.csv").headers["location"]
    wrong = upload_file(orla, b"Name;Country\nCalder;Nowhere\n", called="wrong.csv").headers["location"]
    assert 'data-label="Row">2<' in check_columns(orla, wrong)
    done = upload_file(orla, CSV, called="done.csv").headers["location"]
    check_columns(orla, done)
    confirm_import(orla, done)
    page = orla.get(PATH).text
    listed = page.partition("last 2 days")[2]
    paths = [listed.index(f'href="{path}"') for path in (done, wrong, left)]
    assert paths == sorted(paths)
    text = visible_text(listed)
    for name, state in (("left", "Choose columns"), ("wrong", "Errors found"), ("done", "Imported")):
        assert re.search(rf"Customers from {name}\.csv [^<]*?{state}", text)
    assert "left.csv" not in other.get(PATH).text
    # What is neither over nor going on was interrupted.
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE import_run SET status = 'importing' WHERE organisation_id = :organisation")
    assert visible_text(orla.get(PATH).text).count("Interrupted") == 3


def test_a_workbook_that_becomes_large_is_refused(server: RunningServer, cast: Cast) -> None:
    orla, before = sign_in_new_person(server, cast, Role.OFFICE), set(list_temporary_files(server))
    answer = upload_file(orla, hostile.make_workbook_with_repeated_string(52_000, 3_000_000), called="customers.xlsx")
    assert answer.status_code == 422
    assert "Row 1 has a cell of more than 32,767 characters. Shorten it." in visible_text(answer.text)
    assert set(list_temporary_files(server)) <= before
