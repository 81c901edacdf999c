"""The statement of a customer's account: each entry with what is owed after it, in the end what receivables tell."""

from dataclasses import replace
from typing import Any

import pytest

from billing import a_sold_quote, an_invoice, credited, issued, paid, voided
from cast import Cast
from labour import at
from mainstay.business.customers.merging import merge_customers
from mainstay.business.invoices.paying import allocate_payment, record_payment
from mainstay.business.reporting.model import MOST_ROWS
from mainstay.terms.refusal import Invalid
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from months import reverse, trade_for_months
from planning import plan
from quoting import usual_tax
from recording import RecordingDatabase
from reporting import Row, report, rows, totals
from trade import a_customer

SHOWN = ("on", "entry", "reference", "charged", "paid", "balance")


def on(cast: Cast, day: str) -> Cast:
    return at(cast, f"{day}T12:00:00Z")


def bill(cast: Cast, customer: str, day: str, price: str) -> dict[str, Any]:
    """An invoice of a day."""
    then = on(cast, day)
    return issued(then, an_invoice(then, customerId=customer, lines=[{"description": "Work", "unitPrice": price}]))


def pay(cast: Cast, customer: str, day: str, amount: str, **given: object) -> dict[str, Any]:
    """A payment of a day, for what is due first."""
    return on(cast, day).perform(record_payment, Role.OFFICE, customerId=customer, amount=amount, **given)


def lines(cast: Cast, customer: str, **given: object) -> list[tuple[Any, ...]]:
    told = report(at(cast), "statement", customerId=customer, **given)
    return [tuple(row.values()) for row in rows(told, *SHOWN)]


def closing(cast: Cast, customer: str, **given: object) -> str:
    return str(totals(report(cast, "statement", customerId=customer, **given))["balance"])


def balance(cast: Cast, customer: str) -> str:
    """What receivables tell."""
    found: list[Row] = rows(report(cast, "receivables", customerId=customer))
    return str(found[0]["balance"]) if found else "0.00"


def test_each_entry_stands_on_its_day_with_what_is_owed_after_it(cast: Cast) -> None:
    usual_tax(cast)
    customer = a_customer(cast)
    first = bill(cast, customer, "2026-10-05", "1000")
    void = bill(cast, customer, "2026-10-06", "70")
    voided(on(cast, "2026-10-08"), void)
    note = credited(on(cast, "2026-10-09"), first, amount="120")
    bounced = pay(cast, customer, "2026-10-12", "300.50", reference="Cheque 7")
    reverse(on(cast, "2026-10-20"), bounced)
    pay(cast, customer, "2026-11-02", "1100")
    told = report(at(cast), "statement", customerId=customer, **{"from": "2026-10-01"})
    assert [tuple(row.values()) for row in rows(told, *SHOWN)] == [
        ("2026-10-01", "Brought forward", None, None, None, "0.00"),
        ("2026-10-05", "Invoice", "INV-0001", "1200.00", None, "1200.00"),
        ("2026-10-06", "Invoice", "INV-0002", "84.00", None, "1284.00"),
        ("2026-10-08", "Invoice made void", "INV-0002", "-84.00", None, "1200.00"),
        ("2026-10-09", "Credit note", "CN-0001", None, "120.00", "1080.00"),
        ("2026-10-12", "Payment", "Cheque 7", None, "300.50", "779.50"),
        ("2026-10-20", "Payment reversed", "Cheque 7", None, "-300.50", "1080.00"),
        ("2026-11-02", "Payment", None, None, "1100.00", "-20.00"),
    ]
    assert totals(told, *SHOWN[3:]) == {"charged": "1200.00", "paid": "1220.00", "balance": "-20.00"}
    records = [row["recordId"] for row in rows(told)]
    assert records[:4] == [None, first["id"], void["id"], void["id"]]
    assert records[4].startswith("credit_")
    assert note["id"] == first["id"]
    assert records[5:7] == [bounced["id"]] * 2
    assert (told["from"], told["until"], told["hasMore"]) == ("2026-10-01", "2026-11-16", False)
    assert balance(at(cast), customer) == "-20.00"


