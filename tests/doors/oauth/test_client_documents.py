"""Apps whose IDs are addresses of documents: how these are fetched, checked and kept, and what people see."""

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from pydantic import AnyUrl

from clients.storage import Storage
from mainstay.composition import open_performer
from mainstay.doors.oauth.client_documents import (
    FETCHES_AN_HOUR,
    MAX_DOCUMENT_BYTES,
    MAX_FRESH,
    MIN_FRESH,
    ClientDocuments,
    DocumentRefused,
    read_lifetime,
)
from mainstay.doors.runner import Runner
from mainstay.identity.clients import delete_unapproved
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.rate_limits import MachineRateLimits
from mainstay.infrastructure.webhook_client import WebhookClient
from mainstay.settings import read_settings
from mainstay.values.message import Message
from mainstay.values.moments import system_clock
from mainstay.vocabulary.permissions import Role
from support.cast import Cast, make_cast
from support.dispatchers import ManualClock
from support.document_host import DocumentHost, run_document_host
from support.in_process import InProcessServer, run_in_process
from support.installations import Installations
from support.mcp_client import make_legacy_call, post_call
from support.oauth_app import CALLBACK, OAuthApp, SignedInPerson, sign_in_cast_member
from support.receivers import HOST_NAME
from support.refused_addresses import REFUSED_URLS

SECOND = timedelta(seconds=1)


@dataclass
class World:
    """An installation whose clock is set by hand, a person, and an app with a document on a host of its own."""

    server: InProcessServer
    cast: Cast
    clock: ManualClock
    host: DocumentHost
    person: SignedInPerson
    app: OAuthApp

    def open_screen(self, **changes: str | None) -> httpx2.Response:
        return self.person.open(self.app.make_authorize_url(**changes))

    def connect(self) -> dict[str, Any]:
        return self.app.connect(self.person, self.cast.organisation)

    def advance_clock(self, duration: timedelta) -> None:
        """Let time pass; after long, the person has signed in again."""
        self.clock.now += duration
        if duration > timedelta(hours=1):
            self.person = sign_in_cast_member(self.server, self.cast)

    def ping(self, token: str) -> int:
        return post_call(self.server, token, make_legacy_call("ping")).status_code


@pytest.fixture
def world(engine: str, installations: Installations, tmp_path: Path) -> Iterator[World]:
    settings, clock = installations.make_with_accounts(engine, tmp_path), ManualClock(system_clock())
    performer = open_performer(settings, clock)
    with (
        run_document_host() as host,
        run_in_process(settings, clock, with_worker=False, open_web=host.open_web) as server,
    ):
        cast = make_cast(performer)
        yield World(server, cast, clock, host, sign_in_cast_member(server, cast), OAuthApp(server, host.client_id))
    performer.database.close()


@pytest.mark.engines("sqlite", "postgresql")
def test_an_app_connects_refreshes_and_revokes_by_the_address_of_its_document(world: World) -> None:
    screen = world.open_screen()
    assert screen.status_code == 200
    assert "Document app" in screen.text
    assert f"<strong>{HOST_NAME}:{world.host.receiver.port}</strong>" in screen.text
    assert '<p class="returns-to">localhost:9999</p>' in screen.text
    assert "logo" not in screen.text

    tokens = world.connect()
    assert world.ping(tokens["access_token"]) == 200
    refreshed = world.app.refresh_tokens(tokens["refresh_token"])
    assert refreshed.status_code == 200, refreshed.text
    assert world.app.revoke_token(refreshed.json()["refresh_token"]).status_code == 200
    assert world.ping(refreshed.json()["access_token"]) == 401
    assert world.host.fetches == 1
    [request] = world.host.receiver.requests
    assert request.startswith(b"GET /app/client.json HTTP/1.1\r\n")
    assert b"cookie" not in request.lower()


def test_nothing_is_fetched_for_someone_who_is_not_signed_in(world: World) -> None:
    answer = world.server.request("GET", world.app.make_authorize_url())
    assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (303, "/sign-in")
    assert world.host.fetches == 0


