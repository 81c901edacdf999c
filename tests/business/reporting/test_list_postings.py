from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

import pytest

from mainstay.business.invoices.payments.recording import allocate_payment
from mainstay.business.reporting.journal import list_postings
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid
from support.cast import Cast
from support.hours import cast_at
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, void_issued
from support.quotes import make_default_tax_rate
from support.random_documents import reverse_bounced, trade_for_months
from support.reports import make_rate_with_parts, name_rows, name_totals, perform_report

ACCOUNT = ("account", "detail", "debit", "credit")


def read_journal(cast: Cast, **given: object) -> list[dict[str, Any]]:
    """Read the whole journal, page by page."""
    found: list[dict[str, Any]] = []
    while True:
        behind = {"startingAfter": found[-1]["id"]} if found else {}
        page = cast.perform(list_postings, Role.OFFICE, **given, **behind)
        found += page["data"]
        if not page["hasMore"]:
            return found


def account_rows(postings: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(one[name] for name in ACCOUNT) for one in postings]


def test_an_invoice_is_owed_and_brings_revenue_and_tax(cast: Cast) -> None:
    cast = cast_at(cast)
    both = make_rate_with_parts(cast, "Quebec", GST="5", QST="9.975")
    lines = [{"description": "Work", "unitPrice": "140", "taxRateId": both}, {"description": "Fee", "unitPrice": "3"}]
    invoice = issue_invoice(cast, make_invoice(cast, lines=lines))
    owed, *others = read_journal(cast)
    assert owed == {
        "object": "posting",
        "id": f"2026-11-16.1.{invoice['id']}.1",
        "on": "2026-11-16",
        "document": "invoice",
        "documentId": invoice["id"],
        "number": "INV-0001",
        "customerId": invoice["customerId"],
        "customerName": "Calder Property",
        "account": "receivable",
        "detail": None,
        "taxRateId": None,
        "taxCategory": None,
        "taxPercent": None,
        "currency": "GBP",
        "debit": "163.97",
        "credit": None,
        "invoices": None,
        "text": "New heating",
    }
    assert account_rows(others) == [
        ("revenue", "Quebec", None, "140.00"),
        ("revenue", "Not taxed", None, "3.00"),
        ("tax", "GST", None, "7.00"),
        ("tax", "QST", None, "13.97"),
    ]
    assert [(one["taxRateId"], one["taxPercent"]) for one in others] == [
        (both, "5.00"),
        (None, "0.00"),
        (both, "5.00"),
        (both, "9.975"),
    ]


def test_what_takes_off_a_deposit_stands_on_the_other_side(cast: Cast) -> None:
    cast = cast_at(cast)
    tax = make_rate_with_parts(cast, "Full", VAT="20")
    lines = [{"description": "Less", "unitPrice": "-10", "taxRateId": tax}, {"description": "Fee", "unitPrice": "30"}]
    issue_invoice(cast, make_invoice(cast, lines=lines))
    assert account_rows(read_journal(cast)) == [
        ("receivable", None, "18.00", None),
        ("revenue", "Full", "10.00", None),
        ("revenue", "Not taxed", None, "30.00"),
        ("tax", "VAT", "2.00", None),
    ]


def test_a_void_invoice_is_taken_back_on_its_day(cast: Cast) -> None:
    make_default_tax_rate(cast)
    invoice = issue_invoice(cast_at(cast, "2026-10-31T12:00:00Z"))
    void_issued(cast_at(cast, "2026-11-02T12:00:00Z"), invoice)
    issue, void = read_journal(cast)[:3], read_journal(cast)[3:]
    assert [(one["on"], one["document"], one["number"]) for one in void] == [("2026-11-02", "void", "INV-0001")] * 3
    assert account_rows(void) == [(*one[:2], one[3], one[2]) for one in account_rows(issue)]
    assert void[0]["text"] == "A mistake"
    assert read_journal(cast, until="2026-11-01") == issue


def test_a_credit_note_takes_back_what_it_credits(cast: Cast) -> None:
    cast = cast_at(cast)
    make_default_tax_rate(cast)
    credit_issued(cast, issue_invoice(cast), amount="120")
    note = read_journal(cast)[3:]
    assert [(one["document"], one["number"], one["invoices"], one["text"]) for one in note] == [
        ("creditNote", "CN-0001", "INV-0001", "Returned")
    ] * 3
    assert account_rows(note) == [
        ("receivable", None, None, "120.00"),
        ("revenue", "VAT 20 %", "100.00", None),
        ("tax", "VAT", "20.00", None),
    ]


