"""Caddy and nginx, as Debian packs them, with the files of `deploy`: everything gets through them as it should."""

import re
from collections.abc import Iterator

import httpx2
import pytest

from agents import ask
from apps import from_somewhere, hidden
from deployed import Deployed
from filing import PDF
from guide import DEPLOY, NAME
from mainstay.business.records.documents import MOST_BYTES
from mainstay.doors.api.inputs import BODY_LIMIT
from mainstay.doors.http import LARGE_READ_AWAY_BYTES, READ_AWAY_BYTES
from mainstay.doors.mcp.door import BODY_LIMIT as CALL_LIMIT
from mainstay.doors.oauth.register import REGISTRATIONS_AN_HOUR
from mainstay.doors.office.documents import LIMITS
from mainstay.doors.pages.forms import LIMIT as FIELDS_LIMIT
from mainstay.serving import HEADER_SECONDS
from proxies import PROXIES, Proxied
from running import RunningServer
from uploading import MULTIPART, multipart, part
from visiting import Visit, set_cookies, words

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="session", params=PROXIES)
def proxied(
    request: pytest.FixtureRequest, deployed: Deployed, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxied]:
    with PROXIES[request.param](deployed.home, tmp_path_factory.mktemp(request.param)) as proxied:
        yield proxied


@pytest.fixture
def olivia(proxied: Proxied, deployed: Deployed) -> Visit:
    visiting = Visit(proxied)
    visiting.sign_in(deployed.owner)
    return visiting


@pytest.fixture
def customer(proxied: Proxied, deployed: Deployed) -> str:
    answer = proxied.request("POST", "/api/v1/customers", deployed.key, json={"name": "Calder Property Services"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_people_sign_in_over_tls_with_cookies_that_stay_there(proxied: Proxied, deployed: Deployed) -> None:
    visiting = Visit(proxied)
    page = visiting.get("/sign-in")
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"

    answer = visiting.answer(page.text, "/sign-in", email=deployed.owner.email, password=deployed.owner.password)

    assert answer.status_code == 303, answer.text
    assert "; Secure" in set_cookies(answer)["__Host-mainstay"]
    assert "Example Ltd" in words(visiting.get("/").text)


def test_whoever_comes_without_tls_is_led_to_it(proxied: Proxied) -> None:
    answer = proxied.request("GET", f"http://{NAME}/jobs?page=2")
    assert (answer.is_redirect, answer.headers["Location"]) == (True, f"https://{NAME}/jobs?page=2")


def test_a_key_opens_the_api(proxied: Proxied, deployed: Deployed) -> None:
    answer = proxied.request("GET", "/api/v1/organisation", deployed.key)
    assert (answer.status_code, answer.json()["name"]) == (200, "Example Ltd")
    assert int(answer.headers["RateLimit-Remaining"]) < 600
    assert proxied.request("GET", "/api/v1/organisation").status_code == 401
    # A path is passed on as it was written.
    assert proxied.request("GET", "/api/v1/organisation%2F", deployed.key).status_code == 404


def test_an_agent_is_told_of_every_tool(proxied: Proxied, deployed: Deployed) -> None:
    asked = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "Test", "version": "1"}}
    assert ask(proxied, deployed.key, "initialize", asked)["serverInfo"]["name"] == "mainstay"
    assert ask(proxied, deployed.key, "tools/list") == ask(deployed.server, deployed.key, "tools/list")
    challenge = proxied.request("POST", "/mcp", json={}).headers["WWW-Authenticate"]
    assert f"https://{NAME}/.well-known/" in challenge


def handed_in(olivia: Visit, customer: str, *contents: bytes) -> httpx2.Response:
    """Files added to a customer, as the form on its page does."""
    page = olivia.get(f"/customers/{customer}").text
    fields = {"csrf": hidden(page, "csrf"), "once": hidden(page, "once"), "recordId": customer}
    parts = [part(name, value.encode()) for name, value in fields.items()]
    parts += [part("files", content, f"{number}.pdf") for number, content in enumerate(contents)]
    return olivia.send("/documents", multipart(*parts), Content_Type=MULTIPART)