def test_one_id_serves_all_installations_and_revoking_ends_one_connection(world: World) -> None:
    first, second = world.connect(), world.connect()
    assert world.app.revoke_token(first["refresh_token"]).status_code == 200
    assert [world.ping(tokens["access_token"]) for tokens in (first, second)] == [401, 200]


def test_a_client_with_a_secret_is_refused_its_tokens(world: World) -> None:
    code = world.person.approve(world.app.make_authorize_url(), world.cast.organisation)["code"]
    assert world.app.redeem_code(code, client_secret="x").status_code == 401
    assert world.app.redeem_code(code).status_code == 200


@pytest.mark.parametrize(
    "redirect_uri", ["http://localhost/callback", "http://localhost:51234/callback", "http://localhost:1/callback"]
)
def test_a_loopback_redirect_matches_any_port(world: World, redirect_uri: str) -> None:
    world.host.document["redirect_uris"] = ["http://localhost/callback", "http://127.0.0.1/callback"]
    world.app.redirect_uri = redirect_uri
    assert world.ping(world.connect()["access_token"]) == 200


def test_who_returns_to_a_program_on_the_device_is_warned(world: World) -> None:
    """Any program there can ask in the name of an app, also of one that has a website."""
    on_the_web = "https://app.example/callback"
    world.host.document["redirect_uris"] = [CALLBACK, on_the_web]
    assert "a program on your own device" in world.open_screen().text
    world.app.redirect_uri = on_the_web
    assert "a program on your own device" not in world.open_screen().text


@pytest.mark.parametrize("redirect", ["http://localhost:9999/other", "https://evil.example/callback"])
def test_a_redirect_that_is_not_listed_gets_a_page_and_never_a_redirect(world: World, redirect: str) -> None:
    answer = world.open_screen(redirect_uri=redirect)
    assert (answer.status_code, "Location" in answer.headers) == (400, False)
    assert "not one that it registered" in answer.text


# What a document may say


def refuse_document(world: World) -> str:
    """Return the page that refuses the document; it is never a redirect, and the fault is not kept."""
    answer = world.open_screen()
    assert (answer.status_code, "Location" in answer.headers) == (400, False), answer.text
    assert answer.headers["Content-Type"].startswith("text/html")
    fetches = world.host.fetches
    world.open_screen()
    assert world.host.fetches == fetches + 1
    return answer.text


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"client_id": "https://hooks.example.com/app/client.json"}, "describes another app"),
        ({"client_id": None}, "describes another app"),
        ({"client_name": None}, "does not name the app"),
        ({"client_name": "\u202e \u200b"}, "does not name the app"),
        ({"client_name": ["x"]}, "client_name must be text"),
        ({"redirect_uris": None}, "redirect_uris must be a list"),
        ({"redirect_uris": []}, "redirect_uris must be a list"),
        ({"redirect_uris": [CALLBACK] * 11}, "redirect_uris must be a list"),
        ({"redirect_uris": [CALLBACK, "javascript:alert(1)"]}, "A redirect address must be"),
        ({"redirect_uris": ["http://app.example/callback"]}, "A redirect address must be"),
        ({"grant_types": ["client_credentials"]}, "Only the authorization code flow"),
        ({"client_secret": "x"}, "has a secret"),
        ({"client_secret_expires_at": 0}, "has a secret"),
        ({"token_endpoint_auth_method": "client_secret_post"}, "has a secret"),
        ({"token_endpoint_auth_method": "client_secret_basic"}, "has a secret"),
        ({"token_endpoint_auth_method": "client_secret_jwt"}, "has a secret"),
    ],
)
def test_a_wrong_document_is_refused(world: World, changes: dict[str, Any], reason: str) -> None:
    world.host.document |= changes
    world.host.document = {name: value for name, value in world.host.document.items() if value is not None}
    assert reason in refuse_document(world)


