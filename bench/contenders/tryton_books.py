"""Fills Tryton's books: a company with its accounts and tax, a customer, and very many posted invoices.

Runs in Tryton's own environment, on a database that was just made: `python -m bench.contenders.tryton_books 100000`;
where its settings are is told by TRYTOND_CONFIG. It answers in JSON what an invoice is drafted of. A few invoices are
posted by Tryton itself, and copied row by row until there are enough: one after the other would take a day.
"""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from trytond.modules.account.tests import create_chart, get_fiscalyear
from trytond.modules.account_invoice.tests import set_invoice_sequences
from trytond.modules.company.tests import create_company, set_company
from trytond.pool import Pool
from trytond.transaction import Transaction, TransactionError

DATABASE = "books"
_POSTED_COUNT = 50
_LINES = 3
# Of each table that an invoice is kept in: what moves on with each copy, by how it names what is copied too.
_COPIED_TABLES: Mapping[str, Mapping[str, str]] = {
    "account_move": {
        "id": "id + :move",
        "number": "number || '-' || :copy",
        "origin": "'account.invoice,' || (substr(origin, 17) + :invoice)",
    },
    "account_move_line": {"id": "id + :line", "move": "move + :move"},
    "account_invoice": {"id": "id + :invoice", "move": "move + :move", "number": "number || '-' || :copy"},
    "account_invoice_line": {"id": "id + :invoice_line", "invoice": "invoice + :invoice"},
    "account_invoice_line-account_tax": {"id": "id + :line_tax", "line": "line + :invoice_line"},
    "account_invoice_tax": {"id": "id + :tax", "invoice": "invoice + :invoice"},
}
_ID_TABLES = {
    "move": "account_move",
    "line": "account_move_line",
    "invoice": "account_invoice",
    "invoice_line": "account_invoice_line",
    "line_tax": "account_invoice_line-account_tax",
    "tax": "account_invoice_tax",
}


def main() -> None:
    wanted = int(sys.argv[1])
    Pool.start()
    Pool(DATABASE).init()
    ids: dict[str, int] | None = None
    locked: dict[str, Any] = {}
    while ids is None:
        with Transaction().start(DATABASE, 1, context={}, **locked) as transaction:
            try:
                ids = _fill_books(transaction, wanted // _POSTED_COUNT)
            except TransactionError as error:
                # It says which tables it is to begin with.
                transaction.rollback()
                error.fix(locked)
    print(json.dumps(ids))


def _fill_books(transaction: Any, times: int) -> dict[str, int]:
    company = create_company(name="Hartley & Daughters Ltd")
    with set_company(company):
        ids = _make_books(company)
        _post_invoices(ids)
    _copy_tables(transaction.connection.cursor(), times)
    return ids


def _make_books(company: Any) -> dict[str, int]:
    """Accounts, a year and a tax, a customer, and the one who may ask for all of it."""
    pool = Pool()
    create_chart(company, tax=True)
    year = set_invoice_sequences(get_fiscalyear(company))
    year.save()
    year.create_period([year])
    account = pool.get("account.account")
    usable = [("closed", "!=", True), ("company", "=", company.id)]
    (revenue,) = account.search([("type.revenue", "=", True), *usable], limit=1)
    (receivable,) = account.search([("type.receivable", "=", True), *usable], limit=1)
    (journal,) = pool.get("account.journal").search([("type", "=", "revenue")], limit=1)
    (tax,) = pool.get("account.tax").search([("company", "=", company.id)], limit=1)
    place = {"street": "Unit 4, Canal Yard", "postal_code": "HX6 2AG", "city": "Sowerby Bridge"}
    known = {"name": "Calder Property Services", "addresses": [("create", [place])]}
    (customer,) = pool.get("party.party").create([known | {"account_receivable": receivable.id}])
    (term,) = pool.get("account.invoice.payment_term").create(
        [{"name": "In two weeks", "lines": [("create", [{"type": "remainder"}])]}]
    )
    user = pool.get("res.user")(1)
    user.companies, user.company = [company], company
    user.save()
    return {
        "company": company.id,
        "customer": customer.id,
        "address": customer.addresses[0].id,
        "currency": company.currency.id,
        "journal": journal.id,
        "receivable": receivable.id,
        "revenue": revenue.id,
        "tax": tax.id,
        "term": term.id,
    }


def _post_invoices(ids: Mapping[str, int]) -> None:
    invoice = Pool().get("account.invoice")
    line = {
        "type": "line",
        "company": ids["company"],
        "currency": ids["currency"],
        "description": "Work of the day",
        "quantity": 1,
        "unit_price": Decimal(100),
        "account": ids["revenue"],
        "taxes": [("add", [ids["tax"]])],
    }
    draft = {
        "type": "out",
        "company": ids["company"],
        "party": ids["customer"],
        "invoice_address": ids["address"],
        "currency": ids["currency"],
        "journal": ids["journal"],
        "account": ids["receivable"],
        "payment_term": ids["term"],
        "invoice_date": datetime.now(UTC).date(),
        "description": "Replace the boiler",
        "lines": [("create", [line] * _LINES)],
    }
    invoice.post(invoice.create([draft] * _POSTED_COUNT))


def _copy_tables(cursor: Any, times: int) -> None:
    """Every table as often as this in the end."""
    steps = {}
    for name, table in _ID_TABLES.items():
        cursor.execute(f'SELECT max(id) FROM "{table}"')
        steps[name] = cursor.fetchone()[0]
    for name, table in _ID_TABLES.items():
        cursor.execute(f'PRAGMA table_info("{table}")')
        columns = [row[1] for row in cursor.fetchall()]
        written = ", ".join(f'"{column}"' for column in columns)
        read = ", ".join(_COPIED_TABLES[table].get(column, f'"{column}"') for column in columns)
        for copy in range(1, times):
            shifts = {step: size * copy for step, size in steps.items()} | {"copy": copy}
            cursor.execute(
                f'INSERT INTO "{table}" ({written}) SELECT {read} FROM "{table}" WHERE id <= {steps[name]}', shifts
            )
    # So that it chooses its indexes as well as it can.
    cursor.execute("ANALYZE")


if __name__ == "__main__":
    main()
