"""Check whether the other servers that an installation needs can be reached.

Each is tried once, with a short timeout.
"""

import ipaddress
import socket
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import RedisError

_TIMEOUT_SECONDS = 5.0
_MAX_BODY_BYTES = 1000


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
    """Return whether a server accepts connections at this address of this machine."""
    try:
        socket.create_connection((_address_to_connect(host), port), timeout=_TIMEOUT_SECONDS).close()
    except OSError:
        return False
    return True


def fetch_response(url: str) -> tuple[int, bytes]:
    """Return the status of the response from a URL, and the beginning of its body."""
    parts = urlsplit(url)
    connection_class = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        with closing(connection_class(parts.hostname or "", parts.port, timeout=_TIMEOUT_SECONDS)) as connection:
            connection.request("GET", parts.path)
            response = connection.getresponse()
            return response.status, response.read(_MAX_BODY_BYTES)
    except (OSError, HTTPException) as error:
        raise ServerUnreachable(str(error) or type(error).__name__) from error


def _address_to_connect(host: str) -> str:
    """Return the address to connect to: the loopback address if the server listens on all addresses (0.0.0.0)."""
    address = ipaddress.ip_address(host)
    if not address.is_unspecified:
        return host
    return "127.0.0.1" if isinstance(address, ipaddress.IPv4Address) else "::1"
