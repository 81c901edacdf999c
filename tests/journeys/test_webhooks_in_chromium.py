"""Webhooks in a real browser: made, tried, seen to fail, sent again, rotated and deleted."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from mainstay.vocabulary.permissions import Role
from mainstay.webhooks.deliveries import list_deliveries, send_test_event
from mainstay.webhooks.endpoints import list_webhooks, pause_webhook
from support.browser import check_page, enter_office, open_page, sign_in
from support.browser_session import add_new_person
from support.cast import Cast, make_cast
from support.installations import Installations
from support.servers import start_server
from support.waiting import wait_until
from support.webhook_installation import (
    DELIVERIES,
    WEBHOOKS,
    WebhookInstallation,
    WebhookReceiver,
    open_webhook_installation,
    run_webhook_receiver,
)
from support.webhooks import make_webhook, set_columns


@pytest.fixture(scope="module")
def webhook_installation(
    engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebhookInstallation]:
    with open_webhook_installation(
        installations.make_with_accounts(engine, tmp_path_factory.mktemp("webhooks")), start_server
    ) as installation:
        yield installation


@pytest.fixture
def cast(webhook_installation: WebhookInstallation) -> Cast:
    return make_cast(webhook_installation.performer)


@pytest.fixture
def page(browser: Browser, webhook_installation: WebhookInstallation) -> Iterator[Page]:
    with open_page(browser, webhook_installation.server.url) as page:
        yield page


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with run_webhook_receiver() as receiver:
        yield receiver


def wait_for_attempts(cast: Cast, webhook: str, times: int = 1) -> str:
    """The newest delivery of a webhook, once it was tried so often."""

    def look() -> str | None:
        newest, *_ = cast.perform(list_deliveries, webhookId=webhook)["data"]
        return str(newest["id"]) if newest["attempts"] >= times else None

    return wait_until(look)


def test_a_webhook_is_made_tried_mended_rotated_and_deleted(page: Page, cast: Cast, receiver: WebhookReceiver) -> None:
    enter_office(page, cast, Role.ADMIN)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Developer").click()
    page.get_by_role("link", name="Webhooks").click()
    page.get_by_role("link", name="Create webhook").click()
    page.get_by_label("URL").fill(receiver.url)
    page.get_by_label("Description").fill("Our accounting")
    page.get_by_label("A person left the organisation").check()
    page.get_by_role("button", name="Create webhook").click()
    secret = page.locator("#secret").inner_text()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    page.reload()
    assert secret not in page.content()

    # What is sent appears by itself, and the page is not left for it.
    choose_action(page, "Send test event")
    expect(page.get_by_role("status").filter(has_text="Test event sent.")).to_be_visible()
    row = page.get_by_role("row", name="Test event")
    expect(row).to_contain_text("Delivered")
    expect(row).to_contain_text("200 OK")

    receiver.status = 500
    choose_action(page, "Send test event")
    row = page.get_by_role("row", name="Test event").first
    expect(row).to_contain_text("500 Internal Server Error")
    expect(row).to_contain_text("Retrying")
    page.reload()
    expect(page.get_by_text("Failing since")).to_be_visible()
    receiver.status = 200
    page.get_by_role("row", name="Test event").first.get_by_role("link").click()
    expect(page.get_by_role("row", name="Attempt 1")).to_contain_text("500 Internal Server Error")
    page.get_by_role("button", name="Resend event").click()
    expect(page.get_by_role("row").filter(has_text="200 OK")).to_be_visible()
    expect(page.locator("[data-live]")).to_contain_text("Delivered")

    page.get_by_role("link", name="Our accounting").click()
    choose_action(page, "Replace secret")
    page.get_by_role("button", name="Replace secret").click()
    assert page.locator("#secret").inner_text() != secret
    expect(page.get_by_text("The previous secret also works until")).to_be_visible()

    choose_action(page, "Delete")
    expect(page.get_by_role("heading", name=f"The webhook to {receiver.url} will be deleted")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status")).to_contain_text("Webhook deleted.")
    assert cast.perform(list_webhooks)["data"] == []


def choose_action(page: Page, label: str) -> None:
    """Choose something from the menu of a record's page."""
    page.get_by_label("More actions").click()
    page.locator("main .sheet").get_by_text(label).click()


