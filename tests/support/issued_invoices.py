"""Rows of invoices and credit notes, for tests that only need some to exist."""

from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from support.cast import Cast
from support.customers import make_customer

_RECORD_COLUMNS = "organisation_id, id, created_at, created_by, updated_at, updated_by, version"
_RECORD_VALUES = ":organisation, :id, :at, '{}', :at, '{}', 1"
_MONEY_COLUMNS = "currency, prices_include_tax, lines, net, tax, total, taxes"
_MONEY_VALUES = "'GBP', 0, '[]', 100, 20, 120, '[]'"


def insert_invoice(cast: Cast, number: str | None = "INV-0001") -> str:
    """Insert an invoice, with a number or still a draft, and return its id."""
    record_id, status = new_id("invoice"), "issued" if number else "draft"
    _insert(
        cast,
        f"INSERT INTO invoice ({_RECORD_COLUMNS}, {_MONEY_COLUMNS}, number, kind, customer_id, status, standing, due)"
        f" VALUES ({_RECORD_VALUES}, {_MONEY_VALUES}, :number, 'standard', :customer, :status, :status, 120)",
        id=record_id,
        number=number,
        customer=make_customer(cast),
        status=status,
    )
    return record_id


def insert_credit_note(cast: Cast, invoice: str, number: str = "CN-0001") -> None:
    """Insert a credit note for an invoice."""
    _insert(
        cast,
        f"INSERT INTO credit_note ({_RECORD_COLUMNS}, {_MONEY_COLUMNS}, number, invoice_id, customer_id,"
        " issued_on, reason, snapshot)"
        f" SELECT {_RECORD_VALUES}, {_MONEY_VALUES}, :number, id, customer_id, '2026-11-16', 'Too much',"
        f" '{{}}' FROM invoice"
        " WHERE organisation_id = :organisation AND id = :invoice",
        id=new_id("credit"),
        number=number,
        invoice=invoice,
    )


def _insert(cast: Cast, sql: str, **given: str | None) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(sql, at=moment_text(cast.performer.clock()), **given)
