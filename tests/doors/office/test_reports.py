"""The pages of reports: what they show, as what they are saved, and for whom they are."""

import csv
import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from io import BytesIO, StringIO
from pathlib import Path

import httpx2
import pypdf
import pytest

from doors.office.test_pages import check_headers
from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.purchasing.bills import update_bill
from mainstay.business.reporting.model import ReportName
from mainstay.business.reporting.operations import REPORTS, get_report
from mainstay.doors.office.money.reports import JOURNAL_COLUMNS
from mainstay.doors.pages.formatting import format_date
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.files import TemporaryFiles
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, add_new_person, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import ADDRESS, make_customer
from support.hours import cast_at, make_assigned_job, make_time_entry, set_organisation_columns
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, void_issued
from support.purchases import make_bill
from support.quotes import cast_at as quotes_cast_at
from support.quotes import make_default_tax_rate
from support.servers import RunningServer
from support.waiting import wait_until

NAME = pytest.mark.parametrize("name", list(REPORTS))


def read_csv(answer: httpx2.Response) -> list[list[str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.content.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(StringIO(answer.content.decode("utf-8-sig"), newline=""), strict=True))


@pytest.fixture
def trading_cast(cast: Cast) -> Cast:
    """Two customers who were billed, one of whom has a name that a spreadsheet would run."""
    make_default_tax_rate(cast)
    job = make_assigned_job(cast)
    make_time_entry(cast, jobId=job["id"], minutes=90, on=today(cast))
    first = issue_invoice(cast, make_invoice(cast, jobId=job["id"]))
    credit_issued(cast, first, amount="120")
    pay_invoice(cast, first, "100", reference="+49 1")
    issue_invoice(cast, make_invoice(cast, customerId=make_customer(cast, "=1+1"), title="@SUM"))
    bill = make_bill(cast, total="72", on=today(cast))
    cast.perform(update_bill, Role.OFFICE, billId=bill["id"], status="approved")
    return cast


def today(cast: Cast) -> str:
    return cast.performer.clock().date().isoformat()


def test_there_is_a_choice_of_reports_with_the_way_to_each(server: RunningServer, trading_cast: Cast) -> None:
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    page = session.get("/reports")
    check_headers(page)
    for name, report in REPORTS.items():
        assert f'href="/reports/{name}"' in page.text
        shown = session.get(f"/reports/{name}")
        check_headers(shown)
        assert shown.status_code == 200
        assert f"<h1>{report.title}</h1>" in shown.text


def test_a_report_is_a_table_with_links_and_sums(server: RunningServer, trading_cast: Cast) -> None:
    page = sign_in_new_person(server, trading_cast, Role.OFFICE).get("/reports/receivables").text
    shown = visible_text(page)
    assert "Calder" not in shown
    assert "=1+1 £1,200.00 £0.00" in shown
    assert re.search(r'<th scope="row"><a href="/customers/customer_\w+">Ashdown School</a></th>', page)
    assert "Total £2,180.00" in shown


def test_a_chart_stands_above_the_table_and_is_told_in_words(server: RunningServer, trading_cast: Cast) -> None:
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    page = session.get("/reports/revenue?from=2026-01-01").text
    [label] = re.findall(r'role="group" aria-label="(Revenue as [^"]+)"', page)
    assert "the highest is " in label
    assert "1,900.00" in label
    assert 'width="14" height="1000"' in page
    assert 'width="1000" height="10"' in session.get("/reports/receivables").text
    assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)", page)


DRAWN_COLUMNS = {"revenue": "revenue", "taxSummary": "tax"}
# For each report: the column that is summed up in what its links lead to.
DRAWN = {
    "revenue": "Revenue, net",
    "taxSummary": "Tax",
    "receivables": "Amount due",
    "payables": "Total",
    "hours": "Worked",
}


# For the reports in which several columns have links: the label of the one whose figures are compared.
LINKED_LABELS = {"receivables": "Unpaid", "payables": "Unpaid", "hours": "Worked"}


