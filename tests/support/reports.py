"""Reports for tests, as rows by column name; and tax rates with any parts."""

from typing import Any

from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.reporting.model import ReportName
from mainstay.business.reporting.operations import REPORTS, get_report
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer

ReportRow = dict[str, Any]


def perform_report(cast: Cast, name: str, **given: object) -> dict[str, Any]:
    """Perform a report as the office does."""
    return cast.perform(get_report, Role.OFFICE, name=name, **given)


def make_required_inputs(cast: Cast, name: ReportName) -> dict[str, str]:
    """Make the inputs that a report requires: a new customer."""
    return {field: make_customer(cast) for field in REPORTS[name].requires}


def name_rows(report_json: dict[str, Any], *names: str) -> list[ReportRow]:
    """Return the rows of a report by column name, or only these columns."""
    return [_name_cells(report_json, row, names) for row in report_json["rows"]]


def name_totals(report_json: dict[str, Any], *names: str) -> ReportRow:
    """Return the totals of a report by column name, or only these columns."""
    return _name_cells(report_json, report_json["totals"], names)


def _name_cells(report_json: dict[str, Any], row: list[Any], names: tuple[str, ...]) -> ReportRow:
    # A key stands for the row in links; it is no figure.
    named = zip(report_json["columns"], row, strict=True)
    cells = {column["name"]: cell for column, cell in named if column["kind"] != "key"}
    return {name: cells[name] for name in names} if names else cells


def make_rate_with_parts(cast: Cast, name: str, category: str = "standard", **parts: str) -> str:
    """Make a tax rate with these parts, and return its id."""
    components = [{"name": part, "percent": percent} for part, percent in parts.items()]
    more = {"note": "Reverse charge"} if category != "standard" else {}
    return str(cast.perform(save_tax_rate, name=name, category=category, components=components, **more)["id"])
