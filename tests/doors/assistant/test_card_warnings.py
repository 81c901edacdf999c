"""A card warns of what the assistant itself arranged: text in records may have tricked it into that."""

from collections.abc import Iterator

import pytest

from mainstay.business.assistant.model import Turn
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.vocabulary.permissions import Role
from support.assistant import AssistantOfTests, open_assistant
from support.cast import Cast
from support.customers import make_contact, make_customer
from support.invoices import BOILER, make_invoice
from support.model_streams import ScriptedCall, ScriptedTurn

EVE = "eve@evil.example"


@pytest.fixture
def assistant(cast: Cast) -> Iterator[AssistantOfTests]:
    with open_assistant(cast) as one:
        yield one


def ask(assistant: AssistantOfTests, *calls: ScriptedCall, turn: Turn | None = None) -> Turn:
    """Ask a question to which the model makes these calls, one after the other."""
    steps = iter([ScriptedTurn(calls=(call,)) for call in calls])
    assistant.model.answer = lambda _request: next(steps, ScriptedTurn("Done."))
    given = {"conversationId": turn.conversation_id} if turn else {}
    return assistant.ask_and_answer("Do it.", Role.OFFICE, "write", **given)


CHANGED = "The assistant changed this in the same conversation: {fields} of {record}."
CHOSEN = "{address} was chosen by the assistant. It isn't in these records."
ENTERED = "The assistant entered {address} in the same conversation."


def warnings_of(assistant: AssistantOfTests, turn: Turn, role: Role = Role.OFFICE) -> list[tuple[str, object]]:
    """Return the warnings of the only card: their templates, and their fields or addresses."""
    [card] = assistant.open_cards(turn, role)
    values = [warning.values.get("fields", warning.values.get("address")) for warning in card.warnings]
    texts = [", ".join(map(str, value)) if isinstance(value, list) else value for value in values]
    return [(warning.template, text) for warning, text in zip(card.warnings, texts, strict=True)]


def make_customer_s_invoice(cast: Cast) -> tuple[str, str]:
    """Return a customer, and a draft for them."""
    customer = make_customer(cast, email="ann@calder.example")
    invoice = cast.perform(draft_invoice, Role.OFFICE, customerId=customer, title="Heating", lines=[BOILER])
    return customer, str(invoice["id"])


def test_nothing_is_warned_of_that_others_arranged(assistant: AssistantOfTests, cast: Cast) -> None:
    _, invoice = make_customer_s_invoice(cast)
    assert warnings_of(assistant, ask(assistant, ScriptedCall("send_invoice", {"invoiceId": invoice}))) == []


def test_of_an_address_that_it_changed(assistant: AssistantOfTests, cast: Cast) -> None:
    customer, invoice = make_customer_s_invoice(cast)
    change = ScriptedCall("update_customer", {"customerId": customer, "email": EVE})
    turn = ask(assistant, change, ScriptedCall("send_invoice", {"invoiceId": invoice}))
    assert warnings_of(assistant, turn) == [(CHANGED, "Email")]


def test_of_an_address_that_it_changed_after_it_had_asked(assistant: AssistantOfTests, cast: Cast) -> None:
    """A model calls both at once, so that the card waits already when the address is changed."""
    customer, invoice = make_customer_s_invoice(cast)
    send = ScriptedCall("send_invoice", {"invoiceId": invoice})
    change = ScriptedCall("update_customer", {"customerId": customer, "email": EVE})
    assistant.model.add_script("Do", ScriptedTurn(calls=(send, change)))
    assert warnings_of(assistant, assistant.ask_and_answer("Do it.")) == [(CHANGED, "Email")]


def test_of_what_it_changed_earlier_in_the_conversation(assistant: AssistantOfTests, cast: Cast) -> None:
    customer, invoice = make_customer_s_invoice(cast)
    turn = ask(assistant, ScriptedCall("update_customer", {"customerId": customer, "email": EVE}))
    turn = ask(assistant, ScriptedCall("send_invoice", {"invoiceId": invoice}), turn=turn)
    assert warnings_of(assistant, turn) == [(CHANGED, "Email")]


def test_of_an_amount_that_it_changed(assistant: AssistantOfTests, cast: Cast) -> None:
    _, invoice = make_customer_s_invoice(cast)
    edit = {"edit": "add", "description": "Extra", "unitPrice": "900"}
    change = ScriptedCall("update_invoice", {"invoiceId": invoice, "edits": [edit]})
    [(text, fields)] = warnings_of(
        assistant, ask(assistant, change, ScriptedCall("send_invoice", {"invoiceId": invoice}))
    )
    assert text == CHANGED
    assert "Lines" in str(fields)
    assert "Total" in str(fields) or "Totals" in str(fields)


def test_of_a_recipient_that_it_chose(assistant: AssistantOfTests, cast: Cast) -> None:
    invoice = make_invoice(cast)["id"]
    send = ScriptedCall("send_invoice", {"invoiceId": invoice, "to": [EVE, "ann@calder.example"]})
    assert warnings_of(assistant, ask(assistant, send)) == [(CHOSEN, EVE)]


def test_of_a_contact_that_it_made(assistant: AssistantOfTests, cast: Cast) -> None:
    customer, invoice = make_customer_s_invoice(cast)
    contact = {"customerId": customer, "name": "Eve", "email": EVE, "receives": {"invoices": True}}
    turn = ask(assistant, ScriptedCall("save_contact", contact), ScriptedCall("send_invoice", {"invoiceId": invoice}))
    assert warnings_of(assistant, turn) == [(ENTERED, EVE)]


def test_of_a_person_whom_it_would_invite(assistant: AssistantOfTests, cast: Cast) -> None:
    make_contact(cast, make_customer(cast))
    invite = ScriptedCall("invite_person", {"name": "Eve", "email": EVE, "role": "member"})
    steps = iter([ScriptedTurn(calls=(invite,))])
    assistant.model.answer = lambda _request: next(steps, ScriptedTurn("Done."))
    turn = assistant.ask_and_answer("Invite Eve.", Role.OWNER)
    assert warnings_of(assistant, turn, Role.OWNER) == [(CHOSEN, EVE)]
