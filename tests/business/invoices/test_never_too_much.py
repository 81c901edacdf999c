"""No more is billed of a quote than was quoted, and changing an invoice line does not lose what it bills."""

import pytest

from mainstay.business.invoices.drafting.operations import delete_draft_invoice, list_invoices
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Invalid
from support.cast import Cast
from support.customers import run_all_tasks
from support.invoices import (
    BOILER,
    FLUE,
    edit_invoice,
    issue_invoice,
    make_accepted_quote,
    make_approved_hour,
    make_hourly_job,
    make_invoice,
    reread_invoice,
)
from support.prices import make_tax_rate
from support.quotes import issue_quote, make_default_tax_rate, make_quote


def test_a_part_that_was_asked_for_cannot_be_left_out_of_the_last_invoice(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"percent": "30"}))
    final = make_invoice(cast, quoteId=quote["id"])
    (deduction,) = [line for line in final["lines"] if (line["source"] or {}).get("kind") == "deposit"]
    edit_invoice(cast, final, {"edit": "remove", "lineId": deduction["id"]})
    with pytest.raises(Blocked, match=r"INV-0001 invoiced a part of Q-0001 and isn't deducted here\. Create"):
        issue_invoice(cast, final)


@pytest.mark.parametrize("leaves_work", [False, True])
def test_a_part_at_several_rates_of_tax_is_taken_off_as_a_whole(cast: Cast, *, leaves_work: bool) -> None:
    full, reduced = make_tax_rate(cast), make_tax_rate(cast, "VAT 5 %", components=[{"name": "VAT", "percent": "5"}])
    radiators: dict[str, object] = {"description": "Radiators", "unitPrice": "800", "taxRateId": reduced}
    quote = make_accepted_quote(cast, BOILER | {"taxRateId": full}, radiators)
    issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"percent": "30"}))
    final = make_invoice(cast, quoteId=quote["id"])
    assert (quote["total"], final["total"], len(final["lines"])) == ("2040.00", "1428.00", 4)
    # What is left to be billed later would not take off the other half either.
    removed = [final["lines"][2], *(final["lines"][:1] if leaves_work else [])]
    edit_invoice(cast, final, *({"edit": "remove", "lineId": line["id"]} for line in removed))
    with pytest.raises(Blocked, match=r"^Only some lines of INV-0001 are deducted here\. Delete this draft and"):
        issue_invoice(cast, final)
    cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=final["id"], confirmed=True)
    assert issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))["total"] == "1428.00"


def test_a_part_bills_nothing_else_and_no_more_than_is_left(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    part = make_invoice(cast, quoteId=quote["id"], part={"percent": "30"})
    words: dict[str, object] = {"edit": "add", "kind": "text", "description": "As agreed on the phone."}
    more: dict[str, object] = {"edit": "add", "description": "A valve", "unitPrice": "12"}
    with pytest.raises(Invalid, match=r"^edits\.1: can't be added to a deposit invoice: put it on another invoice"):
        edit_invoice(cast, part, words, more)
    with pytest.raises(Invalid, match=r"^sources: can't be added to a deposit invoice"):
        edit_invoice(cast, part, sources=["entry_1"])
    edit_invoice(cast, part, words, {"edit": "set", "lineId": part["lines"][0]["id"], "unitPrice": "1091.11"})
    with pytest.raises(
        Blocked, match=r"^With this invoice, Q-0001 is invoiced 0\.01 GBP above the quoted total\. Invoice less, or"
    ):
        issue_invoice(cast, part)
    edit_invoice(cast, part, {"edit": "set", "lineId": part["lines"][0]["id"], "unitPrice": "1091.10"})
    assert issue_invoice(cast, part)["total"] == "1091.10"


def test_a_line_of_a_quote_is_billed_at_no_more_than_was_quoted(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    final = make_invoice(cast, quoteId=quote["id"])
    line = next(line for line in final["lines"] if line["source"])
    more = edit_invoice(cast, final, {"edit": "set", "lineId": line["id"], "quantity": "30"})
    with pytest.raises(Blocked, match=r"was quoted\. Put the extra on another line"):
        issue_invoice(cast, more)
    back = {"edit": "set", "lineId": line["id"], "quantity": line["quantity"]}
    edit_invoice(cast, final, back, {"edit": "add", "description": "More of it", "unitPrice": "100"})
    assert issue_invoice(cast, final)["number"] == "INV-0001"


def test_what_the_quote_takes_off_is_taken_off_the_invoice(cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = make_accepted_quote(cast, discount={"percent": "10"})
    draft = make_invoice(cast, quoteId=quote["id"])
    message = (
        "After discounts, {} GBP is invoiced for lines of Q-0001, but 981.99 GBP was quoted. Give the same discount as"
    )
    for discount, billed in ((None, "1091.10"), ({"percent": "9.99"}, "982.10"), ({"amount": "109.10"}, "982.00")):
        edit_invoice(cast, draft, discount=discount)
        preview = cast.perform(send_invoice, Role.OFFICE, invoiceId=draft["id"], deliver="none")
        assert [one.startswith(message.format(billed)) for one in preview["blockers"]] == [True]
        with pytest.raises(Blocked) as refused:
            issue_invoice(cast, draft)
        assert [reason.first for reason in refused.value.reasons] == ["update_invoice"]
    edit_invoice(cast, draft, discount={"amount": "109.11"})
    assert issue_invoice(cast, draft)["total"] == quote["total"]


def test_a_discount_may_be_given_up_for_something_that_is_added(cast: Cast) -> None:
    quote = make_accepted_quote(cast, discount={"percent": "10"})
    draft = make_invoice(cast, quoteId=quote["id"])
    rebate: dict[str, object] = {"edit": "add", "description": "As agreed on the phone", "unitPrice": "-109.11"}
    assert issue_invoice(cast, edit_invoice(cast, draft, rebate, discount=None))["total"] == quote["total"]


@pytest.mark.parametrize("discount", [{"percent": "12.5"}, {"amount": "0.13"}])
def test_lines_of_a_quote_are_billed_one_by_one_whatever_its_discount_is_rounded_to(
    cast: Cast, discount: dict[str, str]
) -> None:
    lines = [{"description": f"Clip {number}", "unitPrice": "0.20"} for number in range(5)]
    quote = make_accepted_quote(cast, *lines, discount=discount)
    for line in quote["lines"][:3]:
        issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], quoteLines=[line["id"]]))
    rest = make_invoice(cast, quoteId=quote["id"])
    issue_invoice(cast, edit_invoice(cast, rest, {"edit": "remove", "lineId": rest["lines"][0]["id"]}))
    whole = make_invoice(cast, quoteId=make_accepted_quote(cast, *lines, discount=discount)["id"])
    assert issue_invoice(cast, edit_invoice(cast, whole, {"edit": "remove", "lineId": whole["lines"][0]["id"]}))[
        "number"
    ]


