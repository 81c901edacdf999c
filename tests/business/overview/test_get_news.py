"""The news: what happened since the start of yesterday, for those who may see it, each with its next step."""

from dataclasses import replace
from typing import Any

import pytest

from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import change_job_status
from mainstay.business.overview.news import get_news
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at, make_assigned_job, make_visit
from support.invoices import issue_invoice, make_invoice, pay_invoice
from support.query_plans import explain, find_full_scans
from support.quotes import accept_quote, issue_quote, make_quote
from support.recorded_statements import RecordingDatabase

TWO_DAYS_AGO, YESTERDAY, TODAY = (f"2026-11-{day}" for day in ("14T23:59:59Z", "15T00:00:00Z", "16T12:00:00Z"))


def read_news(cast: Cast, role: Role = Role.OFFICE) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = cast.perform(get_news, role)["items"]
    return items


def next_steps(item: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    return [(step["operation"], step["given"]) for step in item["next"]]


def decline(cast: Cast, quote: dict[str, Any]) -> dict[str, Any]:
    return accept_quote(cast, quote, decision="declined", name=None, reason="Too dear.")


def test_each_kind_is_told_with_its_next_step(cast: Cast) -> None:
    cast = cast_at(cast)
    customer = make_customer(cast, email="ann@calder.example")
    accepted = accept_quote(cast, issue_quote(cast, make_quote(cast, customerId=customer, deposit={"percent": "25"})))
    declined = decline(cast, issue_quote(cast, make_quote(cast, customerId=customer)))
    invoice = issue_invoice(cast, make_invoice(cast, customerId=customer))
    pay_invoice(cast, invoice)
    over = issue_invoice(cast, make_invoice(cast, customerId=customer))
    pay_invoice(cast, over, "2000")
    job = make_assigned_job(cast)
    visit = make_visit(cast, job["id"], cast.people[Role.MEMBER])
    cast.perform(set_visit_status, Role.MEMBER, visitId=visit, status="done")
    news = {item["recordId"]: item for item in read_news(cast)}
    assert len(news) == 5
    told = news[accepted["id"]]
    assert (told["kind"], told["called"], told["who"]) == ("quoteAccepted", accepted["number"], "Calder Property")
    assert (told["amount"], told["currency"]) == (accepted["total"], "GBP")
    assert next_steps(told) == [
        ("send_invoice", {"invoiceId": accepted["depositInvoiceId"]}),
        ("plan_visit", {"jobId": accepted["jobId"]}),
    ]
    told = news[declined["id"]]
    assert (told["kind"], told["detail"]) == ("quoteDeclined", "Too dear.")
    assert next_steps(told) == [("revise_quote", {"quoteId": declined["id"]})]
    payments = sorted((item for item in news.values() if item["kind"] == "payment"), key=lambda item: item["called"])
    assert [(item["called"], item["amount"]) for item in payments] == [
        (invoice["number"], invoice["total"]),
        (over["number"], "2000.00"),
    ]
    assert [[operation for operation, _ in next_steps(item)] for item in payments] == [[], ["allocate_payment"]]
    told = news[visit]
    assert (told["kind"], told["who"], told["detail"]) == ("visitDone", "Mia Member", "Ashdown School")
    assert told["called"] == f"{job['number']} {job['title']}"
    assert [operation for operation, _ in next_steps(told)] == ["change_job_status", "plan_visit"]
    cast.perform(change_job_status, jobId=job["id"], status="done")
    assert next_steps(next(item for item in read_news(cast) if item["recordId"] == visit)) == [
        ("draft_invoice", {"jobId": job["id"]})
    ]


def test_it_begins_with_yesterday_by_the_organisation_s_clocks(cast: Cast) -> None:
    quotes = {day: issue_quote(cast_at(cast, "2026-11-01T12:00:00Z")) for day in (TWO_DAYS_AGO, YESTERDAY, TODAY)}
    invoices = {day: issue_invoice(cast_at(cast, "2026-11-01T12:00:00Z")) for day in quotes}
    workers = (Role.MEMBER, Role.SUBCONTRACTOR, Role.OFFICE)
    for (day, quote), worker in zip(quotes.items(), workers, strict=True):
        then = cast_at(cast, day)
        accept_quote(then, quote)
        pay_invoice(then, invoices[day])
        visit = make_visit(then, None, cast.people[worker])
        then.perform(set_visit_status, worker, visitId=visit, status="done")
    result = cast_at(cast, TODAY).perform(get_news, Role.OFFICE)
    assert result["from"] == "2026-11-15"
    moments = [item["at"][:16] for item in result["items"]]
    assert moments == ["2026-11-16T12:00"] * 3 + ["2026-11-15T00:00"] * 3
    assert cast_at(cast, "2026-11-18T00:00:00Z").perform(get_news, Role.OFFICE)["items"] == []


def test_who_has_no_office_work_has_no_news(cast: Cast) -> None:
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        with pytest.raises(Forbidden):
            cast.perform(get_news, role)


def test_nobody_is_told_of_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    accept_quote(other_cast, issue_quote(other_cast))
    assert read_news(cast) == []


def test_the_newest_are_found_without_looking_at_all(cast: Cast) -> None:
    database = RecordingDatabase(cast.performer.database)
    recording = replace(cast, performer=replace(cast.performer, database=database))
    read_news(recording)
    read = [one for one in database.statements if "LIMIT :limit" in one.sql]
    assert len(read) == 3
    for statement in read:
        steps = explain(cast.performer.database, statement)
        assert not find_full_scans(steps), "\n".join([statement.sql, *steps])
    if database.engine == "sqlite":
        plans = ["\n".join(explain(cast.performer.database, one)) for one in read]
        assert "quote_by_decision" in plans[0]
        assert "visit_by_finish" in plans[2]
        assert not [plan for plan in plans if "TEMP B-TREE" in plan]
