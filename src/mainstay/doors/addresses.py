"""Which names this server answers to, and whose word about a client's address is believed."""

import ipaddress
from typing import Protocol
from urllib.parse import urlsplit

_LOOPBACK_NAMES = {"localhost", "127.0.0.1", "[::1]"}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class SentHeaders(Protocol):
    """The headers of a request."""

    def get(self, name: str, default: str, /) -> str:
        """The value, or the default where there is none."""


class Addresses:
    """Judges hosts, origins and forwarded addresses by the base address of the installation."""

    def __init__(self, base_url: str, trusted_proxies: tuple[Network, ...]) -> None:
        base = urlsplit(base_url)
        self._host = base.netloc.lower()
        self._loopback_base = _is_loopback(self._host)
        self._trusted = trusted_proxies

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this server; any port of the loopback does."""
        return host == self._host or host.lower() == self._host or _is_loopback(host)

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
        forwarded = headers.get("x-forwarded-for", "").split(",")
        while self._is_trusted(nearest) and forwarded:
            candidate = forwarded.pop().strip()
            if not _is_address(candidate):
                break
            nearest = candidate
        return nearest

    def _is_trusted(self, address: str) -> bool:
        return _is_address(address) and any(ipaddress.ip_address(address) in network for network in self._trusted)


def neighbourhood(address: str) -> str:
    """Whom an address stands for: IPv6 hands out whole /64 networks to one household."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    return str(ipaddress.ip_network(f"{parsed}/64", strict=False))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    name = host.lower()
    without_port = name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() else name
    return without_port in _LOOPBACK_NAMES