def test_what_was_before_is_brought_forward_and_what_comes_later_is_left_out(cast: Cast) -> None:
    customer = a_customer(cast)
    bill(cast, customer, "2025-12-31", "100")
    pay(cast, customer, "2026-01-01", "30")
    bill(cast, customer, "2026-03-01", "5")
    assert lines(cast, customer) == [
        ("2026-01-01", "Brought forward", None, None, None, "100.00"),
        ("2026-01-01", "Payment", None, None, "30.00", "70.00"),
        ("2026-03-01", "Invoice", "INV-0002", "5.00", None, "75.00"),
    ]
    assert lines(cast, customer, **{"from": "2026-01-02", "until": "2026-02-28"}) == [
        ("2026-01-02", "Brought forward", None, None, None, "70.00")
    ]
    assert closing(at(cast), customer, until="2026-02-28") == "70.00"


def test_on_a_day_what_is_charged_stands_before_what_is_paid_and_the_same_in_the_order_of_ids(cast: Cast) -> None:
    customer, day = a_customer(cast), "2026-11-02"
    for _ in range(3):
        pay(cast, customer, day, "1")
    invoices = [bill(cast, customer, day, "10") for _ in range(3)]
    voided(on(cast, day), invoices[2])
    credited(on(cast, day), invoices[0], amount="2")
    told = rows(report(at(cast), "statement", customerId=customer))[1:]
    kinds = ["Invoice"] * 3 + ["Invoice made void", "Credit note"] + ["Payment"] * 3
    assert [row["entry"] for row in told] == kinds
    for kind in ("Invoice", "Payment"):
        ids = [row["recordId"] for row in told if row["entry"] == kind]
        assert ids == sorted(ids)


def test_an_invoice_over_nothing_is_an_entry_and_drafts_and_others_are_none(cast: Cast, stranger: Cast) -> None:
    customer = a_customer(cast)
    bill(cast, customer, "2026-11-02", "0")
    an_invoice(at(cast), customerId=customer)
    bill(cast, a_customer(cast, "Another"), "2026-11-02", "7")
    issued(at(stranger))
    assert [row[1:] for row in lines(cast, customer)] == [
        ("Brought forward", None, None, None, "0.00"),
        ("Invoice", "INV-0001", "0.00", None, "0.00"),
    ]


def test_wherever_payments_are_put_the_balance_is_what_receivables_tell(cast: Cast) -> None:
    usual_tax(cast)
    today = at(cast)
    quote = a_sold_quote(today)
    customer = quote["customerId"]
    deposit = issued(today, an_invoice(today, quoteId=quote["id"], part={"percent": "30"}))
    owed = [closing(today, customer)]
    paid(today, deposit)
    rest = issued(today, an_invoice(today, quoteId=quote["id"]))
    owed.append(closing(today, customer))
    # Paid, then credited in part: what is too much goes on account, and on to another invoice.
    payment = paid(today, rest, "500")
    credited(today, rest, amount="450")
    credited(today, rest)
    owed.append(closing(today, customer))
    assert owed[-1] == balance(today, customer) == "-500.00"
    other = issued(today, an_invoice(today, customerId=customer))
    put = {"invoiceId": other["id"], "amount": "400"}
    today.perform(allocate_payment, Role.OFFICE, paymentId=payment["id"], allocations=[put])
    assert closing(today, customer) == balance(today, customer) == "700.00"
    reverse(today, payment)
    assert closing(today, customer) == balance(today, customer) == "1200.00"
    assert owed[:2] == [deposit["total"], rest["total"]]


def test_after_months_of_everything_it_comes_to_what_receivables_tell_from_whatever_day_on(cast: Cast) -> None:
    customers = trade_for_months(cast)
    today = at(cast)
    whole = [report(today, "statement", customerId=one) for one in customers]
    entries = {row["entry"] for told in whole for row in rows(told)[1:]}
    assert entries == {"Invoice", "Invoice made void", "Credit note", "Payment", "Payment reversed"}
    assert len({balance(today, one) for one in customers}) == 3
    for customer, told in zip(customers, whole, strict=True):
        owed = balance(today, customer)
        assert totals(told)["balance"] == rows(told)[-1]["balance"] == owed
        for day, before in (("2026-09-01", "2026-08-31"), ("2026-10-04", "2026-10-03")):
            later = rows(report(today, "statement", customerId=customer, **{"from": day}))
            assert later[0]["balance"] == closing(today, customer, until=before)
            assert later[1:] == [row for row in rows(told)[1:] if row["on"] >= day]


