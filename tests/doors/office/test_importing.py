"""Settings → Import: from a file to its columns, to what is wrong with its rows, to records; never half."""

import re
from datetime import timedelta

import httpx2
import pytest

from apps import hidden
from cast import Cast
from mainstay.backing.database import EVERY
from mainstay.backing.files import PassingFiles
from mainstay.backing.folder import DataFolder
from mainstay.backing.tables import MOST_BYTES
from mainstay.business.customers.operations import archive_customer, create_customer, list_customers
from mainstay.business.importing import store
from mainstay.business.jobs.operations import create_job, list_jobs
from mainstay.business.pricelist.operations import list_price_items
from mainstay.doors.office import importing
from mainstay.terms.rights import Role
from running import RunningServer
from support import hostile
from uploading import left_behind
from visiting import Visit, visit, words
from waiting import wait_until
from workbooks import sheet, workbook

PATH = "/settings/import"
CSV = b"Customer;Town;Customer ID\nCalder;Halifax;C-1\nRyburn;Leeds;C-2\n"


def hand_in(visiting: Visit, content: bytes, kind: str = "customers", called: str = "customers.csv") -> httpx2.Response:
    page = visiting.get(PATH).text
    fields = {name: hidden(page, name) for name in ("csrf", "once")} | {"kind": kind}
    return visiting.upload(PATH, fields, file=(called, content))


def over(visiting: Visit, path: str) -> str:
    """The page of a run, once nothing goes on any more."""

    def look() -> str | None:
        answer = visiting.get(path)
        assert answer.status_code == 200
        return None if answer.headers.get("refresh") else answer.text

    return wait_until(look)


def chosen(page: str) -> dict[str, str]:
    """The columns as a page has them selected."""
    found = {}
    for part in page.split('name="column ')[1:]:
        name, _, options = part.partition('"')
        before, selected, _ = options.partition("</select>")[0].partition('" selected')
        found[f"column {name}"] = before.rpartition('value="')[2] if selected else ""
    return found


def look_at(visiting: Visit, path: str, **columns: str) -> str:
    page = visiting.get(path).text
    told = chosen(page) | {f"column {name}": value for name, value in columns.items()}
    answer = visiting.answer(page, f"{path}/check", **told)
    assert answer.status_code == 303, words(answer.text)
    return over(visiting, path)


def bring_over(visiting: Visit, path: str) -> str:
    answer = visiting.answer(visiting.get(path).text, f"{path}/confirm")
    assert answer.status_code == 303, words(answer.text)
    return over(visiting, path)


def names(cast: Cast) -> list[str]:
    return [customer["name"] for customer in cast.perform(list_customers, order="name")["data"]]


@pytest.mark.engines("sqlite", "postgresql")
@pytest.mark.parametrize("content", [CSV, workbook(sheet(["Name", "City"], ["Calder", "Halifax"], ["Ryburn", ""]))])
def test_a_file_becomes_customers_once_it_was_looked_at(server: RunningServer, cast: Cast, content: bytes) -> None:
    orla = visit(server, cast, Role.OFFICE)
    before = set(left_behind(server))
    path = hand_in(orla, content).headers["location"]
    page = orla.get(path).text
    assert chosen(page)["column name"] == "0"
    assert chosen(page)["column billingAddress.city"] == "1"
    assert names(cast) == []

    assert "2 would be new, 0 would change, 0 are here already" in words(look_at(orla, path))
    assert names(cast) == []
    assert "2 new, 0 changed, 0 as they were" in words(bring_over(orla, path))
    assert names(cast) == ["Calder", "Ryburn"]
    # How far it was is forgotten behind what became of it.
    wait_until(lambda: set(left_behind(server)) <= before)

    again = hand_in(orla, content).headers["location"]
    assert "0 would be new, 0 would change, 2 are here already" in words(look_at(orla, again))
    assert "0 new, 0 changed, 2 as they were" in words(bring_over(orla, again))


def test_what_is_quickly_done_is_shown_at_once(
    server: RunningServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine: it is quick by this measure, and not by one of no time at all.
    monkeypatch.setattr(importing, "_MOMENT_SECONDS", 60.0)
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, b"Name\n" + b"".join(b"Calder %d\n" % number for number in range(100))).headers["location"]
    page = orla.get(path).text
    assert orla.answer(page, f"{path}/check", **chosen(page)).status_code == 303
    checked = orla.get(path)
    assert ("100 would be new" in words(checked.text), "refresh" in checked.headers) == (True, False)
    assert orla.answer(checked.text, f"{path}/confirm").status_code == 303
    brought = orla.get(path)
    assert ("100 new" in words(brought.text), "refresh" in brought.headers) == (True, False)


