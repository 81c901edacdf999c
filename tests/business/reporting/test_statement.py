"""The statement of a customer's account: each entry with its running balance, which ends at the receivables."""

from dataclasses import replace
from typing import Any

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.invoices.payments.recording import allocate_payment, record_payment
from mainstay.business.reporting.model import MAX_REPORT_ROWS
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at
from support.invoices import credit_issued, issue_invoice, make_accepted_quote, make_invoice, pay_invoice, void_issued
from support.query_plans import explain
from support.quotes import make_default_tax_rate
from support.random_documents import reverse_bounced, trade_for_months
from support.recorded_statements import RecordingDatabase
from support.reports import ReportRow, name_rows, name_totals, perform_report

COLUMNS = ("on", "entry", "reference", "charged", "paid", "balance")


def cast_on(cast: Cast, day: str) -> Cast:
    return cast_at(cast, f"{day}T12:00:00Z")


def issue_on(cast: Cast, customer: str, day: str, price: str) -> dict[str, Any]:
    """Issue an invoice on a day."""
    then = cast_on(cast, day)
    return issue_invoice(
        then, make_invoice(then, customerId=customer, lines=[{"description": "Work", "unitPrice": price}])
    )


def pay_on(cast: Cast, customer: str, day: str, amount: str, **given: object) -> dict[str, Any]:
    """Record a payment on a day, for what is due first."""
    return cast_on(cast, day).perform(record_payment, Role.OFFICE, customerId=customer, amount=amount, **given)


def list_lines(cast: Cast, customer: str, **given: object) -> list[tuple[Any, ...]]:
    result = perform_report(cast_at(cast), "statement", customerId=customer, **given)
    return [tuple(row.values()) for row in name_rows(result, *COLUMNS)]


def closing_balance(cast: Cast, customer: str, **given: object) -> str:
    return str(name_totals(perform_report(cast, "statement", customerId=customer, **given))["balance"])


def receivable_balance(cast: Cast, customer: str) -> str:
    """Return the balance that the receivables report shows."""
    found: list[ReportRow] = name_rows(perform_report(cast, "receivables", customerId=customer))
    return str(found[0]["balance"]) if found else "0.00"


def test_each_entry_stands_on_its_day_with_what_is_owed_after_it(cast: Cast) -> None:
    make_default_tax_rate(cast)
    customer = make_customer(cast)
    first = issue_on(cast, customer, "2026-10-05", "1000")
    void = issue_on(cast, customer, "2026-10-06", "70")
    void_issued(cast_on(cast, "2026-10-08"), void)
    note = credit_issued(cast_on(cast, "2026-10-09"), first, amount="120")
    bounced = pay_on(cast, customer, "2026-10-12", "300.50", reference="Cheque 7")
    reverse_bounced(cast_on(cast, "2026-10-20"), bounced)
    pay_on(cast, customer, "2026-11-02", "1100")
    result = perform_report(cast_at(cast), "statement", customerId=customer, **{"from": "2026-10-01"})
    assert [tuple(row.values()) for row in name_rows(result, *COLUMNS)] == [
        ("2026-10-01", "Brought forward", None, None, None, "0.00"),
        ("2026-10-05", "Invoice", "INV-0001", "1200.00", None, "1200.00"),
        ("2026-10-06", "Invoice", "INV-0002", "84.00", None, "1284.00"),
        ("2026-10-08", "Invoice voided", "INV-0002", "-84.00", None, "1200.00"),
        ("2026-10-09", "Credit note", "CN-0001", None, "120.00", "1080.00"),
        ("2026-10-12", "Payment", "Cheque 7", None, "300.50", "779.50"),
        ("2026-10-20", "Payment reversed", "Cheque 7", None, "-300.50", "1080.00"),
        ("2026-11-02", "Payment", None, None, "1100.00", "-20.00"),
    ]
    assert name_totals(result, *COLUMNS[3:]) == {"charged": "1200.00", "paid": "1220.00", "balance": "-20.00"}
    records = [row["recordId"] for row in name_rows(result)]
    assert records[:4] == [None, first["id"], void["id"], void["id"]]
    assert records[4].startswith("credit_")
    assert note["id"] == first["id"]
    assert records[5:7] == [bounced["id"]] * 2
    assert (result["from"], result["until"], result["hasMore"]) == ("2026-10-01", "2026-11-16", False)
    assert receivable_balance(cast_at(cast), customer) == "-20.00"