def test_whoever_takes_over_another_customer_has_their_entries(cast: Cast) -> None:
    stays, ends = a_customer(cast, "Stays"), a_customer(cast, "Ends")
    bill(cast, ends, "2026-11-02", "40")
    pay(cast, stays, "2026-11-03", "15")
    cast.perform(merge_customers, Role.ADMIN, customerId=ends, intoCustomerId=stays, confirmed=True)
    assert closing(at(cast), stays) == balance(at(cast), stays) == "25.00"
    assert [row[1] for row in lines(cast, ends)] == ["Brought forward"]


def test_of_more_entries_than_are_told_the_balance_is_of_all(cast: Cast) -> None:
    customer = a_customer(cast)
    bill(cast, customer, "2026-11-01", "5000")
    payment = pay(cast, customer, "2026-11-02", "3")
    copied = "customer_id, on_date, currency, amount, method, allocations, unallocated, status"
    kept = f"created_at, created_by, updated_at, updated_by, version, {copied}"
    with cast.stage.database.changing(cast.organisation) as handle:
        for _ in range(MOST_ROWS - 3):
            handle.run(
                f"INSERT INTO payment (organisation_id, id, {kept}) SELECT organisation_id, :new, {kept} FROM payment"
                " WHERE organisation_id = :organisation AND id = :id",
                id=payment["id"],
                new=new_id("payment"),
            )
    # With what is brought forward and the invoice, these are all that are told.
    told = report(at(cast), "statement", customerId=customer)
    assert (len(told["rows"]), told["hasMore"], rows(told)[-1]["balance"]) == (MOST_ROWS, False, "2006.00")
    pay(cast, customer, "2026-11-03", "6")
    told = report(at(cast), "statement", customerId=customer)
    assert (len(told["rows"]), told["hasMore"], rows(told)[-1]["balance"]) == (MOST_ROWS, True, "2006.00")
    assert totals(told, *SHOWN[3:]) == {"charged": "5000.00", "paid": "3000.00", "balance": "2000.00"}


def test_it_is_refused_without_a_customer(cast: Cast) -> None:
    with pytest.raises(Invalid, match="customerId: is required for this report"):
        report(cast, "statement")
    with pytest.raises(Invalid) as refusal:
        report(cast, "statement", by="month")
    assert [fault.field for fault in refusal.value.faults] == ["by", "customerId"]


def test_entries_are_looked_up_by_an_index(cast: Cast) -> None:
    # What was before, what was since then, and the entries, of each of five kinds.
    assert len(looked_up(cast)) == 15
    for sql, steps in looked_up(cast).items():
        assert [step for step in steps if "index" in step.lower()], sql
        assert not [step for step in steps if "Seq Scan" in step or step.startswith("SCAN")], sql


@pytest.mark.only_on("sqlite")
def test_a_customer_s_are_not_looked_for_among_those_of_everyone(cast: Cast) -> None:
    # The other engine knows how many there are of each.
    for sql, steps in looked_up(cast).items():
        assert "_by_customer (organisation_id=? AND customer_id=?)" in steps[0], sql


def looked_up(cast: Cast) -> dict[str, list[str]]:
    """How documents are found for a statement, by what is run."""
    customer = a_customer(cast)
    database = RecordingDatabase(cast.stage.database)
    report(replace(cast, stage=replace(cast.stage, database=database)), "statement", customerId=customer)
    tables = [f" FROM {table} " for table in ("invoice", "credit_note", "payment")]
    read = [one for one in database.statements if any(table in one.sql for table in tables)]
    return {f"{one.sql} {one.given}": plan(cast.stage.database, one) for one in read}