def test_what_is_wrong_is_listed_row_by_row_and_nothing_is_stored(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, b"Name,Email\nCalder,a@b.example\n,c@d.example\nRyburn,nobody\n").headers["location"]
    told = words(look_at(orla, path))
    assert "2 things are wrong" in told
    assert "3 Name is required" in told
    assert "4 E-mail address" in told
    answer = orla.answer(orla.get(path).text, f"{path}/confirm")
    assert (answer.status_code, "Check the rows first" in words(answer.text)) == (409, True)
    assert names(cast) == []
    # With another choice of columns the rows are right, but for one.
    assert "1 thing is wrong" in words(look_at(orla, path, email=""))


def test_columns_are_told_apart_by_hand(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, b"A,B\nHalifax,Calder\n").headers["location"]
    page = orla.get(path).text
    answer = orla.answer(page, f"{path}/check", **{"column billingAddress.city": "0"})
    assert (answer.status_code, "Choose the column of: Name." in words(answer.text)) == (422, True)
    for wrong in ("2", "-1", "x", "99999"):
        assert orla.answer(page, f"{path}/check", **{"column name": wrong}).status_code in {404, 422}
    look_at(orla, path, **{"name": "1", "billingAddress.city": "0"})
    bring_over(orla, path)
    assert names(cast) == ["Calder"]


@pytest.mark.parametrize(
    ("kind", "known_by"),
    [
        ("customers", "their name"),
        ("sites", "their customer, name and address"),
        ("contacts", "their customer and name"),
        ("jobs", "everything that stands in them"),
        ("suppliers", "their name"),
        ("price items", "their code or, without one, their name"),
    ],
)
def test_what_a_row_is_known_again_by_is_told_of_every_kind(
    server: RunningServer, cast: Cast, kind: str, known_by: str
) -> None:
    orla = visit(server, cast, Role.OFFICE)
    told = words(orla.get(hand_in(orla, CSV, kind).headers["location"]).text)
    assert f"Rows without a reference are known again by {known_by}, so that" in told


