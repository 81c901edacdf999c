"""The material of jobs: what was bought, what it cost, and what can be billed to the customer, once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import orjson

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import emit_job_updated
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.lines.model import max_amount
from mainstay.business.organisation.organisation_settings import OrganisationSettings, settings_of
from mainstay.business.pricelist.store import ITEMS
from mainstay.business.purchasing.model import Order
from mainstay.business.purchasing.purchase_costs import (
    RETURNED,
    UNTAXED,
    BillWithLines,
    MaterialRow,
    WantedMaterial,
    compute_materials,
    reasons_against_return,
)
from mainstay.business.purchasing.store import ORDERS
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import Row as DatabaseRow
from mainstay.kernel.context import Context
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.values.money import CURRENCIES, minor_to_price
from mainstay.values.totals import HUNDRED_PERCENT, Charge, round_fraction
from mainstay.vocabulary.refusal import Fault, Invalid, Reason, raise_if_blocked


class Material(NamedTuple):
    """Material that a customer can be billed for; cost and price are counts of 1/10,000."""

    id: str
    kind: str
    on: str
    description: str
    quantity: int
    unit: str | None
    # The cost of the whole quantity, and the price at which one unit is billed.
    cost: int
    price: int
    item_id: str | None
    # The tax rate of its item, if the item has one.
    tax_rate_id: str | None


def find_unbilled_materials(ctx: Context, job_id: str, until: str | None = None) -> list[Material]:
    """Find the material of a job that is billable and on no invoice, up to a date if one is given."""
    rows = ctx.db.all(
        "SELECT id, kind, on_date, description, quantity, unit, cost, price, item_id,"
        " (SELECT price_item.tax_rate_id FROM price_item"
        " WHERE price_item.organisation_id = :organisation AND price_item.id = material.item_id)"
        " FROM material"
        " WHERE organisation_id = :organisation AND job_id = :job AND billable = 1 AND billed = 0"
        " AND on_date <= :until ORDER BY id",
        job=job_id,
        until=until or "9999-12-31",
    )
    return [
        Material(
            str(record_id),
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
        for record_id, kind, on, description, quantity, unit, cost, price, item, rate in rows
    ]


def mark_billed(ctx: Context, material_ids: Collection[str], *, billed: bool) -> None:
    """Mark material as billed or not; if not, recompute it from its order and bills."""
    documents = set()
    for record_id in material_ids:
        row = ctx.db.one(
            "UPDATE material SET billed = :billed WHERE organisation_id = :organisation AND id = :id"
            " RETURNING document_id",
            id=record_id,
            billed=int(billed),
        )
        documents |= {str(row[0])} if row else set()
    for document in sorted(documents) if not billed else ():
        update_materials(ctx, document)


def check_not_invoiced(ctx: Context, document_id: str, document_name: str) -> None:
    """Refuse to change a document if material of it is on an invoice."""
    row = ctx.db.one(
        "SELECT description FROM material WHERE organisation_id = :organisation AND document_id = :document"
        " AND billed = 1 LIMIT 1",
        document=document_id,
    )
    if row:
        text = Message(
            "{item} from {document} is on an invoice. Void or credit that invoice, or remove it from the draft, first.",
            item=str(row[0]).splitlines()[0],
            document=document_name,
        )
        raise_if_blocked([Reason(text)])


def update_materials(ctx: Context, document_id: str) -> None:
    """Recompute the material of an order and its bills, by the id of the order or of one of its bills."""
    if document_id.startswith(f"{ORDERS.prefix}_"):
        order = document_id
    else:
        row = ctx.db.one(
            "SELECT purchase_order_id FROM bill WHERE organisation_id = :organisation AND id = :id", id=document_id
        )
        order = str(row[0]) if row and row[0] else ""
    if not order:
        update_materials_of_bill(ctx, document_id)
    elif found := ORDERS.find(ctx, "purchase_order.id = :id", id=order):
        update_materials_of_order(ctx, found)


def update_materials_of_bill(ctx: Context, bill_id: str) -> None:
    """Recompute the material of a bill that belongs to no order."""
    _recompute_materials(ctx, None, _find_bills(ctx, "id = :of", bill_id))


def update_materials_of_order(ctx: Context, order: Order) -> None:
    """Recompute the material of an order and its bills."""
    _recompute_materials(ctx, order, _find_bills(ctx, "purchase_order_id = :of", order.id))


def check_return(ctx: Context, order: Order, lines: Collection[str]) -> None:
    """Refuse a return that leaves less of these order lines than is on invoices."""
    bills = _find_bills(ctx, "purchase_order_id = :of", order.id)
    raise_if_blocked(
        reasons_against_return(order, lines, bills, [row for row in _find_rows(ctx, order, bills) if row.billed])
    )


def _recompute_materials(ctx: Context, order: Order | None, bills: Sequence[BillWithLines]) -> None:
    rows = _find_rows(ctx, order, bills)
    valid_bills = [bill for bill in bills if bill.is_counted]
    wanted = list(compute_materials(order, valid_bills, [row for row in rows if row.billed]))
    _MaterialWriter(ctx).write(wanted, [row for row in rows if not row.billed])


@dataclass
class _MaterialWriter:
    """Writes rows of material with the prices at which the organisation bills them."""

    ctx: Context
    _jobs: dict[str, Job | None] = field(default_factory=dict)
    # The selling prices of items of the price list, by id.
    _prices: dict[str, int] = field(default_factory=dict)

    def write(self, wanted: Sequence[WantedMaterial], rows: Sequence[MaterialRow]) -> None:
        """Store the wanted rows in place of the existing ones that are on no invoice; each line keeps its row."""
        known = {(row.kind, row.line): row for row in rows}
        self._look_up_prices(
            [wanted_material.line.item_id for wanted_material in wanted if wanted_material.line.item_id]
        )
        kept_ids = {
            known[key].id
            for wanted_material in wanted
            if (key := (wanted_material.kind, wanted_material.line.id)) in known
        }
        for wanted_material in wanted:
            self._write_row(wanted_material, known.get((wanted_material.kind, wanted_material.line.id)))
        # A line may have several rows if some of it was on an invoice.
        for row in rows:
            if row.id in kept_ids:
                continue
            self.ctx.db.run("DELETE FROM material WHERE organisation_id = :organisation AND id = :id", id=row.id)
            self.ctx.writer.mark_written("material", row.id)

    def _write_row(self, wanted: WantedMaterial, existing: MaterialRow | None) -> None:
        price, value = self._compute_price(wanted)
        job = self._find_job(wanted.job)
        # A credit of the supplier does not credit the customer, and nobody is billed for goods that went back.
        billable = value > 0 and job is not None and job.bills_work
        columns = {
            "kind": wanted.kind,
            "document_id": wanted.document,
            "line_id": wanted.line.id,
            "job_id": wanted.job,
            "item_id": wanted.line.item_id,
            "on_date": wanted.on,
            "description": wanted.line.description,
            "quantity": wanted.quantity,
            "unit": wanted.line.unit,
            "cost": wanted.cost,
            "price": price,
            "value": value,
            "billable": int(billable),
        }
        record_id = existing.id if existing else new_id("material")
        if existing:
            changed = ", ".join(f"{name} = :{name}" for name in columns)
            sql = f"UPDATE material SET {changed} WHERE organisation_id = :organisation AND id = :id"
            self.ctx.db.run(sql, id=record_id, **columns)
        else:
            names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
            sql = f"INSERT INTO material (organisation_id, id, {names}) VALUES (:organisation, :id, {values})"
            self.ctx.db.run(sql, id=record_id, **columns)
        self.ctx.writer.mark_written("material", record_id)
        if billable and job and job.invoiced:
            after = self._jobs[job.id] = jobs.save(self.ctx, job, {"invoiced": False})
            emit_job_updated(self.ctx, after, job)

    def _compute_price(self, wanted: WantedMaterial) -> tuple[int, int]:
        """Return the price of one unit and of all: from the price list, or else the cost with the usual markup."""
        if wanted.quantity <= 0 or wanted.kind == RETURNED:
            return 0, 0
        settings = self._settings
        price = self._prices.get(wanted.line.item_id or "")
        if price is None:
            purchase_price = wanted.line.unit_price * (HUNDRED_PERCENT - wanted.line.discount_percent)
            with_markup = (
                purchase_price
                * (100 + settings.materials_markup_percent)
                * (HUNDRED_PERCENT + self._included_tax_percent)
            )
            price = round_fraction(with_markup, 100 * HUNDRED_PERCENT * HUNDRED_PERCENT)
        decimals = CURRENCIES[settings.currency]
        amount = Charge(wanted.quantity, price, UNTAXED).calculate_amount(decimals)
        if amount > max_amount(settings.currency):
            raise Invalid([Fault("lines", Message("add up to more than can be billed"))])
        return price, minor_to_price(amount, settings.currency)

    def _look_up_prices(self, items: Collection[str]) -> None:
        rows = select_batched(self.ctx.db, f"{ITEMS.select_all} AND price_item.id IN {BATCH_VALUES}", items)
        found = {item.id: item.sell_price for item in map(ITEMS.from_row, rows)}
        self._prices = {record_id: price for record_id, price in found.items() if price is not None}

    @cached_property
    def _settings(self) -> OrganisationSettings:
        return settings_of(self.ctx)

    @cached_property
    def _included_tax_percent(self) -> int:
        """The percentage of tax that prices include; 0 if they do not include tax."""
        if not self._settings.prices_include_tax:
            return 0
        row = self.ctx.db.one(
            "SELECT tax_rate.percent FROM organisation JOIN tax_rate ON tax_rate.organisation_id = organisation.id"
            " AND tax_rate.id = organisation.default_tax_rate_id WHERE organisation.id = :organisation"
        )
        return int(row[0] or 0) if row else 0

    def _find_job(self, job_id: str) -> Job | None:
        if job_id not in self._jobs:
            self._jobs[job_id] = JOBS.find(self.ctx, "job.id = :id", id=job_id)
        return self._jobs[job_id]


def _find_bills(ctx: Context, condition: str, document_id: str) -> list[BillWithLines]:
    """Find bills, also void ones, because their rows must be deleted."""
    rows = ctx.db.all(
        "SELECT id, job_id, on_date, currency, lines, CASE WHEN status = 'void' THEN 0 ELSE 1 END FROM bill"
        f" WHERE organisation_id = :organisation AND {condition} ORDER BY id",
        of=document_id,
    )
    return [
        BillWithLines(
            str(record_id),
            None if job is None else str(job),
            str(on),
            str(currency),
            orjson.loads(str(lines)),
            counts == 1,
        )
        for record_id, job, on, currency, lines, counts in rows
    ]


def _find_rows(ctx: Context, order: Order | None, bills: Sequence[BillWithLines]) -> list[MaterialRow]:
    found: list[DatabaseRow] = []
    for document in [*([order.id] if order else []), *(bill.id for bill in bills)]:
        found += ctx.db.all(
            "SELECT id, line_id, kind, quantity, cost, billed FROM material WHERE organisation_id = :organisation"
            " AND document_id = :document ORDER BY id",
            document=document,
        )
    return [
        MaterialRow(str(record_id), str(line), str(kind), int(quantity or 0), int(cost or 0), billed == 1)
        for record_id, line, kind, quantity, cost, billed in found
    ]