@pytest.mark.parametrize(
    "changes",
    [
        {"token_endpoint_auth_method": "none"},
        {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://app.example/keys"},
        {"token_endpoint_auth_method": ["private_key_jwt", "none"]},
        {"token_endpoint_auth_methods_supported": ["none", "private_key_jwt"], "logo_uri": "https://app.example/logo"},
        {"unknown": {"x": [1]}},
    ],
)
def test_every_other_document_is_that_of_a_public_client(world: World, changes: dict[str, Any]) -> None:
    world.host.document |= changes
    assert world.ping(world.connect()["access_token"]) == 200


@pytest.mark.parametrize("status", [201, 204, 301, 302, 307, 404, 500])
def test_only_the_status_200_is_taken_and_no_redirect_followed(world: World, status: int) -> None:
    world.host.status = status
    world.host.headers["Location"] = world.host.client_id.replace("client.json", "other.json")
    assert f"the status {status}" in refuse_document(world)
    assert all(b"other.json" not in request for request in world.host.receiver.requests)


@pytest.mark.parametrize(("extra", "status"), [(0, 200), (1, 400), (100_000, 400)])
def test_a_document_has_at_most_five_kilobytes(world: World, extra: int, status: int) -> None:
    world.host.document["filler"] = ""
    world.host.document["filler"] = "x" * (MAX_DOCUMENT_BYTES - len(orjson.dumps(world.host.document)) + extra)
    assert world.open_screen().status_code == status


@pytest.mark.parametrize("kind", ["text/html", "text/plain", "application/jsonp", "", "application/octet-stream"])
def test_a_document_is_marked_as_json(world: World, kind: str) -> None:
    world.host.headers["Content-Type"] = kind
    assert "not marked as JSON" in refuse_document(world)


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/oauth-client+json"]
)
def test_kinds_of_json_are_json(world: World, kind: str) -> None:
    world.host.headers["Content-Type"] = kind
    assert world.open_screen().status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"client_id": 1, "client_id": 2}', b"\xff", b"NaN"])
def test_something_else_than_a_document_is_refused(world: World, body: bytes) -> None:
    world.host.body = body
    assert "JSON" in refuse_document(world)


def test_a_host_that_takes_its_time_is_given_up(world: World) -> None:
    world.host.is_silent = True
    assert "takes too long" in refuse_document(world)


def test_a_host_with_the_certificate_of_another_is_refused(world: World) -> None:
    world.app.client_id = world.host.client_id.replace(HOST_NAME, "other.example.com")
    assert "certificate" in world.open_screen().text
    assert world.host.fetches == 0


# Where it is fetched


@pytest.fixture
def limits(tmp_path: Path) -> Iterator[MachineRateLimits]:
    path = tmp_path / "limits"
    MachineRateLimits.create(path)
    limits = MachineRateLimits(path)
    yield limits
    limits.close()


def test_no_evil_address_is_fetched(cast: Cast, limits: MachineRateLimits) -> None:
    guard = AddressGuard(allow_private=False)
    runner = Runner(reads_inline=True)
    documents = ClientDocuments(cast.performer, runner, limits, lambda: WebhookClient(guard), is_on=True)
    forms = [form for form in REFUSED_URLS if form.startswith("https://")]
    assert len(forms) > 60
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
        listener.settimeout(0)
        for form in forms:
            with pytest.raises(DocumentRefused):
                asyncio.run(documents.find_client(form.format(port=listener.getsockname()[1]), f"account {form}"))
        with pytest.raises(BlockingIOError):
            listener.accept()
    runner.threads.close()


def test_no_name_leads_to_an_evil_address(cast: Cast, limits: MachineRateLimits) -> None:
    guard = AddressGuard(allow_private=False, resolve=lambda _host, _port: ["93.184.216.34", "169.254.169.254"])
    runner = Runner(reads_inline=True)
    documents = ClientDocuments(cast.performer, runner, limits, lambda: WebhookClient(guard), is_on=True)
    with pytest.raises(DocumentRefused) as refused:
        asyncio.run(documents.find_client("https://app.example/client.json", "account"))
    assert refused.value.message.values["reason"] == Message("its address is not on the public internet")
    runner.threads.close()


def test_the_server_fetches_from_public_addresses_only_whatever_webhooks_may_reach(tmp_path: Path) -> None:
    settings = read_settings({"MAINSTAY_DATA": str(tmp_path), "MAINSTAY_WEBHOOK_PRIVATE_ADDRESSES": "allow"})
    performer = open_performer(settings)
    with run_in_process(settings, with_worker=False) as server, socket.create_server(("127.0.0.1", 0)) as listener:
        cast = make_cast(performer)
        listener.settimeout(0)
        app = OAuthApp(server, f"https://127.0.0.1:{listener.getsockname()[1]}/client.json")
        answer = sign_in_cast_member(server, cast).open(app.make_authorize_url())
        assert (answer.status_code, "not on the public internet" in answer.text) == (400, True)
        with pytest.raises(BlockingIOError):
            listener.accept()
    performer.database.close()