def read_columns(page: str) -> list[dict[str, str]]:
    """Return the cells of each row of the first table by the heading of their column."""
    table = page.partition("<tbody>")[2].partition("</tbody>")[0]
    heads = [visible_text(head) for head in re.findall(r"<th scope=\"col\".*?</th>", page, re.DOTALL)]
    table = re.sub(r'<td class="mark">.*?</td>', "", table)
    rows = [re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.DOTALL) for row in table.split("</tr>")[:-1]]
    return [dict(zip(heads, (visible_text(cell) for cell in row), strict=False)) for row in rows]


def sum_texts(texts: list[str]) -> Decimal:
    """Return the sum of amounts, or of hours, as they are shown."""
    if any(":" in text for text in texts):
        hours = [[int(part) for part in text.split(":")] for text in texts]
        return Decimal(sum(60 * hour + minute for hour, minute in hours))
    return sum((Decimal(re.sub(r"[^\d.-]", "", text.replace("\N{MINUS SIGN}", "-"))) for text in texts), Decimal(0))


@pytest.mark.parametrize("name", DRAWN)
def test_each_figure_is_the_sum_of_the_records_behind_its_link(
    server: RunningServer, trading_cast: Cast, name: ReportName
) -> None:
    pay_invoice(trading_cast, issue_invoice(trading_cast), "2000")
    void_issued(trading_cast, issue_invoice(trading_cast))
    make_time_entry(trading_cast, Role.OFFICE, minutes=30, on=today(trading_cast))
    make_time_entry(trading_cast, minutes=20, status="rejected", on=today(trading_cast))
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    page = session.get(f"/reports/{name}").text
    report = trading_cast.perform(get_report, name=name)
    columns = [column["name"] for column in report["columns"]]
    column = {"receivables": "open", "payables": "open", "hours": "worked"}.get(name) or DRAWN_COLUMNS[name]
    figures = [row[columns.index(column)] for row in report["rows"]]
    if name == "hours":
        # Of someone who did not work, there is nothing to see.
        figures = [figure for figure in figures if figure]
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = re.findall(r'<t[hd]([^>]*)><a href="(/[^"]*\?[^"]*)"', body)
    label = f'data-label="{LINKED_LABELS.get(name, "")}'
    links = [unescape(link) for attributes, link in cells if label in attributes or name not in LINKED_LABELS]
    assert len(links) == len(figures) >= 1
    for figure, link in zip(figures, links, strict=True):
        answer = session.get(link)
        assert answer.status_code == 200
        listed = [row[DRAWN[name]] for row in read_columns(answer.text)]
        expected = Decimal(figure)
        assert sum_texts(listed) == expected, link
    # The bars of the chart lead to the same records as the table, or to those of an age.
    chart = page.partition('<ul class="')[2].partition("</ul>")[0]
    for link in re.findall(r'<a href="([^"]+)"', chart):
        assert session.get(unescape(link)).status_code == 200


def test_the_ages_of_what_is_owed_are_those_of_the_invoices(server: RunningServer, cast: Cast) -> None:
    clock = cast.performer.clock()
    for days in (10, 14, 15, 44, 45, 74, 75, 104, 105, 300):
        issue_invoice(quotes_cast_at(cast, clock - timedelta(days=days)))
    report = cast.perform(get_report, name="receivables")
    columns = [column["name"] for column in report["columns"]]
    found = {}
    for name, behind in report["columnsBehind"].items():
        listed = cast.perform(list_invoices, **behind["given"], limit=100)["data"]
        found[name] = sum((Decimal(invoice["due"]) for invoice in listed), Decimal(0))
        assert found[name] == Decimal(report["totals"][columns.index(name)])
    assert list(found.values()) == [Decimal(2000)] * 5
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get("/reports/receivables").text
    assert page.partition('<ul class="bars"')[2].partition("</ul>")[0].count("<a href=") == 5


