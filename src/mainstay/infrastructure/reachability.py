"""Check whether the other servers that an installation needs can be reached: once, with a short timeout."""

import ipaddress
import socket
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import RedisError

_TIMEOUT_SECONDS = 5.0


class ServerUnreachable(Exception):
    """The server cannot be reached; the text says why."""


def fetch_redis_time(url: str) -> float:
    """Return the time according to a Redis server, in seconds since 1970."""
    try:
        with closing(
            Redis.from_url(url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS)
        ) as redis:
            seconds, microseconds = redis.time()
    except (RedisError, OSError) as error:
        raise ServerUnreachable(str(error) or type(error).__name__) from error
    return float(seconds) + float(microseconds) / 1_000_000


def is_listening(host: str, port: int) -> bool:
    """Return whether anything accepts connections there."""
    try:
        socket.create_connection((_local_address(host), port), timeout=_TIMEOUT_SECONDS).close()
    except OSError:
        return False
    return True


def fetch_answer(address: str) -> tuple[int, bytes]:
    """Return the status and the beginning of the response from a URL."""
    parts = urlsplit(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        with closing(kind(parts.hostname or "", parts.port, timeout=_TIMEOUT_SECONDS)) as connection:
            connection.request("GET", parts.path)
            answer = connection.getresponse()
            return answer.status, answer.read(1000)
    except (OSError, HTTPException) as error:
        raise ServerUnreachable(str(error) or type(error).__name__) from error


def _local_address(host: str) -> str:
    """Return the address at which this machine itself reaches a server that listens on all its addresses."""
    address = ipaddress.ip_address(host)
    if not address.is_unspecified:
        return host
    return "127.0.0.1" if isinstance(address, ipaddress.IPv4Address) else "::1"
