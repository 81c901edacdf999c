"""The pages of reports: what they show, as what they are saved, and for whom they are."""

import csv
import re
from html import unescape
from io import StringIO
from pathlib import Path

import httpx2
import pytest

from billing import an_invoice, credited, issued, paid, voided
from cast import Cast
from doors.office.test_pages import check_headers
from labour import decide, logged, new_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.reporting.model import Name
from mainstay.business.reporting.operations import REPORTS
from mainstay.doors.office.reports import JOURNAL_COLUMNS
from mainstay.doors.pages.words import date_words
from mainstay.terms.rights import Role
from quoting import usual_tax
from running import RunningServer
from trade import ADDRESS, a_customer
from visiting import visit, words

NAME = pytest.mark.parametrize("name", list(REPORTS))


def lines(answer: httpx2.Response) -> list[list[str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.content.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(StringIO(answer.content.decode("utf-8-sig"), newline=""), strict=True))


@pytest.fixture
def traded(cast: Cast) -> Cast:
    """Two customers who were billed, one of whom has a name that a spreadsheet would run."""
    usual_tax(cast)
    job = new_job(cast)
    logged(cast, jobId=job["id"], minutes=90, on=today(cast))
    first = issued(cast, an_invoice(cast, jobId=job["id"]))
    credited(cast, first, amount="120")
    paid(cast, first, "100", reference="+49 1")
    issued(cast, an_invoice(cast, customerId=a_customer(cast, "=1+1"), title="@SUM"))
    return cast


def today(cast: Cast) -> str:
    return cast.stage.clock().date().isoformat()


def test_there_is_a_choice_of_reports_with_the_way_to_each(server: RunningServer, traded: Cast) -> None:
    visiting = visit(server, traded, Role.OFFICE)
    page = visiting.get("/reports")
    check_headers(page)
    for name, report in REPORTS.items():
        assert f'href="/reports/{name}"' in page.text
        shown = visiting.get(f"/reports/{name}")
        check_headers(shown)
        assert shown.status_code == 200
        assert f"<h1>{report.title}</h1>" in shown.text


def test_a_report_is_a_table_with_links_and_sums(server: RunningServer, traded: Cast) -> None:
    page = visit(server, traded, Role.OFFICE).get("/reports/receivables").text
    shown = words(page)
    assert "Calder" not in shown
    assert "=1+1 1,200.00 0.00" in shown
    assert re.search(r'<th scope="row"><a href="/customers/customer_\w+">Ashdown School</a></th>', page)
    assert "Together 2,180.00" in shown


def test_bars_stand_beside_the_table_and_are_told_in_words(server: RunningServer, traded: Cast) -> None:
    page = visit(server, traded, Role.OFFICE).get("/reports/revenue?from=2026-01-01").text
    [told] = re.findall(r'role="img" aria-label="([^"]+)"', page)
    assert told.startswith("Revenue as ")
    assert "the most is " in told
    assert "1,900.00" in told
    assert 'width="1000" height="10"' in page
    assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)", page)


def test_the_time_and_the_customer_are_in_the_address(server: RunningServer, traded: Cast) -> None:
    visiting = visit(server, traded, Role.OFFICE)
    page = visiting.get("/reports/revenue?from=2020-01-01&until=2020-02-29").text
    assert 'value="01/01/2020"' in page
    assert 'value="29/02/2020"' in page
    assert "Jan 2020" in page
    assert "1,200.00" not in page
    assert "/reports/revenue/export.csv?from=2020-01-01&amp;until=2020-02-29" in page
    narrowed = visiting.get("/reports/receivables?customerId=Ashdown+School").text
    assert "Together 980.00" in words(narrowed)


def test_what_makes_no_sense_is_told_beside_its_field(server: RunningServer, traded: Cast) -> None:
    visiting = visit(server, traded, Role.OFFICE)
    page = visiting.get("/reports/revenue?from=2026-02-01&until=2026-01-01")
    assert page.status_code == 422
    assert "is before the first date" in page.text
    assert visiting.get("/reports/revenue?from=nonsense").status_code == 422
    assert "One field needs another look." in words(visiting.get("/reports/revenue?from=nonsense").text)
    assert visiting.get("/reports/revenue/export.csv?from=nonsense").status_code == 422
    assert visiting.get("/reports/profits").status_code == 404
    assert visiting.get("/reports/profits/export.csv").status_code == 404
    assert visiting.get("/reports/journal.csv?from=nonsense").status_code == 422


def test_a_statement_asks_calmly_whose_it_is(server: RunningServer, traded: Cast) -> None:
    visiting = visit(server, traded, Role.OFFICE)
    for asked in ("", "?from=2026-01-01&until=2026-11-16", "?customerId="):
        page = visiting.get(f"/reports/statement{asked}")
        assert page.status_code == 200
        assert "Choose a customer, then press Show." in page.text
        assert 'role="alert"' not in page.text
        assert re.search(r'<input id="customerId"[^>]* required', page.text)
        assert "export.csv" not in page.text
    assert visiting.get("/reports/statement/export.csv").status_code == 422
    unknown = visiting.get("/reports/statement?customerId=Nobody+there")
    assert unknown.status_code == 422
    assert "was not found" in unknown.text
    assert "Choose a customer" not in unknown.text


