"""The lines of a supplier's bill as rows of a form: fill in the rows, and read what was typed."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from mainstay.business.purchasing.lines import PurchaseLine, ShownOrderLine
from mainstay.doors.pages.display import DisplaySettings

BillFields = Mapping[str, str]

_DECIMALS = ("quantity", "unitPrice", "discountPercent")
_LINE_FIELDS = ("description", "unit", *_DECIMALS)
# The fields of a row. `orderLineId` is the order's line that it bills.
ROW_FIELDS = (*_LINE_FIELDS, "taxRateId", "orderLineId")
_NO_TAX = "none"
_LINE_FIELD_NAME = re.compile(r"lines\.([0-9]{1,4})\.[^.]+")


def blank_row() -> dict[str, str]:
    """Return an empty row."""
    return dict.fromkeys(ROW_FIELDS, "")


def unbilled_quantity(line: ShownOrderLine) -> Decimal:
    """Return the quantity of an order's line that is still to be billed."""
    return Decimal(line.quantity) - Decimal(line.billed)


def fields_from_order(lines: Sequence[ShownOrderLine], display: DisplaySettings) -> dict[str, str]:
    """Fill in a bill for everything of an order that is still to be billed."""
    open_lines = [line for line in lines if line.kind == "item" and unbilled_quantity(line) > 0]
    rows = [_line_to_row(line, str(unbilled_quantity(line)), display) | {"orderLineId": line.id} for line in open_lines]
    return rows_to_fields(rows)


def credit_fields_from_order(lines: Sequence[ShownOrderLine], display: DisplaySettings) -> dict[str, str]:
    """Fill in a credit for billed goods of an order that were not received, or for all that was billed if none are."""
    billed = [line for line in lines if line.kind == "item" and Decimal(line.billed) > 0]
    returned = [(line, Decimal(line.billed) - Decimal(line.received)) for line in billed]
    credited = [(line, quantity) for line, quantity in returned if quantity > 0] or [
        (line, Decimal(line.billed)) for line in billed
    ]
    rows = [_line_to_row(line, str(-quantity), display) | {"orderLineId": line.id} for line, quantity in credited]
    return rows_to_fields(rows)


def rows_to_fields(rows: Sequence[BillFields]) -> dict[str, str]:
    """Return rows as fields of a form."""
    return {f"lines.{number}.{name}": text for number, row in enumerate(rows) for name, text in row.items()}


def read_bill_rows(fields: BillFields) -> list[dict[str, str]]:
    """Return the rows of a form in order, without those that are empty."""
    numbers = sorted({int(matched[1]) for name in fields if (matched := _LINE_FIELD_NAME.fullmatch(name))})
    rows = [{name: fields.get(f"lines.{number}.{name}", "").strip() for name in ROW_FIELDS} for number in numbers]
    return [row for row in rows if not _is_empty(row)]


def row_to_line(row: BillFields, display: DisplaySettings) -> dict[str, Any]:
    """Return a row as a new line."""
    line: dict[str, Any] = {name: display.parse_number(row[name]) for name in _DECIMALS if row[name]}
    line |= {"unit": row["unit"]} if row["unit"] else {}
    line |= {"taxRateId": _tax_rate_of(row)} if row["taxRateId"] else {}
    line |= {"orderLineId": row["orderLineId"]} if row["orderLineId"] else {}
    return line | {"description": row["description"]}


def _tax_rate_of(row: BillFields) -> str | None:
    return None if row["taxRateId"] == _NO_TAX else row["taxRateId"]


def _line_to_row(line: PurchaseLine, quantity: str, display: DisplaySettings) -> dict[str, str]:
    percent = line.discount_percent.rstrip("0").rstrip(".")
    texts = {
        "description": line.description,
        "unit": line.unit or "",
        "quantity": quantity.removesuffix(".00"),
        "discountPercent": "" if percent == "0" else percent,
        "taxRateId": line.tax_rate_id or _NO_TAX,
    }
    values = {name: display.number_to_field(text) if name in _DECIMALS else text for name, text in texts.items()}
    return blank_row() | values | {"unitPrice": display.price_to_field(line.unit_price)}


def _is_empty(row: BillFields) -> bool:
    return not (row["description"] or row["unitPrice"])
