"""Making an invoice void through an agent: shown first, then done, and a repeat is answered sensibly."""

import pytest

from support.cast import Cast
from support.invoices import issue_invoice, pay_invoice, reread_invoice
from support.mcp_client import call_tool
from support.servers import RunningServer


def test_it_is_shown_first_then_done_and_then_it_was(server: RunningServer, cast: Cast) -> None:
    key, sent = cast.make_key(), issue_invoice(cast)
    given = {"invoiceId": "INV-0001", "reason": "Twice"}
    shown = call_tool(server, key, "void_invoice", **given)
    assert shown["structuredContent"]["status"] == "preview"
    text = shown["content"][0]["text"]
    assert text.startswith("Nothing has happened yet.")
    # A client may hide the instructions, so the preview itself says who decides.
    assert text.endswith(
        "It cannot be undone. Show this to the person. If they agree, call void_invoice again with confirmed: true."
    )
    assert reread_invoice(cast, sent)["status"] == "sent"
    done = call_tool(server, key, "void_invoice", **given, confirmed=True)["structuredContent"]
    assert (done["status"], done["result"]["status"], done["result"]["number"]) == ("done", "void", "INV-0001")
    again = call_tool(server, key, "void_invoice", **given, confirmed=True)
    assert again["isError"]
    assert again["content"][0]["text"] == "INV-0001 is already void. get_invoice shows its current state."


@pytest.mark.parametrize("confirmed", ["true", "yes", 1])
def test_a_word_does_not_confirm_and_that_is_said(server: RunningServer, cast: Cast, confirmed: object) -> None:
    key, sent = cast.make_key(), issue_invoice(cast)
    result = call_tool(server, key, "void_invoice", invoiceId=sent["id"], reason="x", confirmed=confirmed)
    assert result["isError"]
    assert result["content"][0]["text"].startswith("confirmed: ")
    assert reread_invoice(cast, sent)["status"] == "sent"


def test_with_a_payment_the_preview_says_what_to_do_instead(server: RunningServer, cast: Cast) -> None:
    key, sent = cast.make_key(), issue_invoice(cast)
    pay_invoice(cast, sent, "250")
    shown = call_tool(server, key, "void_invoice", invoiceId=sent["id"], reason="x")
    blocker = "250.00 GBP of INV-0001 has been paid. Credit it instead, or reverse the payment first."
    assert shown["structuredContent"]["preview"]["blockers"] == [blocker]
    assert shown["content"][0]["text"].endswith(
        f"- {blocker}\nInstead: call credit_invoice. Or first: call reverse_payment."
    )
    refused = call_tool(server, key, "void_invoice", invoiceId=sent["id"], reason="x", confirmed=True)
    assert refused["isError"]
    assert refused["content"][0]["text"].startswith(blocker)
    assert "credit_invoice" in refused["content"][0]["text"]
