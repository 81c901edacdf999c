"""The start page: what waits with the lists behind it, what happened since yesterday, and the revenue of a year."""

import re
from html import unescape
from typing import Any

from doors.office.test_customers import extract_main
from mainstay.business.customers.operations import update_customer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.overview.operations import get_overview
from mainstay.business.people.operations import invite_person
from mainstay.business.purchasing.bills import update_bill
from mainstay.business.schedule.leave import request_time_off
from mainstay.catalogue import CATALOGUE
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at, make_assigned_job, make_time_entry
from support.invoices import issue_invoice, make_invoice, pay_invoice
from support.purchases import make_bill
from support.quotes import accept_quote, issue_quote, make_default_tax_rate, make_quote
from support.reports import name_rows, perform_report
from support.servers import RunningServer
from support.stored_state import actor_through_app
from support.visits import plan_test_visit

ROW = re.compile(r'<li><a href="([^"]+)"( class="late")?><span class="count">([\d+]+)</span>(.*?)</a></li>', re.DOTALL)


def today(cast: Cast) -> str:
    return local_date(cast.performer.clock(), "Europe/London").isoformat()


def make_busy(cast: Cast) -> None:
    """Let something of each kind wait, some of it late."""
    make_default_tax_rate(cast)
    long_ago = cast_at(cast, "2026-01-16T12:00:00Z")
    issue_invoice(long_ago)
    issue_quote(long_ago)
    make_assigned_job(cast, dueOn="2026-01-16", status="open")
    make_assigned_job(cast, status="enquiry")
    make_assigned_job(cast, status="open")
    cast.perform(change_job_status, jobId=make_assigned_job(cast)["id"], status="done")
    plan_test_visit(cast, None)
    plan_test_visit(long_ago, None, on="2026-01-19")
    overdue = make_bill(cast, total="72", supplierNumber="late", on="2026-01-05", dueOn="2026-01-16")
    cast.perform(update_bill, Role.OFFICE, billId=overdue["id"], status="approved")
    issue_quote(cast)
    accept_quote(cast, issue_quote(cast))
    make_invoice(cast)
    pay_invoice(cast, issue_invoice(cast), "2000")
    bill = make_bill(cast, total="72")
    cast.perform(update_bill, Role.OFFICE, billId=bill["id"], status="approved")
    make_time_entry(cast, status="submitted", on=today(cast))
    make_time_entry(cast, status="rejected", on=today(cast))
    cast.perform(request_time_off, Role.MEMBER, **{"from": "2038-01-12"})
    cast.perform(request_time_off, personId=cast.people[Role.SUBCONTRACTOR], approved=True, **{"from": today(cast)})
    cast.perform(invite_person, name="Ivy Invited", email="ivy@calder.example", role="member")


def test_each_number_is_that_of_the_records_behind_its_link(server: RunningServer, cast: Cast) -> None:
    make_busy(cast)
    needs = cast.perform(get_overview)["needs"]
    operations = {one.name: one for one in CATALOGUE.operations}
    for need in needs:
        listed = cast.perform(operations[need["operation"]], **need["given"])["data"]
        assert len(listed) == need["count"], need["what"]
        if need["amount"]:
            assert need["count"]
    assert {need["group"] for need in needs} == {"money", "work", "people"}
    assert {need["what"] for need in needs if need["late"]} == {
        "Overdue jobs",
        "Overdue invoices",
        "Overdue bills",
        "Unassigned visits in the past",
        "Expired quotes",
    }
    session = sign_in_cast(server, cast, Role.OWNER)
    page = session.get("/").text
    cards = re.findall(
        r'<section class="card" aria-labelledby="(\w+)">\s*<h2 id="\1">(?:(?!</section>).)*needs.*?</section>',
        page,
        re.DOTALL,
    )
    assert cards == ["money", "work", "people"]
    rows = ROW.findall(page)
    assert len(rows) >= 14
    for link, _, count, _ in rows:
        answer = session.get(unescape(link))
        assert answer.status_code == 200
        shown = re.findall(r"<tr\b", answer.text.partition("<tbody>")[2].partition("</tbody>")[0])
        # Hours wait in a queue of people and weeks.
        assert len(shown) == int(count) or link.startswith("/hours/approve"), link
    for card in re.findall(r'<ul class="plainlist needs">.*?</ul>', page, re.DOTALL):
        lateness = [bool(late) for _, late, _, _ in ROW.findall(card)]
        assert len(lateness) <= 6
        assert lateness == sorted(lateness, reverse=True)
    text = visible_text(page)
    assert "5 items overdue" in text
    assert "1 Time off to approve Mia Member" in text
    assert "1 Time entries to approve 1:00" in text
    assert "1 Invitations not accepted Ivy Invited" in text
    assert "1 Overdue invoices £1,200.00" in text
    assert "1 Overdue bills £72.00" in text


