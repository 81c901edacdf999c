"""The assistant's pages: asking, watching, confirming, stopping, undoing; and its settings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import pytest

from mainstay.business.assistant.operations import list_conversations
from mainstay.business.customers.operations import get_customer
from mainstay.business.organisation.assistant_settings import get_assistant_settings, update_assistant_settings
from mainstay.composition import open_performer
from mainstay.doors.office.assistant import PATH
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, visible_text
from support.cast import Cast, make_cast
from support.customers import make_customer
from support.in_process import run_in_process
from support.installations import Installations
from support.invoices import make_invoice, reread_invoice
from support.model_server import ModelServer, run_model_server_thread
from support.model_streams import ScriptedCall, ScriptedTurn
from support.servers import RunningServer
from support.waiting import wait_until


@dataclass
class AskedOffice:
    """An office whose operator has set up a scripted model, with a cast of its own."""

    server: RunningServer
    cast: Cast
    model: ModelServer

    def sign_in(self, role: Role = Role.OFFICE) -> BrowserSession:
        return sign_in_cast(self.server, self.cast, role)

    def ask(self, session: BrowserSession, question: str, **fields: str) -> str:
        """Ask a question, wait for the end of the answer, and return the address of the conversation."""
        answer = session.submit_form(PATH, f"{PATH}/ask", question=question, **fields)
        assert answer.status_code == httpx2.codes.SEE_OTHER, answer.text
        self.wait(session, answer.headers["Location"])
        return str(answer.headers["Location"])

    def wait(self, session: BrowserSession, address: str) -> str:
        """Wait until the assistant has nothing to do, and return the page of the conversation."""
        return wait_until(lambda: "" if "Working…" in (page := session.get(address).text) else page)


@pytest.fixture(scope="module")
def installed(
    installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[RunningServer, ModelServer]]:
    settings = installations.make_with_accounts("sqlite", tmp_path_factory.mktemp("assistant"))
    with run_model_server_thread() as model:
        scripted = replace(settings, assistant_url=model.url, assistant_model="scripted")
        with run_in_process(scripted) as server:
            yield server, model


@pytest.fixture
def office(installed: tuple[RunningServer, ModelServer]) -> Iterator[AskedOffice]:
    server, model = installed
    performer = open_performer(server.settings)
    yield AskedOffice(server, make_cast(performer), model)
    performer.database.close()


def test_a_question_is_answered_on_its_page(office: AskedOffice) -> None:
    make_customer(office.cast, "Calder")
    look = ScriptedTurn("I look.", (ScriptedCall("list_customers"),))
    office.model.add_script("Whom", look, ScriptedTurn("**Calder** only. <b>x</b> [out](https://evil.example/x)"))
    session = office.sign_in()
    assert "Ask" in visible_text(session.get("/").text)
    page = session.get(office.ask(session, "Whom do we work for?")).text
    assert "<strong>Calder</strong> only. &lt;b&gt;x&lt;/b&gt; out" in page
    assert "evil.example" not in page.partition('class="turns"')[2].partition('class="calls"')[0]
    assert "List customers: 1 found" in visible_text(page)
    assert "Whom do we work for?" in visible_text(session.get(PATH).text)


def test_only_its_person_reads_a_conversation(office: AskedOffice) -> None:
    office.model.add_script("Secret", ScriptedTurn("Yes."))
    address = office.ask(office.sign_in(), "Secret?")
    for other in (office.sign_in(Role.OWNER), office.sign_in(Role.MEMBER)):
        assert other.get(address).status_code == httpx2.codes.NOT_FOUND
        assert other.get(f"{address}/file").status_code == httpx2.codes.NOT_FOUND
        assert other.get(f"{address}/stream").status_code == httpx2.codes.NOT_FOUND
        assert "Secret?" not in other.get(PATH).text


def test_a_subcontractor_has_no_assistant(office: AskedOffice) -> None:
    session = office.sign_in(Role.SUBCONTRACTOR)
    assert 'class="ask"' not in session.get("/").text
    assert session.get(PATH).status_code == httpx2.codes.FORBIDDEN


def test_a_card_is_confirmed_by_a_click_and_the_answer_goes_on(office: AskedOffice) -> None:
    invoice = make_invoice(office.cast)
    send = ScriptedCall("send_invoice", {"invoiceId": invoice["id"], "deliver": "none"})
    office.model.add_script("Send it", ScriptedTurn("Here.", (send,)), ScriptedTurn("Done as you said."))
    session = office.sign_in()
    address = office.ask(session, "Send it, please.", access="write")
    page = session.get(address).text
    assert "Send invoice" in visible_text(page)
    assert reread_invoice(office.cast, invoice)["status"] == "draft"
    cards = dict(re.findall(r'name="(card \d+)" value="([^"]+)"', page))
    turn = re.findall(r'name="turn" value="([^"]+)"', page)[0]
    number = next(iter(cards)).split()[1]
    # A card of somebody else, or with another token, does nothing.
    owner = office.sign_in(Role.OWNER)
    owner.submit_form(PATH, f"{address}/decide", turn=turn, do="confirm", **cards)
    wrong = dict.fromkeys(cards, "x")
    answer = session.submit_form(address, f"{address}/decide", turn=turn, do="confirm", **wrong)
    assert answer.headers["Location"] == f"{address}?changed=yes"
    assert reread_invoice(office.cast, invoice)["status"] == "draft"
    answer = session.submit_form(address, f"{address}/decide", turn=turn, do=f"confirm {number}", **cards)
    assert answer.headers["Location"] == address
    assert "Done as you said." in visible_text(office.wait(session, address))
    assert reread_invoice(office.cast, invoice)["status"] == "sent"


def read_cards(page: str) -> tuple[str, dict[str, str]]:
    """Return the turn of a page and the tokens of its cards."""
    return re.findall(r'name="turn" value="([^"]+)"', page)[0], dict(
        re.findall(r'name="(card \d+)" value="([^"]+)"', page)
    )


def ask_to_send_two(office: AskedOffice, session: BrowserSession) -> tuple[list[dict[str, Any]], str]:
    """Let the assistant ask whether to send two invoices; return them and the address of the conversation."""
    invoices = [make_invoice(office.cast) for _ in range(2)]
    calls = tuple(ScriptedCall("send_invoice", {"invoiceId": one["id"], "deliver": "none"}) for one in invoices)
    office.model.add_script("Send both", ScriptedTurn(calls=calls), ScriptedTurn("Both are sent."))
    return invoices, office.ask(session, "Send both.", access="write")


def test_several_invoices_are_sent_with_one_click_under_the_numbers_that_were_shown(office: AskedOffice) -> None:
    session = office.sign_in()
    invoices, address = ask_to_send_two(office, session)
    page = session.get(address).text
    shown = re.findall(r"INV-\d+", page.partition('class="cards"')[2].partition("</form>")[0])
    assert len({*shown}) == 2
    assert visible_text(page).count("Waits for you: send invoice") == 2
    turn, cards = read_cards(page)
    answer = session.submit_form(address, f"{address}/decide", turn=turn, do="confirm", **cards)
    assert answer.headers["Location"] == address
    assert "Both are sent." in visible_text(office.wait(session, address))
    assert {reread_invoice(office.cast, one)["number"] for one in invoices} == {*shown}


def test_what_depends_on_the_card_before_is_confirmed_after_it(office: AskedOffice) -> None:
    session = office.sign_in()
    invoices, address = ask_to_send_two(office, session)
    page = session.get(address).text
    turn, cards = read_cards(page)
    first, second = (name.split()[1] for name in cards)
    assert f'value="confirm {first}"' in page
    assert f'value="confirm {second}"' not in page
    answer = session.submit_form(address, f"{address}/decide", turn=turn, do=f"confirm {second}", **cards)
    assert "What is still shown here was not done" in visible_text(session.follow_redirect(answer).text)
    assert [reread_invoice(office.cast, one)["status"] for one in invoices] == ["draft", "draft"]
    session.submit_form(address, f"{address}/decide", turn=turn, do=f"decline {first}", **cards)
    page = session.get(address).text
    _, cards = read_cards(page)
    session.submit_form(address, f"{address}/decide", turn=turn, do=f"confirm {second}", **cards)
    office.wait(session, address)
    assert [reread_invoice(office.cast, one)["status"] for one in invoices] == ["draft", "sent"]


def test_the_changes_of_a_turn_are_undone_together(office: AskedOffice) -> None:
    customers = [make_customer(office.cast, name) for name in ("Ann", "Bob")]
    calls = tuple(ScriptedCall("update_customer", {"customerId": one, "phone": "1"}) for one in customers)
    office.model.add_script("Both", ScriptedTurn(calls=calls), ScriptedTurn("Changed."))
    session = office.sign_in()
    address = office.ask(session, "Both get this phone.", access="write")
    page = session.get(address).text
    assert "Undo these 2 changes" in visible_text(page)
    changes = re.findall(r'name="change" value="([\d ]+)"', page)[0]
    session.submit_page(page, "/changes/undo", change=changes, back=address)
    assert [office.cast.perform(get_customer, customerId=one)["phone"] for one in customers] == [None, None]
    page = session.get(address).text
    assert "Undone." in visible_text(page)
    assert "Undo these 2 changes" not in visible_text(page)


def test_who_has_used_their_tokens_is_not_asked_for_a_question(office: AskedOffice) -> None:
    office.model.add_script("Spend", ScriptedTurn("Spent.", input_tokens=900))
    session, owner = office.sign_in(), office.sign_in(Role.OWNER)
    address = office.ask(session, "Spend.")
    office.cast.perform(update_assistant_settings, assistantDailyTokens=100)
    for path in (PATH, address):
        page = session.get(path).text
        assert "You have reached your limit for today. The assistant answers again tomorrow." in visible_text(page)
        assert 'name="question"' not in page
    assert 'name="question"' in owner.get(PATH).text
    office.cast.perform(update_assistant_settings, assistantMonthlyTokens=100)
    page = owner.get(PATH).text
    assert "Your organisation has reached its limit for this month." in visible_text(page)
    assert 'href="/settings/assistant/edit"' in page


def test_a_stream_shows_the_steps_and_ends(office: AskedOffice) -> None:
    office.model.add_script("Stream", ScriptedTurn(calls=(ScriptedCall("get_me"),)), ScriptedTurn("Streamed."))
    session = office.sign_in()
    address = office.ask(session, "Stream it.")
    stream = session.get(f"{address}/stream")
    assert stream.headers["content-type"] == "text/event-stream"
    assert stream.headers["x-accel-buffering"] == "no"
    assert re.findall(r"^event: (\w+)$", stream.text, re.MULTILINE) == ["step", "end"]
    assert "Streamed." in stream.text
    last = re.findall(r"^id: (\d+)$", stream.text, re.MULTILINE)[-1]
    again = session.get(f"{address}/stream", **{"Last-Event-ID": last})
    assert re.findall(r"^event: (\w+)$", again.text, re.MULTILINE) == ["end"]


def test_a_conversation_is_deleted_and_downloaded(office: AskedOffice) -> None:
    office.model.add_script("Delete", ScriptedTurn("Fine."))
    session = office.sign_in()
    address = office.ask(session, "Delete me.")
    assert session.get(f"{address}/file").text == "> Delete me.\n\nFine."
    session.submit_form(address, f"{address}/delete")
    assert session.get(address).status_code == httpx2.codes.NOT_FOUND
    assert office.cast.perform(list_conversations, office.cast.actor(Role.OFFICE, door=Door.OFFICE))["data"] == []


def test_while_lapsed_it_is_readable_and_asks_nothing(office: AskedOffice) -> None:
    office.model.add_script("Before", ScriptedTurn("Yes."))
    session = office.sign_in()
    address = office.ask(session, "Before?")
    page = session.get(PATH).text
    office.cast.lapse()
    assert "Yes." in visible_text(session.get(address).text)
    answer = session.submit_page(page, f"{PATH}/ask", question="After?")
    assert answer.status_code == httpx2.codes.PAYMENT_REQUIRED


def test_without_a_model_the_page_says_how_to_set_one_up(office: AskedOffice) -> None:
    owner = office.cast.actor(Role.OWNER, door=Door.OFFICE)
    office.cast.perform(update_assistant_settings, owner, assistantSource="off")
    session = office.sign_in(Role.OWNER)
    assert "Set up the assistant" in visible_text(session.get(PATH).text)
    # The settings lead there as well, instead of to a test of nothing.
    settings = session.get("/settings/assistant").text
    assert 'href="/settings/assistant/edit">Set up the assistant</a>' in settings
    assert "Test the model" not in settings
    member = office.sign_in(Role.MEMBER).get(PATH).text
    assert "Ask an owner or admin." in visible_text(member)
    assert 'class="ask"' not in member


def test_an_own_model_has_a_key_that_nobody_sees_and_a_test(office: AskedOffice) -> None:
    session, actor = office.sign_in(Role.OWNER), office.cast.actor(Role.OWNER, door=Door.OFFICE)
    fields = {
        "assistantSource": "own",
        "assistantAddress": "https://llm.example.com/v1",
        "assistantDialect": "chat",
        "assistantModel": "mine",
        "assistantContextTokens": "128000",
        "assistantDailyTokens": "1000000",
        "assistantMonthlyTokens": "20000000",
        "assistantRetentionDays": "90",
    }
    answer = session.submit_form("/settings/assistant/edit", **fields)
    assert answer.status_code == httpx2.codes.SEE_OTHER, visible_text(answer.text)
    session.submit_form("/settings/assistant", "/settings/assistant/key", key="sk-very-secret")
    assert office.cast.perform(get_assistant_settings, actor)["hasAssistantKey"] is True
    assert "sk-very-secret" not in session.get("/settings/assistant").text
    # At another address, the key would go to someone else.
    session.submit_form("/settings/assistant/edit", **fields | {"assistantAddress": "https://other.example.com/v1"})
    assert office.cast.perform(get_assistant_settings, actor)["hasAssistantKey"] is False
    session.submit_form("/settings/assistant/edit", **fields | {"assistantSource": "installation"})
    office.model.answer = lambda _request: ScriptedTurn("Hello.")
    page = session.submit_form("/settings/assistant", "/settings/assistant/test")
    assert "It answers" in visible_text(page.text)
    assert "The model does not call tools." in visible_text(page.text)