def test_what_was_before_is_brought_forward_and_what_comes_later_is_left_out(cast: Cast) -> None:
    customer = make_customer(cast)
    issue_on(cast, customer, "2025-12-31", "100")
    pay_on(cast, customer, "2026-01-01", "30")
    issue_on(cast, customer, "2026-03-01", "5")
    assert list_lines(cast, customer) == [
        ("2026-01-01", "Brought forward", None, None, None, "100.00"),
        ("2026-01-01", "Payment", None, None, "30.00", "70.00"),
        ("2026-03-01", "Invoice", "INV-0002", "5.00", None, "75.00"),
    ]
    assert list_lines(cast, customer, **{"from": "2026-01-02", "until": "2026-02-28"}) == [
        ("2026-01-02", "Brought forward", None, None, None, "70.00")
    ]
    assert closing_balance(cast_at(cast), customer, until="2026-02-28") == "70.00"


def test_on_a_day_what_is_charged_stands_before_what_is_paid_and_the_same_in_the_order_of_ids(cast: Cast) -> None:
    customer, day = make_customer(cast), "2026-11-02"
    for _ in range(3):
        pay_on(cast, customer, day, "1")
    invoices = [issue_on(cast, customer, day, "10") for _ in range(3)]
    void_issued(cast_on(cast, day), invoices[2])
    credit_issued(cast_on(cast, day), invoices[0], amount="2")
    result = name_rows(perform_report(cast_at(cast), "statement", customerId=customer))[1:]
    kinds = ["Invoice"] * 3 + ["Invoice voided", "Credit note"] + ["Payment"] * 3
    assert [row["entry"] for row in result] == kinds
    for kind in ("Invoice", "Payment"):
        ids = [row["recordId"] for row in result if row["entry"] == kind]
        assert ids == sorted(ids)


def test_an_invoice_over_nothing_is_an_entry_and_drafts_and_others_are_none(cast: Cast, other_cast: Cast) -> None:
    customer = make_customer(cast)
    issue_on(cast, customer, "2026-11-02", "0")
    make_invoice(cast_at(cast), customerId=customer)
    issue_on(cast, make_customer(cast, "Another"), "2026-11-02", "7")
    issue_invoice(cast_at(other_cast))
    assert [row[1:] for row in list_lines(cast, customer)] == [
        ("Brought forward", None, None, None, "0.00"),
        ("Invoice", "INV-0001", "0.00", None, "0.00"),
    ]


def test_wherever_payments_are_put_the_balance_is_what_receivables_tell(cast: Cast) -> None:
    make_default_tax_rate(cast)
    today = cast_at(cast)
    quote = make_accepted_quote(today)
    customer = quote["customerId"]
    deposit = issue_invoice(today, make_invoice(today, quoteId=quote["id"], part={"percent": "30"}))
    owed = [closing_balance(today, customer)]
    pay_invoice(today, deposit)
    rest = issue_invoice(today, make_invoice(today, quoteId=quote["id"]))
    owed.append(closing_balance(today, customer))
    # Paid, then credited in part: what is too much goes on account, and on to another invoice.
    payment = pay_invoice(today, rest, "500")
    credit_issued(today, rest, amount="450")
    credit_issued(today, rest)
    owed.append(closing_balance(today, customer))
    assert owed[-1] == receivable_balance(today, customer) == "-500.00"
    other = issue_invoice(today, make_invoice(today, customerId=customer))
    put = {"invoiceId": other["id"], "amount": "400"}
    today.perform(allocate_payment, Role.OFFICE, paymentId=payment["id"], allocations=[put])
    assert closing_balance(today, customer) == receivable_balance(today, customer) == "700.00"
    reverse_bounced(today, payment)
    assert closing_balance(today, customer) == receivable_balance(today, customer) == "1200.00"
    assert owed[:2] == [deposit["total"], rest["total"]]


def test_after_months_of_everything_it_comes_to_what_receivables_tell_from_whatever_day_on(cast: Cast) -> None:
    customers = trade_for_months(cast)
    today = cast_at(cast)
    whole = [perform_report(today, "statement", customerId=one) for one in customers]
    entries = {row["entry"] for expected in whole for row in name_rows(expected)[1:]}
    assert entries == {"Invoice", "Invoice voided", "Credit note", "Payment", "Payment reversed"}
    assert len({receivable_balance(today, one) for one in customers}) == 3
    for customer, expected in zip(customers, whole, strict=True):
        owed = receivable_balance(today, customer)
        assert name_totals(expected)["balance"] == name_rows(expected)[-1]["balance"] == owed
        for day, before in (("2026-09-01", "2026-08-31"), ("2026-10-04", "2026-10-03")):
            later = name_rows(perform_report(today, "statement", customerId=customer, **{"from": day}))
            assert later[0]["balance"] == closing_balance(today, customer, until=before)
            assert later[1:] == [row for row in name_rows(expected)[1:] if row["on"] >= day]