def test_since_yesterday_is_told_with_next_steps(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, email="ann@calder.example")
    quote = make_quote(cast, customerId=customer, deposit={"percent": "25"})
    accept_quote(cast, issue_quote(cast, quote))
    accept_quote(cast, issue_quote(cast), decision="declined", name=None, reason="Too dear.")
    pay_invoice(cast, issue_invoice(cast), "2000")
    visit = plan_test_visit(cast)["id"]
    cast.perform(set_visit_status, visitId=visit, status="done")
    claude = actor_through_app(cast, Role.ADMIN)
    for phone in ("1", "2"):
        cast.perform(update_customer, claude, customerId=customer, phone=phone)
    cast.perform(update_customer, claude, customerId=customer, email="x@calder.example", name="Calder & Co")
    home = sign_in_cast(server, cast, Role.OWNER)
    feed = home.get("/").text.partition('<section class="card feed"')[2].partition("</section>")[0]
    text = visible_text(feed)
    assert "Calder & Co accepted" in text
    assert "Too dear." in text
    assert "paid £2,000.00 for INV-0001" in text
    assert "Mia Member finished" in text
    assert "Claude : Details edited" in text
    assert "and 2 more" in text
    assert "For Adam Admin" in text
    buttons = re.findall(r'<a class="button slim" href="([^"]+)">([^<]+)</a>', feed)
    assert {label for _, label in buttons} == {
        "Send deposit",
        "Plan visit",
        "Revise quote",
        "Allocate payment",
        "Update job status",
        "Review",
    }
    for link, _ in buttons:
        assert home.get(unescape(link)).status_code == 200, link
    assert max(item.count("button slim") for item in feed.split("<li>")) <= 2
    # The office does not see what others changed, and people in the field see nothing of it.
    office = sign_in_cast(server, cast, Role.OFFICE).get("/").text
    assert "paid" in visible_text(extract_main(office))
    assert "Claude" not in office
    assert "Since yesterday" not in sign_in_cast(server, cast, Role.MEMBER).get("/").text


def test_the_revenue_of_a_year_is_that_of_the_report(server: RunningServer, cast: Cast) -> None:
    for moment in ("2026-09-16T12:00:00Z", "2026-10-16T12:00:00Z"):
        issue_invoice(cast_at(cast, moment))
    issue_invoice(cast)
    overview: dict[str, Any] = cast.perform(get_overview)
    months = overview["revenue"]["months"]
    period = {"from": f"{months[0]['month']}-01", "until": overview["on"]}
    report = perform_report(cast, "revenue", **period)
    assert [{"month": row["month"], "revenue": row["revenue"]} for row in name_rows(report)] == months
    page = sign_in_cast(server, cast, Role.OFFICE).get("/").text
    assert len(re.findall(r"<rect\b", page)) == len(months) == 12
    assert page.count('<rect class="now"') == 1
    table = visible_text(page.partition('<table class="unseen">')[2].partition("</table>")[0])
    assert table.count("£1,000.00") == sum(month["revenue"] == "1000.00" for month in months)
    link = re.search(r'<h2 id="revenue"><a href="([^"]+)">', page)
    assert link
    assert sign_in_cast(server, cast, Role.OFFICE).get(unescape(link[1])).status_code == 200


def test_a_new_firm_is_told_what_to_do_first_and_others_that_nothing_waits(server: RunningServer, cast: Cast) -> None:
    assert "First steps" in sign_in_cast(server, cast, Role.OWNER).get("/").text
    assert "You're up to date." in visible_text(sign_in_cast(server, cast, Role.MEMBER).get("/").text)
