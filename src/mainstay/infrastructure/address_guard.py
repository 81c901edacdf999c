"""Decide which addresses on the internet Mainstay may connect to."""

import re
import socket
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any

from mainstay.infrastructure.log import log_error
from mainstay.lazy_import import import_lazily
from mainstay.values.message import Message

if TYPE_CHECKING:
    from concurrent.futures import Future

LONGEST_URL = 2000
# A lookup continues after its request has given up, so there may be more lookups than requests.
MAX_LOOKUPS = 128
# Saving an address waits this long at most. The number of lookups is limited in total and for each organisation, so
# that a silent name server cannot block all threads.
_CHECK_TIMEOUT_SECONDS = 2.0
MAX_CHECKS, MAX_CHECKS_PER_ORGANISATION = 4, 2
_LARGEST_PORT = 65_535

# Returns the addresses of a host as text; raises OSError if it has none.
Resolve = Callable[[str, int], Sequence[str]]


class AddressDenied(Exception):
    """Mainstay may not connect to this address; the message reads like a field error: `is …`, `leads to …`."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


def resolve(host: str, port: int) -> list[str]:
    """Look a host up with the operating system's resolver."""
    return [str(socket_address[0]) for *_, socket_address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class AddressGuard:
    """Refuses addresses that are not public: when one is saved, and again at each connection.

    `allow_private` is for installations whose receivers are in their own network; it also allows http.
    """

    def __init__(self, *, allow_private: bool, resolve: Resolve = resolve) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._lookup_slots = threading.BoundedSemaphore(MAX_LOOKUPS)
        self._running_checks: Counter[str] = Counter()
        self._checks_lock = threading.Lock()

    def check(self, url: str, organisation: str) -> None:
        """Raise AddressDenied if this organisation may not save the URL as a receiver.

        A name that does not resolve, or cannot be looked up now, may do so later: it is looked up at each connection.
        """
        parsed = self.parse_url(url)
        if not self._begin_check(organisation):
            return
        try:
            found = self.start_lookup(parsed.raw_host.decode(), parsed.port or 0)
        except OSError:
            self._end_check(organisation)
            return
        # The slot is free when the lookup ends, not when the caller stops waiting.
        found.add_done_callback(lambda _: self._end_check(organisation))
        with suppress(OSError):  # includes a timeout
            found.result(_CHECK_TIMEOUT_SECONDS)

    def parse_url(self, url: str) -> Any:
        """Return the URL as an `httpx2.URL`, or raise AddressDenied because of its form or an IP address in it."""
        if len(url) > LONGEST_URL:
            raise AddressDenied(Message("is longer than {max_length} characters", max_length=LONGEST_URL))
        if any(mark == "\\" or unicodedata.category(mark)[0] in "CZ" for mark in url):
            raise AddressDenied(Message("has a space, a backslash or an invisible character"))
        form = _URL_PATTERN.fullmatch(url)
        if form is None:
            raise AddressDenied(Message("must look like https://host/path, without a user name and without #"))
        if form["scheme"].lower() != "https" and not self._allow_private:
            raise AddressDenied(Message("must begin with https://"))
        if form["port"] and not 1 <= int(form["port"]) <= _LARGEST_PORT:
            raise AddressDenied(Message("has a port that is not from 1 to {limit}", limit=_LARGEST_PORT))
        try:
            parsed = import_lazily("httpx2").URL(url)
        except import_lazily("httpx2").InvalidURL as error:
            raise AddressDenied(Message("has an invalid host name")) from error
        self._check_host(parsed.raw_host.decode())
        return parsed

    def start_lookup(self, host: str, port: int) -> "Future[list[str]]":
        """Start a lookup of all addresses of this host, each of them checked.

        The result is OSError if there are none, and AddressDenied for any other problem. The lookup runs in a thread
        of its own, because a name server may stay silent for longer than a request, or a process that ends, can wait.
        """
        if not self._lookup_slots.acquire(blocking=False):
            raise OSError("too many lookups are under way")
        found: Future[list[str]] = import_lazily("concurrent.futures").Future()
        found.set_running_or_notify_cancel()  # from now on it can only be abandoned, not cancelled

        def run_lookup() -> None:
            try:
                found.set_result(self._check_addresses(self._resolve(host, port)))
            except (OSError, AddressDenied) as error:
                found.set_exception(error)
            except Exception as error:  # an unforeseen error must not allow the address
                log_error("look-up failed", error, host=host)
                found.set_exception(AddressDenied(Message("has an invalid host name")))
            finally:
                self._lookup_slots.release()

        threading.Thread(target=run_lookup, name="lookup", daemon=True).start()
        return found

    def _begin_check(self, organisation: str) -> bool:
        with self._checks_lock:
            is_allowed = (
                self._running_checks.total() < MAX_CHECKS
                and self._running_checks[organisation] < MAX_CHECKS_PER_ORGANISATION
            )
            self._running_checks[organisation] += is_allowed
            return is_allowed

    def _end_check(self, organisation: str) -> None:
        with self._checks_lock:
            self._running_checks -= Counter([organisation])

    def _check_host(self, host: str) -> None:
        try:
            self._check_address(ip_address(host))
        except ValueError:
            if len(host) > _LONGEST_NAME or not _HOST_PATTERN.fullmatch(host):
                raise AddressDenied(Message("has an invalid host name")) from None
            if not self._allow_private and ("." not in host or _PRIVATE_HOST_PATTERN.search(host)):
                raise AddressDenied(Message("is in a private network")) from None

    def _check_addresses(self, addresses: Sequence[str]) -> list[str]:
        checked = [self._check_address(ip_address(address)) for address in addresses]
        if not checked:
            raise OSError("the name has no address")
        return checked

    def _check_address(self, address: IPv4Address | IPv6Address) -> str:
        if isinstance(address, IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        if not self._allow_private and any(address in network for network in _PRIVATE_NETWORKS):
            raise AddressDenied(Message("leads to an address that is not public"))
        return str(address)


_URL_PATTERN = re.compile(
    r"(?P<scheme>https?)://(?:\[[0-9a-f:.]+\]|[^]/?#@:%[]+)(?::(?P<port>[0-9]{1,5}))?(?:[/?][^#]*)?",
    re.IGNORECASE | re.ASCII,
)
# Some programs read a last label of digits as an address (2130706433, 127.1, 0x7f.1), so no name may end in one.
_HOST_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST_PATTERN = re.compile(rf"(?:{_HOST_LABEL}\.)*(?!(?:[0-9]+|0x[0-9a-f]*)$){_HOST_LABEL}")
_LONGEST_NAME = 253
_PRIVATE_HOST_PATTERN = re.compile(r"\.(?:localhost|local|internal|home\.arpa)$")

# Listed explicitly: `ipaddress.is_global` accepts multicast and a loopback address behind NAT64.
_PRIVATE_NETWORKS = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared between the customers of a provider
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, where cloud providers serve credentials
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        # Of IPv6, only 2000::/3 is public: not loopback, NAT64, unique local, link-local, multicast …
        "::/3",
        "4000::/2",
        "8000::/1",
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which leads to any IPv4 address
        "3fff::/20",  # documentation
    )
)
