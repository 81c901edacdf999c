"""The quotes, invoices, credit notes and payments of the demo, in every state."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Protocol

from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.invoices.issuing.crediting import credit_invoice
from mainstay.business.invoices.issuing.sending import send_invoice, void_invoice
from mainstay.business.invoices.payments.recording import record_payment, reverse_payment
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.business.quotes.operations import draft_quote, revise_quote
from mainstay.business.quotes.sending import send_quote, withdraw_quote
from mainstay.kernel.operation import Operation
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.refusal import Refusal

# Performs an operation as someone, on a day and at a time.
PerformAt = Callable[..., JsonObject]

# One in so many jobs has a quote; for one in so many enquiries, the quote is not sent yet.
_OFFER_EVERY, _UNSENT_EVERY = 4, 3
# What happens to the quotes that are not accepted, by their number in twenty; one is not answered at all.
_OTHER_ANSWERS = {4: "declined", 9: "", 14: "withdrawn", 19: "declined"}
# How customers pay: the habit, the least and most days it takes, and how many of a hundred have it.
_PAYMENT_HABITS = (
    ("whole", 4, 20, 74),
    ("late", 25, 60, 12),
    ("parts", 6, 16, 6),
    ("more", 5, 14, 2),
    ("never", 0, 0, 6),
)
# One in so many invoices is credited in part, credited in full, or void; one in so many full payments bounces.
_CREDIT_EVERY, _FULL_CREDIT_EVERY, _VOID_EVERY, _BOUNCE_EVERY = 25, 70, 60, 70
# One in so many quotes is revised and sent again.
_REVISE_EVERY = 15
_EXTRAS = ("FEE-CALL", "FEE-WASTE", "INHIB", "TRV-15", "PIPE-15", "FLT-22")
_CONFIRMED = {"confirmed": True}
_WITHOUT_EMAIL = {"deliver": "none", **_CONFIRMED}


class FinishedJob(Protocol):
    """What billing needs to know of a job whose work is done."""

    id: str
    title: str
    # Whether a price was agreed, and whether someone has logged hours.
    is_price_agreed: bool
    in_progress: bool


@dataclass
class DemoBooks:
    """Creates quotes, invoices and payments, day by day."""

    perform_at: PerformAt
    rng: Random
    # What will happen on which day, such as the answer to a quote or the payment of an invoice.
    scheduled: list[tuple[date, Callable[[date], None]]] = field(default_factory=list)
    quotes_sent: int = 0
    invoices_sent: int = 0
    payments_made: int = 0
    # The invoices without a payment, by id, the newest last.
    unpaid_invoices: dict[str, JsonObject] = field(default_factory=dict)
    # The ids of the accepted quotes, by job.
    accepted_quotes: dict[str, str] = field(default_factory=dict)

    def offer_job(self, day: date, job: dict[str, Any], number: int, *, is_enquiry: bool) -> None:
        """Draft a quote for some of the jobs and send it; an enquiry gets no answer yet."""
        if not is_enquiry and number % _OFFER_EVERY:
            return
        given = {
            "jobId": job["id"],
            "lines": self._build_quote_lines(job, number),
            "deposit": self._choose_deposit(number),
        }
        quote = self.perform_at(day, time(11, 30), draft_quote, **given)
        if is_enquiry and number % _UNSENT_EVERY == 0:
            return
        self.perform_at(day, time(11, 45), send_quote, quoteId=quote["id"], **_WITHOUT_EMAIL)
        self.quotes_sent += 1
        if self.quotes_sent % _REVISE_EVERY == 0:
            quote = self.perform_at(day, time(14, 30), revise_quote, quoteId=quote["id"])
            self.perform_at(day, time(14, 45), send_quote, quoteId=quote["id"], **_WITHOUT_EMAIL)
        answer = _OTHER_ANSWERS.get(self.quotes_sent % 20, "accepted")
        if answer and not is_enquiry:
            self._schedule(day, 2, 9, lambda on: self._answer_quote(on, quote, answer))

    def bill_job(self, day: date, job: FinishedJob) -> None:
        """Invoice a finished job: by its quote, its agreed price, or its hours and some extras."""
        invoice = self._try(day, time(16), draft_invoice, **self._choose_invoice_input(job))
        if invoice is None:
            return
        self.invoices_sent += 1
        invoice = self.perform_at(day, time(16, 15), send_invoice, invoiceId=invoice["id"], **_WITHOUT_EMAIL)
        if self.invoices_sent % _VOID_EVERY == 0:
            reason = "It went to the wrong customer."
            self.perform_at(day, time(16, 30), void_invoice, invoiceId=invoice["id"], reason=reason, **_CONFIRMED)
            return
        if self.invoices_sent % _FULL_CREDIT_EVERY == 0:
            credit = {"reason": "It was covered by the warranty."}
            self.perform_at(day, time(16, 45), credit_invoice, invoiceId=invoice["id"], **credit, **_WITHOUT_EMAIL)
            return
        if self.invoices_sent % _CREDIT_EVERY == 0:
            credit = {"reason": "Goodwill, for the long wait.", "amount": "20.00"}
            invoice = self.perform_at(
                day, time(16, 45), credit_invoice, invoiceId=invoice["id"], **credit, **_WITHOUT_EMAIL
            )
        habit, first, last, _ = self.rng.choices(_PAYMENT_HABITS, [row[-1] for row in _PAYMENT_HABITS])[0]
        if habit != "never":
            self._schedule(day, first, last, lambda on: self._pay_invoice(on, invoice, habit))
        self.unpaid_invoices[invoice["id"]] = invoice

    def bill_today(self, day: date, job: FinishedJob) -> None:
        """Record a part payment of the newest unpaid invoice this morning, and draft another invoice."""
        if self.unpaid_invoices:
            self._pay_invoice(day, [*self.unpaid_invoices.values()][-1], "parts", time(0, 3))
        self.perform_at(
            day,
            time(0, 4),
            draft_invoice,
            jobId=job.id,
            lines=[*self._choose_extras(), self._build_fixed_line(job.title)],
        )

    def _choose_invoice_input(self, job: FinishedJob) -> dict[str, object]:
        if quote := self.accepted_quotes.get(job.id):
            return {"quoteId": quote}
        if job.is_price_agreed:
            return {"jobId": job.id}
        if job.in_progress:
            return {"jobId": job.id, "unbilled": True, "lines": self._choose_extras()}
        return {"jobId": job.id, "lines": [*self._choose_extras(), self._build_fixed_line(job.title)]}

    def perform_due(self, day: date) -> None:
        """Do what is scheduled up to this day."""
        due = [entry for entry in self.scheduled if entry[0] <= day]
        self.scheduled = [entry for entry in self.scheduled if entry[0] > day]
        for _, action in due:
            action(day)

    def _schedule(self, day: date, first: int, last: int, action: Callable[[date], None]) -> None:
        self.scheduled.append((day + timedelta(days=self.rng.randint(first, last)), action))

    def _answer_quote(self, day: date, quote: JsonObject, answer: str) -> None:
        if answer == "withdrawn":
            self._try(day, time(10, 15), withdraw_quote, quoteId=quote["id"], **_CONFIRMED)
            return
        details = {"name": "The customer"} if answer == "accepted" else {"reason": "Somebody else was quicker."}
        given = {"quoteId": quote["id"], "decision": answer, **details, **_CONFIRMED}
        answered = self._try(day, time(10, 15), record_quote_decision, **given)
        if answered is None or answered["status"] != "accepted":
            return
        self.accepted_quotes[answered["jobId"]] = answered["id"]
        if quote["deposit"]:
            part = {name: value for name, value in quote["deposit"].items() if value}
            deposit = self.perform_at(day, time(10, 20), draft_invoice, quoteId=quote["id"], part=part)
            deposit = self.perform_at(day, time(10, 25), send_invoice, invoiceId=deposit["id"], **_WITHOUT_EMAIL)
            self._schedule(day, 2, 8, lambda on: self._pay_invoice(on, deposit, "whole"))

    def _pay_invoice(self, day: date, invoice: JsonObject, habit: str, at: time = time(9, 45)) -> None:
        given = {"invoiceId": invoice["id"], "on": day.isoformat(), "reference": invoice["number"]}
        method = self.rng.choice(("bank", "bank", "bank", "card", "cheque"))
        due = Decimal(invoice["due"])
        amount = {"parts": round(due / 2, 2), "more": due + 10}.get(habit, due)
        paid = self._try(day, at, record_payment, amount=str(amount), method=method, **given)
        if paid is None:
            return
        self.unpaid_invoices.pop(invoice["id"], None)
        self.payments_made += habit == "whole"
        if habit == "whole" and self.payments_made % _BOUNCE_EVERY == 0:
            reversal = {"reason": "The bank returned the cheque."}
            self.perform_at(day, time(17, 45), reverse_payment, paymentId=paid["id"], **reversal, **_CONFIRMED)
            self._schedule(day, 3, 9, lambda on: self._pay_invoice(on, invoice, "whole"))
        elif habit == "parts" and self.rng.choice((True, False)):
            remainder = {**invoice, "due": str(due - amount)}
            self._schedule(day, 10, 30, lambda on: self._pay_invoice(on, remainder, "whole"))

    def _try(self, day: date, at: time, operation: Operation, **given: object) -> JsonObject | None:
        """Perform an operation; return None if it is refused by now, for example because the job was cancelled."""
        try:
            return self.perform_at(day, at, operation, **given)
        except Refusal:
            return None

    def _build_quote_lines(self, job: dict[str, Any], number: int) -> list[dict[str, object]]:
        price = job["budget"] or f"{self.rng.randrange(28, 190) * 10}.00"
        option: dict[str, object] = {"description": "Five years' warranty", "unitPrice": "120.00", "optional": True}
        work: dict[str, object] = {"description": job["title"], "unitPrice": price}
        return [work, {"itemId": self.rng.choice(_EXTRAS)}, *([option] if number % 3 == 0 else [])]

    def _choose_deposit(self, number: int) -> dict[str, str] | None:
        return {"percent": "25"} if number % (2 * _OFFER_EVERY) == 0 else None

    def _choose_extras(self) -> list[dict[str, object]]:
        return [{"itemId": self.rng.choice(_EXTRAS), "quantity": str(self.rng.randrange(1, 4))}]

    def _build_fixed_line(self, title: str) -> dict[str, object]:
        return {"description": title, "unitPrice": f"{self.rng.randrange(9, 160) * 10}.00"}
