"""Which names the server answers to, which pages may call it, and who is believed about a client's address."""

import ipaddress
from collections.abc import Iterator

import orjson
import pytest

from mainstay.doors.server_names import ServerNames, network_of
from mainstay.settings import read_settings
from support.cast import Cast
from support.in_process import run_in_process
from support.raw_http import ORGANISATION, check_refusal
from support.servers import RunningServer

FOREIGN = [
    "elsewhere.example",
    "127.0.0.2",
    "localhost.elsewhere.example",
    "127.0.0.1.elsewhere.example",
    "x@localhost",
]
LOOPBACK = ["localhost", "127.0.0.1", "[::1]", "localhost:1", "127.0.0.1:65535", "[::1]:8000", "LocalHost:80"]


@pytest.fixture(scope="module")
def public_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server behind a proxy, with a name of its own. No database matters here, so it is the embedded one."""
    settings = read_settings(
        {
            "MAINSTAY_DATA": str(tmp_path_factory.mktemp("public")),
            "MAINSTAY_BASE_URL": "https://Office.Example",
            "MAINSTAY_TRUSTED_PROXIES": "127.0.0.1, 10.0.0.0/8,2001:db8::/32",
        }
    )
    with run_in_process(settings) as inside:
        yield inside


def test_a_host_that_is_not_ours_is_misdirected(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()

    for host in FOREIGN:
        for path in (ORGANISATION, "/api/v1/nowhere", "/", "/readyz"):
            answer = server.request("GET", path, key, headers={"Host": host})
            assert check_refusal(answer, 421) == "This server does not answer under that name."
    for host in LOOPBACK:
        assert server.request("GET", ORGANISATION, key, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://elsewhere.example",
        "http://localhost.elsewhere.example",
        "http://127.0.0.1.elsewhere.example:80",
        "null",
        "file://",
        "localhost",
        "chrome-extension://localhost",
        "http://localhost@elsewhere.example",
    ],
)
def test_on_a_loopback_base_a_page_of_another_site_may_not_call(server: RunningServer, cast: Cast, origin: str) -> None:
    for key in (cast.make_key(), None):
        answer = server.request("GET", ORGANISATION, key, headers={"Origin": origin})

        assert check_refusal(answer, 403) == "A page of another site may not call this server."


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://127.0.0.1:3000", "https://localhost:8443", "http://[::1]"]
)
def test_on_a_loopback_base_a_page_of_the_loopback_may_call(server: RunningServer, cast: Cast, origin: str) -> None:
    assert server.request("GET", ORGANISATION, cast.make_key(), headers={"Origin": origin}).status_code == 200


def test_a_public_server_answers_to_its_name_and_to_the_loopback(public_server: RunningServer) -> None:
    for host in ("office.example", "OFFICE.example", "office.example:443", *LOOPBACK):
        check_refusal(public_server.request("GET", ORGANISATION, headers={"Host": host}), 401)
    for host in ("office.example.elsewhere.example", "example", "office.example:8000", *FOREIGN):
        check_refusal(public_server.request("GET", ORGANISATION, headers={"Host": host}), 421)


@pytest.mark.parametrize(
    ("base_url", "usual"),
    [("https://office.example:443", ":443"), ("http://office.example", ":80"), ("http://office.example:8080", "")],
)
def test_the_usual_port_may_be_left_out(base_url: str, usual: str) -> None:
    addresses = ServerNames(base_url, ())
    assert addresses.is_own_host("office.example") is bool(usual)
    assert addresses.is_own_host(f"office.example{usual or ':8080'}")
    assert not addresses.is_own_host("office.example:81")


def test_an_address_of_ipv4_is_the_same_on_a_socket_for_both_kinds() -> None:
    trusting = ServerNames("http://localhost", (ipaddress.ip_network("127.0.0.1"),))
    forwarded = {"x-forwarded-for": "203.0.113.9"}
    assert trusting.client_address("[::ffff:127.0.0.1]:5000", forwarded) == "203.0.113.9"
    assert trusting.client_address("[::ffff:198.51.100.1]:5000", forwarded) == "198.51.100.1"
    assert network_of("::ffff:198.51.100.1") == "198.51.100.1"
    assert network_of("2001:db8::1") == network_of("2001:db8::2") == "2001:db8::/64"


def test_a_public_server_is_called_by_pages_of_any_site_and_asks_them_for_a_key(public_server: RunningServer) -> None:
    check_refusal(public_server.request("GET", ORGANISATION, headers={"Origin": "https://elsewhere.example"}), 401)


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        (None, "127.0.0.1"),
        ("", "127.0.0.1"),
        ("203.0.113.9", "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("203.0.113.9, 10.1.2.3", "203.0.113.9"),
        ("203.0.113.9,10.1.2.3 , 10.4.5.6", "203.0.113.9"),
        ("10.1.2.3", "10.1.2.3"),
        ("nonsense", "127.0.0.1"),
        ("203.0.113.9, nonsense", "127.0.0.1"),
        ("nonsense, 203.0.113.9", "203.0.113.9"),
        ("nonsense, 10.1.2.3", "10.1.2.3"),
        ("2001:db9::1, 2001:db8::7", "2001:db9::1"),
    ],
)
def test_a_trusted_proxy_is_believed_about_whom_it_speaks_for(
    public_server: RunningServer, capsys: pytest.CaptureFixture[str], forwarded: str | None, address: str
) -> None:
    assert _logged_address(public_server, capsys, forwarded) == address


def test_without_trusted_proxies_nobody_is_believed() -> None:
    nobody = ServerNames("https://office.example", ())
    assert nobody.client_address("127.0.0.1:5000", {"x-forwarded-for": "203.0.113.9"}) == "127.0.0.1"
    assert nobody.client_address("[::1]:5000", {"x-forwarded-for": "203.0.113.9"}) == "::1"


def test_a_trusted_proxy_is_believed(server: RunningServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert _logged_address(server, capsys, "203.0.113.9") == "203.0.113.9"


def _logged_address(server: RunningServer, capsys: pytest.CaptureFixture[str], forwarded: str | None) -> str:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    answer = server.request("GET", ORGANISATION, headers=headers)
    assert answer.status_code == 401
    logged = [orjson.loads(line) for line in capsys.readouterr().err.splitlines()]
    [line] = [line for line in logged if line.get("request") == answer.headers["X-Request-Id"]]
    return str(line["address"])


def test_a_header_given_by_many_proxies_is_read_from_its_end() -> None:
    addresses = ServerNames("https://office.example", (ipaddress.ip_network("10.0.0.0/8"),))
    many = ", ".join(f"10.{number}.0.1" for number in range(200))

    assert addresses.client_address("10.0.0.1:1", {"x-forwarded-for": "203.0.113.9, " + many}) == "203.0.113.9"
    assert addresses.client_address("203.0.113.5:1", {"x-forwarded-for": "203.0.113.9"}) == "203.0.113.5"
    assert addresses.client_address("", {"x-forwarded-for": "203.0.113.9"}) == ""


def test_connections_count_for_an_address_or_its_network_and_those_of_a_proxy_for_nobody() -> None:
    addresses = ServerNames("http://localhost", (ipaddress.ip_network("10.0.0.0/8"),))

    assert addresses.limited_network("192.0.2.1") == "192.0.2.1"
    assert addresses.limited_network("::ffff:192.0.2.1") == "192.0.2.1"
    assert addresses.limited_network("2001:db8::1") == addresses.limited_network("2001:db8::2") == "2001:db8::/64"
    assert addresses.limited_network("10.1.2.3") is None
    assert addresses.limited_network("::ffff:10.1.2.3") is None
