"""Which host names and origins this server accepts, and which proxies it trusts about a client's address."""

import ipaddress
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit

from mainstay.settings import Network

_LOOPBACK_NAMES = {"localhost", "127.0.0.1", "[::1]"}

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class HeaderLookup(Protocol):
    """The headers of a request."""

    def get(self, name: str, default: str, /) -> str:
        """Return the value, or the default if there is none."""


class ServerNames:
    """Checks hosts and origins against the base address of the installation, and finds the addresses of clients."""

    def __init__(self, base_url: str, trusted_proxies: tuple[Network, ...]) -> None:
        base = urlsplit(base_url.lower())
        default_port = _DEFAULT_PORTS[base.scheme]
        host = base.netloc.removesuffix(default_port)
        # Clients may leave the default port out.
        self._hosts = frozenset({host, host + default_port})
        self._is_on_loopback = _is_loopback(host)
        self._trusted_proxies = trusted_proxies

    def is_own_host(self, host: str) -> bool:
        """Return whether a Host header names this server; the loopback is accepted with any port."""
        return host in self._hosts or host.lower() in self._hosts or _is_loopback(host)

    def is_origin_allowed(self, origin: str) -> bool:
        """Return whether a page of this origin may call.

        If the base address is on the loopback, only pages of the loopback may: any other site could reach a
        developer's server by DNS rebinding.
        """
        if not self._is_on_loopback:
            return True
        scheme, _, host = origin.partition("://")
        return scheme in {"http", "https"} and _is_loopback(host)

    def client_address(self, peer: str, headers: HeaderLookup) -> str:
        """Return the client's address for a connection from ADDRESS:PORT: the nearest that is no trusted proxy's."""
        nearest = peer.rpartition(":")[0].strip("[]")
        address = _parse_peer_address(nearest)
        forwarded = headers.get("x-forwarded-for", "").split(",")
        while address and self._is_trusted(address):
            nearest = str(address)
            address = _parse_address(forwarded.pop().strip()) if forwarded else None
        return str(address or nearest)

    def limited_network(self, address: str) -> str | None:
        """Return the network that a connection counts for; None for a trusted proxy, which connects for everyone."""
        parsed = _parse_address(address)
        return None if parsed and self._is_trusted(parsed) else network_of(address)

    def _is_trusted(self, address: IpAddress) -> bool:
        return any(address in network for network in self._trusted_proxies)


def network_of(address: str) -> str:
    """Return the network that counts as one client: usually a whole /64 of IPv6, or one IPv4 address."""
    parsed = _parse_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network(f"{parsed}/64", strict=False))
    return str(parsed or address)


def _parse_address(text: str) -> IpAddress | None:
    """Parse an address; a socket for both kinds gives IPv4 addresses mapped to IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, ipaddress.IPv6Address) else address


# Cached, because the same few peers connect all the time. Addresses from headers are not, because anyone can send them.
_parse_peer_address = lru_cache(256)(_parse_address)


@lru_cache(256)
def _is_loopback(host: str) -> bool:
    name = host.lower()
    without_port = name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() else name
    return without_port in _LOOPBACK_NAMES