@pytest.mark.parametrize(
    "address",
    [
        f"https://{HOST_NAME}",
        f"https://{HOST_NAME}/",
        f"https://{HOST_NAME}/?x=1",
        f"https://{HOST_NAME}/a/../client.json",
        f"https://{HOST_NAME}/a/%2e%2E/client.json",
        f"https://{HOST_NAME}/./client.json",
        f"https://{HOST_NAME}/client.json#x",
        f"https://me@{HOST_NAME}/client.json",
        f"https://{HOST_NAME}/client json",
        f"https://{HOST_NAME}\\client.json",
        f"https://{HOST_NAME}/clïent.json",
        f"https://{HOST_NAME}/{'x' * 2_000}",
        "https:///client.json",
        f"HTTPS://{HOST_NAME}/client.json",
        f"http://{HOST_NAME}/client.json",
    ],
)
def test_an_address_without_a_plain_path_is_no_document(world: World, address: str) -> None:
    answer = world.open_screen(client_id=address)
    assert (answer.status_code, world.host.fetches) == (400, 0)


def test_the_operator_may_refuse_such_apps(engine: str, installations: Installations, tmp_path: Path) -> None:
    settings = installations.make_with_accounts(engine, tmp_path)
    performer = open_performer(settings)
    cast = make_cast(performer)
    with run_document_host() as host:
        with run_in_process(settings, with_worker=False, open_web=host.open_web) as server:
            app = OAuthApp(server, host.client_id)
            tokens = app.connect(sign_in_cast_member(server, cast), cast.organisation)
        off = read_settings({"MAINSTAY_DATA": str(settings.data), "MAINSTAY_CLIENT_DOCUMENTS": "off"})
        with run_in_process(off, with_worker=False, open_web=host.open_web) as server:
            app.server = server
            metadata = server.request("GET", "/.well-known/oauth-authorization-server").json()
            assert metadata["client_id_metadata_document_supported"] is False
            answer = sign_in_cast_member(server, cast).open(app.make_authorize_url())
            assert (answer.status_code, "known by a web address only" in answer.text) == (400, True)
            # An app that is connected stays so.
            assert app.refresh_tokens(tokens["refresh_token"]).status_code == 200
        assert host.fetches == 1
    performer.database.close()


# How long it is kept


@pytest.mark.parametrize(
    ("header", "lifetime"),
    [
        ("", MIN_FRESH),
        ("max-age=0", MIN_FRESH),
        ("max-age=299", MIN_FRESH),
        ("public, max-age=301", timedelta(seconds=301)),
        ('max-age="3600"', timedelta(hours=1)),
        ("Max-Age = 3600", timedelta(hours=1)),
        ("max-age=86400", MAX_FRESH),
        ("max-age=86401", MAX_FRESH),
        ("max-age=" + "9" * 40, MAX_FRESH),
        ("max-age=-1", MIN_FRESH),
        ("max-age=x", MIN_FRESH),
        ("max-age=3600, no-store", MIN_FRESH),
        ("no-cache, max-age=3600", MIN_FRESH),
        ("s-maxage=3600", MIN_FRESH),
    ],
)
def test_a_document_is_fresh_for_as_long_as_its_host_says_within_bounds(header: str, lifetime: timedelta) -> None:
    assert read_lifetime(header) == lifetime


def test_a_document_is_fetched_again_once_it_is_no_longer_fresh(world: World) -> None:
    world.host.headers["Cache-Control"] = "max-age=600"
    world.open_screen()
    world.advance_clock(timedelta(seconds=600) - SECOND)
    world.open_screen()
    assert world.host.fetches == 1
    world.advance_clock(SECOND)
    world.host.document["client_name"] = "Renamed app"
    assert "Renamed app" in world.open_screen().text
    assert world.host.fetches == 2


