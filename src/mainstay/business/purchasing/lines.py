"""The lines of orders and bills: what was ordered, received and billed of each, and how they are kept; pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from mainstay.business.lines.model import Drawn, Line, PricedLine
from mainstay.terms.wire import MoneyText, PriceText
from mainstay.values.models import TOLD
from mainstay.values.money import parse_price, price_text

_DECIMALS = ("quantity", "unit_price", "discount_percent")


class BoughtLine(PricedLine):
    """A line of what is bought, as it is shown."""

    unit_price: PriceText = Field(description="Before tax.")
    amount: MoneyText = Field(description="Before tax.")


class ShownOrderLine(BoughtLine):
    """A line of an order, as it is shown."""

    received: PriceText = Field(description="How many have come.")
    billed: PriceText = Field(description="How many were billed.")


class ShownBillLine(BoughtLine):
    """A line of a bill, as it is shown."""

    order_line_id: str | None = Field(description="The line of the order that it bills.")


class Goods(BaseModel):
    """A line of an order for whoever receives it: without any price."""

    model_config = TOLD

    line_id: str
    description: str
    unit: str | None
    quantity: PriceText
    received: PriceText = Field(description="How many have come.")
    open: PriceText = Field(description="How many are still to come.")


@dataclass(frozen=True, slots=True)
class OrderLine:
    """A line of an order, with how many of it have come and were billed, in ten-thousandths."""

    line: Line
    received: int = 0
    billed: int = 0

    @property
    def counts(self) -> bool:
        """Whether something comes of it."""
        return self.line.kind == "item"

    @property
    def open(self) -> int:
        """How many are still to come."""
        return max(self.line.quantity - self.received, 0)

    @property
    def unbilled(self) -> int:
        """How many are still to be billed."""
        return max(self.line.quantity - self.billed, 0)

    @property
    def goods(self) -> dict[str, Any]:
        """As whoever receives it is shown it."""
        return {
            "lineId": self.line.id,
            "description": self.line.description,
            "unit": self.line.unit,
            "quantity": price_text(self.line.quantity),
            "received": price_text(self.received),
            "open": price_text(self.open),
        }


@dataclass(frozen=True, slots=True)
class BillLine:
    """A line of a bill, with the line of an order that it bills."""

    line: Line
    order_line_id: str | None = None


def read_order_lines(kept: Iterable[Mapping[str, Any]]) -> list[OrderLine]:
    """The lines of an order out of what is kept of them."""
    return [OrderLine(_read(one), parse_price(one["received"]), parse_price(one["billed"])) for one in kept]


def read_bill_lines(kept: Iterable[Mapping[str, Any]]) -> list[BillLine]:
    """The lines of a bill out of what is kept of them."""
    return [BillLine(_read(one), one["orderLineId"]) for one in kept]


def order_columns(drawn: Drawn) -> dict[str, Any]:
    """The columns of an order of which nothing has come that follow from its lines."""
    return {**come([_kept(one) for one in drawn.lines], {}, {}), **_sums(drawn)}


def bill_columns(drawn: Drawn, lines: Sequence[BillLine]) -> dict[str, Any]:
    """The columns of a bill that follow from its lines."""
    bills = {one.line.id: {"orderLineId": one.order_line_id} for one in lines}
    return {"lines": [_kept(one) | bills[one["id"]] for one in drawn.lines], **_sums(drawn)}


def come(kept: Sequence[Mapping[str, Any]], received: Mapping[str, int], billed: Mapping[str, int]) -> dict[str, Any]:
    """The lines of an order of which so many have come and were billed, by their ids: as they are kept and shown."""
    lines = [
        {**one, "received": price_text(received.get(one["id"], 0)), "billed": price_text(billed.get(one["id"], 0))}
        for one in kept
    ]
    return {"lines": lines, "goods": [one.goods for one in read_order_lines(lines) if one.counts]}


def quantity_text(quantity: int, unit: str | None) -> str:
    """So many, as people write it."""
    written = price_text(quantity).removesuffix(".00")
    return f"{written} {unit}" if unit else written


# What the fields of a line are called where they are kept and shown.
_ON_THE_WIRE = {name: to_camel(name) for name in BoughtLine.model_fields}


def _read(kept: Mapping[str, Any]) -> Line:
    values = {name: kept[told] for name, told in _ON_THE_WIRE.items() if name != "amount"}
    return Line(**values | {name: parse_price(values[name]) for name in _DECIMALS})


def _kept(shown: Mapping[str, Any]) -> dict[str, Any]:
    return {told: shown[told] for told in _ON_THE_WIRE.values()}


def _sums(drawn: Drawn) -> dict[str, Any]:
    totals = drawn.totals
    return {"taxes": drawn.taxes, "net": totals.net, "tax": totals.tax, "total": totals.total}