def test_a_payment_comes_to_the_bank_whatever_it_is_for(cast: Cast) -> None:
    cast = cast_at(cast)
    invoice = issue_invoice(cast)
    payment = pay_invoice(cast, invoice, "1200", method="card", reference="=1+1", on="2026-11-10")
    before = read_journal(cast, until="2026-11-15")
    assert account_rows(before) == [("bank", "card", "1200.00", None), ("receivable", None, None, "1200.00")]
    assert {(one["number"], one["invoices"], one["text"]) for one in before} == {(None, "INV-0001", "=1+1")}
    # What is on account is in it, and where it is put changes nothing.
    cast.perform(allocate_payment, paymentId=payment["id"], allocations=[{"invoiceId": invoice["id"], "amount": "0"}])
    assert account_rows(read_journal(cast, until="2026-11-15")) == account_rows(before)
    reverse_bounced(cast_at(cast, "2026-11-20T12:00:00Z"), payment)
    after = read_journal(cast, **{"from": "2026-11-17"})
    assert account_rows(after) == [("bank", "card", None, "1200.00"), ("receivable", None, "1200.00", None)]
    assert {(one["on"], one["document"], one["text"]) for one in after} == {("2026-11-20", "reversal", "Bounced")}


def test_an_invoice_over_nothing_moves_nothing(cast: Cast) -> None:
    cast = cast_at(cast)
    issue_invoice(cast, make_invoice(cast, lines=[{"description": "Gift", "unitPrice": "0"}]))
    make_invoice(cast)
    assert read_journal(cast) == []


@pytest.fixture
def trading_cast(cast: Cast) -> Cast:
    trade_for_months(cast)
    return cast_at(cast)


def balance_of(postings: list[dict[str, Any]]) -> Decimal:
    return sum((Decimal(one["debit"] or 0) - Decimal(one["credit"] or 0) for one in postings), Decimal(0))


def test_debits_equal_credits_in_each_document_and_it_comes_to_what_the_reports_tell(trading_cast: Cast) -> None:
    postings = read_journal(trading_cast)
    documents, accounts, customers = defaultdict(list), defaultdict(list), defaultdict(list)
    for one in postings:
        documents[one["document"], one["documentId"]].append(one)
        accounts[one["account"]].append(one)
        if one["account"] == "receivable":
            customers[one["customerId"]].append(one)
        assert (one["debit"] is None) != (one["credit"] is None)
    assert {kind for kind, _ in documents} == {"invoice", "void", "creditNote", "payment", "reversal"}
    assert {balance_of(of) for of in documents.values()} == {0}
    revenue, taxes = (
        name_totals(perform_report(trading_cast, "revenue")),
        name_totals(perform_report(trading_cast, "taxSummary")),
    )
    assert -balance_of(accounts["revenue"]) == Decimal(revenue["revenue"]) == Decimal(taxes["net"])
    assert -balance_of(accounts["tax"]) == Decimal(revenue["tax"]) == Decimal(taxes["tax"])
    assert balance_of(accounts["bank"]) == Decimal(revenue["paid"])
    owed = {
        row["customerId"]: Decimal(row["balance"]) for row in name_rows(perform_report(trading_cast, "receivables"))
    }
    assert owed == {customer: balance_of(of) for customer, of in customers.items() if customer in owed}
    assert {balance_of(of) for customer, of in customers.items() if customer not in owed} <= {0}


def test_pages_of_any_length_tell_the_same_in_the_order_of_days(trading_cast: Cast) -> None:
    whole = read_journal(trading_cast)
    assert [one["on"] for one in whole] == sorted(one["on"] for one in whole)
    assert max(Counter(one["id"] for one in whole).values()) == 1
    for limit in (1, 2, 7):
        assert read_journal(trading_cast, limit=limit) == whole
    between = {"from": "2026-08-10", "until": "2026-09-20"}
    assert read_journal(trading_cast, limit=3, **between) == [
        one for one in whole if "2026-08-10" <= one["on"] <= "2026-09-20"
    ]


@pytest.mark.parametrize(
    "place",
    ["invoice_01KA3R2D4F6H8J0K2N4P6R8T0V", "2026-11-16", "2026-13-16.1.invoice_1.1", "2026-11-16.6.invoice_1.1", ""],
)
def test_what_is_no_place_is_refused(cast: Cast, place: str) -> None:
    with pytest.raises(Invalid, match="startingAfter: is not the id of a posting"):
        cast.perform(list_postings, startingAfter=place)


def test_a_range_that_ends_before_it_begins_is_refused(cast: Cast) -> None:
    with pytest.raises(Invalid, match="until: is before the first date"):
        cast.perform(list_postings, **{"from": "2026-11-16", "until": "2026-11-15"})


def test_it_is_for_the_office_and_its_agents(cast: Cast) -> None:
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        with pytest.raises(Forbidden):
            cast.perform(list_postings, role)
    assert Door.AGENT in list_postings.doors


def test_nobody_sees_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    issue_invoice(cast_at(other_cast))
    assert read_journal(cast_at(cast)) == []
