"""Which addresses of the world outside may be spoken to."""

import re
import socket
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any

from mainstay.backing.log import log_error
from mainstay.late import late

if TYPE_CHECKING:
    from concurrent.futures import Future

LONGEST_URL = 2000
# A lookup outlives the post that gave it up, so there may be more of them than posts.
MOST_LOOKUPS = 128
# Whoever saves an address waits for no more than this. A few look-ups for all who save, and fewer for each: a name
# server that is silent must not hold everyone's threads.
_PATIENCE_SECONDS = 2.0
MOST_CHECKS, MOST_CHECKS_OF_ONE = 4, 2
_LARGEST_PORT = 65_535

# The addresses of a host, as text; OSError when it has none.
Resolve = Callable[[str, int], Sequence[str]]


class Denied(Exception):
    """This address may not be spoken to; the words say why, in the way of a fault: `is …`, `leads to …`."""


def resolve(host: str, port: int) -> list[str]:
    """Ask the system."""
    return [str(place[0]) for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Guard:
    """Refuses what is not a public address: when one is saved, and again at each connection.

    `allow_private` is for installations whose receivers stand in their own network; it opens http as well.
    """

    def __init__(self, *, allow_private: bool, resolve: Resolve = resolve) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._free = threading.BoundedSemaphore(MOST_LOOKUPS)
        self._checking: Counter[str] = Counter()
        self._counting = threading.Lock()

    def check(self, url: str, whose: str) -> None:
        """Denied when the URL, which this organisation wants to save, may not be posted to.

        A name that does not resolve now, or cannot be asked for now, may do so later: it is asked for at each
        connection.
        """
        read = self.read(url)
        if not self._begin_check(whose):
            return
        try:
            found = self.lookup(read.raw_host.decode(), read.port or 0)
        except OSError:
            self._end_check(whose)
            return
        # The place is free when the look-up ends, not when nobody waits for it any more.
        found.add_done_callback(lambda _: self._end_check(whose))
        with suppress(OSError):  # also when time runs out
            found.result(_PATIENCE_SECONDS)

    def read(self, url: str) -> Any:
        """The URL as the client will use it, an `httpx2.URL`; or Denied because of its form or of the address in it."""
        if len(url) > LONGEST_URL:
            raise Denied(f"is longer than {LONGEST_URL} characters")
        if any(mark == "\\" or unicodedata.category(mark)[0] in "CZ" for mark in url):
            raise Denied("holds a space, a backslash or a mark that cannot be seen")
        form = _FORM.fullmatch(url)
        if form is None:
            raise Denied("is not written https://host/path, without a user name and without #")
        if form["scheme"].lower() != "https" and not self._allow_private:
            raise Denied("does not begin with https://")
        if form["port"] and not 1 <= int(form["port"]) <= _LARGEST_PORT:
            raise Denied(f"has a port that is not from 1 to {_LARGEST_PORT}")
        try:
            read = late("httpx2").URL(url)
        except late("httpx2").InvalidURL as fault:
            raise Denied("names a host that cannot be") from fault
        self._check_host(read.raw_host.decode())
        return read

    def lookup(self, host: str, port: int) -> "Future[list[str]]":
        """The addresses of this host, all of them checked; OSError when there are none, Denied for whatever else.

        In a thread that nobody waits for: a name server may be silent for longer than anyone has time,
        even the process at its end.
        """
        if not self._free.acquire(blocking=False):
            raise OSError("too many lookups are under way")
        found: Future[list[str]] = late("concurrent.futures").Future()
        found.set_running_or_notify_cancel()  # from here on it cannot be cancelled, only left alone

        def look() -> None:
            try:
                found.set_result(self._admitted(self._resolve(host, port)))
            except (OSError, Denied) as fault:
                found.set_exception(fault)
            except Exception as fault:  # what dies otherwise, of a name that no one foresaw, admits nothing
                log_error("look-up failed", fault, host=host)
                found.set_exception(Denied("names a host that cannot be"))
            finally:
                self._free.release()

        threading.Thread(target=look, name="lookup", daemon=True).start()
        return found

    def _begin_check(self, whose: str) -> bool:
        with self._counting:
            free = self._checking.total() < MOST_CHECKS and self._checking[whose] < MOST_CHECKS_OF_ONE
            self._checking[whose] += free
            return free

    def _end_check(self, whose: str) -> None:
        with self._counting:
            self._checking -= Counter([whose])

    def _check_host(self, host: str) -> None:
        try:
            self._admit(ip_address(host))
        except ValueError:
            if len(host) > _LONGEST_NAME or not _NAME.fullmatch(host):
                raise Denied("names a host that cannot be") from None
            if not self._allow_private and ("." not in host or _INSIDE.search(host)):
                raise Denied("names a host of a private network") from None

    def _admitted(self, addresses: Sequence[str]) -> list[str]:
        admitted = [self._admit(ip_address(address)) for address in addresses]
        if not admitted:
            raise OSError("the name has no address")
        return admitted

    def _admit(self, address: IPv4Address | IPv6Address) -> str:
        if isinstance(address, IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        if not self._allow_private and any(address in network for network in _NOT_PUBLIC):
            raise Denied("leads to an address that is not public")
        return str(address)


_FORM = re.compile(
    r"(?P<scheme>https?)://(?:\[[0-9a-f:.]+\]|[^]/?#@:%[]+)(?::(?P<port>[0-9]{1,5}))?(?:[/?][^#]*)?",
    re.IGNORECASE | re.ASCII,
)
# A last label of digits is read by some as an address (2130706433, 127.1, 0x7f.1), so no name may end in one.
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?:{_LABEL}\.)*(?!(?:[0-9]+|0x[0-9a-f]*)$){_LABEL}")
_LONGEST_NAME = 253
_INSIDE = re.compile(r"\.(?:localhost|local|internal|home\.arpa)$")

# Written out: `ipaddress.is_global` lets multicast and a loopback behind NAT64 pass.
_NOT_PUBLIC = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by the customers of a provider
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, where clouds tell their secrets
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
        # Only 2000::/3 is given to the world: not loopback, NAT64, unique local, link-local, multicast …
        "::/3",
        "4000::/2",
        "8000::/1",
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which leads to any IPv4 address
        "3fff::/20",  # documentation
    )
)
