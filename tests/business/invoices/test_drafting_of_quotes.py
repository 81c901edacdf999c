"""What is billed of a quote: all of it, a part before the work, or some of its lines, each once."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from mainstay.business.customers.operations import archive_customer, update_customer
from mainstay.business.invoices.drafting.operations import delete_draft_invoice, list_invoices
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.quotes.operations import get_quote
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Invalid
from support.cast import Cast
from support.customers import make_customer, run_all_tasks
from support.hours import cast_at
from support.invoices import (
    BOILER,
    FLUE,
    credit_issued,
    edit_invoice,
    issue_invoice,
    make_accepted_quote,
    make_invoice,
    reread_invoice,
    sum_amounts,
    void_issued,
)
from support.quotes import WARRANTY, accept_quote, issue_quote, make_default_tax_rate, make_quote
from support.stored_state import list_events_of


def test_a_whole_quote_is_billed_as_it_was_accepted(cast: Cast) -> None:
    make_default_tax_rate(cast)
    heading = {"kind": "heading", "description": "Heating"}
    quote = issue_quote(cast, make_quote(cast, lines=[heading, BOILER, WARRANTY, FLUE], discount={"percent": "10"}))
    sold = accept_quote(cast, quote, chosen=[quote["lines"][2]["id"]])
    made = make_invoice(cast, quoteId="q-0001")
    assert [line["description"] for line in made["lines"]] == [line["description"] for line in sold["lines"]]
    assert [(line["optional"], line["chosen"]) for line in made["lines"]] == [(False, True)] * 4
    assert {name: made[name] for name in ("net", "tax", "total", "discount", "title", "customerId", "jobId")} == {
        name: sold[name] for name in ("net", "tax", "total", "discount", "title", "customerId", "jobId")
    }
    assert (made["kind"], made["quoteId"], made["quoteNumber"]) == ("standard", sold["id"], "Q-0001")
    assert [line["source"] and line["source"]["kind"] for line in made["lines"]] == [None, *["quoteLine"] * 3]
    assert [line["id"] for line in made["lines"]] != [line["id"] for line in sold["lines"]]


def test_what_was_not_chosen_is_not_billed(cast: Cast) -> None:
    quote = make_accepted_quote(cast, BOILER, WARRANTY)
    assert [line["description"] for line in make_invoice(cast, quoteId=quote["id"])["lines"]] == ["Combi boiler"]
    with pytest.raises(Invalid, match=r"^quoteLines\.0: is not a line of this quote$"):
        make_invoice(cast, quoteId=quote["id"], quoteLines=[quote["lines"][1]["id"]])


def test_a_quote_is_billed_once_until_what_bills_it_goes(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    first = make_invoice(cast, quoteId=quote["id"])
    with pytest.raises(Blocked, match=r"^All of Q-0001 is already on invoices\. Add a line for anything else"):
        make_invoice(cast, quoteId=quote["id"])
    cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=first["id"], confirmed=True)
    second = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))
    void_issued(cast, second)
    third = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))
    credit_issued(cast, third, amount="1")
    with pytest.raises(Blocked, match="already on invoices"):
        make_invoice(cast, quoteId=quote["id"])
    credit_issued(cast, third)
    assert make_invoice(cast, quoteId=quote["id"])["total"] == quote["total"]


@pytest.mark.parametrize(
    ("part", "kind", "total", "words"),
    [
        ({"percent": "30"}, "deposit", "393.33", "Deposit of 30% on Q-0001"),
        ({"amount": "500"}, "deposit", "500.00", "Deposit on Q-0001"),
        ({"percent": "12.5"}, "progress", "163.89", "Progress payment of 12.5% on Q-0001"),
        ({"percent": "100"}, "progress", "1311.10", "Progress payment of 100% on Q-0001"),
    ],
)
def test_a_part_is_so_much_of_each_of_its_taxes(
    cast: Cast, part: dict[str, str], kind: str, total: str, words: str
) -> None:
    make_default_tax_rate(cast)
    low = cast.perform(save_tax_rate, name="Low", components=[{"name": "VAT", "percent": "21.95"}])["id"]
    make_accepted_quote(cast, BOILER, FLUE | {"taxRateId": low})
    made = make_invoice(cast, quoteId="Q-0001", part=part, kind=kind)
    assert (made["kind"], made["total"], made["pricesIncludeTax"]) == (kind, total, True)
    assert [tax["percent"] for tax in made["taxes"]] == ["20.00", "21.95"]
    assert {line["description"] for line in made["lines"]} == {words}
    assert sum_amounts(*[line["amount"] for line in made["lines"]]) == total


def test_a_part_is_told_in_the_customer_s_language(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    cast.perform(update_customer, customerId=quote["customerId"], language="de")
    (line,) = make_invoice(cast, quoteId=quote["id"], part={"percent": "12.5"})["lines"]
    assert line["description"] == "Anzahlung von 12,5\N{NO-BREAK SPACE}% auf Q-0001"


@pytest.mark.parametrize("part", [{"percent": "100.01"}, {"amount": "1091.11"}, {"percent": "0"}, {"amount": "0"}])
def test_no_part_is_more_than_all_of_it_nor_nothing(cast: Cast, part: dict[str, str]) -> None:
    make_accepted_quote(cast)
    with pytest.raises(Invalid) as refusal:
        make_invoice(cast, quoteId="Q-0001", part=part)
    (fault,) = refusal.value.faults
    assert fault.field.startswith("part")


def test_parts_together_are_no_more_than_what_is_left(cast: Cast) -> None:
    make_accepted_quote(cast)
    issue_invoice(cast, make_invoice(cast, quoteId="Q-0001", part={"amount": "1000"}))
    message = r"^part: is 91\.11 GBP, but 91\.10 GBP of Q-0001 is left to invoice$"
    with pytest.raises(Invalid, match=message):
        make_invoice(cast, quoteId="Q-0001", part={"amount": "91.11"})
    assert make_invoice(cast, quoteId="Q-0001", part={"amount": "91.10"}, kind="progress")["total"] == "91.10"


@pytest.mark.parametrize("discount", [None, {"percent": "10"}])
def test_what_comes_on_top_of_a_quote_leaves_as_much_of_it(cast: Cast, discount: dict[str, str] | None) -> None:
    make_default_tax_rate(cast)
    quote = make_accepted_quote(cast, **({"discount": discount} if discount else {}))
    flue = quote["lines"][1]["id"]
    alone = make_invoice(cast, quoteId=quote["id"], quoteLines=[flue])
    left = str(Decimal(quote["total"]) - Decimal(alone["total"]))
    cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=alone["id"], confirmed=True)
    extra = [{"description": "Another tap", "unitPrice": "500"}]
    issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], quoteLines=[flue], lines=extra))
    with pytest.raises(Invalid, match=f"but {left} GBP of Q-0001 is left to invoice"):
        make_invoice(cast, quoteId=quote["id"], part={"amount": sum_amounts(left, "0.01")})
    assert make_invoice(cast, quoteId=quote["id"], part={"amount": left}, kind="progress")["total"] == left


def test_a_part_stands_alone(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    alone: list[dict[str, object]] = [{"lines": [BOILER]}, {"unbilled": True}, {"sources": ["entry_1"]}]
    for besides in alone:
        with pytest.raises(Invalid, match=r"^part: can't be combined with other lines"):
            make_invoice(cast, quoteId=quote["id"], part={"percent": "1"}, **besides)
    with pytest.raises(Invalid, match=r"^quoteLines: can't be combined with part"):
        make_invoice(cast, quoteId=quote["id"], part={"percent": "1"}, quoteLines=[quote["lines"][0]["id"]])


def test_a_heading_takes_no_part_in_the_discount_of_some_lines(cast: Cast) -> None:
    heading, words = ({"kind": kind, "description": "Heating"} for kind in ("heading", "text"))
    quote = make_accepted_quote(cast, heading, BOILER, words, FLUE, discount={"percent": "10"})
    ids = [line["id"] for line in quote["lines"]]
    first = make_invoice(cast, quoteId=quote["id"], quoteLines=[ids[3]])
    assert (first["net"], first["discount"]) == ("81.99", {"percent": None, "amount": "9.11"})
    rest = make_invoice(cast, quoteId=quote["id"])
    assert sum_amounts(first["net"], rest["net"]) == quote["net"]


def test_some_lines_are_billed_and_the_rest_later(cast: Cast) -> None:
    quote = make_accepted_quote(cast, discount={"amount": "109.11"})
    boiler, flue = (line["id"] for line in quote["lines"])
    first = make_invoice(cast, quoteId=quote["id"], quoteLines=[flue])
    assert (first["kind"], first["net"], first["discount"]) == (
        "standard",
        "81.99",
        {"percent": None, "amount": "9.11"},
    )
    with pytest.raises(Invalid, match=r"^quoteLines\.1: is already on an invoice$"):
        make_invoice(cast, quoteId=quote["id"], quoteLines=[boiler, flue])
    rest = make_invoice(cast, quoteId=quote["id"])
    assert [line["source"] for line in rest["lines"]] == [{"kind": "quoteLine", "id": boiler}]
    assert sum_amounts(first["net"], rest["net"]) == quote["net"]


@pytest.mark.parametrize("by_lines", [False, True])
def test_whatever_bills_the_last_of_a_quote_takes_off_what_was_asked_for_before(cast: Cast, *, by_lines: bool) -> None:
    tax = make_default_tax_rate(cast)
    quote = make_accepted_quote(cast)
    ids = [line["id"] for line in quote["lines"]]
    deposit = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"percent": "30"}))
    some = make_invoice(cast, quoteId=quote["id"], quoteLines=ids[:1])
    assert [line["source"]["kind"] for line in some["lines"]] == ["quoteLine"]
    rest = make_invoice(cast, quoteId=quote["id"], **({"quoteLines": ids[1:]} if by_lines else {}))
    assert rest["kind"] == "final"
    flue, taken = rest["lines"]
    assert flue["source"]["kind"] == "quoteLine"
    assert taken["source"] == {
        "kind": "deposit",
        "id": deposit["id"],
        "settled": {"net": f"-{deposit['net']}", "taxes": [f"-{deposit['tax']}"]},
    }
    assert (taken["quantity"], taken["taxRateId"]) == ("-1.00", tax)
    assert taken["description"].startswith(f"Deducted: Deposit invoice {deposit['number']}, dated ")
    assert sum_amounts(deposit["total"], some["total"], rest["total"]) == quote["total"]


def test_a_part_that_was_not_sent_is_not_taken_off_and_that_is_said(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    part = make_invoice(cast, quoteId=quote["id"], part={"percent": "30"})
    made = make_invoice(cast, quoteId=quote["id"])
    assert (made["kind"], made["total"]) == ("standard", quote["total"])
    message = "A draft deposit invoice for Q-0001 (327.33 GBP) hasn't been sent, so it isn't deducted here."
    way = "Delete it; or delete this draft, send the deposit invoice and create this one again."
    assert made["warnings"] == [f"{message} {way}"]
    # Then it comes too late: nothing takes it off.
    blocked = "All of Q-0001 is already on other invoices, which don't deduct this one. Delete this draft, or those"
    blocked += " drafts first."
    preview = cast.perform(send_invoice, Role.OFFICE, invoiceId=part["id"], deliver="none")
    assert preview["blockers"] == [blocked]
    with pytest.raises(Blocked):
        issue_invoice(cast, part)
    cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=made["id"], confirmed=True)
    assert issue_invoice(cast, part)["number"] == "INV-0001"


def test_what_was_credited_of_a_part_is_not_taken_off(cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = make_accepted_quote(cast)
    deposit = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"amount": "600"}))
    credit_issued(cast, deposit, amount="240")
    gone = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"amount": "100"}, kind="progress"))
    credit_issued(cast, gone)
    void = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"amount": "100"}, kind="progress"))
    void_issued(cast, void)
    final = make_invoice(cast, quoteId=quote["id"])
    assert [line["source"]["id"] for line in final["lines"] if line["source"]["kind"] == "deposit"] == [deposit["id"]]
    assert sum_amounts(final["total"], "360.00") == quote["total"]


def test_what_is_taken_off_elsewhere_stays_until_it_is_not(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    deposit = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"amount": "600"}))
    final = make_invoice(cast, quoteId=quote["id"])
    refused: list[Callable[[], object]] = [
        lambda: void_issued(cast, deposit),
        lambda: credit_issued(cast, deposit),
        lambda: credit_issued(cast, deposit, amount="1"),
    ]
    for act in refused:
        with pytest.raises(Blocked, match="INV-0001 is deducted on a draft for the same quote"):
            act()
    assert reread_invoice(cast, deposit)["availableActions"] == ["send_reminder"]
    final = issue_invoice(cast, final)
    with pytest.raises(Blocked, match=r"deducted on INV-0002\. Void or credit INV-0002 first\."):
        void_issued(cast, deposit)
    void_issued(cast, final)
    assert void_issued(cast, deposit)["status"] == "void"


def test_a_deduction_is_taken_off_as_it_was_or_not_at_all(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"amount": "600"}))
    final = make_invoice(cast, quoteId=quote["id"])
    taken = final["lines"][-1]["id"]
    for other in ({"unitPrice": "1"}, {"quantity": "-2"}, {"taxRateId": None}, {"discountPercent": "50"}):
        with pytest.raises(Invalid, match="can't be changed, because the line deducts an earlier invoice"):
            edit_invoice(cast, final, {"edit": "set", "lineId": taken, **other})
    edit_invoice(cast, final, {"edit": "set", "lineId": taken, "description": "Paid before"})
    after = edit_invoice(cast, final, {"edit": "remove", "lineId": taken})
    assert after["total"] == quote["total"]
    # Then another takes it off.
    assert cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=final["id"], confirmed=True)["id"] == final["id"]
    assert make_invoice(cast, quoteId=quote["id"])["kind"] == "final"


def test_the_discount_of_a_quote_is_for_its_own_lines(cast: Cast) -> None:
    quote = make_accepted_quote(cast, BOILER, discount={"percent": "10"})
    made = make_invoice(cast, quoteId=quote["id"], lines=[{"description": "Callout", "unitPrice": "50"}])
    assert (made["net"], made["discount"]) == ("950.00", {"percent": None, "amount": "100.00"})


def test_a_discount_that_is_said_is_for_all_of_it(cast: Cast) -> None:
    quote = make_accepted_quote(cast, BOILER, discount={"percent": "10"})
    made = make_invoice(cast, quoteId=quote["id"], discount={"percent": "20"})
    assert (made["net"], made["discount"]) == ("800.00", {"percent": "20.00", "amount": None})


def test_acceptance_drafts_the_deposit_once_and_sends_nothing(cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = issue_quote(cast, make_quote(cast, deposit={"percent": "30"}), deliver="none")
    accept_quote(cast, quote)
    for _ in range(2):
        run_all_tasks(cast)
    (deposit,) = cast.perform(list_invoices, quoteId=quote["id"])["data"]
    assert (deposit["kind"], deposit["status"], deposit["total"]) == ("deposit", "draft", "360.00")
    assert deposit["jobId"] == cast.perform(get_quote, quoteId=quote["id"])["jobId"]
    created = [event for event in list_events_of(cast) if event["type"] == "invoice.created"]
    assert [event["actor"]["kind"] for event in created] == ["person"]


def test_the_deposit_of_a_customer_who_was_archived_is_drafted_and_whoever_sends_it_is_told(cast: Cast) -> None:
    quote = issue_quote(cast, make_quote(cast, lines=[BOILER], deposit={"percent": "30"}), deliver="none")
    cast.perform(archive_customer, customerId=quote["customerId"])
    accept_quote(cast, quote)
    run_all_tasks(cast)
    (deposit,) = cast.perform(list_invoices, quoteId=quote["id"])["data"]
    assert (deposit["kind"], deposit["status"], deposit["total"]) == ("deposit", "draft", "300.00")
    with pytest.raises(Blocked, match="is archived"):
        issue_invoice(cast, deposit)
    with pytest.raises(Blocked, match="is archived"):
        make_invoice(cast, quoteId=quote["id"])


def test_acceptance_drafts_no_deposit_where_none_is_asked_for_or_one_is_there(cast: Cast) -> None:
    make_accepted_quote(cast)
    by_hand = make_accepted_quote(cast, BOILER, deposit={"amount": "250"})
    run_all_tasks(cast)
    assert [one["id"] for one in cast.perform(list_invoices)["data"]] == [by_hand["depositInvoiceId"]]


def test_a_second_deposit_is_warned_of_where_it_is_drafted_and_where_one_is_sent(cast: Cast) -> None:
    quote = make_accepted_quote(cast, BOILER, deposit={"amount": "250"})
    second = make_invoice(cast, quoteId=quote["id"], part={"amount": "100"})
    message = "Q-0001 already has another deposit invoice: {}. Check that you want a second one."
    assert second["warnings"] == [message.format("a draft for 250.00 GBP")]
    progress = make_invoice(cast, quoteId=quote["id"], part={"amount": "100"}, kind="progress")
    assert "warnings" not in progress

    def warned(invoice: str) -> list[str]:
        preview = cast.perform(send_invoice, Role.OFFICE, invoiceId=invoice, deliver="none")
        return [warning for warning in preview["warnings"] if "deposit" in warning]

    assert warned(quote["depositInvoiceId"]) == [message.format("a draft for 100.00 GBP")]
    issue_invoice(cast, {"id": quote["depositInvoiceId"]})
    assert warned(second["id"]) == [message.format("INV-0001 for 250.00 GBP")]
    assert warned(progress["id"]) == []


def test_a_deposit_by_amount_is_what_the_quote_said(cast: Cast) -> None:
    make_accepted_quote(cast_at(cast), BOILER, customerId=make_customer(cast), deposit={"amount": "250"})
    run_all_tasks(cast)
    (deposit,) = cast.perform(list_invoices, kind="deposit")["data"]
    assert deposit["total"] == "250.00"