def test_each_cell_leads_to_what_it_is_the_sum_of(server: RunningServer, cast: Cast) -> None:
    clock = cast.performer.clock()
    customer = make_customer(cast, "Calder")
    for days in (10, 44, 45, 300):
        then = quotes_cast_at(cast, clock - timedelta(days=days))
        issue_invoice(then, make_invoice(then, customerId=customer))
    issue_invoice(cast)
    job = make_assigned_job(cast)["id"]
    for minutes, is_billable in ((90, True), (30, False), (20, True)):
        make_time_entry(cast, Role.OFFICE, jobId=job, minutes=minutes, billable=is_billable, on=today(cast))
    session = sign_in_new_person(server, cast, Role.OFFICE)
    for name, column in (("receivables", "Amount due"), ("hours", "Worked")):
        page = session.get(f"/reports/{name}").text
        body = page.partition("<tbody>")[2].partition("</table>")[0]
        cells = re.findall(r'<td data-label="([^"]+)"[^>]*><a href="([^"]+)">([^<]+)</a>', body)
        labels = {label for label, _, _ in cells}
        assert labels >= ({"Worked", "Billable"} if name == "hours" else {"31\N{EN DASH}60 days overdue", "Unpaid"})
        for label, link, figure in cells:
            listed = [row[column] for row in read_columns(session.get(unescape(link)).text)]
            assert sum_texts(listed) == sum_texts([figure]), (label, link)


def test_a_report_is_compared_with_another_period(server: RunningServer, cast: Cast) -> None:
    for moment, count in (("2025-10-16T12:00:00Z", 1), ("2026-09-16T12:00:00Z", 4), ("2026-10-16T12:00:00Z", 3)):
        for _ in range(count):
            issue_invoice(cast_at(cast, moment))
    session = sign_in_new_person(server, cast, Role.OFFICE)
    period = "from=2026-10-01&until=2026-10-31"
    shown = visible_text(session.get(f"/reports/revenue?{period}&compareWith=periodBefore").text)
    assert "compared with 1\N{EN DASH}30 Sep 2026" in shown
    assert "£4,000.00 -25.0%" in shown.replace("\N{MINUS SIGN}", "-")
    shown = visible_text(session.get(f"/reports/revenue?{period}&compareWith=yearBefore").text)
    assert "£1,000.00 200.0%" in shown
    assert "Change" not in visible_text(session.get(f"/reports/revenue?{period}").text)


def test_the_time_and_the_customer_are_in_the_address(server: RunningServer, trading_cast: Cast) -> None:
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    page = session.get("/reports/revenue?from=2020-01-01&until=2020-02-29").text
    assert 'value="01/01/2020"' in page
    assert 'value="29/02/2020"' in page
    assert "Jan 2020" in page
    assert "1,200.00" not in page
    assert "/reports/revenue/export.csv?from=2020-01-01&amp;until=2020-02-29" in page
    narrowed = session.get("/reports/receivables?customerId=Ashdown+School").text
    assert "Total £980.00" in visible_text(narrowed)


def test_what_makes_no_sense_is_told_beside_its_field(server: RunningServer, trading_cast: Cast) -> None:
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    page = session.get("/reports/revenue?from=2026-02-01&until=2026-01-01")
    assert page.status_code == 422
    assert "is before the first date" in page.text
    assert session.get("/reports/revenue?from=nonsense").status_code == 422
    assert "Please correct the marked field." in visible_text(session.get("/reports/revenue?from=nonsense").text)
    assert session.get("/reports/revenue/export.csv?from=nonsense").status_code == 422
    assert session.get("/reports/profits").status_code == 404
    assert session.get("/reports/profits/export.csv").status_code == 404
    assert session.get("/reports/journal.csv?from=nonsense").status_code == 422


def test_a_statement_asks_calmly_whose_it_is(server: RunningServer, trading_cast: Cast) -> None:
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    for queries in ("", "?from=2026-01-01&until=2026-11-16", "?customerId="):
        page = session.get(f"/reports/statement{queries}")
        assert page.status_code == 200
        assert "Choose a customer, then click Show." in page.text
        assert 'role="alert"' not in page.text
        assert re.search(r'<input id="customerId"[^>]* required', page.text)
        assert "export.csv" not in page.text
    assert session.get("/reports/statement/export.csv").status_code == 422
    unknown = session.get("/reports/statement?customerId=Nobody+there")
    assert unknown.status_code == 422
    assert "was not found" in unknown.text
    assert "Choose a customer" not in unknown.text


