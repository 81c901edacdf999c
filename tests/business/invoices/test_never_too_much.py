"""What was quoted is the most that is billed of it, and what a line bills is not lost by changing the line."""

import pytest

from billing import a_sold_quote, an_hour, an_invoice, changed, issued, now, worked_job
from cast import Cast
from mainstay.business.invoices.operations import list_invoices
from mainstay.business.quotes.deciding import record_quote_decision
from mainstay.terms.refusal import Blocked, Invalid
from mainstay.terms.rights import Role
from quoting import a_draft, sent, usual_tax
from trade import work_off


def test_a_part_that_was_asked_for_cannot_be_left_out_of_the_last_invoice(cast: Cast) -> None:
    quote = a_sold_quote(cast)
    issued(cast, an_invoice(cast, quoteId=quote["id"], part={"percent": "30"}))
    final = an_invoice(cast, quoteId=quote["id"])
    (deduction,) = [line for line in final["lines"] if (line["source"] or {}).get("kind") == "deposit"]
    changed(cast, final, {"edit": "remove", "lineId": deduction["id"]})
    with pytest.raises(Blocked, match=r"INV-0001 is a part of Q-0001 that is not taken off here\. Draft"):
        issued(cast, final)


def test_a_part_bills_nothing_else_and_no_more_than_is_left(cast: Cast) -> None:
    quote = a_sold_quote(cast)
    part = an_invoice(cast, quoteId=quote["id"], part={"percent": "30"})
    words: dict[str, object] = {"edit": "add", "kind": "text", "description": "As agreed on the phone."}
    more: dict[str, object] = {"edit": "add", "description": "A valve", "unitPrice": "12"}
    with pytest.raises(Invalid, match=r"^edits\.1: is for another invoice: on a deposit invoice, a part of the quote"):
        changed(cast, part, words, more)
    with pytest.raises(Invalid, match=r"^sources: is for another invoice"):
        changed(cast, part, sources=["entry_1"])
    changed(cast, part, words, {"edit": "set", "lineId": part["lines"][0]["id"], "unitPrice": "1091.11"})
    with pytest.raises(Blocked, match=r"0\.01 more is billed of Q-0001 than was quoted\. Bill less, or"):
        issued(cast, part)
    changed(cast, part, {"edit": "set", "lineId": part["lines"][0]["id"], "unitPrice": "1091.10"})
    assert issued(cast, part)["total"] == "1091.10"


def test_a_line_of_a_quote_is_billed_at_no_more_than_was_quoted(cast: Cast) -> None:
    quote = a_sold_quote(cast)
    final = an_invoice(cast, quoteId=quote["id"])
    line = next(line for line in final["lines"] if line["source"])
    more = changed(cast, final, {"edit": "set", "lineId": line["id"], "quantity": "30"})
    with pytest.raises(Blocked, match=r"was quoted\. Bill what is more on another line"):
        issued(cast, more)
    back = {"edit": "set", "lineId": line["id"], "quantity": line["quantity"]}
    changed(cast, final, back, {"edit": "add", "description": "More of it", "unitPrice": "100"})
    assert issued(cast, final)["number"] == "INV-0001"


def test_a_line_that_bills_something_stays_one_with_a_price(cast: Cast) -> None:
    job = worked_job(cast)
    an_hour(cast, job)
    draft = an_invoice(cast, jobId=job["id"], unbilled=True)
    with pytest.raises(Invalid, match=r"edits\.0\.kind: stays: the line bills something"):
        changed(cast, draft, {"edit": "set", "lineId": draft["lines"][0]["id"], "kind": "text"})


def test_whoever_sends_it_twice_is_led_to_look_at_it_and_not_to_credit_it(cast: Cast) -> None:
    invoice = issued(cast)
    with pytest.raises(Blocked, match=r"INV-0001 was issued already\. get_invoice shows it as it is now") as told:
        issued(cast, invoice)
    assert [reason.unblock for reason in told.value.reasons] == ["get_invoice"]


def test_a_deposit_is_told_of_before_and_is_not_asked_for_where_all_is_billed(cast: Cast) -> None:
    usual_tax(cast)
    quote = sent(cast, a_draft(cast, deposit={"percent": "25"}), deliver="none")
    given = {"quoteId": quote["id"], "decision": "accepted", "name": "Ann"}
    preview = cast.perform(record_quote_decision, Role.OFFICE, **given)
    assert "An invoice for the deposit of 300.00 GBP is drafted in a moment." in preview["effects"]
    cast.perform(record_quote_decision, Role.OFFICE, **given, confirmed=True)
    issued(cast, an_invoice(cast, quoteId=quote["id"]))
    work_off(cast)
    assert [one["kind"] for one in cast.perform(list_invoices)["data"]] == ["standard"]


def test_the_last_day_of_all_is_a_day_on_which_something_can_be_due(cast: Cast) -> None:
    invoice = issued(cast, an_invoice(cast, dueOn="9999-12-31"))
    assert (invoice["dueOn"], now(cast, invoice)["status"]) == ("9999-12-31", "sent")