def test_a_statement_says_from_whom_and_for_whom_it_is_and_leads_to_each_record(
    server: RunningServer, traded: Cast
) -> None:
    traded.perform(update_organisation, address=ADDRESS | {"line1": "Unit 4"}, phone="01422 555 0142")
    customer = a_customer(traded, "Hill Farm", billingAddress=ADDRESS)
    void = voided(traded, issued(traded, an_invoice(traded, customerId=customer)))
    owed = issued(traded, an_invoice(traded, customerId=customer))
    payment = paid(traded, owed, "1000", reference="=1+1")
    visiting = visit(server, traded, Role.OFFICE)
    page = visiting.get("/reports/statement?customerId=Hill+Farm").text
    shown = words(page)
    assert "Hill Farm 2 Weir Lane Sowerby Bridge HX6 2AG United Kingdom" in shown
    assert re.search(r"Unit 4 Sowerby Bridge HX6 2AG United Kingdom .*01422 555 0142", shown)
    assert "Balance on" in shown
    assert "200.00 GBP" in shown
    day = date_words(today(traded))
    assert f"{day} Invoice made void {void['number']} \N{MINUS SIGN}1,200.00" in shown
    assert "Together 1,200.00 1,000.00 200.00" in shown
    for record in (void, owed, payment):
        [place] = {*re.findall(rf'href="(/\w+/{record["id"]})"', page)}
        assert visiting.get(place).status_code == 200
    _, *rows = lines(visiting.get(f"/reports/statement/export.csv?customerId={customer}"))
    assert rows[-1] == [today(traded), "Payment", "'=1+1", "", "1000.00", "200.00"]


@NAME
def test_a_report_is_saved_for_spreadsheets(server: RunningServer, traded: Cast, name: Name) -> None:
    decide(traded, country="DE")
    asked = "&".join(f"{field}=Ashdown+School" for field in REPORTS[name].needs)
    answer = visit(server, traded, Role.OFFICE).get(f"/reports/{name}/export.csv?{asked}")
    head, *rows = lines(answer)
    assert rows
    assert {len(row) for row in rows} == {len(head)}
    assert REPORTS[name].title in answer.headers["content-disposition"]
    # No id of ours, and decimals that any program reads.
    assert not re.search(r"(customer|job|person|invoice|payment|credit)_[0-9A-Z]{26}", answer.text)
    assert "2.180,00" not in answer.text


def test_nothing_that_people_wrote_is_a_formula(server: RunningServer, traded: Cast) -> None:
    visiting = visit(server, traded, Role.OFFICE)
    _, *rows = lines(visiting.get("/reports/receivables/export.csv"))
    assert [row[0] for row in rows] == ["'=1+1", "Ashdown School"]
    assert rows[0][1:3] == ["1200.00", "0.00"]
    _, *postings = lines(visiting.get("/reports/journal.csv"))
    wrote = {cell for row in postings for cell in row}
    assert {"'=1+1", "'@SUM", "'+49 1"} <= wrote
    assert not {"=1+1", "@SUM", "+49 1"} & wrote


def test_the_journal_is_saved_with_every_posting(server: RunningServer, traded: Cast) -> None:
    visiting = visit(server, traded, Role.OFFICE)
    head, *rows = lines(visiting.get(f"/reports/journal.csv?from={today(traded)}&until={today(traded)}"))
    assert head == list(JOURNAL_COLUMNS)
    told = [dict(zip(head, row, strict=True)) for row in rows]
    assert [one["document"] for one in told] == ["invoice"] * 6 + ["creditNote"] * 3 + ["payment"] * 2
    assert told[0] == {
        "date": today(traded),
        "document": "invoice",
        "number": "INV-0001",
        "customer": "Ashdown School",
        "account": "receivable",
        "detail": "",
        "taxCategory": "",
        "taxPercent": "",
        "debit": "1200.00",
        "credit": "",
        "currency": "GBP",
        "invoices": "",
        "text": "New heating",
    }
    assert lines(visiting.get("/reports/journal.csv?until=2020-01-01")) == [list(JOURNAL_COLUMNS)]


def test_the_journal_is_whole_however_long_it_is(server: RunningServer, cast: Cast) -> None:
    for _ in range(60):
        issued(cast)
    assert len(lines(visit(server, cast, Role.OFFICE).get("/reports/journal.csv"))) == 1 + 120


def test_home_tells_what_is_owed_and_what_the_month_brought(server: RunningServer, traded: Cast) -> None:
    an_invoice(traded)
    visiting = visit(server, traded, Role.OFFICE)
    home = visiting.get("/").text
    shown = words(home)
    assert "1 Invoices to send 1,200.00 GBP" in shown
    assert "2 Unpaid invoices 2,180.00 GBP" in shown
    assert "1,900.00 This month, GBP before tax Last month 0.00" in shown
    for link in re.findall(r'href="(/(?:invoices|reports)[^"]*\?[^"]*)"', home):
        assert visiting.get(unescape(link)).status_code == 200
    assert "This month" not in visit(server, traded, Role.MEMBER).get("/").text


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_whoever_may_not_read_them_finds_no_way_and_is_refused(server: RunningServer, cast: Cast, role: Role) -> None:
    visiting = visit(server, cast, role)
    assert 'href="/reports"' not in visiting.get("/").text
    paths = ["", "/revenue", "/revenue/export.csv", "/statement", "/journal.csv"]
    assert {visiting.get(f"/reports{path}").status_code for path in paths} == {403}


def test_the_documented_columns_are_those_of_the_file() -> None:
    layout = (Path(__file__).parents[3] / "docs" / "journal.md").read_text("utf-8")
    told = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", layout, re.MULTILINE)
    assert re.findall(r"\w+", " ".join(told)) == list(JOURNAL_COLUMNS)
