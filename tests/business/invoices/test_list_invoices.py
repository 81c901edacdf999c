from typing import Any

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices import store
from mainstay.business.invoices.drafting.operations import get_invoice, list_invoices
from mainstay.business.invoices.issuing.crediting import list_credit_notes
from mainstay.business.invoices.payments.recording import list_payments, record_payment, reverse_payment
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job, run_all_tasks
from support.hours import cast_at as at_noon
from support.invoices import (
    BOILER,
    credit_issued,
    issue_invoice,
    make_accepted_quote,
    make_invoice,
    pay_invoice,
    void_issued,
)
from support.quotes import cast_later

LISTS = (list_invoices, list_payments, list_credit_notes)


def list_numbers(cast: Cast, **given: object) -> list[str | None]:
    return [invoice["number"] for invoice in cast.perform(list_invoices, Role.OFFICE, **given)["data"]]


@pytest.fixture
def all_states(cast: Cast) -> Cast:
    """One invoice of each state, at noon: a draft, and INV-0001 to INV-0005."""
    noon = at_noon(cast)
    make_invoice(noon)
    issue_invoice(noon)
    pay_invoice(noon, issue_invoice(noon), "250")
    pay_invoice(noon, issue_invoice(noon))
    credit_issued(noon, issue_invoice(noon))
    void_issued(noon, issue_invoice(noon))
    return noon


def test_the_newest_come_first_and_without_their_lines(all_states: Cast) -> None:
    page = all_states.perform(list_invoices, Role.OFFICE)
    assert list_numbers(all_states) == ["INV-0005", "INV-0004", "INV-0003", "INV-0002", "INV-0001", None]
    whole = all_states.perform(get_invoice, Role.OFFICE, invoiceId="INV-0003")
    row = page["data"][2]
    assert row == {name: whole[name] for name in row}
    assert not {"lines", "taxes", "cost", "margin", "notes"} & row.keys()


def test_by_each_state(all_states: Cast) -> None:
    states = ("draft", "sent", "partPaid", "paid", "credited", "void", "overdue", "unpaid")
    assert {state: list_numbers(all_states, status=state) for state in states} == {
        "draft": [None],
        "sent": ["INV-0001"],
        "partPaid": ["INV-0002"],
        "paid": ["INV-0003"],
        "credited": ["INV-0004"],
        "void": ["INV-0005"],
        "overdue": [],
        "unpaid": ["INV-0002", "INV-0001"],
    }


def test_time_alone_makes_them_overdue(all_states: Cast) -> None:
    after = cast_later(all_states, days=15)
    assert list_numbers(after, status="unpaid") == ["INV-0002", "INV-0001"]
    # What is overdue longest comes first.
    assert list_numbers(after, status="overdue") == ["INV-0001", "INV-0002"]
    assert list_numbers(after, status="sent") == list_numbers(after, status="partPaid") == []
    rows: list[dict[str, Any]] = after.perform(list_invoices, Role.OFFICE)["data"]
    assert [row["status"] for row in rows] == ["void", "credited", "paid", "overdue", "overdue", "draft"]


def test_each_row_of_a_page_says_what_can_be_done_with_it(all_states: Cast) -> None:
    answer = all_states.performer.perform(
        list_invoices, all_states.actor(Role.OFFICE), b"{}", RequestDetails("r", with_actions=True)
    )
    assert b'"availableActions":["update_invoice","delete_draft_invoice","send_invoice"]' in answer.body
    assert b'"availableActions":["void_invoice","send_reminder","credit_invoice"]' in answer.body
    assert b'"availableActions":["send_reminder","credit_invoice"]' in answer.body


def test_by_customer_job_quote_kind_dates_and_text(cast: Cast) -> None:
    noon, customer = at_noon(cast), make_customer(cast, "Ryburn Mills")
    job = make_job(cast, customer)
    issue_invoice(noon, make_invoice(noon, jobId=job["id"], title="New boiler"))
    quote = make_accepted_quote(cast, BOILER)
    issue_invoice(cast_later(noon, days=1), make_invoice(noon, quoteId=quote["id"], part={"amount": "77.50"}))
    assert list_numbers(cast, customerId=customer) == list_numbers(cast, jobId=job["number"]) == ["INV-0001"]
    assert list_numbers(cast, quoteId="q-0001") == list_numbers(cast, kind="deposit") == ["INV-0002"]
    assert list_numbers(cast, jobId=job["id"], status="paid") == list_numbers(cast, kind="final") == []
    assert list_numbers(cast, **{"from": "2026-11-16", "until": "2026-11-16"}) == ["INV-0001"]
    assert list_numbers(cast, **{"from": "2026-11-17"}) == ["INV-0002"]
    texts = {"ryburn boil": ["INV-0001"], "inv-0002": ["INV-0002"], "nothing": []}
    assert {text: list_numbers(cast, text=text) for text in texts} == texts
    assert list_numbers(cast, text="77.50") == list_numbers(cast, text="7750") == ["INV-0002"]


