"""Ten questions about the records. Nothing may change, and the answer must have the right figures and names."""

from collections.abc import Iterator
from datetime import date, time
from decimal import Decimal

from mainstay.business.costing.operations import get_job_costing
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.customers.operations import list_customers
from mainstay.business.hours.operations import list_hours
from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.purchasing.operations import list_purchase_orders
from mainstay.business.quotes.operations import list_quotes
from mainstay.business.reporting.balance import get_customer_balance
from mainstay.business.schedule.leave import list_time_off
from mainstay.evaluation.answers import says_amount, says_day, says_duration, says_text, says_time
from mainstay.evaluation.firm import MEMBER, OWNER, Firm
from mainstay.evaluation.task import Evidence, Facts, Task

_LAST_WEEK = {"from": "2026-11-09", "until": "2026-11-15"}


def _read_overdue(firm: Firm) -> Facts:
    invoices = firm.list_all(list_invoices, status="overdue")
    return {
        "numbers": [invoice["number"] for invoice in invoices],
        "total": sum((Decimal(invoice["due"]) for invoice in invoices), Decimal()),
    }


def _judge_numbers_and_total(evidence: Evidence) -> Iterator[str]:
    for number in evidence.facts["numbers"]:
        if not says_text(evidence.answer, number):
            yield f"The answer does not name {number}."
    if not says_amount(evidence.answer, evidence.facts["total"]):
        yield f"The answer does not say that it is {evidence.facts['total']} in all."


def _read_balance(firm: Firm) -> Facts:
    customer = firm.find_one(list_customers, text="Bridgewater Lettings")
    return firm.read(get_customer_balance, customerId=customer["id"])


def _judge_balance(evidence: Evidence) -> Iterator[str]:
    for name in ("open", "overdue"):
        if not says_amount(evidence.answer, evidence.facts[name]):
            yield f"The answer does not say that {evidence.facts[name]} is {name}."


def _judge_tomorrow(evidence: Evidence) -> Iterator[str]:
    if not says_text(evidence.answer, "Canal Wharf"):
        yield "The answer does not name Canal Wharf."
    if not says_time(evidence.answer, time(13, 15)):
        yield "The answer does not say that it begins at 13:15."


def _read_undecided(firm: Firm) -> Facts:
    return firm.find_one(list_time_off, status="requested")


def _judge_undecided(evidence: Evidence) -> Iterator[str]:
    if not says_text(evidence.answer, evidence.facts["personName"].partition(" ")[0]):
        yield f"The answer does not name {evidence.facts['personName']}."
    for name in ("from", "until"):
        if not says_day(evidence.answer, date.fromisoformat(evidence.facts[name])):
            yield f"The answer does not name {evidence.facts[name]}."


def _read_margin(firm: Firm) -> Facts:
    job = firm.find_one(list_jobs, text="Dale Street stopcock")
    return {"loss": -Decimal(firm.read(get_job_costing, jobId=job["id"])["margin"])}


def _judge_margin(evidence: Evidence) -> Iterator[str]:
    if not says_amount(evidence.answer, evidence.facts["loss"]):
        yield f"The answer does not say {evidence.facts['loss']}."
    if not any(says_text(evidence.answer, word) for word in ("loss", "lost", "lose", "losing", "-65", "\u221265")):
        yield "The answer does not say that it is a loss."


def _read_unbilled(firm: Firm) -> Facts:
    customer = firm.find_one(list_customers, text="Elmwood Surgery")
    return firm.find_one(list_unbilled, customerId=customer["id"])


def _judge_unbilled(evidence: Evidence) -> Iterator[str]:
    if not says_duration(evidence.answer, evidence.facts["minutes"]):
        yield f"The answer does not say {evidence.facts['minutes'] // 60} hours."
    if not says_amount(evidence.answer, evidence.facts["amount"]):
        yield f"The answer does not say {evidence.facts['amount']}."


def _read_caller(firm: Firm) -> Facts:
    return {"job": firm.find_one(list_jobs, text="Saddler's Row")["number"]}


def _judge_caller(evidence: Evidence) -> Iterator[str]:
    for name in ("Maureen Tate", "Saddler's Row", evidence.facts["job"]):
        if not says_text(evidence.answer, name):
            yield f"The answer does not name {name}."


def _read_orders(firm: Firm) -> Facts:
    orders = firm.list_all(list_purchase_orders)
    return {
        "awaited": [order["number"] for order in orders if order["status"] in {"sent", "partReceived"}],
        "complete": [
            order["number"] for order in orders if order["status"] in {"received", "billed", "closed", "cancelled"}
        ],
    }


def _judge_orders(evidence: Evidence) -> Iterator[str]:
    for number in evidence.facts["awaited"]:
        if not says_text(evidence.answer, number):
            yield f"The answer does not name {number}."
    for number in evidence.facts["complete"]:
        if says_text(evidence.answer, number):
            yield f"The answer names {number}, which is not awaited."


def _read_open_quotes(firm: Firm) -> Facts:
    quotes = firm.list_all(list_quotes, status="sent")
    return {
        "numbers": [quote["number"] for quote in quotes],
        "total": sum((Decimal(quote["total"]) for quote in quotes), Decimal()),
    }


def _read_hours(firm: Firm) -> Facts:
    entries = firm.list_all(list_hours, personId=firm.people["Grace"], **_LAST_WEEK)
    return {"minutes": sum(entry["minutes"] for entry in entries)}


def _judge_hours(evidence: Evidence) -> Iterator[str]:
    if not says_duration(evidence.answer, evidence.facts["minutes"]):
        yield f"The answer does not say {evidence.facts['minutes']} minutes, or as much in hours."


READ_TASKS = (
    Task(
        "overdue-invoices",
        "read",
        "Which invoices are overdue, by number, and how much is that in all?",
        _judge_numbers_and_total,
        _read_overdue,
    ),
    Task(
        "customer-balance",
        "read",
        "How much does Bridgewater Lettings owe us, and how much of it is overdue?",
        _judge_balance,
        _read_balance,
    ),
    Task(
        "own-visits",
        "read",
        "Where do I have to go tomorrow, and when? Show me my visits.",
        _judge_tomorrow,
        asked_by=MEMBER,
    ),
    Task(
        "undecided-time-off",
        "read",
        "Who has asked for time off that nobody has approved yet, and for which days?",
        _judge_undecided,
        _read_undecided,
    ),
    Task(
        "job-margin",
        "read",
        "Did the stopcock job at Dale Street Chapel make or lose money, and how much?",
        _judge_margin,
        _read_margin,
        asked_by=OWNER,
    ),
    Task(
        "unbilled-work",
        "read",
        "What work for Elmwood Surgery have we not invoiced yet: how many hours, and what are they worth?",
        _judge_unbilled,
        _read_unbilled,
        asked_by=OWNER,
    ),
    Task(
        "missed-call",
        "read",
        "I missed a call from phone number 07700 900555. Who was it, from which customer, and what is the number of"
        " their open job?",
        _judge_caller,
        _read_caller,
    ),
    Task(
        "awaited-orders",
        "read",
        "Which purchase orders are we still waiting for goods on?",
        _judge_orders,
        _read_orders,
    ),
    Task(
        "open-quotes",
        "read",
        "Which quotes has the customer not answered yet, and what are they worth together including VAT?",
        _judge_numbers_and_total,
        _read_open_quotes,
    ),
    Task(
        "hours-of-week",
        "read",
        "How many hours did Grace log last week, from 9 to 15 November?",
        _judge_hours,
        _read_hours,
    ),
)
