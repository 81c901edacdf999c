"""What was bought for a job: what that cost, and what its customer can be billed for, once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import orjson

from mainstay.backing.among import THESE, among
from mainstay.backing.database import Row as DatabaseRow
from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import tell_of_change
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.model import most_in
from mainstay.business.organisation.house import House, house_of
from mainstay.business.pricelist.store import ITEMS
from mainstay.business.purchasing.bought import RETURNED, UNTAXED, Billed, Bought, Row, bought, not_taken_back
from mainstay.business.purchasing.model import Order
from mainstay.business.purchasing.store import ORDERS
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Fault, Invalid, Reason, refuse
from mainstay.values.ids import new_id
from mainstay.values.money import CURRENCIES, in_parts
from mainstay.values.totals import WHOLE, Charge, rounded


class Material(NamedTuple):
    """Something bought that a customer can be billed for; cost and price are counts of 1/10,000."""

    id: str
    kind: str
    on: str
    description: str
    quantity: int
    unit: str | None
    # Of all of it; and what one unit is billed at.
    cost: int
    price: int
    item_id: str | None
    # That of its item, where it has one of its own.
    tax_rate_id: str | None


def unbilled(ctx: Context, job: str, until: str | None = None) -> list[Material]:
    """What was bought for a job, perhaps up to a date, that is billable and on no invoice."""
    rows = ctx.rows.all(
        "SELECT id, kind, on_date, description, quantity, unit, cost, price, item_id,"
        " (SELECT price_item.tax_rate_id FROM price_item"
        " WHERE price_item.organisation_id = :organisation AND price_item.id = material.item_id)"
        " FROM material"
        " WHERE organisation_id = :organisation AND job_id = :job AND billable = 1 AND billed = 0"
        " AND on_date <= :until ORDER BY id",
        job=job,
        until=until or "9999-12-31",
    )
    return [
        Material(
            str(identity),
            str(kind),
            str(on),
            str(description),
            int(quantity or 0),
            None if unit is None else str(unit),
            int(cost or 0),
            int(price or 0),
            None if item is None else str(item),
            None if rate is None else str(rate),
        )
        for identity, kind, on, description, quantity, unit, cost, price, item, rate in rows
    ]


def mark_billed(ctx: Context, identities: Collection[str], *, billed: bool) -> None:
    """Let what was bought be on an invoice, or on none again: then it follows its order and its bill once more."""
    documents = set()
    for identity in identities:
        row = ctx.rows.one(
            "UPDATE material SET billed = :billed WHERE organisation_id = :organisation AND id = :id"
            " RETURNING document_id",
            id=identity,
            billed=int(billed),
        )
        documents |= {str(row[0])} if row else set()
    for document in sorted(documents) if not billed else ():
        settle_document(ctx, document)


def check_free(ctx: Context, document: str, called: str) -> None:
    """Refuse to change a document of which something is on an invoice."""
    row = ctx.rows.one(
        "SELECT description FROM material WHERE organisation_id = :organisation AND document_id = :document"
        " AND billed = 1 LIMIT 1",
        document=document,
    )
    if row:
        what = str(row[0]).splitlines()[0]
        told = f"{what} of {called} is on an invoice. Void or credit that, or take it out of the draft, first."
        refuse([Reason(told)])


def settle_document(ctx: Context, document: str) -> None:
    """Let what was bought be what an order and its bills say, by the id of the order or of one of the bills."""
    if document.startswith(f"{ORDERS.prefix}_"):
        order = document
    else:
        row = ctx.rows.one(
            "SELECT purchase_order_id FROM bill WHERE organisation_id = :organisation AND id = :id", id=document
        )
        order = str(row[0]) if row and row[0] else ""
    if not order:
        settle_bill(ctx, document)
    elif found := ORDERS.find(ctx, "purchase_order.id = :id", id=order):
        settle_order(ctx, found)


def settle_bill(ctx: Context, bill: str) -> None:
    """The same for a bill that is known to be of no order, by its id."""
    _settle(ctx, None, _bills(ctx, "id = :of", bill))


def settle_order(ctx: Context, order: Order) -> None:
    """The same for an order that is at hand."""
    _settle(ctx, order, _bills(ctx, "purchase_order_id = :of", order.id))


def check_taken_back(ctx: Context, order: Order, lines: Collection[str]) -> None:
    """Refuse to have fewer of these lines of an order than are on invoices."""
    bills = _bills(ctx, "purchase_order_id = :of", order.id)
    refuse(not_taken_back(order, lines, bills, [row for row in _rows(ctx, order, bills) if row.billed]))


def _settle(ctx: Context, order: Order | None, bills: Sequence[Billed]) -> None:
    there = _rows(ctx, order, bills)
    counted = [bill for bill in bills if bill.counts]
    wanted = list(bought(order, counted, [row for row in there if row.billed]))
    _Writing(ctx).write(wanted, [row for row in there if not row.billed])


@dataclass
class _Writing:
    """Writes rows, priced as the organisation bills them."""

    ctx: Context
    _jobs: dict[str, Job | None] = field(default_factory=dict)
    # What items of the price list are sold at, where they have a price.
    _prices: dict[str, int] = field(default_factory=dict)

    def write(self, wanted: Sequence[Bought], there: Sequence[Row]) -> None:
        """Make these rows of those that are there and on no invoice; each line keeps its own."""
        known = {(row.kind, row.line): row for row in there}
        self._look_up_prices([one.line.item_id for one in wanted if one.line.item_id])
        kept = {known[of].id for one in wanted if (of := (one.kind, one.line.id)) in known}
        for one in wanted:
            self._put(one, known.get((one.kind, one.line.id)))
        # Of what was on an invoice there may be several.
        for row in there:
            if row.id in kept:
                continue
            self.ctx.rows.run("DELETE FROM material WHERE organisation_id = :organisation AND id = :id", id=row.id)
            self.ctx.pen.mark_written("material", row.id)

    def _put(self, one: Bought, there: Row | None) -> None:
        price, value = self._price(one)
        job = self._job(one.job)
        # What a supplier took off is not taken off for the customer by itself; what went back, nobody is billed for.
        billable = value > 0 and job is not None and job.bills_work
        columns = {
            "kind": one.kind,
            "document_id": one.document,
            "line_id": one.line.id,
            "job_id": one.job,
            "item_id": one.line.item_id,
            "on_date": one.on,
            "description": one.line.description,
            "quantity": one.quantity,
            "unit": one.line.unit,
            "cost": one.cost,
            "price": price,
            "value": value,
            "billable": int(billable),
        }
        identity = there.id if there else new_id("material")
        if there:
            changed = ", ".join(f"{name} = :{name}" for name in columns)
            sql = f"UPDATE material SET {changed} WHERE organisation_id = :organisation AND id = :id"
            self.ctx.rows.run(sql, id=identity, **columns)
        else:
            names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
            sql = f"INSERT INTO material (organisation_id, id, {names}) VALUES (:organisation, :id, {values})"
            self.ctx.rows.run(sql, id=identity, **columns)
        self.ctx.pen.mark_written("material", identity)
        if billable and job and job.invoiced:
            after = self._jobs[job.id] = jobs.save(self.ctx, job, {"invoiced": False})
            tell_of_change(self.ctx, after, job)

    def _price(self, one: Bought) -> tuple[int, int]:
        """What one unit is billed at, and all of it: as the price list says, or else with the usual markup."""
        if one.quantity <= 0 or one.kind == RETURNED:
            return 0, 0
        house = self._house
        price = self._prices.get(one.line.item_id or "")
        if price is None:
            paid = one.line.unit_price * (WHOLE - one.line.discount_percent)
            with_markup = paid * (100 + house.materials_markup_percent) * (WHOLE + self._tax_included)
            price = rounded(with_markup, 100 * WHOLE * WHOLE)
        decimals = CURRENCIES[house.currency]
        amount = Charge(one.quantity, price, UNTAXED).amount(decimals)
        if amount > most_in(house.currency):
            raise Invalid([Fault("lines", "come to more than can be billed")])
        return price, in_parts(amount, house.currency)

    def _look_up_prices(self, items: Collection[str]) -> None:
        rows = among(self.ctx.rows, f"{ITEMS.everything} AND price_item.id IN {THESE}", items)
        found = {item.id: item.sell_price for item in map(ITEMS.keep, rows)}
        self._prices = {identity: price for identity, price in found.items() if price is not None}

    @cached_property
    def _house(self) -> House:
        return house_of(self.ctx)

    @cached_property
    def _tax_included(self) -> int:
        """The tax that is within prices, where they are told with it."""
        if not self._house.prices_include_tax:
            return 0
        row = self.ctx.rows.one(
            "SELECT tax_rate.percent FROM organisation JOIN tax_rate ON tax_rate.organisation_id = organisation.id"
            " AND tax_rate.id = organisation.default_tax_rate_id WHERE organisation.id = :organisation"
        )
        return int(row[0] or 0) if row else 0

    def _job(self, job: str) -> Job | None:
        if job not in self._jobs:
            self._jobs[job] = JOBS.find(self.ctx, "job.id = :id", id=job)
        return self._jobs[job]


def _bills(ctx: Context, narrowed: str, of: str) -> list[Billed]:
    """Bills, those that are void too: what they bought is gone."""
    rows = ctx.rows.all(
        "SELECT id, job_id, on_date, currency, lines, CASE WHEN status = 'void' THEN 0 ELSE 1 END FROM bill"
        f" WHERE organisation_id = :organisation AND {narrowed} ORDER BY id",
        of=of,
    )
    return [
        Billed(
            str(identity),
            None if job is None else str(job),
            str(on),
            str(currency),
            orjson.loads(str(lines)),
            counts == 1,
        )
        for identity, job, on, currency, lines, counts in rows
    ]


def _rows(ctx: Context, order: Order | None, bills: Sequence[Billed]) -> list[Row]:
    found: list[DatabaseRow] = []
    for document in [*([order.id] if order else []), *(bill.id for bill in bills)]:
        found += ctx.rows.all(
            "SELECT id, line_id, kind, quantity, cost, billed FROM material WHERE organisation_id = :organisation"
            " AND document_id = :document ORDER BY id",
            document=document,
        )
    return [
        Row(str(identity), str(line), str(kind), int(quantity or 0), int(cost or 0), billed == 1)
        for identity, line, kind, quantity, cost, billed in found
    ]