def test_in_the_order_of_issue_and_of_what_is_due(cast: Cast) -> None:
    noon = at_noon(cast)
    drafts = [make_invoice(noon, dueOn=day) for day in ("2031-03-01", "2031-01-01", "2031-02-01")]
    for days, draft in zip((2, 0, 1), drafts, strict=True):
        issue_invoice(cast_later(noon, days=days), draft)
    # It has no date to stand by.
    make_invoice(noon)
    assert list_numbers(cast, order="due") == ["INV-0002", "INV-0003", "INV-0001"]
    assert list_numbers(cast, order="issued") == ["INV-0001", "INV-0003", "INV-0002"]
    first = cast.perform(list_invoices, order="due", limit=1)
    assert first["hasMore"]
    behind = first["data"][-1]["id"]
    assert list_numbers(cast, order="due", startingAfter=behind) == ["INV-0003", "INV-0001"]


def test_one_is_found_by_its_id_or_number_however_it_is_written(cast: Cast) -> None:
    sent = issue_invoice(cast)
    for name in (sent["id"], "INV-0001", "inv-0001", " inv-0001 ", "INV-1"):
        assert cast.perform(get_invoice, Role.OFFICE, invoiceId=name)["id"] == sent["id"]
    with pytest.raises(NotFound):
        cast.perform(get_invoice, invoiceId="INV-0002")


def test_all_of_a_customer_s_follow_their_name_and_go_over_with_them(cast: Cast) -> None:
    sent = issue_invoice(cast)
    credit_issued(cast, sent, amount="1")
    payment = pay_invoice(cast, sent, "1")
    cast.perform(update_customer, customerId=sent["customerId"], name="Zirconium")
    run_all_tasks(cast)
    for operation in LISTS:
        (row,) = cast.perform(operation, text="zirconium")["data"]
        assert row["customerName"] == "Zirconium"
        assert cast.perform(operation, text="calder")["data"] == []
    other = make_customer(cast)
    cast.perform(merge_customers, customerId=sent["customerId"], intoCustomerId=other, confirmed=True)
    for operation in LISTS:
        (row,) = cast.perform(operation, customerId=other)["data"]
        assert row["customerName"] == "Calder Property"
    assert payment["customerId"] != other


def test_payments_by_state_customer_invoice_method_dates_and_text(cast: Cast) -> None:
    noon = at_noon(cast)
    sent, other = issue_invoice(noon), issue_invoice(noon)
    first = pay_invoice(noon, sent, "11", on="2026-11-01", method="cash", reference="Boiler")
    second = cast.perform(
        record_payment, customerId=other["customerId"], amount="22.50", allocations=[], on="2026-11-10"
    )
    third = pay_invoice(noon, other, "33")
    cast.perform(reverse_payment, paymentId=third["id"], reason="x", confirmed=True)

    def found(**given: object) -> list[str]:
        return [one["id"] for one in cast.perform(list_payments, Role.OFFICE, **given)["data"]]

    assert found() == [third["id"], second["id"], first["id"]]
    assert (found(status="recorded"), found(status="reversed")) == ([second["id"], first["id"]], [third["id"]])
    assert found(status="onAccount") == [second["id"]]
    assert found(customerId=sent["customerId"]) == found(invoiceId="INV-0001") == found(method="cash") == [first["id"]]
    assert found(invoiceId=other["id"]) == []
    assert found(**{"from": "2026-11-02", "until": "2026-11-10"}) == [second["id"]]
    assert found(order="date") == [third["id"], second["id"], first["id"]]
    assert found(text="boil") == [first["id"]]
    assert found(text="22.50") == [second["id"]]


