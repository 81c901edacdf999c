"""Invoices and credit notes that were issued, as they are kept: for what only asks whether there are any."""

from cast import Cast
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from trade import a_customer

_RECORD = "organisation_id, id, created_at, created_by, updated_at, updated_by, version"
_STAMPED = ":organisation, :id, :at, '{}', :at, '{}', 1"
_MONEY = "currency, prices_include_tax, lines, net, tax, total, taxes"
_AMOUNTS = "'GBP', 0, '[]', 100, 20, 120, '[]'"


def an_invoice(cast: Cast, number: str | None = "INV-0001") -> str:
    """An invoice, with a number or still a draft; its id."""
    identity, status = new_id("invoice"), "issued" if number else "draft"
    _insert(
        cast,
        f"INSERT INTO invoice ({_RECORD}, {_MONEY}, number, kind, customer_id, status, standing, due)"
        f" VALUES ({_STAMPED}, {_AMOUNTS}, :number, 'standard', :customer, :status, :status, 120)",
        id=identity,
        number=number,
        customer=a_customer(cast),
        status=status,
    )
    return identity


def a_credit_note(cast: Cast, invoice: str, number: str = "CN-0001") -> None:
    """A credit note for an invoice."""
    _insert(
        cast,
        f"INSERT INTO credit_note ({_RECORD}, {_MONEY}, number, invoice_id, customer_id, issued_on, reason, snapshot)"
        f" SELECT {_STAMPED}, {_AMOUNTS}, :number, id, customer_id, '2026-11-16', 'Too much', '{{}}' FROM invoice"
        " WHERE organisation_id = :organisation AND id = :invoice",
        id=new_id("credit"),
        number=number,
        invoice=invoice,
    )


def _insert(cast: Cast, sql: str, **given: str | None) -> None:
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run(sql, at=moment_text(cast.stage.clock()), **given)
