"""The product as a process of its own, spoken to over real HTTP."""

import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from mainstay.settings import Settings, environment_of

START_SECONDS = 30.0
# Made once: a client makes one for each request otherwise, which takes longer than the request.
TLS = ssl.create_default_context()


@dataclass
class RunningServer:
    """A server that runs, with its log in a file."""

    settings: Settings
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        """Where it answers."""
        return self.settings.base_url

    def request(
        self,
        method: str,
        path: str,
        key: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        content: bytes | None = None,
    ) -> httpx2.Response:
        """One request, on a connection of its own, as a client would send it."""
        sent = dict(headers or {})
        if key is not None:
            sent.setdefault("Authorization", f"Bearer {key}")
        return httpx2.request(method, self.url + path, headers=sent, json=json, content=content, timeout=20, verify=TLS)

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        # Sooner than the server kills what does not end when it is asked.
        return self.process.wait(15)

    def kill(self) -> None:
        """End it and everything it started, at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)


@contextmanager
def start_server(settings: Settings, **environment: str) -> Iterator[RunningServer]:
    """Serve these settings on a free port until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    settings = replace(settings, port=port, base_url=f"http://127.0.0.1:{port}")
    log = settings.data / f"server-{port}.log"
    settings.data.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "mainstay", "serve"],
            env={**os.environ, **environment_of(settings), **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    running = RunningServer(settings, process, log)
    try:
        _wait_until_ready(running)
        yield running
    finally:
        # Also when its first process has ended: none of the others outlives the test.
        with suppress(ProcessLookupError):
            running.kill()


def _wait_until_ready(running: RunningServer) -> None:
    with httpx2.Client(verify=TLS) as client:
        for _ in range(1000):
            with suppress(httpx2.TransportError):
                if client.get(f"{running.url}/readyz", timeout=START_SECONDS).status_code == httpx2.codes.OK:
                    return
            # Asked again soon, unless it has ended meanwhile.
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(0.05)
                break
    raise RuntimeError(f"The server did not start:\n{running.log.read_text()}")
