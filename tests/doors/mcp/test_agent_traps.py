"""Tasks of an office that agents stumbled over, each done through the tool server alone."""

from decimal import Decimal
from typing import Any

import orjson
import pytest

from mainstay.business.customers.operations import update_customer
from mainstay.business.organisation.operations import update_organisation
from mainstay.vocabulary.permissions import Access
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, reread_invoice
from support.mcp_client import call_legacy, call_tool
from support.purchases import make_bill
from support.quotes import cast_later, make_default_tax_rate
from support.servers import RunningServer
from support.stored_state import waiting_emails


class Agent:
    """An agent with a key, which knows nothing but what tools answer."""

    def __init__(self, server: RunningServer, key: str) -> None:
        self._server, self._key = server, key

    def call(self, tool: str, /, **arguments: object) -> Any:
        """What a tool answers as data."""
        answer = call_tool(self._server, self._key, tool, **arguments)
        assert answer["isError"] is False, answer["content"]
        return answer["structuredContent"]

    def list_tools(self) -> dict[str, dict[str, Any]]:
        """The tools that are offered, by name."""
        return {tool["name"]: tool for tool in call_legacy(self._server, self._key, "tools/list")["tools"]}


@pytest.fixture
def agent(server: RunningServer, cast: Cast) -> Agent:
    """An agent of the owner's, in a firm that says where to pay."""
    cast.perform(update_organisation, bank={"account": "12345678"}, email="office@x.example")
    return Agent(server, cast.make_key())


def test_a_supplier_s_bill_is_read_with_what_was_bought_and_at_what_price(agent: Agent, cast: Cast) -> None:
    made = make_bill(cast)
    [listed] = agent.call("list_bills")["data"]
    bill = agent.call("get_bill", billId=listed["id"])
    assert [line["unitPrice"] for line in bill["lines"]] == [line["unitPrice"] for line in made["lines"]]
    assert bill["lines"]
    assert bill["total"] == made["total"]


def test_a_credit_note_is_read_by_its_number_with_its_lines(agent: Agent, cast: Cast) -> None:
    credit_issued(cast, issue_invoice(cast))
    [listed] = agent.call("list_credit_notes")["data"]
    note = agent.call("get_credit_note", creditNoteId=listed["number"])
    assert [line["description"] for line in note["lines"]] == ["Combi boiler"]


def test_the_journal_of_a_month_is_read_page_by_page_and_balances(agent: Agent, cast: Cast) -> None:
    make_default_tax_rate(cast)
    day = cast_at(cast)
    pay_invoice(day, issue_invoice(day), "250")
    postings: list[dict[str, Any]] = []
    behind: dict[str, object] = {}
    while True:
        page = agent.call("list_postings", **{"from": "2026-11-01", "until": "2026-11-30"}, limit=2, **behind)
        postings += page["data"]
        if not page["hasMore"]:
            break
        behind = {"startingAfter": postings[-1]["id"]}
    debit, credit = (sum(Decimal(one.get(side, "0")) for one in postings) for side in ("debit", "credit"))
    assert debit == credit == Decimal("1450.00")


def test_what_one_customer_owes_is_one_answer(agent: Agent, cast: Cast) -> None:
    invoice = issue_invoice(cast)
    issue_invoice(cast)
    pay_invoice(cast, invoice, "250")
    owed = agent.call("get_customer_balance", customerId=invoice["customerId"])
    assert (owed["open"], owed["balance"], owed["currency"]) == ("750.00", "750.00", "GBP")


def test_a_statement_of_account_is_shown_first_and_then_emailed_in_the_customer_s_language(
    agent: Agent, cast: Cast
) -> None:
    invoice = issue_invoice(cast)
    cast.perform(update_customer, customerId=invoice["customerId"], language="fr")
    shown = agent.call("send_statement", customerId=invoice["customerId"])
    assert shown["status"] == "preview"
    assert "Balance: 1000.00 GBP" in shown["preview"]["summary"]
    assert waiting_emails(cast) == []
    done = agent.call("send_statement", customerId=invoice["customerId"], confirmed=True)
    assert (done["status"], done["result"]["balance"], done["result"]["language"]) == ("done", "1000.00", "fr")
    [history] = [
        act
        for act in agent.call("get_history", recordId=invoice["customerId"])["data"]
        if act["operation"] == "send_statement"
    ]
    assert history["by"]["via"]["door"] == "agent"


def test_a_line_of_a_bank_statement_finds_its_invoice_and_is_recorded_once(agent: Agent, cast: Cast) -> None:
    invoice = issue_invoice(cast)
    entries = [{"on": "2026-11-16", "amount": "1000.00", "text": f"Payment {invoice['number']}"}]
    [found] = agent.call("find_paid_invoices", entries=entries)["suggestions"]
    assert (found["allocations"][0]["invoiceId"], found["why"]) == (invoice["id"], "number and amount")
    agent.call(
        "record_payment",
        customerId=found["customerId"],
        amount=found["amount"],
        reference=found["text"],
        externalRef=found["externalRef"],
        allocations=[{name: one[name] for name in ("invoiceId", "amount")} for one in found["allocations"]],
    )
    assert reread_invoice(cast, invoice)["status"] == "paid"
    [again] = agent.call("find_paid_invoices", entries=entries)["suggestions"]
    assert again["paymentId"]
    assert again["allocations"] == []


