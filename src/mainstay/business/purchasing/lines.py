"""The lines of orders and bills, what was received and billed of each, and how they are stored; pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from mainstay.business.lines.model import Line, PricedDocument, PricedLine
from mainstay.values.message import DecimalNumber, Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.money import parse_price, price_text
from mainstay.vocabulary.record_json import MoneyText, PriceText

_DECIMALS = ("quantity", "unit_price", "discount_percent")


class PurchaseLine(PricedLine):
    """A line of what is bought, as it is shown."""

    unit_price: PriceText = Field(description="Before tax.")
    amount: MoneyText = Field(description="Before tax.")


class ShownOrderLine(PurchaseLine):
    """A line of an order, as it is shown."""

    received: PriceText = Field(description="The quantity received.")
    billed: PriceText = Field(description="The quantity billed.")


class ShownBillLine(PurchaseLine):
    """A line of a bill, as it is shown."""

    order_line_id: str | None = Field(description="The order line that it bills.")


class Goods(BaseModel):
    """A line of an order for the person who receives it: without prices."""

    model_config = OUTPUT_CONFIG

    line_id: str
    description: str
    unit: str | None
    quantity: PriceText
    received: PriceText = Field(description="The quantity received.")
    open: PriceText = Field(description="The quantity still to come.")


@dataclass(frozen=True, slots=True)
class OrderLine:
    """A line of an order, with the quantities that were received and billed, in ten-thousandths."""

    line: Line
    received: int = 0
    billed: int = 0

    @property
    def is_counted(self) -> bool:
        """Whether it is a line of goods, not a text or a heading."""
        return self.line.kind == "item"

    @property
    def open(self) -> int:
        """The quantity still to be received."""
        return max(self.line.quantity - self.received, 0)

    @property
    def unbilled(self) -> int:
        """The quantity still to be billed."""
        return max(self.line.quantity - self.billed, 0)

    @property
    def goods(self) -> dict[str, Any]:
        """The JSON of the line without prices, for the people who receive the goods."""
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


def read_order_lines(stored: Iterable[Mapping[str, Any]]) -> list[OrderLine]:
    """Convert the stored lines of an order into lines."""
    return [OrderLine(_read_line(one), parse_price(one["received"]), parse_price(one["billed"])) for one in stored]


def read_bill_lines(stored: Iterable[Mapping[str, Any]]) -> list[BillLine]:
    """Convert the stored lines of a bill into lines."""
    return [BillLine(_read_line(one), one["orderLineId"]) for one in stored]


def order_columns(priced: PricedDocument) -> dict[str, Any]:
    """Return the columns that are computed from the lines of an order before anything is received or billed."""
    return {**goods_columns([_to_stored_line(one) for one in priced.lines], {}, {}), **_total_columns(priced)}


def bill_columns(priced: PricedDocument, lines: Sequence[BillLine]) -> dict[str, Any]:
    """Return the columns of a bill that are computed from its lines."""
    order_line_ids = {one.line.id: {"orderLineId": one.order_line_id} for one in lines}
    return {
        "lines": [_to_stored_line(one) | order_line_ids[one["id"]] for one in priced.lines],
        **_total_columns(priced),
    }


def goods_columns(
    stored: Sequence[Mapping[str, Any]], received: Mapping[str, int], billed: Mapping[str, int]
) -> dict[str, Any]:
    """Return the columns of an order's lines and goods, with the quantities received and billed by line id."""
    lines = [
        {**one, "received": price_text(received.get(one["id"], 0)), "billed": price_text(billed.get(one["id"], 0))}
        for one in stored
    ]
    return {"lines": lines, "goods": [one.goods for one in read_order_lines(lines) if one.is_counted]}


def quantity_message(quantity: int, unit: str | None) -> Message:
    """Return a quantity with its unit, as people write it."""
    number = DecimalNumber(price_text(quantity).removesuffix(".00"))
    return Message("{quantity} {unit}", quantity=number, unit=unit) if unit else Message("{quantity}", quantity=number)


def describe_unknown_line(known_ids: Iterable[str]) -> Message:
    """Say that an order has no such line; programs also get the ids of its lines."""
    lines = ", ".join(known_ids)
    return Message(
        "is not a line of the order",
        for_programs=Message("its lines: {lines}", lines=lines) if lines else Message("it has no lines"),
    )


# The JSON names of the fields of a line.
_JSON_NAMES = {name: to_camel(name) for name in PurchaseLine.model_fields}


def _read_line(stored: Mapping[str, Any]) -> Line:
    values = {name: stored[json_name] for name, json_name in _JSON_NAMES.items() if name != "amount"}
    return Line(**values | {name: parse_price(values[name]) for name in _DECIMALS})


def _to_stored_line(line: Mapping[str, Any]) -> dict[str, Any]:
    return {json_name: line[json_name] for json_name in _JSON_NAMES.values()}


def _total_columns(priced: PricedDocument) -> dict[str, Any]:
    totals = priced.totals
    return {"taxes": priced.taxes, "net": totals.net, "tax": totals.tax, "total": totals.total}
