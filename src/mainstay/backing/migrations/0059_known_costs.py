"""Invoices and quotes say what their lines come to whose cost is known, and what the others do."""

from typing import Any

import orjson

from mainstay.backing.database import SchemaHandle
from mainstay.values.known_costs import CostedLine, known_costs
from mainstay.values.money import CURRENCIES, UNIT, Money, parse_price
from mainstay.values.totals import rounded

_BATCH = 500
_COLUMNS = ("costed_net", "uncosted_net", "uncosted_lines")
# What bills work that is recorded, and so has its cost there.
_WORK = {"timeEntry", "orderLine", "billLine"}
_DOCUMENTS = """
SELECT organisation_id, id, currency, lines, taxes FROM {table}
WHERE (organisation_id, id) > (:owner, :id) ORDER BY organisation_id, id LIMIT {batch}
"""


def apply(handle: SchemaHandle) -> None:
    """Add the columns, and fill them in for the documents that are there."""
    for table, columns in (("invoice", (*_COLUMNS, "other_cost")), ("quote", _COLUMNS)):
        for column in columns:
            handle.run(f"ALTER TABLE {table} ADD COLUMN {column} bigint NOT NULL DEFAULT 0")
        assigned = ", ".join(f"{column} = :{column}" for column in columns)
        last = ("", "")
        while batch := handle.all(_DOCUMENTS.format(table=table, batch=_BATCH), owner=last[0], id=last[1]):
            for owner, identity, currency, lines, taxes in batch:
                values = _values(orjson.loads(str(lines)), orjson.loads(str(taxes)), str(currency))
                handle.run(
                    f"UPDATE {table} SET {assigned} WHERE organisation_id = :owner AND id = :id",
                    owner=owner,
                    id=identity,
                    **{column: values[column] for column in columns},
                )
            last = (str(batch[-1][0]), str(batch[-1][1]))


def _values(lines: list[dict[str, Any]], taxes: list[dict[str, Any]], currency: str) -> dict[str, int]:
    counted = [line for line in lines if line["kind"] == "item" and (line["chosen"] or not line["optional"])]
    nets = {tax["taxRateId"] or "": _minor(tax["net"], currency) for tax in taxes}
    known = known_costs([_costed(line, currency) for line in counted], nets)
    other = [line for line in counted if line["cost"] is not None and _kind(line) not in _WORK]
    return {**known._asdict(), "other_cost": sum(_cost(line, currency) for line in other)}


def _costed(line: dict[str, Any], currency: str) -> CostedLine:
    settled = line["source"].get("settled") if line["source"] else None
    return CostedLine(
        line["taxRateId"] or "",
        _minor(line["amount"], currency),
        line["cost"] is not None,
        _minor(settled["net"], currency) if settled else None,
    )


def _kind(line: dict[str, Any]) -> str | None:
    return line["source"]["kind"] if line["source"] else None


def _cost(line: dict[str, Any], currency: str) -> int:
    return rounded(parse_price(line["quantity"]) * parse_price(line["cost"]) * 10 ** CURRENCIES[currency], UNIT * UNIT)


def _minor(text: str, currency: str) -> int:
    return Money.parse(text, currency).minor
