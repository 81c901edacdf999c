"""Reports for tests, as tables one can read; and a house in which each tax has its rate."""

from typing import Any

from cast import Cast
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.reporting.model import Name
from mainstay.business.reporting.operations import REPORTS, get_report
from mainstay.terms.rights import Role
from trade import a_customer

Row = dict[str, Any]


def report(cast: Cast, name: str, **given: object) -> dict[str, Any]:
    """A report as the office gets it."""
    return cast.perform(get_report, Role.OFFICE, name=name, **given)


def needed(cast: Cast, name: Name) -> dict[str, str]:
    """What a report cannot do without: a new customer."""
    return {field: a_customer(cast) for field in REPORTS[name].needs}


def rows(told: dict[str, Any], *names: str) -> list[Row]:
    """Its rows, each with the names of its columns; or only with these."""
    return [_named(told, row, names) for row in told["rows"]]


def totals(told: dict[str, Any], *names: str) -> Row:
    """Its totals, likewise."""
    return _named(told, told["totals"], names)


def _named(told: dict[str, Any], row: list[Any], names: tuple[str, ...]) -> Row:
    whole = dict(zip((column["name"] for column in told["columns"]), row, strict=True))
    return {name: whole[name] for name in names} if names else whole


def a_rate(cast: Cast, name: str, category: str = "standard", **parts: str) -> str:
    """A rate of tax with these parts; its id."""
    components = [{"name": part, "percent": percent} for part, percent in parts.items()]
    more = {"note": "Reverse charge"} if category != "standard" else {}
    return str(cast.perform(save_tax_rate, name=name, category=category, components=components, **more)["id"])