def test_jobs_are_brought_over_too(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    for kind, content in (("customers", CSV), ("jobs", b"Customer,Title\nC-1,Boiler\nRyburn,Roof\n")):
        path = hand_in(orla, content, kind).headers["location"]
        look_at(orla, path)
        bring_over(orla, path)
    assert {job["title"] for job in cast.perform(list_jobs)["data"]} == {"Boiler", "Roof"}


BAD = {
    "nothing": b"",
    "no table": b"\x89PNG\r\n\x1a\n\0\0",
    "too many rows": b"Name\n" + b"a\n" * 100_000,
    "a workbook cut short": workbook(sheet(["Name"], ["A"]))[:200],
    "a protected workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_read_is_told_on_the_page(server: RunningServer, cast: Cast, what: str) -> None:
    orla = visit(server, cast, Role.OFFICE)
    before = set(left_behind(server))
    answer = hand_in(orla, BAD[what])
    assert (answer.status_code, "Import" in words(answer.text)) == (422, True)
    assert 'role="alert"' in answer.text
    assert set(left_behind(server)) <= before


def test_a_file_that_is_too_large_or_of_no_kind_is_told(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    assert hand_in(orla, bytes(MOST_BYTES + 1)).status_code == 413
    assert hand_in(orla, CSV, "invoices").status_code == 422


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_it_is_for_the_office(server: RunningServer, cast: Cast, role: Role) -> None:
    someone = visit(server, cast, role)
    assert someone.get(PATH).status_code == 403
    assert PATH not in someone.get("/settings").text
    page = someone.get("/settings/account").text
    fields = {name: hidden(page, name) for name in ("csrf", "once")} | {"kind": "customers"}
    assert someone.upload(PATH, fields, file=("a.csv", CSV)).status_code == 403


def test_a_file_is_for_the_one_who_brought_it(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    path = hand_in(visit(server, cast, Role.OFFICE), CSV).headers["location"]
    for other in (visit(server, cast), visit(server, stranger)):
        assert other.get(path).status_code == 404
        for verb in ("check", "confirm", "undo"):
            assert other.answer(other.get(PATH).text, f"{path}/{verb}").status_code == 404


def test_nothing_is_brought_over_while_lapsed(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, CSV).headers["location"]
    look_at(orla, path)
    page = orla.get(path).text
    cast.lapse()
    for verb in ("confirm", "undo"):
        assert orla.answer(page, f"{path}/{verb}").status_code == 402
    assert orla.get(PATH).status_code == 402


def test_what_is_confirmed_twice_is_brought_over_once(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, CSV).headers["location"]
    look_at(orla, path)
    page = orla.get(path).text
    bring_over(orla, path)
    assert orla.answer(page, f"{path}/confirm").status_code == 409
    assert orla.answer(page, f"{path}/check", **{"column name": "0"}).status_code == 409
    assert names(cast) == ["Calder", "Ryburn"]


def interrupt(cast: Cast, path: str, status: str) -> str:
    """Leave a run as a server process does that dies in the middle; its id."""
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run(
            "UPDATE import_run SET status = :status WHERE organisation_id = :organisation AND id = :id",
            status=status,
            id=path.rpartition("/")[2],
        )
    return path.rpartition("/")[2]


def test_an_interrupted_check_says_so_and_is_begun_again(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, CSV).headers["location"]
    interrupt(cast, path, "checking")
    assert "The check was interrupted. Nothing was stored." in words(orla.get(path).text)
    assert "2 would be new" in words(look_at(orla, path))


def test_an_interrupted_import_says_how_far_it_came_and_is_continued(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, CSV).headers["location"]
    look_at(orla, path)
    identity = interrupt(cast, path, "importing")
    page = orla.get(path).text
    assert "Interrupted after 0 of 2 rows." in words(page)
    assert (f"{path}/confirm" in page, f"{path}/undo" in page, f"{path}/check" in page) == (True, True, False)
    answer = orla.answer(page, f"{path}/check", **{"column name": "0"})
    assert (answer.status_code, "Continue or undo this import first." in words(answer.text)) == (409, True)
    # While another process works on it, the page says how far that is.
    passing = PassingFiles(DataFolder(server.settings.data).passing)
    passing.note(identity, 1)
    going_on = orla.get(path)
    assert ("Importing 1 of 2 rows…" in words(going_on.text), going_on.headers["refresh"]) == (True, "2")
    for verb in ("confirm", "undo"):
        assert orla.answer(orla.get(PATH).text, f"{path}/{verb}").status_code == 409
    passing.forget(identity)
    assert "2 new" in words(bring_over(orla, path))


@pytest.mark.engines("sqlite", "postgresql")
def test_an_import_is_undone_and_says_what_stays(server: RunningServer, cast: Cast) -> None:
    cast.perform(create_customer, name="Ryburn", externalRef="C-2", billingAddress={"city": "York"})
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, CSV + b"Colne;Leeds;C-3\n").headers["location"]
    look_at(orla, path)
    done = bring_over(orla, path)
    assert "2 new, 1 changed" in words(done)
    assert "You can undo this import here for 2 days." in words(done)
    colne = next(one["id"] for one in cast.perform(list_customers)["data"] if one["name"] == "Colne")
    cast.perform(create_job, customerId=colne, title="Roof")
    page = undo(orla, path)
    assert "Import undone: 1 removed, 1 changed back." in words(page)
    assert "1 customer stays because jobs were added: Colne" in words(page)
    assert f'<a href="/customers/{colne}">Colne</a>' in page
    assert names(cast) == ["Colne", "Ryburn"]
    # It is over.
    for verb in ("undo", "confirm"):
        assert orla.answer(page, f"{path}/{verb}").status_code == 409
    assert "Undone" in words(orla.get(PATH).text)


def undo(visiting: Visit, path: str) -> str:
    answer = visiting.answer(visiting.get(path).text, f"{path}/undo")
    assert answer.status_code == 303, words(answer.text)
    return over(visiting, path)


def test_an_interrupted_undo_is_continued(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, CSV).headers["location"]
    look_at(orla, path)
    bring_over(orla, path)
    identity = interrupt(cast, path, "undoing")
    assert "Undoing the import was interrupted after 0 of 2 changes." in words(orla.get(path).text)
    passing = PassingFiles(DataFolder(server.settings.data).passing)
    passing.note(identity, 1)
    assert "Undoing 1 of 2 changes…" in words(orla.get(path).text)
    passing.forget(identity)
    assert "Import undone: 2 removed, 0 changed back." in words(undo(orla, path))
    assert names(cast) == []


def test_an_import_that_is_refused_in_the_middle_says_where_and_that_nothing_was_kept(
    server: RunningServer, cast: Cast
) -> None:
    orla = visit(server, cast, Role.OFFICE)
    cast.perform(create_customer, name="Calder")
    gone = cast.perform(create_customer, name="Gone")["id"]
    path = hand_in(orla, b"Customer,Title\nCalder,Boiler\nGone,Roof\n", "jobs").headers["location"]
    look_at(orla, path)
    # Between the check and the import.
    cast.perform(archive_customer, customerId=gone)
    told = words(bring_over(orla, path))
    assert "The import stopped at row 3 (Gone is archived. Restore the customer first.) and was undone" in told
    assert "Nothing was kept." in told
    assert cast.perform(list_jobs)["data"] == []


@pytest.mark.engines("sqlite", "postgresql")
def test_a_file_is_kept_for_two_days(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    path = hand_in(orla, CSV).headers["location"]
    now = cast.stage.clock()
    imported, interrupted = (hand_in(orla, CSV).headers["location"] for _ in range(2))
    look_at(orla, imported)
    bring_over(orla, imported)
    interrupt(cast, interrupted, "importing")
    minutes = timedelta(minutes=5)
    for later, kept in (
        (store.KEPT - minutes, {path, imported, interrupted}),
        # Only its page can continue or undo what was interrupted.
        (store.KEPT + minutes, {interrupted}),
        (store.KEPT_INTERRUPTED + minutes, set()),
    ):
        with cast.stage.database.changing(EVERY) as rows:
            store.forget_old(rows, now + later)
        assert {one for one in (path, imported, interrupted) if orla.get(one).status_code == 200} == kept


def test_a_price_list_becomes_items_and_leads_to_them(server: RunningServer, cast: Cast) -> None:
    orla = visit(server, cast, Role.OFFICE)
    csv = b"Code;Name;Price\nBLR-24;Combi boiler;890\n"
    path = hand_in(orla, csv, "price items", "prices.csv").headers["location"]
    assert "1 would be new" in words(look_at(orla, path))
    done = bring_over(orla, path)
    assert '<a class="button primary" href="/price-list">See the price items</a>' in done
    (item,) = cast.perform(list_price_items)["data"]
    assert (item["code"], item["sellPrice"]) == ("BLR-24", "890.00")


def test_a_file_that_was_left_is_found_again_by_the_one_who_brought_it(server: RunningServer, cast: Cast) -> None:
    orla, other = visit(server, cast, Role.OFFICE), visit(server, cast, Role.OFFICE)
    assert "last 2 days" not in words(orla.get(PATH).text)
    left = hand_in(orla, CSV, called="left.csv").headers["location"]
    wrong = hand_in(orla, b"Name;Country\nCalder;Nowhere\n", called="wrong.csv").headers["location"]
    assert 'data-label="Row">2<' in look_at(orla, wrong)
    done = hand_in(orla, CSV, called="done.csv").headers["location"]
    look_at(orla, done)
    bring_over(orla, done)
    page = orla.get(PATH).text
    listed = page.partition("last 2 days")[2]
    paths = [listed.index(f'href="{path}"') for path in (done, wrong, left)]
    assert paths == sorted(paths)
    told = words(listed)
    for name, state in (("left", "Columns to choose"), ("wrong", "Errors found"), ("done", "Imported")):
        assert re.search(rf"Customers from {name}\.csv [^<]*?{state}", told)
    assert "left.csv" not in other.get(PATH).text
    # What is neither over nor going on was interrupted.
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("UPDATE import_run SET status = 'importing' WHERE organisation_id = :organisation")
    assert words(orla.get(PATH).text).count("Interrupted") == 3


def test_a_workbook_that_becomes_large_is_refused(server: RunningServer, cast: Cast) -> None:
    orla, before = visit(server, cast, Role.OFFICE), set(left_behind(server))
    answer = hand_in(orla, hostile.workbook_with_repeated_string(52_000, 3_000_000), called="customers.xlsx")
    assert answer.status_code == 422
    assert "Row 1 has a cell of more than 32,767 characters. Shorten it." in words(answer.text)
    assert set(left_behind(server)) <= before
