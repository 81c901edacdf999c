"""The official MCP SDK of the 1.x generation as a client; run in an environment of its own.

Arguments: the server's address, a key, the Cookie header of someone signed in, their organisation. Prints what it saw.
"""

import asyncio
import json
import re
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl
from storage import Storage

CALLBACK = "http://localhost:9999/callback"


async def use(url: str, **how: Any) -> dict[str, Any]:
    async with (
        streamablehttp_client(url, **how) as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        started = await session.initialize()
        tools = await session.list_tools()
        called = await session.call_tool("get_me", {})
        return {
            "version": started.protocolVersion,
            "tools": [tool.name for tool in tools.tools],
            "me": called.structuredContent,
        }


async def connect(base: str, cookie: str, organisation: str, method: str) -> dict[str, Any]:
    storage, told = Storage(), {}

    async def approve(address: str) -> None:
        headers = {"Cookie": cookie, "Origin": base}
        async with httpx.AsyncClient(headers=headers) as browser:
            screen = (await browser.get(address)).text
            hidden = dict(re.findall(r'name="(csrf|ticket)" value="([^"]*)"', screen))
            choices = {"organisation": organisation, "access": "read", "decision": "approve"}
            answer = await browser.post(address, data={**hidden, **choices})
        told.update({name: values[0] for name, values in parse_qs(urlsplit(answer.headers["Location"]).query).items()})

    async def callback() -> tuple[str, str | None]:
        return told["code"], told.get("state")

    metadata = OAuthClientMetadata(
        client_name="SDK 1", redirect_uris=[AnyUrl(CALLBACK)], token_endpoint_auth_method=method
    )
    provider = OAuthClientProvider(f"{base}/mcp", metadata, storage, approve, callback)
    first = await use(f"{base}/mcp", auth=provider)
    before = storage.tokens
    # An hour later, as far as the client knows.
    provider.context.token_expiry_time = 1.0
    await use(f"{base}/mcp", auth=provider)
    return {**first, "refreshed": storage.tokens != before}


async def main() -> None:
    base, key, cookie, organisation = sys.argv[1:]
    seen = {"key": await use(f"{base}/mcp", headers={"Authorization": f"Bearer {key}"})}
    for method in ("none", "client_secret_post", "client_secret_basic"):
        seen[method] = await connect(base, cookie, organisation, method)
    sys.stdout.write(json.dumps(seen))


asyncio.run(main())