def of_size(size: int) -> bytes:
    return PDF[:9] + bytes(size - len(PDF)) + PDF[9:]


def test_a_file_as_large_as_any_may_be_goes_in_and_out(olivia: Visit, deployed: Deployed, customer: str) -> None:
    answer = handed_in(olivia, customer, of_size(MOST_BYTES))
    assert answer.status_code == 303, answer.text
    listed = olivia.server.request("GET", f"/api/v1/documents?recordId={customer}", deployed.key)
    [kept] = listed.json()["data"]
    assert olivia.get(f"/documents/{kept['id']}/file").content == of_size(MOST_BYTES)


def test_files_that_are_too_large_are_refused_in_words(olivia: Visit, customer: str) -> None:
    answer = handed_in(olivia, customer, of_size(20_000_000), of_size(MOST_BYTES), of_size(MOST_BYTES))
    assert (answer.status_code, "A file is larger than 15 MB" in words(answer.text)) == (413, True)


def test_a_body_that_is_too_large_is_refused_by_one_or_the_other(proxied: Proxied, deployed: Deployed) -> None:
    def status(path: str, size: int) -> tuple[int, str]:
        answer = proxied.request("POST", path, deployed.key, content=bytes(size), headers=JSON)
        return answer.status_code, answer.text

    assert status("/api/v1/customers", BODY_LIMIT + 1) == (413, '{"error":"The body is larger than 16384 bytes."}')
    assert status("/mcp", CALL_LIMIT)[0] == 400
    for path, size in (("/api/v1/customers", 2_000_000), ("/mcp", CALL_LIMIT + 1), ("/documents", 80_000_000)):
        assert status(path, size)[0] == 413
    pieces = proxied.request("POST", "/mcp", deployed.key, content=iter([bytes(100_000)] * 20), headers=JSON)
    assert pieces.status_code == 413


def registered(server: RunningServer, **headers: str) -> int:
    """An app registers; by the address it comes from, an hour holds only so many."""
    given = {"client_name": "Test", "redirect_uris": ["http://localhost:9999/callback"]}
    return server.request("POST", "/oauth/register", json=given, headers=headers).status_code


def test_limits_count_by_where_a_request_comes_from_whatever_it_says(proxied: Proxied) -> None:
    one, another = (proxied.coming_from(f"127.{proxied.port // 256}.{proxied.port % 256}.{last}") for last in (1, 2))
    told = [registered(one, **from_somewhere()) for _ in range(REGISTRATIONS_AN_HOUR + 1)]
    assert told == [201] * REGISTRATIONS_AN_HOUR + [429]
    assert registered(another) == 201


@pytest.mark.parametrize(
    ("file", "keeps", "limit"),
    [
        ("Caddyfile", r"keepalive (\d+)s", r"Content-Length}\) > (\d+)\n"),
        ("nginx.conf", r"keepalive_timeout (\d+)s", r"client_max_body_size (\d+);"),
    ],
    ids=PROXIES,
)
def test_what_a_proxy_holds_to_is_what_the_server_does(file: str, keeps: str, limit: str) -> None:
    [seconds], limits = (numbers_in(file, pattern) for pattern in (keeps, limit))
    assert seconds < HEADER_SECONDS
    assert sorted(limits) == [READ_AWAY_BYTES, LARGE_READ_AWAY_BYTES]
    assert CALL_LIMIT <= READ_AWAY_BYTES
    assert sum(one.whole for one in LIMITS.values()) + 2 * FIELDS_LIMIT <= LARGE_READ_AWAY_BYTES


def numbers_in(file: str, pattern: str) -> list[int]:
    return [int(found) for found in re.findall(pattern, (DEPLOY / file).read_text("utf-8"))]