def test_another_rate_of_tax_bills_no_more_than_was_quoted(cast: Cast) -> None:
    make_default_tax_rate(cast, "5")
    quote = make_accepted_quote(cast, discount={"percent": "10"})
    draft = make_invoice(cast, quoteId=quote["id"])
    rate = make_default_tax_rate(cast)
    edits = [{"edit": "set", "lineId": line["id"], "taxRateId": rate} for line in draft["lines"]]
    assert issue_invoice(cast, edit_invoice(cast, draft, *edits))["net"] == quote["net"]


def test_a_line_that_takes_something_off_is_not_left_out(cast: Cast) -> None:
    old: dict[str, object] = {"description": "Old boiler taken back", "unitPrice": "-100"}
    quote = make_accepted_quote(cast, BOILER, old, FLUE)
    boiler, rebate, flue = quote["lines"]
    issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], quoteLines=[flue["id"]]))
    draft = make_invoice(cast, quoteId=quote["id"])
    left_out = next(line for line in draft["lines"] if line["source"]["id"] == rebate["id"])
    edit_invoice(cast, draft, {"edit": "remove", "lineId": left_out["id"]})
    preview = cast.perform(send_invoice, Role.OFFICE, invoiceId=draft["id"], deliver="none")
    message = (
        "Old boiler taken back (-100.00 GBP) was quoted too but is not on any invoice, so Q-0001 is invoiced above the"
    )
    assert preview["blockers"] == [f"{message} quoted total. Delete this draft and create it again with that line."]
    with pytest.raises(Blocked):
        issue_invoice(cast, draft)
    cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=draft["id"], confirmed=True)
    second = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], quoteLines=[boiler["id"], rebate["id"]]))
    assert second["net"] == "900.00"


def test_a_line_that_takes_something_off_may_come_last(cast: Cast) -> None:
    old: dict[str, object] = {"description": "Old boiler taken back", "unitPrice": "-50"}
    quote = make_accepted_quote(cast, BOILER, FLUE, old)
    issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], quoteLines=[quote["lines"][0]["id"]]))
    assert issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))["net"] == "41.10"


def test_a_line_that_bills_something_stays_one_with_a_price(cast: Cast) -> None:
    job = make_hourly_job(cast)
    make_approved_hour(cast, job)
    draft = make_invoice(cast, jobId=job["id"], unbilled=True)
    with pytest.raises(Invalid, match=r"edits\.0\.kind: can't be changed, because the line invoices work or a quote"):
        edit_invoice(cast, draft, {"edit": "set", "lineId": draft["lines"][0]["id"], "kind": "text"})


def test_whoever_sends_it_twice_is_led_to_look_at_it_and_not_to_credit_it(cast: Cast) -> None:
    invoice = issue_invoice(cast)
    with pytest.raises(Blocked, match=r"INV-0001 has already been issued") as refusal:
        issue_invoice(cast, invoice)
    assert [reason.instead for reason in refusal.value.reasons] == ["get_invoice"]


def test_a_deposit_is_told_of_before_and_is_not_asked_for_where_all_is_billed(cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = issue_quote(cast, make_quote(cast, deposit={"percent": "25"}), deliver="none")
    given = {"quoteId": quote["id"], "decision": "accepted", "name": "Ann"}
    preview = cast.perform(record_quote_decision, Role.OFFICE, **given)
    assert "A draft deposit invoice for 300.00 GBP will be created, for you to send." in preview["effects"]
    deposit = cast.perform(record_quote_decision, Role.OFFICE, **given, confirmed=True)["depositInvoiceId"]
    cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=deposit, confirmed=True)
    issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))
    run_all_tasks(cast)
    assert [one["kind"] for one in cast.perform(list_invoices)["data"]] == ["standard"]


def test_the_last_day_of_all_is_a_day_on_which_something_can_be_due(cast: Cast) -> None:
    invoice = issue_invoice(cast, make_invoice(cast, dueOn="2099-12-31"))
    assert (invoice["dueOn"], reread_invoice(cast, invoice)["status"]) == ("2099-12-31", "sent")
