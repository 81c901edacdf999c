"""What the demo's firm offers, bills and is paid: quotes, invoices, credit notes and payments in every state."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Protocol

from mainstay.business.invoices.crediting import credit_invoice
from mainstay.business.invoices.operations import draft_invoice
from mainstay.business.invoices.paying import record_payment, reverse_payment
from mainstay.business.invoices.sending import send_invoice, void_invoice
from mainstay.business.quotes.deciding import record_quote_decision
from mainstay.business.quotes.operations import draft_quote, revise_quote
from mainstay.business.quotes.sending import send_quote, withdraw_quote
from mainstay.doors.cli.telling import Outcome
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Refusal

# Who does something on a day, at a time.
Doing = Callable[..., Outcome]

# Of so many jobs, one was offered before; of so many enquiries, one is not sent yet.
_OFFERED, _UNSENT = 4, 3
# What becomes of which of twenty quotes, where it is not accepted: one is not answered at all.
_OTHERWISE = {4: "declined", 9: "", 14: "withdrawn", 19: "declined"}
# How customers pay, and how many of a hundred do: by the days it takes them.
_PAYS = (("whole", 4, 20, 74), ("late", 25, 60, 12), ("parts", 6, 16, 6), ("more", 5, 14, 2), ("never", 0, 0, 6))
# Of so many invoices one is credited in part, as a whole, or void; of so many payments of a whole one bounces.
_CREDITED, _CREDITED_WHOLE, _VOIDED, _BOUNCED = 25, 70, 60, 70
# Of so many quotes, one is sent once more with another price.
_REVISED = 15
_EXTRAS = ("FEE-CALL", "FEE-WASTE", "INHIB", "TRV-15", "PIPE-15", "FLT-22")
_CONFIRMED = {"confirmed": True}
_UNMAILED = {"deliver": "none", **_CONFIRMED}


class Done(Protocol):
    """A job whose work is done."""

    id: str
    title: str
    # Whether a price was agreed for it, and whether someone was there and logged hours.
    agreed: bool
    in_progress: bool


@dataclass
class Books:
    """Goes along with the year, and does each day what is due."""

    do: Doing
    chance: Random
    # What happens on which day: an answer to a quote, a payment of an invoice.
    coming: list[tuple[date, Callable[[date], None]]] = field(default_factory=list)
    sent: int = 0
    billed: int = 0
    paid: int = 0
    # The invoices for which nothing came yet, the newest last, by their ids.
    open: dict[str, Outcome] = field(default_factory=dict)
    # The quotes that were accepted, by their jobs.
    sold: dict[str, str] = field(default_factory=dict)

    def offer(self, day: date, job: dict[str, Any], number: int, *, asked: bool) -> None:
        """Offer some of the work before it is done; what was only asked for waits for an answer."""
        if not asked and number % _OFFERED:
            return
        given = {"jobId": job["id"], "lines": self._work(job, number), "deposit": self._deposit(number)}
        quote = self.do(day, time(11, 30), draft_quote, **given)
        if asked and number % _UNSENT == 0:
            return
        self.do(day, time(11, 45), send_quote, quoteId=quote["id"], **_UNMAILED)
        self.sent += 1
        if self.sent % _REVISED == 0:
            quote = self.do(day, time(14, 30), revise_quote, quoteId=quote["id"])
            self.do(day, time(14, 45), send_quote, quoteId=quote["id"], **_UNMAILED)
        answer = _OTHERWISE.get(self.sent % 20, "accepted")
        if answer and not asked:
            self._later(day, 2, 9, lambda on: self._answer(on, quote, answer))

    def bill(self, day: date, job: Done) -> None:
        """Bill what was done: what was agreed, or the hours and something besides."""
        invoice = self._try(day, time(16), draft_invoice, **self._billed(job))
        if invoice is None:
            return
        self.billed += 1
        invoice = self.do(day, time(16, 15), send_invoice, invoiceId=invoice["id"], **_UNMAILED)
        if self.billed % _VOIDED == 0:
            reason = "It went to the wrong customer."
            self.do(day, time(16, 30), void_invoice, invoiceId=invoice["id"], reason=reason, **_CONFIRMED)
            return
        if self.billed % _CREDITED_WHOLE == 0:
            why = {"reason": "It was covered by the warranty."}
            self.do(day, time(16, 45), credit_invoice, invoiceId=invoice["id"], **why, **_UNMAILED)
            return
        if self.billed % _CREDITED == 0:
            why = {"reason": "Goodwill, for the long wait.", "amount": "20.00"}
            invoice = self.do(day, time(16, 45), credit_invoice, invoiceId=invoice["id"], **why, **_UNMAILED)
        how, first, last, _ = self.chance.choices(_PAYS, [one[-1] for one in _PAYS])[0]
        if how != "never":
            self._later(day, first, last, lambda on: self._pay(on, invoice, how))
        self.open[invoice["id"]] = invoice

    def begin(self, day: date, job: Done) -> None:
        """This morning: a part of the newest open invoice is paid, and another one is drafted."""
        if self.open:
            self._pay(day, [*self.open.values()][-1], "parts", time(0, 3))
        self.do(day, time(0, 4), draft_invoice, jobId=job.id, lines=[*self._extras(), self._fixed(job.title)])

    def _billed(self, job: Done) -> dict[str, object]:
        if quote := self.sold.get(job.id):
            return {"quoteId": quote}
        if job.agreed:
            return {"jobId": job.id}
        if job.in_progress:
            return {"jobId": job.id, "unbilled": True, "lines": self._extras()}
        return {"jobId": job.id, "lines": [*self._extras(), self._fixed(job.title)]}

    def live(self, day: date) -> None:
        """What comes on a day."""
        due = [one for one in self.coming if one[0] <= day]
        self.coming = [one for one in self.coming if one[0] > day]
        for _, happens in due:
            happens(day)

    def _later(self, day: date, first: int, last: int, happens: Callable[[date], None]) -> None:
        self.coming.append((day + timedelta(days=self.chance.randint(first, last)), happens))

    def _answer(self, day: date, quote: Outcome, answer: str) -> None:
        if answer == "withdrawn":
            self._try(day, time(10, 15), withdraw_quote, quoteId=quote["id"], **_CONFIRMED)
            return
        told = {"name": "The customer"} if answer == "accepted" else {"reason": "Somebody else was quicker."}
        given = {"quoteId": quote["id"], "decision": answer, **told, **_CONFIRMED}
        answered = self._try(day, time(10, 15), record_quote_decision, **given)
        if answered is None or answered["status"] != "accepted":
            return
        self.sold[answered["jobId"]] = answered["id"]
        if quote["deposit"]:
            part = {name: value for name, value in quote["deposit"].items() if value}
            deposit = self.do(day, time(10, 20), draft_invoice, quoteId=quote["id"], part=part)
            deposit = self.do(day, time(10, 25), send_invoice, invoiceId=deposit["id"], **_UNMAILED)
            self._later(day, 2, 8, lambda on: self._pay(on, deposit, "whole"))

    def _pay(self, day: date, invoice: Outcome, how: str, at: time = time(9, 45)) -> None:
        given = {"invoiceId": invoice["id"], "on": day.isoformat(), "reference": invoice["number"]}
        method = self.chance.choice(("bank", "bank", "bank", "card", "cheque"))
        due = Decimal(invoice["due"])
        amount = {"parts": round(due / 2, 2), "more": due + 10}.get(how, due)
        paid = self._try(day, at, record_payment, amount=str(amount), method=method, **given)
        if paid is None:
            return
        self.open.pop(invoice["id"], None)
        self.paid += how == "whole"
        if how == "whole" and self.paid % _BOUNCED == 0:
            why = {"reason": "The bank returned the cheque."}
            self.do(day, time(17, 45), reverse_payment, paymentId=paid["id"], **why, **_CONFIRMED)
            self._later(day, 3, 9, lambda on: self._pay(on, invoice, "whole"))
        elif how == "parts" and self.chance.choice((True, False)):
            rest = {**invoice, "due": str(due - amount)}
            self._later(day, 10, 30, lambda on: self._pay(on, rest, "whole"))

    def _try(self, day: date, at: time, operation: Operation, **given: object) -> Outcome | None:
        """Do something that may have become impossible since: the job was called off, or there is nothing left."""
        try:
            return self.do(day, at, operation, **given)
        except Refusal:
            return None

    def _work(self, job: dict[str, Any], number: int) -> list[dict[str, object]]:
        price = job["budget"] or f"{self.chance.randrange(28, 190) * 10}.00"
        option: dict[str, object] = {"description": "Five years' warranty", "unitPrice": "120.00", "optional": True}
        work: dict[str, object] = {"description": job["title"], "unitPrice": price}
        return [work, {"itemId": self.chance.choice(_EXTRAS)}, *([option] if number % 3 == 0 else [])]

    def _deposit(self, number: int) -> dict[str, str] | None:
        return {"percent": "25"} if number % (2 * _OFFERED) == 0 else None

    def _extras(self) -> list[dict[str, object]]:
        return [{"itemId": self.chance.choice(_EXTRAS), "quantity": str(self.chance.randrange(1, 4))}]

    def _fixed(self, title: str) -> dict[str, object]:
        return {"description": title, "unitPrice": f"{self.chance.randrange(9, 160) * 10}.00"}
