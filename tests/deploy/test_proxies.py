"""Caddy and nginx, as Debian packages them, with the files of `deploy`: requests and answers pass correctly."""

import re
from collections.abc import Iterator

import httpx2
import pytest

from mainstay.business.records.attachments import MAX_FILE_BYTES
from mainstay.doors.api.inputs import BODY_LIMIT
from mainstay.doors.http import DRAIN_BYTES, LARGE_DRAIN_BYTES
from mainstay.doors.mcp.door import BODY_LIMIT as CALL_LIMIT
from mainstay.doors.oauth.register import REGISTRATIONS_AN_HOUR
from mainstay.doors.office.kit.attachments import UPLOAD_LIMITS
from mainstay.doors.pages.forms import FORM_LIMIT as FIELDS_LIMIT
from mainstay.serve_command import HEADER_SECONDS
from support.attachments import PDF
from support.browser_session import BrowserSession, cookies_set_by, visible_text
from support.deployed import DeployedInstallation
from support.mcp_client import call_legacy
from support.oauth_app import hidden_value, make_address_header
from support.operator_guide import DEPLOY, HOST_NAME
from support.proxies import PROXIES, ProxiedServer
from support.servers import RunningServer
from support.uploads import MULTIPART, make_multipart, make_part

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="session", params=PROXIES)
def proxied_server(
    request: pytest.FixtureRequest, deployed: DeployedInstallation, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProxiedServer]:
    with PROXIES[request.param](deployed.home, tmp_path_factory.mktemp(request.param)) as proxied:
        yield proxied


@pytest.fixture
def owner_session(proxied_server: ProxiedServer, deployed: DeployedInstallation) -> BrowserSession:
    session = BrowserSession(proxied_server)
    session.sign_in(deployed.owner)
    return session


@pytest.fixture
def customer(proxied_server: ProxiedServer, deployed: DeployedInstallation) -> str:
    answer = proxied_server.request(
        "POST", "/api/v1/customers", deployed.key, json={"name": "Calder Property Services"}
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_people_sign_in_over_tls_with_cookies_that_stay_there(
    proxied_server: ProxiedServer, deployed: DeployedInstallation
) -> None:
    session = BrowserSession(proxied_server)
    page = session.get("/sign-in")
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"

    answer = session.submit_page(page.text, "/sign-in", email=deployed.owner.email, password=deployed.owner.password)

    assert answer.status_code == 303, answer.text
    assert "; Secure" in cookies_set_by(answer)["__Host-mainstay"]
    assert "Example Ltd" in visible_text(session.get("/").text)


def test_whoever_comes_without_tls_is_led_to_it(proxied_server: ProxiedServer) -> None:
    answer = proxied_server.request("GET", f"http://{HOST_NAME}/jobs?page=2")
    assert (answer.is_redirect, answer.headers["Location"]) == (True, f"https://{HOST_NAME}/jobs?page=2")


def test_a_key_opens_the_api(proxied_server: ProxiedServer, deployed: DeployedInstallation) -> None:
    answer = proxied_server.request("GET", "/api/v1/organisation", deployed.key)
    assert (answer.status_code, answer.json()["name"]) == (200, "Example Ltd")
    assert int(answer.headers["RateLimit-Remaining"]) < 600
    assert proxied_server.request("GET", "/api/v1/organisation").status_code == 401
    # A path is passed on as it was written.
    assert proxied_server.request("GET", "/api/v1/organisation%2F", deployed.key).status_code == 404


def test_an_agent_is_told_of_every_tool(proxied_server: ProxiedServer, deployed: DeployedInstallation) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "Test", "version": "1"}}
    assert call_legacy(proxied_server, deployed.key, "initialize", hello)["serverInfo"]["name"] == "mainstay"
    assert call_legacy(proxied_server, deployed.key, "tools/list") == call_legacy(
        deployed.server, deployed.key, "tools/list"
    )
    challenge = proxied_server.request("POST", "/mcp", json={}).headers["WWW-Authenticate"]
    assert f"https://{HOST_NAME}/.well-known/" in challenge