def test_a_statement_says_from_whom_and_for_whom_it_is_and_leads_to_each_record(
    server: RunningServer, trading_cast: Cast
) -> None:
    trading_cast.perform(update_organisation, address=ADDRESS | {"line1": "Unit 4"}, phone="01422 555 0142")
    customer = make_customer(trading_cast, "Hill Farm", billingAddress=ADDRESS)
    void = void_issued(trading_cast, issue_invoice(trading_cast, make_invoice(trading_cast, customerId=customer)))
    owed = issue_invoice(trading_cast, make_invoice(trading_cast, customerId=customer))
    payment = pay_invoice(trading_cast, owed, "1000", reference="=1+1")
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    page = session.get("/reports/statement?customerId=Hill+Farm").text
    shown = visible_text(page)
    assert "Hill Farm 2 Weir Lane Sowerby Bridge HX6 2AG United Kingdom" in shown
    assert re.search(r"Unit 4 Sowerby Bridge HX6 2AG United Kingdom .*01422 555 0142", shown)
    assert re.search(r"Balance on \d+ \w+ \d+ £200.00", shown)
    day = format_date(today(trading_cast))
    assert f"{day} Invoice voided {void['number']} \N{MINUS SIGN}£1,200.00" in shown
    assert "Total £1,200.00 £1,000.00 £200.00" in shown
    for record in (void, owed, payment):
        [place] = {*re.findall(rf'href="(/\w+/{record["id"]})"', page)}
        assert session.get(place).status_code == 200
    _, *rows = read_csv(session.get(f"/reports/statement/export.csv?customerId={customer}"))
    assert rows[-1] == [today(trading_cast), "Payment", "'=1+1", "", "1000.00", "200.00"]


@NAME
def test_a_report_is_saved_for_spreadsheets(server: RunningServer, trading_cast: Cast, name: ReportName) -> None:
    set_organisation_columns(trading_cast, country="DE")
    query = "&".join(f"{field}=Ashdown+School" for field in REPORTS[name].requires)
    answer = sign_in_new_person(server, trading_cast, Role.OFFICE).get(f"/reports/{name}/export.csv?{query}")
    head, *rows = read_csv(answer)
    assert rows
    assert {len(row) for row in rows} == {len(head)}
    assert REPORTS[name].title in answer.headers["content-disposition"]
    # No id of ours, and decimals that any program reads.
    assert not re.search(r"(customer|job|person|invoice|payment|credit)_[0-9A-Z]{26}", answer.text)
    assert "2.180,00" not in answer.text


def test_nothing_that_people_wrote_is_a_formula(server: RunningServer, trading_cast: Cast) -> None:
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    _, *rows = read_csv(session.get("/reports/receivables/export.csv"))
    assert [row[0] for row in rows] == ["'=1+1", "Ashdown School"]
    assert rows[0][1:3] == ["1200.00", "0.00"]
    _, *postings = read_csv(session.get("/reports/journal.csv"))
    wrote = {cell for row in postings for cell in row}
    assert {"'=1+1", "'@SUM", "'+49 1"} <= wrote
    assert not {"=1+1", "@SUM", "+49 1"} & wrote


def test_the_journal_is_saved_with_every_posting(server: RunningServer, trading_cast: Cast) -> None:
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    head, *rows = read_csv(session.get(f"/reports/journal.csv?from={today(trading_cast)}&until={today(trading_cast)}"))
    assert head == list(JOURNAL_COLUMNS)
    postings = [dict(zip(head, row, strict=True)) for row in rows]
    assert [one["document"] for one in postings] == ["invoice"] * 6 + ["creditNote"] * 3 + ["payment"] * 2
    assert postings[0] == {
        "date": today(trading_cast),
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
    assert read_csv(session.get("/reports/journal.csv?until=2020-01-01")) == [list(JOURNAL_COLUMNS)]


def test_the_journal_is_whole_however_long_it_is(server: RunningServer, cast: Cast) -> None:
    for _ in range(60):
        issue_invoice(cast)
    assert len(read_csv(sign_in_new_person(server, cast, Role.OFFICE).get("/reports/journal.csv"))) == 1 + 120


def test_the_reports_of_a_month_are_one_pdf(server: RunningServer, trading_cast: Cast) -> None:
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    page = session.get("/reports").text
    assert 'action="/reports/month-end-pack.pdf"' in page
    months = re.findall(r'<option value="(\d{4}-\d\d)"', page)
    assert len(months) == 12
    assert today(trading_cast)[:7] == months[-1]
    answer = wait_for_pack(session, months[-1])
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
    assert "Month-end pack" in answer.headers["content-disposition"]
    text = "\n".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(answer.content)).pages)
    titles = ("Revenue", "Tax summary", "Receivables", "Payables", "Job profit", "Hours and utilisation")
    places = [text.index(title) for title in titles]
    assert places == sorted(places)
    # The figures are those of the pages.
    assert {"£1,900.00", "£2,180.00", "=1+1", "1:30"} <= {*text.split()}
    assert session.get("/reports/month-end-pack.pdf?month=2026-13").status_code == 422


