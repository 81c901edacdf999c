"""Clients written by others: the official MCP SDK in both generations, and Authlib."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from authlib.integrations.requests_client import OAuth2Session
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from pydantic import AnyUrl

from clients.storage import Storage
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.mcp_client import make_legacy_call, post_call
from support.oauth_app import CALLBACK, SignedInPerson, register_app, sign_in_cast_member
from support.servers import RunningServer

MODES = ("legacy", "auto", "2026-07-28")
METHODS = ("none", "client_secret_post", "client_secret_basic")
SDK_1 = Path(sys.prefix, "clients", "mcp1", "bin", "python")


async def use_tools(url: str, http: httpx2.AsyncClient, mode: str) -> list[str]:
    """List the tools, call some, and see a preview and a refusal."""
    async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        me = await client.call_tool("get_me", {})
        assert me.structured_content
        people = await client.call_tool("list_people", {"limit": 2})
        assert people.structured_content
        assert len(people.structured_content["data"]) == 2
        refused = await client.call_tool("get_person", {"personId": "nobody"})
        assert refused.is_error
        return tools


@pytest.mark.parametrize("mode", MODES)
def test_the_sdk_connects_with_a_key(server: RunningServer, cast: Cast, mode: str) -> None:
    headers = {"Authorization": f"Bearer {cast.make_key()}"}

    async def go() -> list[str]:
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            return await use_tools(f"{server.url}/mcp", http, mode)

    assert "remove_person" in asyncio.run(go())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", METHODS)
def test_the_sdk_connects_by_oauth_and_refreshes(server: RunningServer, cast: Cast, mode: str, method: str) -> None:
    person = sign_in_cast_member(server, cast, Role.OFFICE)
    storage = Storage()
    callback_params: dict[str, str] = {}

    async def approve(address: str) -> None:
        callback_params.update(await asyncio.to_thread(person.approve, address, cast.organisation, "write"))

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            code=callback_params["code"], state=callback_params.get("state"), iss=callback_params.get("iss")
        )

    async def go() -> tuple[list[str], bool]:
        metadata = OAuthClientMetadata.model_validate(
            {"client_name": "SDK 2", "redirect_uris": [AnyUrl(CALLBACK)], "token_endpoint_auth_method": method}
        )
        provider = OAuthClientProvider(f"{server.url}/mcp", metadata, storage, approve, callback)
        async with httpx2.AsyncClient(auth=provider, timeout=60) as http:
            tools = await use_tools(f"{server.url}/mcp", http, mode)
            before = storage.tokens
            # An hour later, as far as the client knows.
            provider.context.token_expiry_time = 1.0
            await use_tools(f"{server.url}/mcp", http, mode)
        return tools, storage.tokens != before

    tools, refreshed = asyncio.run(go())
    assert refreshed
    assert "list_people" in tools
    assert "update_organisation" not in tools
    assert storage.client
    assert storage.client.token_endpoint_auth_method == method


def test_the_sdk_of_the_first_generation_connects(server: RunningServer, cast: Cast) -> None:
    assert SDK_1.exists(), "The older MCP SDK is not installed: run `make test`, which installs it."
    person = sign_in_cast_member(server, cast)
    script = Path(__file__).parent.parent / "clients" / "sdk_1.py"
    command = [str(SDK_1), str(script), server.url, cast.make_key(), person.cookie, cast.organisation]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    assert set(seen) == {"key", *METHODS}
    for what in seen.values():
        assert what["version"] == "2025-11-25"
        assert "list_people" in what["tools"]
        assert what["me"]["person"]["name"] == "Olivia Owner"
        assert what.get("refreshed", True)


@pytest.mark.parametrize("method", METHODS)
def test_authlib_connects_refreshes_and_revokes(server: RunningServer, cast: Cast, method: str) -> None:
    app = register_app(server, method)
    session = OAuth2Session(
        app.client_id,
        app.secret,
        scope="mcp",
        redirect_uri=CALLBACK,
        code_challenge_method="S256",
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
    )
    verifier = app.verifier
    address, state = session.create_authorization_url(f"{server.url}/oauth/authorize", code_verifier=verifier)
    person: SignedInPerson = sign_in_cast_member(server, cast)
    callback_params = person.approve(address, cast.organisation)
    assert callback_params["state"] == state
    token = session.fetch_token(f"{server.url}/oauth/token", code=callback_params["code"], code_verifier=verifier)
    assert post_call(server, token["access_token"], make_legacy_call("ping")).status_code == 200
    refreshed = session.refresh_token(f"{server.url}/oauth/token", refresh_token=token["refresh_token"])
    assert refreshed["access_token"] != token["access_token"]
    revoked = session.revoke_token(f"{server.url}/oauth/revoke", token=refreshed["access_token"])
    assert revoked.status_code == 200
    assert post_call(server, refreshed["access_token"], make_legacy_call("ping")).status_code == 401