def upload_files(session: BrowserSession, customer: str, *contents: bytes) -> httpx2.Response:
    """Add files to a customer, as the form on its page does."""
    page = session.get(f"/customers/{customer}").text
    fields = {"csrf": hidden_value(page, "csrf"), "once": hidden_value(page, "once"), "recordId": customer}
    parts = [make_part(name, value.encode()) for name, value in fields.items()]
    parts += [make_part("files", content, f"{number}.pdf") for number, content in enumerate(contents)]
    return session.send_body("/documents", make_multipart(*parts), Content_Type=MULTIPART)


def make_pdf(size: int) -> bytes:
    return PDF[:9] + bytes(size - len(PDF)) + PDF[9:]


def test_a_file_as_large_as_any_may_be_goes_in_and_out(
    owner_session: BrowserSession, deployed: DeployedInstallation, customer: str
) -> None:
    answer = upload_files(owner_session, customer, make_pdf(MAX_FILE_BYTES))
    assert answer.status_code == 303, answer.text
    listed = owner_session.server.request("GET", f"/api/v1/documents?recordId={customer}", deployed.key)
    [kept] = listed.json()["data"]
    assert owner_session.get(f"/documents/{kept['id']}/file").content == make_pdf(MAX_FILE_BYTES)


def test_files_that_are_too_large_are_refused_in_words(owner_session: BrowserSession, customer: str) -> None:
    answer = upload_files(
        owner_session, customer, make_pdf(20_000_000), make_pdf(MAX_FILE_BYTES), make_pdf(MAX_FILE_BYTES)
    )
    assert (answer.status_code, "A file is larger than 15 MB" in visible_text(answer.text)) == (413, True)


def test_a_body_that_is_too_large_is_refused_by_one_or_the_other(
    proxied_server: ProxiedServer, deployed: DeployedInstallation
) -> None:
    def status(path: str, size: int) -> tuple[int, str]:
        answer = proxied_server.request("POST", path, deployed.key, content=bytes(size), headers=JSON)
        return answer.status_code, answer.text

    assert status("/api/v1/customers", BODY_LIMIT + 1) == (413, '{"error":"The body is larger than 16384 bytes."}')
    assert status("/mcp", CALL_LIMIT)[0] == 400
    for path, size in (("/api/v1/customers", 2_000_000), ("/mcp", CALL_LIMIT + 1), ("/documents", 80_000_000)):
        assert status(path, size)[0] == 413
    pieces = proxied_server.request("POST", "/mcp", deployed.key, content=iter([bytes(100_000)] * 20), headers=JSON)
    assert pieces.status_code == 413


def register_app(server: RunningServer, **headers: str) -> int:
    """Register an app, and return the status; registrations are limited by address."""
    given = {"client_name": "Test", "redirect_uris": ["http://localhost:9999/callback"]}
    return server.request("POST", "/oauth/register", json=given, headers=headers).status_code


def test_limits_count_by_where_a_request_comes_from_whatever_it_says(proxied_server: ProxiedServer) -> None:
    one, another = (
        proxied_server.from_address(f"127.{proxied_server.port // 256}.{proxied_server.port % 256}.{last}")
        for last in (1, 2)
    )
    statuses = [register_app(one, **make_address_header()) for _ in range(REGISTRATIONS_AN_HOUR + 1)]
    assert statuses == [201] * REGISTRATIONS_AN_HOUR + [429]
    assert register_app(another) == 201


@pytest.mark.parametrize(
    ("file", "keeps", "limit"),
    [
        ("Caddyfile", r"keepalive (\d+)s", r"Content-Length}\) > (\d+)\n"),
        ("nginx.conf", r"keepalive_timeout (\d+)s", r"client_max_body_size (\d+);"),
    ],
    ids=PROXIES,
)
def test_what_a_proxy_holds_to_is_what_the_server_does(file: str, keeps: str, limit: str) -> None:
    [seconds], limits = (find_numbers(file, pattern) for pattern in (keeps, limit))
    assert seconds < HEADER_SECONDS
    assert sorted(limits) == [DRAIN_BYTES, LARGE_DRAIN_BYTES]
    assert CALL_LIMIT <= DRAIN_BYTES
    assert sum(one.total_bytes for one in UPLOAD_LIMITS.values()) + 2 * FIELDS_LIMIT <= LARGE_DRAIN_BYTES


def find_numbers(file: str, pattern: str) -> list[int]:
    return [int(found) for found in re.findall(pattern, (DEPLOY / file).read_text("utf-8"))]
