"""Months of random documents of every kind."""

from decimal import Decimal
from random import Random
from typing import Any

from mainstay.business.invoices.payments.recording import record_payment, reverse_payment
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at, set_organisation_columns
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, void_issued
from support.reports import make_rate_with_parts


def trade_for_months(cast: Cast) -> list[str]:
    """Invoice three customers from August to October at several tax rates, and have them pay; return their ids."""
    random = Random(12)
    rates = [
        make_rate_with_parts(cast, "Full", VAT="19"),
        make_rate_with_parts(cast, "Low", VAT="7"),
        make_rate_with_parts(cast, "Both", GST="5", QST="9.975"),
        make_rate_with_parts(cast, "Turned", "reverseCharge", VAT="0"),
    ]
    customers = [make_customer(cast, f"Customer {number}") for number in range(3)]
    for number in range(24):
        day = cast_at(cast, f"2026-{8 + number // 8:02d}-{1 + number % 8 * 3:02d}T12:00:00Z")
        set_organisation_columns(cast, prices_include_tax=random.randint(0, 1))
        lines = [
            {
                "description": "Work",
                "quantity": str(random.randint(1, 9)),
                "unitPrice": f"{random.randint(1, 99999) / 100:.2f}",
                "taxRateId": random.choice([*rates, None]),
            }
            for _ in range(random.randint(1, 5))
        ]
        discount = {"discount": {"percent": "3"}} if random.random() < 0.3 else {}
        invoice = issue_invoice(day, make_invoice(day, customerId=random.choice(customers), lines=lines, **discount))
        _settle_somehow(
            day, invoice, random.choice(["paid", "part", "over", "void", "credit", "partly", "account", "reversed", ""])
        )
    return customers


def reverse_bounced(cast: Cast, payment: dict[str, Any]) -> None:
    """Reverse a payment."""
    cast.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], reason="Bounced", confirmed=True)


def _settle_somehow(day: Cast, invoice: dict[str, Any], outcome: str) -> None:
    third = f"{Decimal(invoice['total']) / 3:.2f}"
    if outcome == "void":
        void_issued(day, invoice)
    elif outcome in {"credit", "partly"}:
        pay_invoice(day, invoice, third)
        credit_issued(day, invoice, **({} if outcome == "credit" else {"amount": third}))
    elif outcome == "account":
        day.perform(record_payment, customerId=invoice["customerId"], amount="77.7", allocations=[])
    elif outcome:
        amount = {"paid": invoice["due"], "part": third, "over": f"{Decimal(invoice['due']) + 9}", "reversed": third}
        payment = pay_invoice(day, invoice, amount[outcome])
        if outcome == "reversed":
            reverse_bounced(day, payment)