def test_the_list_changes_without_taking_the_focus_or_the_selection(
    page: Page, cast: Cast, receiver: WebhookReceiver
) -> None:
    webhook = make_webhook(cast, url=receiver.url, events=["person.left"])
    cast.perform(send_test_event, webhookId=webhook)
    first = wait_for_attempts(cast, webhook)
    page.clock.install()
    enter_office(page, cast)
    page.goto(f"{WEBHOOKS}/{webhook}")
    page.locator(f"#{first}").focus()
    cast.perform(send_test_event, webhookId=webhook)
    second = wait_for_attempts(cast, webhook)
    pass_refresh_time(page)
    expect(page.locator(f"#{second}")).to_be_visible()
    expect(page.locator("#deliveries-told")).to_have_text("Updated.")
    expect(page.locator(f"#{first}")).to_be_focused()

    # Who is about to copy something is not disturbed, and sees what is new afterwards.
    page.evaluate("id => getSelection().selectAllChildren(document.getElementById(id))", first)
    cast.perform(send_test_event, webhookId=webhook)
    third = wait_for_attempts(cast, webhook)
    pass_refresh_time(page)
    # The next turn begins when this one has ended.
    pass_refresh_time(page)
    assert page.evaluate("getSelection().toString()") == "Test event"
    page.evaluate("getSelection().removeAllRanges()")
    pass_refresh_time(page)
    expect(page.locator(f"#{third}")).to_be_visible()


def pass_refresh_time(page: Page) -> None:
    """Let the time pass after which the list is loaded again."""
    with page.expect_response(re.compile("/deliveries$")):
        page.clock.fast_forward(2000)


def test_one_who_is_signed_out_is_not_asked_for_again(page: Page, cast: Cast) -> None:
    webhook = make_webhook(cast, events=["person.left"])
    page.clock.install()
    enter_office(page, cast)
    page.goto(f"{WEBHOOKS}/{webhook}")
    page.context.clear_cookies()
    pass_refresh_time(page)
    expect(page.locator("#deliveries-told")).to_have_text("No longer updating.")


def test_it_works_without_javascript(
    browser: Browser, webhook_installation: WebhookInstallation, cast: Cast, receiver: WebhookReceiver
) -> None:
    context = browser.new_context(base_url=webhook_installation.server.url, java_script_enabled=False)
    try:
        page = context.new_page()
        enter_office(page, cast)
        page.goto(f"{WEBHOOKS}/new")
        page.get_by_label("URL").fill(receiver.url)
        page.get_by_role("button", name="Create webhook").click()
        choose_action(page, "Send test event")
        (webhook,) = cast.perform(list_webhooks)["data"]
        wait_for_attempts(cast, webhook["id"])
        page.get_by_role("link", name="Refresh").click()
        expect(page.get_by_role("row", name="Test event")).to_contain_text("200 OK")
    finally:
        context.close()


def test_every_page_is_without_faults(
    webhook_installation: WebhookInstallation, cast: Cast, browser: Browser, receiver: WebhookReceiver
) -> None:
    owner = add_new_person(cast)
    with open_page(browser, webhook_installation.server.url) as page:
        sign_in(page, owner)
        page.goto(WEBHOOKS)
        expect(page.get_by_text("No webhooks yet")).to_be_visible()
        check_page(page)
        page.get_by_role("link", name="Create webhook").click()
        page.get_by_label("URL").fill("https://user@x.example/")
        page.get_by_label("A person left the organisation").check()
        page.get_by_role("button", name="Create webhook").click()
        expect(page.get_by_role("link", name="URL must look like https://host/path")).to_be_visible()
        check_page(page)
        page.get_by_label("URL").fill(f"{receiver.url}/{'long' * 60}")
        page.get_by_role("button", name="Create webhook").click()
        expect(page.get_by_role("status").filter(has_text="Webhook created.")).to_be_visible()
        open_all_details(page)
        check_page(page)

        (webhook,) = cast.perform(list_webhooks)["data"]
        receiver.status, receiver.answer = 500, b"<h1>Out of order</h1>" * 40
        cast.perform(send_test_event, webhookId=webhook["id"])
        delivery = wait_for_attempts(cast, webhook["id"])
        one = f"{WEBHOOKS}/{webhook['id']}"
        forms = [f"{one}/{act}" for act in ("edit", "redeliver-failed", "rotate-secret", "delete")]
        for path in [WEBHOOKS, one, *forms, f"{DELIVERIES}/{delivery}"]:
            page.goto(path)
            open_all_details(page)
            check_page(page)
        cast.perform(pause_webhook, webhookId=webhook["id"])
        page.goto(f"{one}?status=failed")
        check_page(page)
        set_columns(cast, "webhook", webhook["id"], status="disabled", disabled_reason="It answered 410 Gone.")
        cast.lapse()
        for path in (WEBHOOKS, one):
            page.goto(path)
            check_page(page)


def open_all_details(page: Page) -> None:
    page.evaluate("document.querySelectorAll('main details').forEach(part => { part.open = true })")
