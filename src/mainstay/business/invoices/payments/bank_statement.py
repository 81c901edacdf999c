"""Suggests which invoices the entries of a bank statement pay, to be confirmed by a person."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from mainstay.business.invoices.payments.payment import ShownAllocation, share_out
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.duplicate_keys import LEGAL_FORMS
from mainstay.values.fields import Day, Price
from mainstay.values.message import message_of
from mainstay.values.model_config import INPUT_CONFIG, OUTPUT_CONFIG
from mainstay.values.money import amount_text, price_to_minor
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.roles import OUTSIDER_TEXT
from mainstay.vocabulary.schemas import Input, Output

MAX_ENTRIES = 500
# How many unpaid invoices are compared, the oldest first.
_MAX_COMPARED = 20_000
_SHORTEST_WORD = 4
# Words that many names contain, besides the legal forms.
_COMMON_NAME_WORDS = """
    and associates bros brothers company das der des die du et fils firma frau groep group groupe gruppe herr het
    holding holdings international la le les los madame miss monsieur mr mrs ms of partner partners service services
    societe société sohn son sons söhne the und van von y zonen zoon
"""
_IGNORED_WORDS = LEGAL_FORMS | frozenset(_COMMON_NAME_WORDS.split())


class StatementEntry(BaseModel):
    """An incoming payment on a bank statement."""

    model_config = INPUT_CONFIG

    on: Annotated[Day, Field(description="The booking date.")]
    amount: Annotated[Price, Field(description='The amount received, e.g. "250.00".')]
    text: Annotated[str, Field(max_length=500)] = Field(description="The bank's text, with reference and payer.")


class FindPaidInvoices(Input):
    """The incoming payments."""

    entries: list[StatementEntry] = Field(
        max_length=MAX_ENTRIES,
        description="Incoming payments of a bank statement, each with its date, its amount and the bank's text with the"
        " payer's name.",
    )


class Suggestion(BaseModel):
    """What an entry of a statement seems to pay."""

    model_config = OUTPUT_CONFIG

    on: str
    amount: MoneyText
    text: Annotated[str, OUTSIDER_TEXT]
    external_ref: str = Field(description="Identifies the entry, so that it is recorded only once.")
    payment_id: str | None = Field(description="The payment, if it is already recorded.")
    customer_id: str | None
    customer_name: str | None
    allocations: list[ShownAllocation]
    why: str | None = Field(description="What matched.")


class StatementOut(Output):
    """What the entries of a statement seem to pay."""

    noun = "statement"

    currency: str
    suggestions: list[Suggestion]


@operation(
    permission=Permission.INVOICES_READ,
    effect=Effect.READ,
    doors=frozenset({Door.AGENT, Door.OFFICE}),
    is_slow=True,
)
def find_paid_invoices(ctx: Context, given: FindPaidInvoices) -> StatementOut:
    """Match bank statement to invoices.

    Suggests which unpaid invoices the incoming payments are for, by invoice number, name and amount.
    [[Nothing is recorded: record_payment does that, with the suggested allocations and externalRef.]]
    """
    currency = settings_of(ctx).currency
    repeats: Counter[tuple[str, int, str]] = Counter()
    entries = []
    for index, entry in enumerate(given.entries):
        try:
            amount = price_to_minor(entry.amount, currency)
        except ValueError as error:
            raise Invalid([Fault(f"entries.{index}.amount", message_of(error))]) from None
        key = (entry.on, amount, entry.text)
        repeats[key] += 1
        entries.append((entry, amount, _build_reference(*key, repeats[key])))
    matcher = _Matcher(ctx, currency, [reference for *_, reference in entries])
    suggestions = [matcher.suggest(*entry) for entry in entries]
    return StatementOut(object=StatementOut.noun, currency=currency, suggestions=suggestions)


OPERATIONS = (find_paid_invoices,)


def _build_reference(on: str, amount: int, text: str, number: int) -> str:
    """Return the reference of an entry, which is the same in every statement that contains it."""
    digest = hashlib.sha256(f"{on}|{amount}|{' '.join(text.split()).casefold()}|{number}".encode()).hexdigest()
    return f"bank {on} {digest[:16]}"


# A reversed payment can be recorded again.
_FIND_RECORDED = (
    "SELECT external_ref, id FROM payment WHERE organisation_id = :organisation"
    f" AND external_ref IN {BATCH_VALUES} AND status = 'recorded'"
)


class _UnpaidInvoice(NamedTuple):
    id: str
    number: str
    due: int
    customer_id: str
    customer_name: str
    # The words that tell the customer's name from others.
    name_words: frozenset[str]


class _Matcher:
    """Matches entries with unpaid invoices; leaves out recorded entries and amounts that it suggested before."""

    def __init__(self, ctx: Context, currency: str, references: Collection[str]) -> None:
        self.currency = currency
        self.recorded = {
            str(reference): str(payment) for reference, payment in select_batched(ctx.db, _FIND_RECORDED, references)
        }
        rows = ctx.db.all(
            "SELECT invoice.id, invoice.number, invoice.due, invoice.customer_id, customer.name FROM invoice"
            " JOIN customer ON customer.organisation_id = :organisation AND customer.id = invoice.customer_id"
            " WHERE invoice.organisation_id = :organisation AND invoice.owing = 1"
            f" ORDER BY invoice.due_on, invoice.id LIMIT {_MAX_COMPARED}"
        )
        self.unpaid = [
            _UnpaidInvoice(str(a), str(b), int(c or 0), str(d), str(e), _find_name_words(str(e)))
            for a, b, c, d, e in rows
        ]
        self.unmatched = {one.id: one.due for one in self.unpaid}
        self.by_digits: dict[int, list[_UnpaidInvoice]] = defaultdict(list)
        self.by_due: dict[int, list[_UnpaidInvoice]] = defaultdict(list)
        self.by_customer: dict[str, list[_UnpaidInvoice]] = defaultdict(list)
        # The customers by the longest word of their name, which a text that names them has.
        self.by_name_word: dict[str, set[tuple[str, frozenset[str]]]] = defaultdict(set)
        for invoice in self.unpaid:
            self.by_digits[_trailing_digits_of(invoice.number)].append(invoice)
            self.by_due[invoice.due].append(invoice)
            self.by_customer[invoice.customer_id].append(invoice)
            if invoice.name_words:
                self.by_name_word[max(invoice.name_words, key=len)].add((invoice.customer_id, invoice.name_words))

    def suggest(self, entry: StatementEntry, amount: int, reference: str) -> Suggestion:
        """Suggest what an entry pays."""
        known = self.recorded.get(reference)
        found, why = ([], None) if known else self._match(entry.text, amount)
        shares = self._share_amount(found, amount)
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
                    invoice_id=invoice.id,
                    invoice_number=invoice.number,
                    amount=MoneyText(amount_text(share, self.currency)),
                )
                for invoice, share in shares
            ],
            why=why,
        )

    def _match(self, text: str, amount: int) -> tuple[list[_UnpaidInvoice], str | None]:
        plain_text = re.sub(r"[^A-Z0-9]", "", text.upper())
        numbers = {int(digits) for digits in re.findall(r"\d{1,12}", text)}
        by_number = [
            invoice
            for digits in sorted(numbers)
            for invoice in self.by_digits.get(digits, ())
            if self.unmatched[invoice.id] and _is_number_in(invoice.number, plain_text)
        ]
        # One payment is for the invoices of one customer.
        by_number = [one for one in by_number if one.customer_id == by_number[0].customer_id]
        if by_number:
            exact = sum(self.unmatched[one.id] for one in by_number) == amount
            return by_number, "number and amount" if exact else "number"
        by_amount = [one for one in self.by_due.get(amount, ()) if self.unmatched[one.id] == amount]
        # Thousands of invoices can have the same amount.
        text_words = frozenset(_find_words(text))
        by_name = [one for one in by_amount if one.name_words and one.name_words <= text_words]
        if len({one.customer_id for one in by_name}) == 1:
            return by_name[:1], "name and amount"
        if named := self._find_named(text_words, amount):
            return named, "name"
        return (by_amount, "amount") if len(by_amount) == 1 else ([], None)

    def _find_named(self, text_words: frozenset[str], amount: int) -> list[_UnpaidInvoice]:
        """Return the oldest unpaid invoices of the only customer that a text names, as many as an amount pays."""
        customers = {
            customer
            for word in text_words
            for customer, name_words in self.by_name_word.get(word, ())
            if name_words <= text_words
        }
        found: list[_UnpaidInvoice] = []
        for invoice in self.by_customer[customers.pop()] if len(customers) == 1 else ():
            if amount > 0 and self.unmatched[invoice.id]:
                found.append(invoice)
                amount -= self.unmatched[invoice.id]
        return found

    def _share_amount(self, found: list[_UnpaidInvoice], amount: int) -> list[tuple[_UnpaidInvoice, int]]:
        shares = share_out(amount, [self.unmatched[invoice.id] for invoice in found])
        for invoice, share in zip(found, shares, strict=True):
            self.unmatched[invoice.id] -= share
        return [(one, share) for one, share in zip(found, shares, strict=True) if share]


def _trailing_digits_of(number: str) -> int:
    found = re.search(r"\d+$", number)
    return int(found[0]) if found else -1


def _is_number_in(number: str, plain_text: str) -> bool:
    """Return whether a text contains a number, and not only as a part of a longer one."""
    bare = re.sub(r"[^A-Z0-9]", "", number.upper())
    return re.search(rf"{re.escape(bare)}(?!\d)", plain_text) is not None


def _find_name_words(name: str) -> frozenset[str]:
    """Return the distinctive words of a name, all of which a text must have to contain the name."""
    words = _find_words(name)
    own = [word for word in words if word not in _IGNORED_WORDS]
    return frozenset([word for word in own if len(word) >= _SHORTEST_WORD] or own or words)


def _find_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