def test_credit_notes_by_customer_invoice_dates_and_text(cast: Cast) -> None:
    noon = at_noon(cast)
    sent, other = issue_invoice(noon), issue_invoice(noon)
    credit_issued(noon, sent, amount="12.34")
    credit_issued(cast_later(noon, days=1), other)

    def found(**given: object) -> list[str]:
        return [one["number"] for one in cast.perform(list_credit_notes, Role.OFFICE, **given)["data"]]

    assert found() == found(order="issued") == ["CN-0002", "CN-0001"]
    assert found(customerId=sent["customerId"]) == found(invoiceId="INV-0001") == ["CN-0001"]
    assert found(**{"from": "2026-11-17"}) == ["CN-0002"]
    assert found(text="12.34") == found(text="cn-0001") == ["CN-0001"]


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.name)
def test_a_stranger_s_are_not_there_and_what_is_unknown_is_said(
    cast: Cast, other_cast: Cast, operation: Operation
) -> None:
    credit_issued(other_cast, issue_invoice(other_cast), amount="1")
    assert cast.perform(operation)["data"] == []
    if operation is not list_invoices:
        with pytest.raises(NotFound):
            cast.perform(operation, invoiceId="INV-0001")
    with pytest.raises(Invalid, match=r"^colour: is not known here$"):
        cast.perform(operation, colour="red")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_see_none(cast: Cast, role: Role) -> None:
    for operation in LISTS:
        with pytest.raises(Forbidden):
            cast.perform(operation, role)


def test_they_are_read_while_lapsed(cast: Cast) -> None:
    sent = issue_invoice(cast)
    cast.lapse()
    assert list_numbers(cast) == [sent["number"]]


def issue_due_on(cast: Cast, price: str, due: str, **given: object) -> dict[str, Any]:
    """Issue an invoice of this price at noon, due on a given day."""
    lines = [{"description": "Work", "unitPrice": price}]
    return issue_invoice(cast, make_invoice(cast, lines=lines, dueOn=due, **given))


def test_those_due_between_two_dates_come_first_due_first(cast: Cast) -> None:
    noon = at_noon(cast)
    for price, due in (("1", "2026-12-04"), ("2", "2026-11-30"), ("3", "2026-12-01"), ("4", "2026-12-05")):
        issue_due_on(noon, price, due)
    assert list_numbers(noon, dueFrom="2026-12-01", dueUntil="2026-12-04") == ["INV-0003", "INV-0001"]
    assert list_numbers(noon, dueFrom="2026-12-04") == ["INV-0001", "INV-0004"]
    assert list_numbers(noon, dueUntil="2026-11-30") == ["INV-0002"]
    with pytest.raises(Invalid, match=r"^dueUntil: is before the first date$"):
        list_numbers(noon, dueFrom="2026-12-02", dueUntil="2026-12-01")


def test_totals_are_of_the_whole_list_and_only_if_asked_for(cast: Cast) -> None:
    noon = at_noon(cast)
    customer = make_customer(cast, email="ann@calder.example")
    pay_invoice(noon, issue_due_on(noon, "100", "2026-12-01", customerId=customer), "40")
    issue_due_on(noon, "20.50", "2026-12-02", customerId=customer)
    issue_due_on(noon, "7", "2026-12-03")
    due = {"dueFrom": "2026-12-01", "dueUntil": "2026-12-02", "status": "unpaid"}
    page = noon.perform(list_invoices, Role.OFFICE, **due, totals=True, limit=1)
    assert (len(page["data"]), page["hasMore"]) == (1, True)
    assert page["totals"] == {"currency": "GBP", "count": 2, "total": "120.50", "due": "80.50"}
    behind = noon.perform(list_invoices, Role.OFFICE, **due, totals=True, startingAfter=page["data"][0]["id"])
    assert behind["totals"] == page["totals"]
    assert noon.perform(list_invoices, Role.OFFICE, **due).keys() == {"object", "data", "hasMore"}
    nothing = noon.perform(list_invoices, Role.OFFICE, status="overdue", totals=True)["totals"]
    assert nothing == {"currency": "GBP", "count": 0, "total": "0.00", "due": "0.00"}


def test_of_a_void_invoice_nothing_is_due_and_a_draft_in_another_currency_is_left_out(cast: Cast) -> None:
    noon = at_noon(cast)
    make_invoice(noon)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE invoice SET currency = 'EUR' WHERE organisation_id = :organisation")
    void_issued(noon, issue_invoice(noon))
    found = noon.perform(list_invoices, Role.OFFICE, totals=True)["totals"]
    assert (found["count"], found["total"], found["due"]) == (1, "1000.00", "0.00")


def test_very_many_are_not_summed_up(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    noon = at_noon(cast)
    for _ in range(3):
        issue_invoice(noon)
    monkeypatch.setattr(store, "MAX_SUMMED", 2)
    found = noon.perform(list_invoices, Role.OFFICE, totals=True)["totals"]
    assert found == {"currency": "GBP", "count": None, "total": None, "due": None}


def test_a_search_has_no_totals(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^totals: is not available for a search: filter"):
        cast.perform(list_invoices, Role.OFFICE, text="heating", totals=True)
