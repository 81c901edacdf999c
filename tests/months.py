"""Months of documents of every kind, as chance wants it."""

from decimal import Decimal
from random import Random
from typing import Any

from billing import an_invoice, credited, issued, paid, voided
from cast import Cast
from labour import at, decide
from mainstay.business.invoices.paying import record_payment, reverse_payment
from mainstay.terms.rights import Role
from reporting import a_rate
from trade import a_customer


def trade_for_months(cast: Cast) -> list[str]:
    """Let three customers be invoiced and pay from August to October, at several taxes; their ids."""
    chance = Random(12)
    rates = [
        a_rate(cast, "Full", VAT="19"),
        a_rate(cast, "Low", VAT="7"),
        a_rate(cast, "Both", GST="5", QST="9.975"),
        a_rate(cast, "Turned", "reverseCharge", VAT="0"),
    ]
    customers = [a_customer(cast, f"Customer {number}") for number in range(3)]
    for number in range(24):
        day = at(cast, f"2026-{8 + number // 8:02d}-{1 + number % 8 * 3:02d}T12:00:00Z")
        decide(cast, prices_include_tax=chance.randint(0, 1))
        lines = [
            {
                "description": "Work",
                "quantity": str(chance.randint(1, 9)),
                "unitPrice": f"{chance.randint(1, 99999) / 100:.2f}",
                "taxRateId": chance.choice([*rates, None]),
            }
            for _ in range(chance.randint(1, 5))
        ]
        discount = {"discount": {"percent": "3"}} if chance.random() < 0.3 else {}
        invoice = issued(day, an_invoice(day, customerId=chance.choice(customers), lines=lines, **discount))
        _change(
            day, invoice, chance.choice(["paid", "part", "over", "void", "credit", "partly", "account", "reversed", ""])
        )
    return customers


def reverse(cast: Cast, payment: dict[str, Any]) -> None:
    """Take a payment back."""
    cast.perform(reverse_payment, Role.OFFICE, paymentId=payment["id"], reason="Bounced", confirmed=True)


def _change(day: Cast, invoice: dict[str, Any], happened: str) -> None:
    third = f"{Decimal(invoice['total']) / 3:.2f}"
    if happened == "void":
        voided(day, invoice)
    elif happened in {"credit", "partly"}:
        paid(day, invoice, third)
        credited(day, invoice, **({} if happened == "credit" else {"amount": third}))
    elif happened == "account":
        day.perform(record_payment, customerId=invoice["customerId"], amount="77.7", allocations=[])
    elif happened:
        amount = {"paid": invoice["due"], "part": third, "over": f"{Decimal(invoice['due']) + 9}", "reversed": third}
        payment = paid(day, invoice, amount[happened])
        if happened == "reversed":
            reverse(day, payment)
