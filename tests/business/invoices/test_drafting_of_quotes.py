"""What is billed of a quote: all of it, a part before the work, or some of its lines, each once."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from billing import BOILER, FLUE, a_sold_quote, an_invoice, changed, credited, issued, now, together, voided
from cast import Cast
from evidence import events
from labour import at
from mainstay.business.customers.operations import archive_customer, update_customer
from mainstay.business.invoices.operations import delete_draft_invoice, list_invoices
from mainstay.business.invoices.sending import send_invoice
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.quotes.operations import get_quote
from mainstay.terms.refusal import Blocked, Invalid
from mainstay.terms.rights import Role
from quoting import WARRANTY, a_draft, accepted, sent, usual_tax
from trade import a_customer, work_off


def test_a_whole_quote_is_billed_as_it_was_accepted(cast: Cast) -> None:
    usual_tax(cast)
    heading = {"kind": "heading", "description": "Heating"}
    quote = sent(cast, a_draft(cast, lines=[heading, BOILER, WARRANTY, FLUE], discount={"percent": "10"}))
    sold = accepted(cast, quote, chosen=[quote["lines"][2]["id"]])
    made = an_invoice(cast, quoteId="q-0001")
    assert [line["description"] for line in made["lines"]] == [line["description"] for line in sold["lines"]]
    assert [(line["optional"], line["chosen"]) for line in made["lines"]] == [(False, True)] * 4
    assert {name: made[name] for name in ("net", "tax", "total", "discount", "title", "customerId", "jobId")} == {
        name: sold[name] for name in ("net", "tax", "total", "discount", "title", "customerId", "jobId")
    }
    assert (made["kind"], made["quoteId"], made["quoteNumber"]) == ("standard", sold["id"], "Q-0001")
    assert [line["source"] and line["source"]["kind"] for line in made["lines"]] == [None, *["quoteLine"] * 3]
    assert [line["id"] for line in made["lines"]] != [line["id"] for line in sold["lines"]]


def test_what_was_not_chosen_is_not_billed(cast: Cast) -> None:
    quote = a_sold_quote(cast, BOILER, WARRANTY)
    assert [line["description"] for line in an_invoice(cast, quoteId=quote["id"])["lines"]] == ["Combi boiler"]
    with pytest.raises(Invalid, match=r"^quoteLines\.0: is no line of the quote that counts$"):
        an_invoice(cast, quoteId=quote["id"], quoteLines=[quote["lines"][1]["id"]])


def test_a_quote_is_billed_once_until_what_bills_it_goes(cast: Cast) -> None:
    quote = a_sold_quote(cast)
    first = an_invoice(cast, quoteId=quote["id"])
    with pytest.raises(Blocked, match=r"^All of Q-0001 is on invoices already\. Bill anything else"):
        an_invoice(cast, quoteId=quote["id"])
    cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=first["id"], confirmed=True)
    second = issued(cast, an_invoice(cast, quoteId=quote["id"]))
    voided(cast, second)
    third = issued(cast, an_invoice(cast, quoteId=quote["id"]))
    credited(cast, third, amount="1")
    with pytest.raises(Blocked, match="on invoices already"):
        an_invoice(cast, quoteId=quote["id"])
    credited(cast, third)
    assert an_invoice(cast, quoteId=quote["id"])["total"] == quote["total"]


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
    usual_tax(cast)
    low = cast.perform(save_tax_rate, name="Low", components=[{"name": "VAT", "percent": "21.95"}])["id"]
    a_sold_quote(cast, BOILER, FLUE | {"taxRateId": low})
    made = an_invoice(cast, quoteId="Q-0001", part=part, kind=kind)
    assert (made["kind"], made["total"], made["pricesIncludeTax"]) == (kind, total, True)
    assert [tax["percent"] for tax in made["taxes"]] == ["20.00", "21.95"]
    assert {line["description"] for line in made["lines"]} == {words}
    assert together(*[line["amount"] for line in made["lines"]]) == total


def test_a_part_is_told_in_the_customer_s_language(cast: Cast) -> None:
    quote = a_sold_quote(cast)
    cast.perform(update_customer, customerId=quote["customerId"], language="de")
    (line,) = an_invoice(cast, quoteId=quote["id"], part={"percent": "12.5"})["lines"]
    assert line["description"] == "Anzahlung von 12,5\N{NO-BREAK SPACE}% auf Q-0001"


@pytest.mark.parametrize("part", [{"percent": "100.01"}, {"amount": "1091.11"}, {"percent": "0"}, {"amount": "0"}])
def test_no_part_is_more_than_all_of_it_nor_nothing(cast: Cast, part: dict[str, str]) -> None:
    a_sold_quote(cast)
    with pytest.raises(Invalid) as refusal:
        an_invoice(cast, quoteId="Q-0001", part=part)
    (fault,) = refusal.value.faults
    assert fault.field.startswith("part")


def test_parts_together_are_no_more_than_what_is_left(cast: Cast) -> None:
    a_sold_quote(cast)
    issued(cast, an_invoice(cast, quoteId="Q-0001", part={"amount": "1000"}))
    told = r"^part: comes to 91\.11, and 91\.10 of Q-0001 is left to be invoiced$"
    with pytest.raises(Invalid, match=told):
        an_invoice(cast, quoteId="Q-0001", part={"amount": "91.11"})
    assert an_invoice(cast, quoteId="Q-0001", part={"amount": "91.10"}, kind="progress")["total"] == "91.10"


@pytest.mark.parametrize("discount", [None, {"percent": "10"}])
def test_what_comes_on_top_of_a_quote_leaves_as_much_of_it(cast: Cast, discount: dict[str, str] | None) -> None:
    usual_tax(cast)
    quote = a_sold_quote(cast, **({"discount": discount} if discount else {}))
    flue = quote["lines"][1]["id"]
    alone = an_invoice(cast, quoteId=quote["id"], quoteLines=[flue])
    left = str(Decimal(quote["total"]) - Decimal(alone["total"]))
    cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=alone["id"], confirmed=True)
    extra = [{"description": "Another tap", "unitPrice": "500"}]
    issued(cast, an_invoice(cast, quoteId=quote["id"], quoteLines=[flue], lines=extra))
    with pytest.raises(Invalid, match=f"and {left} of Q-0001 is left to be invoiced"):
        an_invoice(cast, quoteId=quote["id"], part={"amount": together(left, "0.01")})
    assert an_invoice(cast, quoteId=quote["id"], part={"amount": left}, kind="progress")["total"] == left


def test_a_part_stands_alone(cast: Cast) -> None:
    quote = a_sold_quote(cast)
    alone: list[dict[str, object]] = [{"lines": [BOILER]}, {"unbilled": True}, {"sources": ["entry_1"]}]
    for besides in alone:
        with pytest.raises(Invalid, match=r"^part: stands alone on an invoice"):
            an_invoice(cast, quoteId=quote["id"], part={"percent": "1"}, **besides)
    with pytest.raises(Invalid, match=r"^quoteLines: is not sent with part"):
        an_invoice(cast, quoteId=quote["id"], part={"percent": "1"}, quoteLines=[quote["lines"][0]["id"]])


def test_a_heading_takes_no_part_in_the_discount_of_some_lines(cast: Cast) -> None:
    heading, words = ({"kind": kind, "description": "Heating"} for kind in ("heading", "text"))
    quote = a_sold_quote(cast, heading, BOILER, words, FLUE, discount={"percent": "10"})
    ids = [line["id"] for line in quote["lines"]]
    first = an_invoice(cast, quoteId=quote["id"], quoteLines=[ids[3]])
    assert (first["net"], first["discount"]) == ("81.99", {"percent": None, "amount": "9.11"})
    rest = an_invoice(cast, quoteId=quote["id"])
    assert together(first["net"], rest["net"]) == quote["net"]


def test_some_lines_are_billed_and_the_rest_later(cast: Cast) -> None:
    quote = a_sold_quote(cast, discount={"amount": "109.11"})
    boiler, flue = (line["id"] for line in quote["lines"])
    first = an_invoice(cast, quoteId=quote["id"], quoteLines=[flue])
    assert (first["kind"], first["net"], first["discount"]) == (
        "standard",
        "81.99",
        {"percent": None, "amount": "9.11"},
    )
    with pytest.raises(Invalid, match=r"^quoteLines\.1: is on an invoice already$"):
        an_invoice(cast, quoteId=quote["id"], quoteLines=[boiler, flue])
    rest = an_invoice(cast, quoteId=quote["id"])
    assert [line["source"] for line in rest["lines"]] == [{"kind": "quoteLine", "id": boiler}]
    assert together(first["net"], rest["net"]) == quote["net"]


@pytest.mark.parametrize("by_lines", [False, True])
def test_whatever_bills_the_last_of_a_quote_takes_off_what_was_asked_for_before(cast: Cast, *, by_lines: bool) -> None:
    tax = usual_tax(cast)
    quote = a_sold_quote(cast)
    ids = [line["id"] for line in quote["lines"]]
    deposit = issued(cast, an_invoice(cast, quoteId=quote["id"], part={"percent": "30"}))
    some = an_invoice(cast, quoteId=quote["id"], quoteLines=ids[:1])
    assert [line["source"]["kind"] for line in some["lines"]] == ["quoteLine"]
    rest = an_invoice(cast, quoteId=quote["id"], **({"quoteLines": ids[1:]} if by_lines else {}))
    assert rest["kind"] == "final"
    flue, taken = rest["lines"]
    assert flue["source"]["kind"] == "quoteLine"
    assert taken["source"] == {
        "kind": "deposit",
        "id": deposit["id"],
        "settled": {"net": f"-{deposit['net']}", "taxes": [f"-{deposit['tax']}"]},
    }
    assert (taken["quantity"], taken["taxRateId"]) == ("-1.00", tax)
    assert taken["description"].startswith(f"Less Deposit invoice {deposit['number']} of ")
    assert together(deposit["total"], some["total"], rest["total"]) == quote["total"]


def test_a_part_that_was_not_sent_is_not_taken_off_and_that_is_said(cast: Cast) -> None:
    quote = a_sold_quote(cast)
    part = an_invoice(cast, quoteId=quote["id"], part={"percent": "30"})
    made = an_invoice(cast, quoteId=quote["id"])
    assert (made["kind"], made["total"]) == ("standard", quote["total"])
    told = "A draft of a deposit invoice for Q-0001 is there, which is not taken off."
    way = "Delete this draft, send that one and draft this anew; or delete that one."
    assert made["warnings"] == [f"{told} {way}"]
    # Then it comes too late: nothing takes it off.
    blocked = "All of Q-0001 is on other invoices, which do not take this one off. Delete it, or those drafts, first."
    preview = cast.perform(send_invoice, Role.OFFICE, invoiceId=part["id"], deliver="none")
    assert preview["blockers"] == [blocked]
    with pytest.raises(Blocked):
        issued(cast, part)
    cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=made["id"], confirmed=True)
    assert issued(cast, part)["number"] == "INV-0001"


def test_what_was_credited_of_a_part_is_not_taken_off(cast: Cast) -> None:
    usual_tax(cast)
    quote = a_sold_quote(cast)
    deposit = issued(cast, an_invoice(cast, quoteId=quote["id"], part={"amount": "600"}))
    credited(cast, deposit, amount="240")
    gone = issued(cast, an_invoice(cast, quoteId=quote["id"], part={"amount": "100"}, kind="progress"))
    credited(cast, gone)
    void = issued(cast, an_invoice(cast, quoteId=quote["id"], part={"amount": "100"}, kind="progress"))
    voided(cast, void)
    final = an_invoice(cast, quoteId=quote["id"])
    assert [line["source"]["id"] for line in final["lines"] if line["source"]["kind"] == "deposit"] == [deposit["id"]]
    assert together(final["total"], "360.00") == quote["total"]


def test_what_is_taken_off_elsewhere_stays_until_it_is_not(cast: Cast) -> None:
    quote = a_sold_quote(cast)
    deposit = issued(cast, an_invoice(cast, quoteId=quote["id"], part={"amount": "600"}))
    final = an_invoice(cast, quoteId=quote["id"])
    refused: list[Callable[[], object]] = [
        lambda: voided(cast, deposit),
        lambda: credited(cast, deposit),
        lambda: credited(cast, deposit, amount="1"),
    ]
    for act in refused:
        with pytest.raises(Blocked, match="INV-0001 is taken off on a draft for the same quote"):
            act()
    assert now(cast, deposit)["availableActions"] == ["send_reminder"]
    final = issued(cast, final)
    with pytest.raises(Blocked, match=r"taken off on INV-0002\. Take it out there, or void or credit that first\."):
        voided(cast, deposit)
    voided(cast, final)
    assert voided(cast, deposit)["status"] == "void"


def test_a_deduction_is_taken_off_as_it_was_or_not_at_all(cast: Cast) -> None:
    quote = a_sold_quote(cast)
    issued(cast, an_invoice(cast, quoteId=quote["id"], part={"amount": "600"}))
    final = an_invoice(cast, quoteId=quote["id"])
    taken = final["lines"][-1]["id"]
    for other in ({"unitPrice": "1"}, {"quantity": "-2"}, {"taxRateId": None}, {"discountPercent": "50"}):
        with pytest.raises(Invalid, match="stays: what was invoiced before is taken off as it was"):
            changed(cast, final, {"edit": "set", "lineId": taken, **other})
    changed(cast, final, {"edit": "set", "lineId": taken, "description": "Paid before"})
    after = changed(cast, final, {"edit": "remove", "lineId": taken})
    assert after["total"] == quote["total"]
    # Then another takes it off.
    assert cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=final["id"], confirmed=True)["id"] == final["id"]
    assert an_invoice(cast, quoteId=quote["id"])["kind"] == "final"


def test_the_discount_of_a_quote_is_for_its_own_lines(cast: Cast) -> None:
    quote = a_sold_quote(cast, BOILER, discount={"percent": "10"})
    made = an_invoice(cast, quoteId=quote["id"], lines=[{"description": "Callout", "unitPrice": "50"}])
    assert (made["net"], made["discount"]) == ("950.00", {"percent": None, "amount": "100.00"})


def test_a_discount_that_is_said_is_for_all_of_it(cast: Cast) -> None:
    quote = a_sold_quote(cast, BOILER, discount={"percent": "10"})
    made = an_invoice(cast, quoteId=quote["id"], discount={"percent": "20"})
    assert (made["net"], made["discount"]) == ("800.00", {"percent": "20.00", "amount": None})


def test_acceptance_drafts_the_deposit_once_and_sends_nothing(cast: Cast) -> None:
    usual_tax(cast)
    quote = sent(cast, a_draft(cast, deposit={"percent": "30"}), deliver="none")
    accepted(cast, quote)
    for _ in range(2):
        work_off(cast)
    (deposit,) = cast.perform(list_invoices, quoteId=quote["id"])["data"]
    assert (deposit["kind"], deposit["status"], deposit["total"]) == ("deposit", "draft", "360.00")
    assert deposit["jobId"] == cast.perform(get_quote, quoteId=quote["id"])["jobId"]
    created = [event for event in events(cast) if event["type"] == "invoice.created"]
    assert [event["actor"]["kind"] for event in created] == ["person"]


def test_the_deposit_of_a_customer_who_was_archived_is_drafted_and_whoever_sends_it_is_told(cast: Cast) -> None:
    quote = sent(cast, a_draft(cast, lines=[BOILER], deposit={"percent": "30"}), deliver="none")
    cast.perform(archive_customer, customerId=quote["customerId"])
    accepted(cast, quote)
    work_off(cast)
    (deposit,) = cast.perform(list_invoices, quoteId=quote["id"])["data"]
    assert (deposit["kind"], deposit["status"], deposit["total"]) == ("deposit", "draft", "300.00")
    with pytest.raises(Blocked, match="is archived"):
        issued(cast, deposit)
    with pytest.raises(Blocked, match="is archived"):
        an_invoice(cast, quoteId=quote["id"])


def test_acceptance_drafts_no_deposit_where_none_is_asked_for_or_one_is_there(cast: Cast) -> None:
    a_sold_quote(cast)
    by_hand = a_sold_quote(cast, BOILER, deposit={"amount": "250"})
    work_off(cast)
    assert [one["id"] for one in cast.perform(list_invoices)["data"]] == [by_hand["depositInvoiceId"]]


def test_a_second_deposit_is_warned_of_where_it_is_drafted_and_where_one_is_sent(cast: Cast) -> None:
    quote = a_sold_quote(cast, BOILER, deposit={"amount": "250"})
    second = an_invoice(cast, quoteId=quote["id"], part={"amount": "100"})
    told = "Q-0001 has another deposit invoice: {}. Is a second one meant?"
    assert second["warnings"] == [told.format("a draft of 250.00 GBP")]
    progress = an_invoice(cast, quoteId=quote["id"], part={"amount": "100"}, kind="progress")
    assert "warnings" not in progress

    def warned(invoice: str) -> list[str]:
        preview = cast.perform(send_invoice, Role.OFFICE, invoiceId=invoice, deliver="none")
        return [warning for warning in preview["warnings"] if "deposit" in warning]

    assert warned(quote["depositInvoiceId"]) == [told.format("a draft of 100.00 GBP")]
    issued(cast, {"id": quote["depositInvoiceId"]})
    assert warned(second["id"]) == [told.format("INV-0001 of 250.00 GBP")]
    assert warned(progress["id"]) == []


def test_a_deposit_by_amount_is_what_the_quote_said(cast: Cast) -> None:
    a_sold_quote(at(cast), BOILER, customerId=a_customer(cast), deposit={"amount": "250"})
    work_off(cast)
    (deposit,) = cast.perform(list_invoices, kind="deposit")["data"]
    assert deposit["total"] == "250.00"
