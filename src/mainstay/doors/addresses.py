"""Which names this server answers to, and whose word about a client's address is believed."""

import ipaddress
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit

from mainstay.settings import Network

_LOOPBACK_NAMES = {"localhost", "127.0.0.1", "[::1]"}

_USUAL_PORTS = {"http": ":80", "https": ":443"}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class SentHeaders(Protocol):
    """The headers of a request."""

    def get(self, name: str, default: str, /) -> str:
        """The value, or the default where there is none."""


class Addresses:
    """Judges hosts, origins and forwarded addresses by the base address of the installation."""

    def __init__(self, base_url: str, trusted_proxies: tuple[Network, ...]) -> None:
        base = urlsplit(base_url.lower())
        usual = _USUAL_PORTS[base.scheme]
        host = base.netloc.removesuffix(usual)
        # Clients leave the usual port out, or not.
        self._hosts = frozenset({host, host + usual})
        self._loopback_base = _is_loopback(host)
        self._trusted = trusted_proxies

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this server; any port of the loopback does."""
        return host in self._hosts or host.lower() in self._hosts or _is_loopback(host)

    def is_welcome(self, origin: str) -> bool:
        """Whether a page of this origin may call.

        On a loopback base, only pages of the loopback: any other site could reach a developer's server by rebinding.
        """
        if not self._loopback_base:
            return True
        scheme, _, host = origin.partition("://")
        return scheme in {"http", "https"} and _is_loopback(host)

    def of_client(self, peer: str, headers: SentHeaders) -> str:
        """The address of the client at a connection from ADDRESS:PORT: the nearest that is not a trusted proxy's."""
        nearest = peer.rpartition(":")[0].strip("[]")
        address = _address_of_peer(nearest)
        forwarded = headers.get("x-forwarded-for", "").split(",")
        while address and self._is_trusted(address):
            nearest = str(address)
            address = _address(forwarded.pop().strip()) if forwarded else None
        return str(address or nearest)

    def holder(self, address: str) -> str | None:
        """Whom a connection from this address counts for; one from a trusted proxy, which is everyone's, for nobody."""
        parsed = _address(address)
        return None if parsed and self._is_trusted(parsed) else neighbourhood(address)

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def neighbourhood(address: str) -> str:
    """Whom an address stands for: IPv6 hands out whole /64 networks to one household."""
    parsed = _address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network(f"{parsed}/64", strict=False))
    return str(parsed or address)


def _address(text: str) -> Address | None:
    """An address; a socket for both kinds shows those of IPv4 wrapped in one of IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, ipaddress.IPv6Address) else address


# The same few are asked for all the time; what anyone writes into a header is not kept.
_address_of_peer = lru_cache(256)(_address)


@lru_cache(256)
def _is_loopback(host: str) -> bool:
    name = host.lower()
    without_port = name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() else name
    return without_port in _LOOPBACK_NAMES
