"""Which invoices the lines of a bank statement pay: suggestions, for someone to confirm."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from mainstay.backing.among import THESE, among
from mainstay.business.invoices.payment import ShownAllocation
from mainstay.business.organisation.house import house_of
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Shown
from mainstay.terms.wire import MoneyText
from mainstay.values.alike import LEGAL_FORMS
from mainstay.values.fields import Day, Price
from mainstay.values.models import GIVEN, TOLD
from mainstay.values.money import amount_text, in_minor

MOST_ENTRIES = 500
# So many unpaid invoices are looked at, the oldest first.
_LOOKED_AT = 20_000
_SHORTEST_NAME = 4
# Words in the names of many: legal forms, and what is said of any firm or person.
_OF_ANYONE = """
    and associates bros brothers company das der des die du et fils firma frau groep group groupe gruppe herr het
    holding holdings international la le les los madame miss monsieur mr mrs ms of partner partners service services
    societe société sohn son sons söhne the und van von y zonen zoon
"""
_OF_MANY = LEGAL_FORMS | frozenset(_OF_ANYONE.split())


class StatementEntry(BaseModel):
    """Something that came in."""

    model_config = GIVEN

    on: Annotated[Day, Field(description="When it came in.")]
    amount: Annotated[Price, Field(description="How much.")]
    text: Annotated[str, Field(max_length=500)] = Field(description="What was written with it.")


class FindPaidInvoices(Input):
    """What came in."""

    entries: list[StatementEntry] = Field(
        max_length=MOST_ENTRIES,
        description="What came in: of each entry the date, the amount and the text of the bank, with the payer's name.",
    )


class Suggestion(BaseModel):
    """What an entry of a statement seems to pay."""

    model_config = TOLD

    on: str
    amount: MoneyText
    text: str
    external_ref: str = Field(description="By which the payment is known, so that it is recorded once.")
    payment_id: str | None = Field(description="Where it is recorded already.")
    customer_id: str | None
    customer_name: str | None
    allocations: list[ShownAllocation]
    why: str | None = Field(description="By what it was found.")


class StatementOut(Shown):
    """What the entries of a statement seem to pay."""

    noun = "statement"

    currency: str
    suggestions: list[Suggestion]


@operation(
    right=Right.INVOICES_READ,
    effect=Effect.READ,
    offered=frozenset({Door.AGENT, Door.OFFICE}),
    takes_long=True,
)
def find_paid_invoices(ctx: Context, given: FindPaidInvoices) -> StatementOut:
    """Suggest which invoices the entries of a bank statement pay.

    By the number in their text, or by amount and name. Nothing is recorded: record_payment does that, with the
    allocations and the externalRef that are suggested.
    """
    currency = house_of(ctx).currency
    same: Counter[tuple[str, int, str]] = Counter()
    entries = []
    for place, entry in enumerate(given.entries):
        try:
            amount = in_minor(entry.amount, currency)
        except ValueError as wrong:
            raise Invalid([Fault(f"entries.{place}.amount", str(wrong))]) from None
        key = (entry.on, amount, entry.text)
        same[key] += 1
        entries.append((entry, amount, _reference(*key, same[key])))
    matcher = _Matcher(ctx, currency, [reference for *_, reference in entries])
    suggestions = [matcher.suggest(*entry) for entry in entries]
    return StatementOut(object=StatementOut.noun, currency=currency, suggestions=suggestions)


OPERATIONS = (find_paid_invoices,)


def _reference(on: str, amount: int, text: str, number: int) -> str:
    """What an entry is known by: the same in every statement that it stands on."""
    told = hashlib.sha256(f"{on}|{amount}|{' '.join(text.split()).casefold()}|{number}".encode()).hexdigest()
    return f"bank {on} {told[:16]}"


# What was reversed can be recorded again.
_RECORDED = (
    "SELECT external_ref, id FROM payment WHERE organisation_id = :organisation"
    f" AND external_ref IN {THESE} AND status = 'recorded'"
)


class _Unpaid(NamedTuple):
    id: str
    number: str
    due: int
    customer_id: str
    customer_name: str


class _Matcher:
    """Knows what is unpaid and what is recorded already, and takes off what was suggested already."""

    def __init__(self, ctx: Context, currency: str, references: Collection[str]) -> None:
        self.currency = currency
        self.recorded = {str(reference): str(payment) for reference, payment in among(ctx.rows, _RECORDED, references)}
        rows = ctx.rows.all(
            "SELECT invoice.id, invoice.number, invoice.due, invoice.customer_id, customer.name FROM invoice"
            " JOIN customer ON customer.organisation_id = :organisation AND customer.id = invoice.customer_id"
            " WHERE invoice.organisation_id = :organisation AND invoice.owing = 1"
            f" ORDER BY invoice.due_on, invoice.id LIMIT {_LOOKED_AT}"
        )
        self.unpaid = [_Unpaid(str(a), str(b), int(c or 0), str(d), str(e)) for a, b, c, d, e in rows]
        self.left = {one.id: one.due for one in self.unpaid}
        self.by_digits: dict[int, list[_Unpaid]] = defaultdict(list)
        self.by_due: dict[int, list[_Unpaid]] = defaultdict(list)
        for one in self.unpaid:
            self.by_digits[_digits(one.number)].append(one)
            self.by_due[one.due].append(one)

    def suggest(self, entry: StatementEntry, amount: int, reference: str) -> Suggestion:
        """What an entry seems to pay."""
        known = self.recorded.get(reference)
        found, why = ([], None) if known else self._found(entry.text, amount)
        shares = self._shared(found, amount)
        first = found[0] if found else None
        return Suggestion(
            on=entry.on,
            amount=MoneyText(amount_text(amount, self.currency)),
            text=entry.text,
            external_ref=reference,
            payment_id=known,
            customer_id=first.customer_id if first else None,
            customer_name=first.customer_name if first else None,
            allocations=[
                ShownAllocation(
                    invoice_id=one.id,
                    invoice_number=one.number,
                    amount=MoneyText(amount_text(share, self.currency)),
                )
                for one, share in shares
            ],
            why=why,
        )

    def _found(self, text: str, amount: int) -> tuple[list[_Unpaid], str | None]:
        plain = re.sub(r"[^A-Z0-9]", "", text.upper())
        numbers = {int(digits) for digits in re.findall(r"\d{1,12}", text)}
        named = [
            one
            for digits in sorted(numbers)
            for one in self.by_digits.get(digits, ())
            if self.left[one.id] and _stands_in(one.number, plain)
        ]
        # What one customer pays is for that customer's invoices.
        named = [one for one in named if one.customer_id == named[0].customer_id]
        if named:
            exact = sum(self.left[one.id] for one in named) == amount
            return named, "number and amount" if exact else "number"
        of_amount = [one for one in self.by_due.get(amount, ()) if self.left[one.id] == amount]
        by_name = [one for one in of_amount if _is_named(one.customer_name, text)]
        if len({one.customer_id for one in by_name}) == 1:
            return by_name[:1], "name and amount"
        return (of_amount, "amount") if len(of_amount) == 1 else ([], None)

    def _shared(self, found: list[_Unpaid], amount: int) -> list[tuple[_Unpaid, int]]:
        shares = []
        for one in found:
            share = min(self.left[one.id], amount)
            if share:
                shares.append((one, share))
                self.left[one.id] -= share
                amount -= share
        return shares


def _digits(number: str) -> int:
    found = re.search(r"\d+$", number)
    return int(found[0]) if found else -1


def _stands_in(number: str, plain: str) -> bool:
    """Whether a number stands in a text, and not only as a part of a longer one."""
    bare = re.sub(r"[^A-Z0-9]", "", number.upper())
    return re.search(rf"{re.escape(bare)}(?!\d)", plain) is not None


def _is_named(name: str, text: str) -> bool:
    """Whether all that makes a name this customer's own stands in a text."""
    words = re.findall(r"\w+", name.casefold())
    own = [word for word in words if word not in _OF_MANY]
    distinctive = [word for word in own if len(word) >= _SHORTEST_NAME] or own or words
    return bool(distinctive) and set(distinctive) <= set(re.findall(r"\w+", text.casefold()))
