import socket
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mainstay.infrastructure.address_guard import AddressDenied, AddressGuard
from support.blocked_posts import post_and_get_failure
from support.refused_addresses import DISGUISED_HOSTS, REFUSED_URLS, REFUSED_V4, REFUSED_V6

ORG = "org_1"
PUBLIC = "93.184.216.34"
# The nearest neighbours of what is refused, and a few that everybody knows.
ALLOWED = [
    *(PUBLIC, "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"),
    *("128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0"),
    *("192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0"),
    *("198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255"),
    *("2000::1", "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2001:4860:4860::8888", "2003::1", "3ffe::1"),
    *("2606:2800:220:1:248:1893:25c8:1946", "3fff:1000::1"),
]


def make_resolver(*answers: Sequence[str]) -> Callable[[str, int], Sequence[str]]:
    """A name server that gives these answers one after the other, and the last one from then on."""
    left = list(answers)
    return lambda _host, _port: left.pop(0) if len(left) > 1 else left[0]


@pytest.fixture
def connection_attempts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """List the addresses that sockets of this process try to reach; every connection is refused."""
    addresses: list[object] = []

    def connect(_: socket.socket, address: tuple[object, ...]) -> None:
        addresses.append(address[:2])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    return addresses


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Listens on every address of this machine, and is never to hear anything."""
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as ear:
        ear.settimeout(0)
        yield ear


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def assert_no_connection(listener: socket.socket) -> None:
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_there_are_many_evil_addresses() -> None:
    assert len(set(REFUSED_URLS)) == len(REFUSED_URLS) > 60


@pytest.mark.parametrize("url", REFUSED_URLS)
def test_no_evil_address_is_saved_or_reached(
    url: str, listener: socket.socket, connection_attempts: list[object]
) -> None:
    guard = AddressGuard(allow_private=False)
    url = url.format(port=port_of(listener))

    with pytest.raises(AddressDenied):
        guard.check(url, ORG)

    assert post_and_get_failure(guard, url) == "address refused"
    assert connection_attempts == []


@pytest.mark.parametrize("url", REFUSED_URLS)
def test_no_evil_address_hears_a_connection(url: str, listener: socket.socket) -> None:
    assert (
        post_and_get_failure(AddressGuard(allow_private=False), url.format(port=port_of(listener))) == "address refused"
    )

    assert_no_connection(listener)


@pytest.mark.parametrize("address", [*REFUSED_V4, *REFUSED_V6, "fe80::1%1"])
def test_no_name_leads_to_an_evil_address(
    address: str, listener: socket.socket, connection_attempts: list[object]
) -> None:
    guard = AddressGuard(allow_private=False, resolve=make_resolver([address]))
    url = f"https://hooks.example.com:{port_of(listener)}/"

    with pytest.raises(AddressDenied, match="not public"):
        guard.check(url, ORG)

    assert post_and_get_failure(guard, url) == "address refused"
    assert connection_attempts == []


@pytest.mark.parametrize("answer", [[PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], [PUBLIC] * 9 + ["::1"]])
def test_one_evil_address_among_others_spoils_the_name(answer: list[str], connection_attempts: list[object]) -> None:
    guard = AddressGuard(allow_private=False, resolve=make_resolver(answer))

    with pytest.raises(AddressDenied):
        guard.check("https://hooks.example.com/", ORG)

    assert post_and_get_failure(guard, "https://hooks.example.com/") == "address refused"
    assert connection_attempts == []


def test_a_name_that_turns_inside_after_it_was_saved_is_refused(listener: socket.socket) -> None:
    guard = AddressGuard(allow_private=False, resolve=make_resolver([PUBLIC], ["127.0.0.1"]))
    url = f"https://hooks.example.com:{port_of(listener)}/"

    guard.check(url, ORG)

    assert post_and_get_failure(guard, url) == "address refused"
    assert_no_connection(listener)


def test_the_system_is_asked_for_names() -> None:
    with pytest.raises(AddressDenied, match="not public"):
        AddressGuard(allow_private=False).start_lookup("localhost", 443).result()


def test_the_name_is_asked_once_for_a_connection_that_goes_where_the_answer_said(
    connection_attempts: list[object],
) -> None:
    guard = AddressGuard(allow_private=False, resolve=make_resolver([PUBLIC], ["127.0.0.1"]))

    assert post_and_get_failure(guard, "https://hooks.example.com/") == "connection refused"

    assert connection_attempts == [(PUBLIC, 443)]


def test_each_of_the_first_addresses_is_tried(connection_attempts: list[object]) -> None:
    many = [f"93.184.216.{number}" for number in range(1, 100)]

    assert post_and_get_failure(
        AddressGuard(allow_private=False, resolve=make_resolver(many)), "https://hooks.example.com:8443/"
    ) == ("connection refused")

    assert connection_attempts == [(address, 8443) for address in many[:4]]


@pytest.mark.parametrize("address", ALLOWED)
def test_a_public_address_is_reached(address: str, connection_attempts: list[object]) -> None:
    guard = AddressGuard(allow_private=False)
    url = f"https://{f'[{address}]' if ':' in address else address}/hook"

    guard.check(url, ORG)

    assert post_and_get_failure(guard, url) == "connection refused"
    assert connection_attempts == [(address, 443)]


def test_a_mapped_public_address_is_reached_as_what_it_is(connection_attempts: list[object]) -> None:
    assert (
        post_and_get_failure(AddressGuard(allow_private=False), f"https://[::ffff:{PUBLIC}]/") == "connection refused"
    )

    assert connection_attempts == [(PUBLIC, 443)]


@pytest.mark.parametrize(
    "url",
    [
        *("https://example.com", "https://example.com/", "https://example.com?a=b", "HTTPS://EXAMPLE.com/"),
        *("https://hooks.example.com:8443/a/b?c=d&e=%20", "https://example.com/käse/🧀", "https://käse.example/"),
        *("https://my_app.example.com/", "https://xn--kse-qla.example/", "https://1and1.example/", "https://a.1b/"),
        "https://example.com/" + "a" * 1980,
        "https://" + ".".join(["a" * 63] * 3 + ["b" * 61]) + "/",
    ],
)
def test_an_ordinary_url_is_taken(url: str) -> None:
    AddressGuard(allow_private=False, resolve=make_resolver([PUBLIC])).check(url, ORG)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.com/" + "a" * 1981, "longer than 2000"),
        ("http://example.com/", "https://"),
        ("", "must look like https://host/path"),
        ("example.com", "must look like https://host/path"),
        ("https://", "must look like https://host/path"),
        ("https:///path", "must look like https://host/path"),
        ("https://user@example.com/", "must look like https://host/path"),
        ("https://user:word@example.com/", "must look like https://host/path"),
        ("https://example.com/#part", "must look like https://host/path"),
        ("https://example.com/#", "must look like https://host/path"),
        ("https://example.com:/", "must look like https://host/path"),
        ("https://example.com:https/", "must look like https://host/path"),
        ("https://example.com:4_43/", "must look like https://host/path"),
        ("https://example.com:٤٤٣/", "must look like https://host/path"),
        ("https://example.com:+443/", "must look like https://host/path"),
        ("https://example.com:-1/", "must look like https://host/path"),
        ("https://example.com:0/", "port"),
        ("https://example.com:65536/", "port"),
        ("https://example.com/a b", "space"),
        ("https://example.com/a\u00a0b", "space"),
        ("https://example.com/a\nb", "invisible character"),
        ("https://example.com/\r\nHost: inside", "invisible character"),
        ("https://example.com/\x00", "invisible character"),
        ("https://example.com/\x7f", "invisible character"),
        ("https://example.com/\u202e", "invisible character"),
        ("https://example.com/\ud800", "invisible character"),
        ("https://example.com/a\\b", "backslash"),
        ("https://-example.com/", "has an invalid host name"),
        ("https://example-.com/", "has an invalid host name"),
        ("https://.example.com/", "has an invalid host name"),
        ("https://example..com/", "has an invalid host name"),
        ("https://example.com./", "has an invalid host name"),
        ("https://exam!ple.com/", "has an invalid host name"),
        ("https://a\u0338.com\u2010.example/", "has an invalid host name"),
        ("https://" + "a" * 64 + ".com/", "has an invalid host name"),
        ("https://" + ".".join(["a" * 63] * 3 + ["b" * 62]) + "/", "has an invalid host name"),
        ("https://intranet/", "private network"),
    ],
)
def test_a_url_of_a_wrong_form_is_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(AddressDenied, match=reason):
        AddressGuard(allow_private=False, resolve=make_resolver([PUBLIC])).check(url, ORG)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/", "https://[::1]/", "http://localhost/", "http://app/hook"])
def test_private_addresses_and_http_pass_when_they_are_allowed(url: str, connection_attempts: list[object]) -> None:
    guard = AddressGuard(allow_private=True, resolve=make_resolver(["127.0.0.1"]))

    guard.check(url, ORG)

    assert post_and_get_failure(guard, url) == "connection refused"
    assert len(connection_attempts) == 1


@pytest.mark.parametrize("host", DISGUISED_HOSTS)
def test_a_disguised_address_is_refused_even_where_private_ones_are_allowed(
    host: str, connection_attempts: list[object]
) -> None:
    guard = AddressGuard(allow_private=True, resolve=make_resolver(["127.0.0.1"]))

    if host == "127。0。0。1":  # a way to write dots, and so the address itself
        guard.check(f"https://{host}/", ORG)
        return

    with pytest.raises(AddressDenied):
        guard.check(f"https://{host}/", ORG)

    assert post_and_get_failure(guard, f"https://{host}/") == "address refused"
    assert connection_attempts == []


@given(st.one_of(st.text(), st.text().map("https://{}".format), st.text().map("https://[{}".format)))
@example("https://\udcff/")
@example("https://" + "9" * 1990)
@example("https://example.com:" + "9" * 1900)
def test_whatever_is_written_is_taken_or_denied(url: str) -> None:
    guard = AddressGuard(allow_private=False)
    try:
        read = guard.parse_url(url)
    except AddressDenied:
        return
    assert (read.scheme, read.userinfo, read.fragment) == ("https", b"", "")
    assert guard.parse_url(str(read)) == read


def fail_lookup(_host: str, _port: int) -> list[str]:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("resolve", [fail_lookup, make_resolver([])])
def test_a_name_that_does_not_resolve_may_be_saved_but_not_reached(
    resolve: Callable[[str, int], Sequence[str]], connection_attempts: list[object]
) -> None:
    guard = AddressGuard(allow_private=False, resolve=resolve)

    guard.check("https://soon.example.com/", ORG)

    assert post_and_get_failure(guard, "https://soon.example.com/") == "name not found"
    assert connection_attempts == []