def wait_for_pack(session: BrowserSession, month: str) -> httpx2.Response:
    """Return the month-end pack as soon as it is made."""

    def find_pack() -> httpx2.Response | None:
        answer = session.get(f"/reports/month-end-pack.pdf?month={month}")
        return None if answer.status_code == httpx2.codes.ACCEPTED else answer

    return wait_until(find_pack)


def test_the_pack_is_made_in_the_background_and_again_each_time(server: RunningServer, trading_cast: Cast) -> None:
    session, person = BrowserSession(server), add_new_person(trading_cast, Role.OFFICE)
    session.sign_in(person)
    path = "/reports/month-end-pack.pdf?month=2026-10"
    files = TemporaryFiles(DataFolder(server.settings.data).temporary_files)
    # Another server process makes it.
    files.set_progress(f"month-end.{person.id}.2026-10", 0)
    answer = session.get(path)
    assert (answer.status_code, answer.headers["refresh"]) == (202, "2")
    assert "Preparing Month-end pack Oct 2026.pdf" in visible_text(answer.text)
    made, file = files.create_file()
    with file:
        file.write(b"%PDF-1.7 made elsewhere")
    files.store_finished(made, f"month-end.{person.id}.2026-10")
    files.clear_progress(f"month-end.{person.id}.2026-10")
    assert session.get(path).content == b"%PDF-1.7 made elsewhere"
    # It was sent; what comes next has the figures of now.
    assert wait_for_pack(session, "2026-10").content.startswith(b"%PDF-1.7\n")
    # It could not be made.
    files.set_progress(f"month-end.{person.id}.2026-10", -1)
    refused = session.get(path)
    assert refused.status_code == 409
    assert "The PDF could not be created. Open the reports one by one." in visible_text(refused.text)
    assert wait_for_pack(session, "2026-10").status_code == 200


def test_home_tells_what_is_owed_and_what_the_month_brought(server: RunningServer, trading_cast: Cast) -> None:
    make_invoice(trading_cast)
    session = sign_in_new_person(server, trading_cast, Role.OFFICE)
    home = session.get("/").text
    shown = visible_text(home)
    assert "1 Invoices to send £1,200.00" in shown
    assert "2 Unpaid invoices £2,180.00" in shown
    assert "£1,900.00 Last month £0.00 This month so far, excluding tax" in shown
    for link in re.findall(r'href="(/(?:invoices|reports)[^"]*\?[^"]*)"', home):
        assert session.get(unescape(link)).status_code == 200
    assert "Revenue" not in sign_in_new_person(server, trading_cast, Role.MEMBER).get("/").text


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_whoever_may_not_read_them_finds_no_way_and_is_refused(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    assert 'href="/reports"' not in session.get("/").text
    paths = ["", "/revenue", "/revenue/export.csv", "/statement", "/journal.csv", "/month-end-pack.pdf?month=2026-10"]
    assert {session.get(f"/reports{path}").status_code for path in paths} == {403}


def test_the_documented_columns_are_those_of_the_file() -> None:
    layout = (Path(__file__).parents[3] / "docs" / "journal.md").read_text("utf-8")
    documented = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", layout, re.MULTILINE)
    assert re.findall(r"\w+", " ".join(documented)) == list(JOURNAL_COLUMNS)
