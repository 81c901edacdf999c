"""Agents that follow a script: over the tool server, or with the tools directly."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tools import Tools
from mainstay.evaluation.agent import AgentAnswer, Card, TaskSession
from mainstay.evaluation.firm import read_clock
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Access, Permission
from mainstay.vocabulary.refusal import Refusal
from support.in_process import run_in_process
from support.mcp_client import call_legacy, call_tool

Record = dict[str, Any]
_TOOLS = Tools(CATALOGUE.operations)


class ToolCaller(Protocol):
    """Calls a tool and returns the result as the tool server sends it."""

    def __call__(self, tool: str, arguments: Record) -> Record:
        """Call a tool."""


# How an agent reaches the tools of a session.
Connect = Callable[[TaskSession], Any]


@contextmanager
def connect_over_mcp(session: TaskSession) -> Iterator[ToolCaller]:
    """Call the tools over the tool server, with the token of an app."""
    performer = session.open_own_performer()
    with run_in_process(session.firm.settings, read_clock, with_worker=False, performer=performer) as server:
        names = {tool["name"] for tool in call_legacy(server, session.token, "tools/list")["tools"]}

        def call(tool: str, arguments: Record) -> Record:
            assert tool in names, f"{session.asked_by} has no tool {tool}"
            result: Record = call_tool(server, session.token, tool, **arguments)
            return result

        yield call


@contextmanager
def connect_directly(session: TaskSession) -> Iterator[ToolCaller]:
    """Call the tools in this process, as the person."""
    access = Access.WRITE if session.actor.can(Permission.CONNECTIONS_WRITE) else Access.READ
    actor = session.actor._replace(access=access, door=Door.AGENT)

    def call(tool: str, arguments: Record) -> Record:
        operation = _TOOLS.find_operation(tool)
        assert operation, f"there is no tool {tool}"
        try:
            answer = session.performer.perform(
                operation, actor, orjson.dumps(arguments), RequestDetails(new_id("request"))
            )
        except Refusal as refusal:
            result = _TOOLS.build_refusal(operation, refusal, actor)
        else:
            result = _TOOLS.build_result(operation, answer, actor)
        wire: Record = orjson.loads(orjson.dumps(result.to_wire()))
        return wire

    yield call


@dataclass(frozen=True)
class ScriptTools:
    """What a script does: it calls tools, and asks the person."""

    call_tool: ToolCaller
    session: TaskSession

    def call(self, tool: str, /, **arguments: Any) -> Record:
        """Call a tool that is not refused, and return its answer."""
        result = self.call_tool(tool, arguments)
        assert result["isError"] is False, result["content"]
        answer: Record = result["structuredContent"]
        return answer

    def find(self, tool: str, /, **filters: Any) -> Record:
        """Return the only record of a list."""
        [record] = self.call(tool, **filters)["data"]
        found: Record = record
        return found

    def confirm(self, tool: str, /, **arguments: Any) -> Record:
        """Preview an operation, show it to the person, and perform it if they say yes."""
        shown = self.call(tool, **arguments)
        assert (shown["status"], shown["preview"]["blockers"]) == ("preview", []), shown
        assert self.session.reply(), "the person said no"
        done: Record = self.call(tool, **arguments, confirmed=True)["result"]
        return done

    def show_card(self, tool: str, /, **arguments: Any) -> bool:
        """Preview an operation and show it as a card, as the built-in assistant does; perform it if they say yes."""
        shown = self.call(tool, **arguments)
        is_yes = self.session.confirm(Card(tool, arguments, shown["preview"]))
        if is_yes:
            self.call(tool, **arguments, confirmed=True)
        return is_yes


@dataclass(frozen=True)
class ToolsWithCards(ScriptTools):
    """What a script does if it shows a card wherever it would ask the person."""

    def confirm(self, tool: str, /, **arguments: Any) -> Record:
        """Show an operation as a card; the person must say yes."""
        assert self.show_card(tool, **arguments), "the person said no"
        return {}


Script = Callable[[ScriptTools], str]


@dataclass(frozen=True)
class ScriptedAgent:
    """An agent that follows a script."""

    script: Script
    connect: Connect

    def run(self, _sentence: str, session: TaskSession) -> AgentAnswer:
        """Follow the script."""
        with self.connect(session) as call:
            return AgentAnswer(self.script(ScriptTools(call, session)))
