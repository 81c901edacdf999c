"""The money of a firm by an agent over MCP, with a real client: what cannot be undone is previewed, then confirmed."""

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.installations import Installations
from support.invoicing_firm import (
    CUSTOMER,
    SUPPLIER,
    InvoicingFirm,
    open_invoicing_firm,
    read_attached_pdf,
    read_e_invoice,
)
from support.oauth_app import register_app, sign_in_cast_member
from support.waiting import wait_until

Record = dict[str, Any]


@pytest.fixture(scope="module")
def firm(
    engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InvoicingFirm]:
    with open_invoicing_firm(installations, engine, tmp_path_factory.mktemp("firm")) as firm:
        yield firm


class Agent:
    """An app of the office, which does nothing that cannot be undone before it has seen what would happen."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, /, **arguments: object) -> Record:
        """The answer of a tool."""
        result = await self._client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content or {}

    async def read_refusal(self, tool: str, /, **arguments: object) -> str:
        """What a tool refuses with."""
        result = await self._client.call_tool(tool, arguments)
        assert result.is_error, result.content
        [text] = result.content
        return str(getattr(text, "text", ""))

    async def confirm(self, tool: str, /, **arguments: object) -> Record:
        """Look at what would happen, and let it happen."""
        shown = await self.call(tool, **arguments)
        assert (shown["status"], shown["preview"]["blockers"]) == ("preview", []), shown
        done = await self.call(tool, **arguments, confirmed=True)
        assert done["status"] == "done"
        result: Record = done["result"]
        return result


def test_an_agent_of_the_office_quotes_bills_and_is_paid(firm: InvoicingFirm) -> None:
    app = register_app(firm.server)
    office = sign_in_cast_member(firm.server, firm.cast, Role.OFFICE)
    token = app.connect(office, firm.cast.organisation, "write")["access_token"]

    async def go() -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{firm.server.url}/mcp", http_client=http), mode="auto") as client,
        ):
            agent = Agent(client)
            quote = await sell(firm, agent)
            job = quote["jobId"]
            await bill_deposit(firm, agent, quote)
            await work_and_buy(firm, agent, job)
            await bill_rest(firm, agent, quote)
            assert (await agent.call("get_job", jobId=job))["status"] == "closed"

    asyncio.run(go())


async def sell(firm: InvoicingFirm, agent: Agent) -> Record:
    """A quote is drafted, mailed and accepted by phone."""
    [customer] = (await agent.call("list_customers", text="Calder"))["data"]
    lines = [{"description": "Combi boiler", "unitPrice": "900"}, {"description": "Flue", "unitPrice": "100"}]
    values = {"customerId": customer["id"], "title": "New heating", "lines": lines, "deposit": {"percent": "25"}}
    draft = await agent.call("draft_quote", **values)
    # Words that look like a confirmation are none.
    assert "confirmed" in await agent.read_refusal("send_quote", quoteId=draft["number"], confirmed="true")
    preview = (await agent.call("send_quote", quoteId=draft["number"]))["preview"]
    assert preview["effects"][0].startswith(f"Email to {CUSTOMER}: Quote Q-0001")
    assert "Hello Calder Property," in preview["effects"][1]
    await agent.confirm("send_quote", quoteId=draft["number"])
    assert (
        "Combi boiler" in read_attached_pdf(await wait_for_mail(firm, CUSTOMER, "Quote Q-0001")).pages[0].extract_text()
    )
    answer = {"quoteId": draft["number"], "decision": "accepted", "method": "phone", "name": "Ann Boyle"}
    accepted = await agent.confirm("record_quote_decision", **answer)
    assert accepted["status"] == "accepted"
    return accepted


async def bill_deposit(firm: InvoicingFirm, agent: Agent, quote: Record) -> None:
    """Acceptance has drafted it; it is mailed and paid."""
    drafted = partial(firm.cast.perform, list_invoices, quoteId=quote["id"])
    await asyncio.to_thread(wait_until, lambda: drafted()["data"])
    [deposit] = (await agent.call("list_invoices", quoteId=quote["id"]))["data"]
    assert (deposit["kind"], deposit["status"], deposit["total"]) == ("deposit", "draft", "300.00")
    sent = await agent.confirm("send_invoice", invoiceId=deposit["id"])
    assert read_e_invoice(read_attached_pdf(await wait_for_mail(firm, CUSTOMER, "Invoice INV-0001")))["due"] == "300.00"
    await agent.call("record_payment", invoiceId=sent["number"], amount="300")


async def work_and_buy(firm: InvoicingFirm, agent: Agent, job: str) -> None:
    """More is agreed by the hour and with materials; the work is done."""
    mia, day = firm.cast.people[Role.MEMBER], local_date(firm.cast.performer.clock(), "Europe/London").isoformat()
    await agent.call("update_job", jobId=job, billing="timeAndMaterials", assigned=[mia])
    entry = await agent.call("log_hours", jobId=job, personId=mia, on=day, minutes=120)
    await agent.call("submit_hours", personId=mia, **{"from": day, "until": day})
    await agent.call("review_hours", timeEntryIds=[entry["id"]], decision="approve")
    [supplier] = (await agent.call("list_suppliers"))["data"]
    lines = [{"description": "Copper pipe", "quantity": "5", "unit": "m", "unitPrice": "6"}]
    order = await agent.call("draft_purchase_order", supplierId=supplier["id"], jobId=job, lines=lines)
    await agent.confirm("send_purchase_order", purchaseOrderId=order["number"])
    assert (
        "Copper pipe" in read_attached_pdf(await wait_for_mail(firm, SUPPLIER, "Order PO-0001")).pages[0].extract_text()
    )
    [goods] = (await agent.call("get_purchase_order", purchaseOrderId=order["number"]))["goods"]
    come = [{"lineId": goods["lineId"], "quantity": "5"}]
    await agent.call("receive_goods", purchaseOrderId=order["number"], lines=come)
    await agent.call("change_job_status", jobId=job, status="done")


async def bill_rest(firm: InvoicingFirm, agent: Agent, quote: Record) -> None:
    """The rest of the quote and all work on one invoice, which is mailed, paid in part, and paid."""
    draft = await agent.call("draft_invoice", quoteId=quote["number"], unbilled=True)
    assert (draft["kind"], draft["total"]) == ("final", "1080.00")
    sent = await agent.confirm("send_invoice", invoiceId=draft["id"])
    pdf = read_attached_pdf(await wait_for_mail(firm, CUSTOMER, "Invoice INV-0002"))
    assert read_e_invoice(pdf) == {"number": "INV-0002", "total": "1080.00", "due": "1080.00"}
    assert "has already been issued" in await agent.read_refusal("send_invoice", invoiceId=draft["id"], confirmed=True)
    await agent.call("record_payment", invoiceId=sent["number"], amount="500")
    assert (await agent.call("get_invoice", invoiceId="INV-0002"))["status"] == "partPaid"
    void = await agent.call("void_invoice", invoiceId="INV-0002", reason="A mistake")
    assert "Credit it instead" in " ".join(void["preview"]["blockers"])
    await agent.call("record_payment", invoiceId=sent["number"], amount="580")
    assert (await agent.call("get_invoice", invoiceId="INV-0002"))["status"] == "paid"


async def wait_for_mail(firm: InvoicingFirm, to: str, subject: str) -> Any:
    """A mail, once it has arrived; the mail server takes it meanwhile."""
    return await asyncio.to_thread(firm.wait_for_email, to, subject)
