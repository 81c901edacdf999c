"""Agents outside connect over HTTP; what they call is noted, and the operator hands their answers back."""

import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mainstay.evaluation.agent import AgentFailed
from mainstay.evaluation.firm import FirmTemplate
from mainstay.evaluation.firm_server import serve_firm
from mainstay.evaluation.outside_agent import OutsideAgent
from mainstay.evaluation.run import YES, run_task
from mainstay.evaluation.task import Task
from mainstay.evaluation.tasks import TASKS
from mainstay.serve_command import create_run_files
from mainstay.settings import SettingError
from support.evaluated_agents import Record
from support.mcp_client import make_legacy_call
from support.servers import free_port


@pytest.fixture(scope="module")
def served_template(template: FirmTemplate) -> FirmTemplate:
    """The firm with what a server needs."""
    port = free_port()
    settings = replace(template.settings, port=port, base_url=f"http://127.0.0.1:{port}")
    create_run_files(settings)
    return replace(template, settings=settings)


def find_task(task_id: str) -> Task:
    """Return a task."""
    [task] = [task for task in TASKS if task.id == task_id]
    return task


@dataclass
class Operator:
    """An operator with an agent that knows only what is shown: it says the next thing each time it is asked."""

    turns: Iterator[str] = field(init=False)
    shown: str = ""

    def show(self, line: str) -> None:
        """Read a line that is shown."""
        self.shown += f"{line}\n"

    def read_line(self) -> str:
        """Enter the next line."""
        return next(self.turns, "")

    def call(self, tool: str, /, **arguments: Any) -> Record:
        """Call a tool at the address and with the token that are shown."""
        [address], [token] = (re.findall(rf"{name}: +(\S+)", self.shown) for name in ("Address", "Token"))
        call = make_legacy_call("tools/call", {"name": tool, "arguments": arguments})
        answer = httpx2.post(address, json=call, headers={"Authorization": f"Bearer {token}"}).json()
        result: Record = answer["result"]["structuredContent"]
        return result


def test_it_is_shown_what_it_needs_and_confirms_after_the_persons_yes(
    served_template: FirmTemplate, tmp_path: Path
) -> None:
    operator = Operator()

    def work() -> Iterator[str]:
        [invoice] = operator.call("list_invoices", text="Mill Fold Nursery")["data"]
        given = {"invoiceId": invoice["id"], "reason": "Issued by mistake"}
        preview = operator.call("void_invoice", **given)["preview"]["summary"]
        yield f"This is what would happen: {preview}\n"
        yield "done\n"
        assert YES in operator.shown
        operator.call("void_invoice", **given, confirmed=True)
        yield "Done, it is void.\n"
        yield " Done \n"

    operator.turns = work()
    agent = OutsideAgent(operator.show, operator.read_line)

    result = run_task(served_template, find_task("void-invoice"), agent, tmp_path / "copy")

    assert (result.faults, result.calls) == ([], 3)
    assert "It is Wednesday, 18 November 2026" in operator.shown
    assert "Ruth Hartley (owner)" in operator.shown
    assert "Void it." in operator.shown


def test_each_task_is_served_at_the_same_address_with_its_own_records(
    served_template: FirmTemplate, tmp_path: Path
) -> None:
    counts = []
    for _ in range(2):
        operator = Operator()

        def work(operator: Operator = operator) -> Iterator[str]:
            operator.call("create_customer", name="Somebody new")
            counts.append(len(operator.call("list_customers", text="Somebody new")["data"]))
            yield "done\n"

        operator.turns = work()
        agent = OutsideAgent(operator.show, operator.read_line)
        result = run_task(served_template, find_task("customer-balance"), agent, tmp_path / "copy")
        assert "It performed create_customer, which nobody asked for." in result.faults

    assert counts == [1, 1]


def test_an_answer_that_does_not_end_fails_the_task(served_template: FirmTemplate, tmp_path: Path) -> None:
    lines = iter(["They owe 691.20, of which 504.00 is overdue.\n"])
    agent = OutsideAgent(lambda _: None, lambda: next(lines, ""))

    result = run_task(served_template, find_task("customer-balance"), agent, tmp_path / "copy")

    assert result.faults[0] == "Its answer ended without a line with the word done."


def test_a_port_that_is_in_use_is_refused(served_template: FirmTemplate, tmp_path: Path) -> None:
    settings = served_template.settings
    with served_template.open_copy(tmp_path / "copy") as firm, socket.create_server(("127.0.0.1", settings.port)):
        serving = serve_firm(firm.settings, firm.performer)

        with pytest.raises(SettingError, match="Address already in use"), serving:
            pass


def test_a_failure_of_the_agent_fails_the_task(template: FirmTemplate, tmp_path: Path) -> None:
    class LostAgent:
        def run(self, _sentence: str, _session: Any) -> Any:
            raise AgentFailed("The model does not answer.")

    result = run_task(template, find_task("own-visits"), LostAgent(), tmp_path / "copy")

    assert result.faults[0] == "The model does not answer."
