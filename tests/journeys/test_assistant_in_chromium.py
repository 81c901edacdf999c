"""The assistant in a real browser: asked beside a page, watched while it answers, confirmed by a click, undone."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.composition import open_performer
from mainstay.vocabulary.permissions import Role
from support.browser import NARROW, check_page, enter_office, open_page, open_page_without_scripts
from support.cast import Cast, make_cast
from support.customers import make_customer
from support.installations import Installations
from support.invoices import make_invoice, reread_invoice
from support.model_server import ModelServer, run_model_server_thread
from support.model_streams import ScriptedCall, ScriptedTurn
from support.servers import RunningServer, start_server


@dataclass
class AskedServer:
    """A real server whose operator has set up a scripted model, with a cast."""

    server: RunningServer
    cast: Cast
    model: ModelServer


@pytest.fixture
def asked(installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedServer]:
    settings = installations.make_with_accounts("sqlite", tmp_path_factory.mktemp("asked"))
    with run_model_server_thread() as model:
        scripted = replace(settings, assistant_url=model.url, assistant_model="scripted")
        performer = open_performer(scripted)
        with start_server(scripted) as server:
            yield AskedServer(server, make_cast(performer), model)
        performer.database.close()


def take_picture(page: Page, name: str) -> None:
    """Take a picture of a page, if someone wants to look at it."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png")


def test_it_is_asked_beside_a_page_and_confirmed_by_a_click(asked: AskedServer, browser: Browser) -> None:
    cast, model = asked.cast, asked.model
    customer = make_customer(cast, "Calder Property", email="ann@calder.example")
    invoice = make_invoice(cast, customerId=customer)
    calls = (
        ScriptedCall("update_customer", {"customerId": customer, "phone": "020 7946 0018"}),
        ScriptedCall("send_invoice", {"invoiceId": invoice["id"]}),
    )
    text = "I look at **Calder Property** first.\n\n| Invoice | Amount |\n|---|---|\n| draft | £1,200 |"
    model.add_script(
        "Send",
        ScriptedTurn(text, (ScriptedCall("list_customers"),)),
        ScriptedTurn(calls=calls),
        ScriptedTurn("It's sent."),
    )
    with open_page(browser, asked.server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/customers/{customer}")
        page.keyboard.press("Control+j")
        panel = page.get_by_role("complementary", name="Assistant")
        expect(panel.get_by_role("textbox", name="Question")).to_be_focused()
        check_page(page)
        take_picture(page, "panel-new")
        panel.get_by_role("textbox", name="Question").fill("Send Calder their invoice.")
        panel.get_by_label("It can also make changes for me").check()
        panel.get_by_role("button", name="Ask").click()
        expect(panel.get_by_role("button", name="Send invoice")).to_be_visible()
        expect(panel).to_contain_text("List customers: 1 found")
        expect(panel).to_contain_text("The assistant changed this in the same conversation")
        check_page(page)
        take_picture(page, "panel-card")
        assert reread_invoice(cast, invoice)["status"] == "draft"
        panel.get_by_role("button", name="Send invoice").click()
        expect(panel).to_contain_text("It's sent.")
        expect(panel.get_by_role("button", name="Undo this change")).to_be_visible()
        take_picture(page, "panel-done")
        assert reread_invoice(cast, invoice)["status"] == "sent"
        page.keyboard.press("Escape")
        expect(panel).to_have_count(0)
        # The page of all conversations has it, and shows what was asked on the page of the customer.
        page.goto("/assistant")
        check_page(page)
        take_picture(page, "conversations")
        page.get_by_role("link", name="Send Calder their invoice.").click()
        check_page(page)
        take_picture(page, "conversation")
    assert "is open in front of them" in str(model.requests[0].body)


def test_what_the_model_writes_is_seen_while_it_writes_and_stopped(asked: AskedServer, browser: Browser) -> None:
    asked.model.add_script("Tell", ScriptedTurn("Once upon a time ", delivery="stall"))
    with open_page(browser, asked.server.url, NARROW, "dark") as page:
        enter_office(page, asked.cast, Role.MEMBER)
        page.goto("/assistant")
        page.get_by_role("textbox", name="Question").fill("Tell a story.")
        page.get_by_role("button", name="Ask").click()
        expect(page.locator(".live")).to_contain_text("Once upon a time")
        check_page(page)
        take_picture(page, "phone-working")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#talk")).to_contain_text("Stopped.")
        expect(page.locator(".reply")).to_contain_text("Once upon a time")
        take_picture(page, "phone-stopped")


def test_it_is_asked_without_scripts(asked: AskedServer, browser: Browser) -> None:
    asked.model.add_script("Plain", ScriptedTurn("A plain answer."))
    with open_page_without_scripts(browser, asked.server.url) as page:
        enter_office(page, asked.cast, Role.OFFICE)
        page.goto("/assistant")
        page.get_by_role("textbox", name="Question").fill("Plain?")
        page.get_by_role("button", name="Ask").click()
        # The page loads itself again until there is an answer.
        expect(page.locator(".reply")).to_contain_text("A plain answer.")
        page.get_by_role("button", name="Delete conversation").click()
        expect(page.get_by_role("status").first).to_contain_text("Conversation deleted.")
