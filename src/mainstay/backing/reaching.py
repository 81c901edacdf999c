"""Whether what an installation needs outside of itself can be reached: asked once, with little patience."""

import ipaddress
import socket
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import RedisError

_PATIENCE = 5.0


class NotReached(Exception):
    """It cannot be reached; the text says why."""


def redis_time(url: str) -> float:
    """What a Redis says the time is, in seconds since 1970."""
    try:
        with closing(Redis.from_url(url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE)) as redis:
            seconds, microseconds = redis.time()
    except (RedisError, OSError) as fault:
        raise NotReached(str(fault) or type(fault).__name__) from fault
    return float(seconds) + float(microseconds) / 1_000_000


def listens(host: str, port: int) -> bool:
    """Whether anyone takes connections there."""
    try:
        socket.create_connection((_within(host), port), timeout=_PATIENCE).close()
    except OSError:
        return False
    return True


def answer_of(address: str) -> tuple[int, bytes]:
    """The status and the beginning of what is answered at an address."""
    parts = urlsplit(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        with closing(kind(parts.hostname or "", parts.port, timeout=_PATIENCE)) as connection:
            connection.request("GET", parts.path)
            answer = connection.getresponse()
            return answer.status, answer.read(1000)
    except (OSError, HTTPException) as fault:
        raise NotReached(str(fault) or type(fault).__name__) from fault


def _within(host: str) -> str:
    """Where one's own machine is found that listens on all of its addresses."""
    address = ipaddress.ip_address(host)
    if not address.is_unspecified:
        return host
    return "127.0.0.1" if isinstance(address, ipaddress.IPv4Address) else "::1"