def test_customers_who_are_there_twice_are_found_without_reading_all_of_them(agent: Agent, cast: Cast) -> None:
    first = make_customer(cast, "Calder Property Ltd", phone="+44 1422 555 0142")
    for number in range(5):
        make_customer(cast, f"Bystander {number}")
    again = make_customer(cast, "Calder Property", phone="01422 5550142")
    [found] = agent.call("list_duplicate_customers")["data"]
    assert (found["id"], found["sameAs"][0]["id"], found["sameAs"][0]["same"]) == (again, first, ["phone", "name"])
    agent.call("merge_customers", customerId=found["id"], intoCustomerId=found["sameAs"][0]["id"], confirmed=True)
    assert agent.call("list_duplicate_customers")["data"] == []


def test_what_falls_due_this_week_is_one_call_with_its_sum(agent: Agent, cast: Cast) -> None:
    day = cast_at(cast)
    for price, due in (("100", "2038-12-01"), ("20.50", "2038-12-05"), ("7", "2038-12-08")):
        issue_invoice(day, make_invoice(day, lines=[{"description": "Work", "unitPrice": price}], dueOn=due))
    query = {"status": "unpaid", "dueFrom": "2038-12-01", "dueUntil": "2038-12-07", "totals": True}
    page = agent.call("list_invoices", **query)
    assert [invoice["dueOn"] for invoice in page["data"]] == ["2038-12-01", "2038-12-05"]
    assert page["totals"] == {"currency": "GBP", "count": 2, "total": "120.50", "due": "120.50"}


def test_several_invoices_are_reminded_of_with_one_preview_or_none_of_them(agent: Agent, cast: Cast) -> None:
    then = cast_later(cast, days=-40)
    first, second = (issue_invoice(then) for _ in range(2))
    settled = issue_invoice(then)
    pay_invoice(cast, settled)
    numbers = [one["number"] for one in (first, second, settled)]
    refused = agent.call("send_reminders", invoiceIds=numbers)["preview"]
    assert refused["blockers"] == [f"{numbers[2]} New heating: There's nothing left to pay on {numbers[2]}."]
    shown = agent.call("send_reminders", invoiceIds=numbers[:2])
    assert shown["preview"]["summary"].startswith("Reminders for 2 invoices will be sent to 2 customers: ")
    assert reread_invoice(cast, first)["reminders"] == 0
    done = agent.call("send_reminders", invoiceIds=numbers[:2], confirmed=True)["result"]
    assert [one["reminders"] for one in done["invoices"]] == [1, 1]


def test_what_agents_did_is_asked_for_by_that_and_keys_count(agent: Agent, cast: Cast) -> None:
    customer = make_customer(cast)
    agent.call("update_customer", customerId=customer, phone="1")
    found = agent.call("list_activity", actedBy="agent")["data"]
    assert [act["operation"] for act in found] == ["update_customer"]
    assert found[0]["by"]["via"]["client"]["id"].startswith("key_")


def test_a_read_only_agent_reads_all_of_this_and_is_offered_nothing_that_sends(
    server: RunningServer, cast: Cast
) -> None:
    reading = {"get_bill", "get_credit_note", "list_postings", "get_customer_balance", "find_paid_invoices"}
    reading |= {"list_duplicate_customers", "list_invoices", "list_activity"}
    offered = Agent(server, cast.make_key(Access.READ)).list_tools().keys()
    assert reading <= offered
    assert not {"send_statement", "send_reminders", "send_reminder"} & offered


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("customer owes", "get_customer_balance"),
        ("statement of account", "send_statement"),
        ("bank statement", "find_paid_invoices"),
        ("duplicates", "list_duplicate_customers"),
        ("reminders overdue invoices", "send_reminders"),
        ("journal accountant", "list_postings"),
        ("supplier's bill lines", "get_bill"),
        ("credit note lines", "get_credit_note"),
        ("due between two dates", "list_invoices"),
        ("AI agents did", "list_activity"),
    ],
)
def test_a_tool_is_found_by_the_words_of_an_office(agent: Agent, words: str, tool: str) -> None:
    described = agent.list_tools()[tool]["description"].lower()
    assert [word for word in words.lower().split() if word not in described] == []


def test_the_whole_list_fits_into_what_a_model_reads(agent: Agent) -> None:
    tools = agent.list_tools()
    assert len(tools) <= 110
    assert len(orjson.dumps([*tools.values()])) < 140 * 1024