def test_whoever_takes_over_another_customer_has_their_entries(cast: Cast) -> None:
    stays, ends = make_customer(cast, "Stays"), make_customer(cast, "Ends")
    issue_on(cast, ends, "2026-11-02", "40")
    pay_on(cast, stays, "2026-11-03", "15")
    cast.perform(merge_customers, Role.ADMIN, customerId=ends, intoCustomerId=stays, confirmed=True)
    assert closing_balance(cast_at(cast), stays) == receivable_balance(cast_at(cast), stays) == "25.00"
    assert [row[1] for row in list_lines(cast, ends)] == ["Brought forward"]


def test_of_more_entries_than_are_told_the_balance_is_of_all(cast: Cast) -> None:
    customer = make_customer(cast)
    issue_on(cast, customer, "2026-11-01", "5000")
    payment = pay_on(cast, customer, "2026-11-02", "3")
    copied = "customer_id, on_date, currency, amount, method, allocations, unallocated, status"
    column_names = f"created_at, created_by, updated_at, updated_by, version, {copied}"
    with cast.performer.database.write_transaction(cast.organisation) as db:
        for _ in range(MAX_REPORT_ROWS - 3):
            db.run(
                f"INSERT INTO payment (organisation_id, id, {column_names}) SELECT organisation_id, :new,"
                f" {column_names} FROM payment"
                " WHERE organisation_id = :organisation AND id = :id",
                id=payment["id"],
                new=new_id("payment"),
            )
    # With the balance brought forward and the invoice, these are all entries that are shown.
    result = perform_report(cast_at(cast), "statement", customerId=customer)
    assert (len(result["rows"]), result["hasMore"], name_rows(result)[-1]["balance"]) == (
        MAX_REPORT_ROWS,
        False,
        "2006.00",
    )
    pay_on(cast, customer, "2026-11-03", "6")
    result = perform_report(cast_at(cast), "statement", customerId=customer)
    assert (len(result["rows"]), result["hasMore"], name_rows(result)[-1]["balance"]) == (
        MAX_REPORT_ROWS,
        True,
        "2006.00",
    )
    assert name_totals(result, *COLUMNS[3:]) == {"charged": "5000.00", "paid": "3000.00", "balance": "2000.00"}


def test_it_is_refused_without_a_customer(cast: Cast) -> None:
    with pytest.raises(Invalid, match="customerId: is required for this report"):
        perform_report(cast, "statement")
    with pytest.raises(Invalid) as refusal:
        perform_report(cast, "statement", by="month")
    assert [fault.field for fault in refusal.value.faults] == ["by", "customerId"]


def test_entries_are_looked_up_by_an_index(cast: Cast) -> None:
    # What was before, what was since then, and the entries, of each of five kinds.
    assert len(plan_lookups(cast)) == 15
    for sql, steps in plan_lookups(cast).items():
        assert [step for step in steps if "index" in step.lower()], sql
        assert not [step for step in steps if "Seq Scan" in step or step.startswith("SCAN")], sql


@pytest.mark.only_on("sqlite")
def test_a_customer_s_are_not_looked_for_among_those_of_everyone(cast: Cast) -> None:
    # The other engine knows how many there are of each.
    for sql, steps in plan_lookups(cast).items():
        assert "_by_customer (organisation_id=? AND customer_id=?)" in steps[0], sql


def plan_lookups(cast: Cast) -> dict[str, list[str]]:
    """Return the query plan of each statement that reads documents for a customer's account."""
    customer = make_customer(cast)
    database = RecordingDatabase(cast.performer.database)
    perform_report(
        replace(cast, performer=replace(cast.performer, database=database)), "statement", customerId=customer
    )
    tables = [f" FROM {table} " for table in ("invoice", "credit_note", "payment")]
    read = [one for one in database.statements if any(table in one.sql for table in tables)]
    return {f"{one.sql} {one.given}": explain(cast.performer.database, one) for one in read}
