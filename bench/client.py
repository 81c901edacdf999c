"""The load: a process of its own that keeps every connection busy with one request at a time.

It reads raw sockets with epoll and checks each answer's status and length itself: a client library would take more of
the machine than the server it measures. `python -m bench.client --help` lists what it is told; it answers in JSON.
"""

import argparse
import gc
import json
import os
import resource
import select
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path

_RECEIVE_BYTES = 65_536
# Stands in a body for a number that differs in each request: the same body again would change nothing.
NUMBER = "000000"
_TIMEOUT_SECONDS = 10.0  # seconds without any answer


class BadAnswer(Exception):
    """The server did not answer 200 or 201 with a whole body: what was measured would mean nothing."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What one load came to; latencies are in milliseconds."""

    requests: int
    # With those of the warm-up, which are not in the other numbers.
    all_requests: int
    seconds: float
    rate: float
    p50: float
    p99: float
    # The client's own processor time for a request, in microseconds.
    client_cpu: float
    # Where the rotation through the keys goes on.
    next_key: int


class _Connection:
    __slots__ = ("began", "pending", "socket")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), _TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(0.0)
        self.began = 0.0
        self.pending = b""


def main() -> None:
    arguments = _parse_arguments()
    if arguments.cores:
        os.sched_setaffinity(0, arguments.cores)
    keys = arguments.keys.read_text().split()
    requests = [_make_request(arguments, key, number) for number, key in enumerate(keys)]
    gc.disable()
    load = _measure_load(requests, arguments)
    print(json.dumps(asdict(load)))


def _measure_load(requests: list[bytes], arguments: argparse.Namespace) -> LoadResult:
    connections = [_Connection(arguments.port) for _ in range(arguments.connections)]
    rotation = islice(cycle(requests), arguments.first, None)
    warm_up = _send_requests(connections, rotation, arguments.warm_up)
    cpu = _cpu_seconds()
    began = time.perf_counter()
    latencies = _send_requests(connections, rotation, arguments.seconds)
    seconds = time.perf_counter() - began
    cpu = _cpu_seconds() - cpu
    latencies.sort()
    count = len(latencies)
    return LoadResult(
        requests=count,
        all_requests=count + len(warm_up),
        seconds=seconds,
        rate=count / seconds,
        p50=latencies[count // 2] * 1e3,
        p99=latencies[count * 99 // 100] * 1e3,
        client_cpu=cpu / count * 1e6,
        next_key=requests.index(next(rotation)),
    )


def _send_requests(connections: list[_Connection], requests: Iterator[bytes], seconds: float) -> list[float]:
    """Send on every connection for this long, then wait for what is still on its way; every latency in seconds."""
    clock = time.perf_counter
    latencies: list[float] = []
    busy = {connection.socket.fileno(): connection for connection in connections}
    waiting = len(busy)
    with select.epoll() as poll:
        for number, connection in busy.items():
            poll.register(number, select.EPOLLIN)
            connection.began = clock()
            connection.socket.send(next(requests))
        end = clock() + seconds
        while waiting:
            ready = poll.poll(_TIMEOUT_SECONDS)
            if not ready:
                raise BadAnswer(f"no answer within {_TIMEOUT_SECONDS:g} seconds")
            for number, _ in ready:
                connection = busy[number]
                received = connection.pending + connection.socket.recv(_RECEIVE_BYTES)
                if not _is_whole(received):
                    connection.pending = received
                    continue
                now = clock()
                latencies.append(now - connection.began)
                connection.pending = b""
                if now >= end:
                    waiting -= 1
                    continue
                connection.began = now
                connection.socket.send(next(requests))
    return latencies


def _is_whole(received: bytes) -> bool:
    """Whether this is all of an answer; anything but a 200 or 201 with a length is an error."""
    if not received.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 201 ")):
        raise BadAnswer(received[:500].decode("latin-1") or "the connection was closed")
    head = received.find(b"\r\n\r\n")
    if head < 0:
        return False
    at = received.find(b"content-length: ", 0, head + 2) + 16
    if at < 16:
        raise BadAnswer("the answer does not tell its length")
    return len(received) - head - 4 >= int(received[at : received.find(b"\r", at)])


def _make_request(arguments: argparse.Namespace, key: str, number: int) -> bytes:
    body = arguments.body.replace(NUMBER, f"{number:0{len(NUMBER)}}")
    head = [
        f"{arguments.method} {arguments.path} HTTP/1.1",
        f"Host: 127.0.0.1:{arguments.port}",
        f"Cookie: {arguments.cookie}={key}" if arguments.cookie else f"Authorization: Bearer {key}",
    ]
    if body:
        # What every client of a tool server sends.
        head += [
            "Accept: application/json, text/event-stream",
            "Content-Type: application/json",
            "MCP-Protocol-Version: 2025-11-25",
            f"Content-Length: {len(body)}",
        ]
    else:
        head += ["Accept: text/html" if arguments.cookie else "Accept: application/json"]
    return "\r\n".join((*head, "", body)).encode()


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure one address of a server on this machine.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--path", required=True)
    parser.add_argument("--method", default="GET")
    parser.add_argument("--body", default="", help=f"what to send, in ASCII; {NUMBER} in it is the number of the key")
    parser.add_argument("--keys", type=Path, required=True, help="file of API keys, one a line; they take turns")
    parser.add_argument("--cookie", default="", help="for pages: the cookie that is sent, with a key as its value")
    parser.add_argument("--first", type=int, default=0, help="the key to begin with")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--warm-up", type=float, default=0.1, help="seconds that are not counted")
    parser.add_argument("--cores", type=int, nargs="*", help="the cores to run on")
    return parser.parse_args()


if __name__ == "__main__":
    main()