def test_an_old_document_does_not_stand_in_for_one_that_cannot_be_fetched(world: World) -> None:
    world.open_screen()
    world.advance_clock(MAX_FRESH)
    world.host.status = 503
    assert "the status 503" in refuse_document(world)


def test_fifty_people_at_once_need_one_fetch(world: World) -> None:
    with ThreadPoolExecutor(50) as threads:
        answers = [*threads.map(lambda _: world.open_screen().status_code, range(50))]
    assert answers == [200] * 50
    assert world.host.fetches == 1


def test_one_account_fetches_a_limited_number_of_documents(world: World) -> None:
    world.host.status = 404
    for _ in range(FETCHES_AN_HOUR):
        assert "the status 404" in world.open_screen().text
    assert "Try again later" in world.open_screen().text
    assert world.host.fetches == FETCHES_AN_HOUR
    world.host.status = 200
    other = sign_in_cast_member(world.server, world.cast, Role.ADMIN)
    assert other.open(world.app.make_authorize_url()).status_code == 200


def test_a_slow_host_holds_up_nobody_else(world: World) -> None:
    world.host.is_silent = True
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(world.open_screen)
        while not world.host.fetches:
            pass
        key = world.cast.make_key()
        changed = world.server.request("PATCH", "/api/v1/organisation", key, json={"phone": "5"})
        assert (changed.status_code, waiting.done()) == (200, False)
        assert waiting.result().status_code == 400


def test_unapproved_apps_are_forgotten_and_found_again(world: World) -> None:
    database = world.cast.performer.database
    world.open_screen()
    world.advance_clock(timedelta(hours=24) + SECOND)
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        delete_unapproved(db, world.clock())
        assert db.one("SELECT 1 FROM oauth_client WHERE id = :id", id=world.host.client_id) is None
    tokens = world.connect()
    world.advance_clock(timedelta(hours=24) + SECOND)
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        delete_unapproved(db, world.clock())
    assert world.app.refresh_tokens(tokens["refresh_token"]).status_code == 200


# What changes


def test_a_code_for_an_address_that_is_no_longer_listed_is_refused(world: World) -> None:
    code = world.person.approve(world.app.make_authorize_url(), world.cast.organisation)["code"]
    world.advance_clock(MIN_FRESH)
    world.host.document["redirect_uris"] = ["https://app.example/callback"]
    assert "not one that it registered" in world.open_screen().text
    assert world.app.redeem_code(code).json()["error"] == "invalid_grant"


def test_whoever_saw_other_redirects_is_asked_again(world: World) -> None:
    address = world.app.make_authorize_url()
    screen = world.person.open(address).text
    world.advance_clock(MIN_FRESH)
    world.host.document["redirect_uris"] = [CALLBACK, "https://app.example/callback"]
    choices = {"organisation": world.cast.organisation, "access": "read", "decision": "approve"}

    asked_again = world.person.decide(address, screen, **choices)
    assert (asked_again.status_code, "changed its description" in asked_again.text) == (409, True)

    approved = world.person.decide(address, asked_again.text, **choices)
    assert (approved.status_code, "code=" in approved.headers["Location"]) == (303, True)


def test_the_sdk_signs_in_with_the_address_of_its_document(world: World) -> None:
    storage = Storage()
    callback_params: dict[str, str] = {}

    async def approve(address: str) -> None:
        callback_params.update(await asyncio.to_thread(world.person.approve, address, world.cast.organisation, "write"))

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            code=callback_params["code"], state=callback_params.get("state"), iss=callback_params.get("iss")
        )

    async def use_tools() -> list[str]:
        metadata = OAuthClientMetadata.model_validate({"client_name": "SDK", "redirect_uris": [AnyUrl(CALLBACK)]})
        provider = OAuthClientProvider(
            f"{world.server.url}/mcp", metadata, storage, approve, callback, client_metadata_url=world.host.client_id
        )
        async with (
            httpx2.AsyncClient(auth=provider, timeout=60, transport=world.server.async_transport()) as http,
            Client(streamable_http_client(f"{world.server.url}/mcp", http_client=http)) as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]

    assert "get_me" in asyncio.run(use_tools())
    assert storage.client
    assert storage.client.client_id == world.host.client_id
    assert world.host.fetches == 1
