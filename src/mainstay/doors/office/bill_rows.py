"""The lines of a supplier's bill as rows of a form: as they begin, and what was typed there."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from mainstay.doors.pages.showing import Here

Fields = Mapping[str, str]

_DECIMALS = ("quantity", "unitPrice", "discountPercent")
_SAID = ("description", "unit", *_DECIMALS)
# What is typed of a line, which line of an order it bills, and which line of the bill it is already.
TYPED = (*_SAID, "taxRateId", "orderLineId", "lineId")
# What a field that was emptied means.
_EMPTIED: dict[str, Any] = {"quantity": "1", "unitPrice": "0", "discountPercent": "0"}
_NO_TAX = "none"
_OF_LINE = re.compile(r"lines\.([0-9]{1,4})\.[^.]+")


def blank() -> dict[str, str]:
    """A row in which nothing is typed yet."""
    return dict.fromkeys(TYPED, "")


def left(line: Mapping[str, Any]) -> Decimal:
    """How many of a line of an order are still to be billed."""
    return Decimal(line["quantity"]) - Decimal(line["billed"])


def of_order(lines: Sequence[Mapping[str, Any]], here: Here) -> dict[str, str]:
    """What is still to be billed of an order, as the form of its bill begins."""
    open_ = [line for line in lines if line["kind"] == "item" and left(line) > 0]
    rows = [_shown({**line, "quantity": str(left(line))}, here) | {"orderLineId": line["id"]} for line in open_]
    return named(rows)


def credit_of_order(lines: Sequence[Mapping[str, Any]], here: Here) -> dict[str, str]:
    """Fill in a credit for what was billed of an order and went back or, if all is here, for all that was billed."""
    billed = [line for line in lines if line["kind"] == "item" and Decimal(line["billed"]) > 0]
    gone = [(line, Decimal(line["billed"]) - Decimal(line["received"])) for line in billed]
    credited = [(line, many) for line, many in gone if many > 0] or [(line, Decimal(line["billed"])) for line in billed]
    rows = [_shown({**line, "quantity": str(-many)}, here) | {"orderLineId": line["id"]} for line, many in credited]
    return named(rows)


def of_bill(lines: Sequence[Mapping[str, Any]], here: Here) -> dict[str, str]:
    """The lines of a bill, as the form that changes them begins."""
    return named([_shown(line, here) | {"lineId": line["id"]} for line in lines])


def named(rows: Sequence[Fields]) -> dict[str, str]:
    """Rows as fields of a form."""
    return {f"lines.{place}.{name}": text for place, row in enumerate(rows) for name, text in row.items()}


def typed_in(fields: Fields) -> list[dict[str, str]]:
    """The rows that were sent, in their order; new ones that were left empty are not among them."""
    places = sorted({int(found[1]) for name in fields if (found := _OF_LINE.fullmatch(name))})
    rows = [{name: fields.get(f"lines.{place}.{name}", "").strip() for name in TYPED} for place in places]
    return [row for row in rows if row["lineId"] or not _is_empty(row)]


def new_line(row: Fields, here: Here) -> dict[str, Any]:
    """A row as a line that is not there yet."""
    line: dict[str, Any] = {name: here.read(row[name]) for name in _DECIMALS if row[name]}
    line |= {"unit": row["unit"]} if row["unit"] else {}
    line |= {"taxRateId": _tax(row)} if row["taxRateId"] else {}
    line |= {"orderLineId": row["orderLineId"]} if row["orderLineId"] else {}
    return line | {"description": row["description"]}


def edits_of(
    lines: Sequence[Mapping[str, Any]], rows: Sequence[Fields], here: Here
) -> list[tuple[int, dict[str, Any]]]:
    """What makes the lines of a bill what was typed, each with the place of its row; a row that was emptied is gone."""
    known = {line["id"]: _shown(line, here) for line in lines}
    found = [(place, _edit(row, known.get(row["lineId"]), here)) for place, row in enumerate(rows)]
    return [(place, edit) for place, edit in found if edit]


def _edit(row: Fields, shown: Fields | None, here: Here) -> dict[str, Any] | None:
    if shown is None:
        return {"edit": "add", **new_line(row, here)}
    about = {"lineId": row["lineId"]}
    if _is_empty(row):
        return {"edit": "remove", **about}
    changes: dict[str, Any] = {name: _read(name, row[name], here) for name in _SAID if row[name] != shown[name]}
    if row["taxRateId"] != shown["taxRateId"]:
        changes["taxRateId"] = _tax(row)
    return {"edit": "set", **about, **changes} if changes else None


def _read(name: str, text: str, here: Here) -> Any:
    if not text:
        return _EMPTIED.get(name, "" if name == "description" else None)
    return here.read(text) if name in _DECIMALS else text


def _tax(row: Fields) -> str | None:
    return None if row["taxRateId"] == _NO_TAX else row["taxRateId"]


def _shown(line: Mapping[str, Any], here: Here) -> dict[str, str]:
    percent = line["discountPercent"].rstrip("0").rstrip(".")
    told = {
        "description": line["description"],
        "unit": line["unit"] or "",
        "quantity": line["quantity"].removesuffix(".00"),
        "discountPercent": "" if percent == "0" else percent,
        "taxRateId": line["taxRateId"] or _NO_TAX,
    }
    typed = {name: here.to_type(text) if name in _DECIMALS else text for name, text in told.items()}
    return blank() | typed | {"unitPrice": here.price_to_type(line["unitPrice"])}


def _is_empty(row: Fields) -> bool:
    return not (row["description"] or row["unitPrice"])
