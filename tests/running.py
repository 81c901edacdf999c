"""The product as tests speak to it over HTTP: as processes of its own here, within the test's process in `inside`."""

import atexit
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx2

from mainstay.backing.folder import DataFolder
from mainstay.settings import Settings, environment_of

START_SECONDS = 120.0
_GLANCE_SECONDS = 0.05


@cache
def tls() -> ssl.SSLContext:
    """Made once: a client makes one for each request otherwise, which takes longer than the request."""
    return ssl.create_default_context()


@dataclass
class RunningServer(ABC):
    """A server that runs."""

    settings: Settings

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
        content: bytes | Iterator[bytes] | None = None,
        form: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
        files: Mapping[str, tuple[str, bytes]] | None = None,
    ) -> httpx2.Response:
        """One request for a path, or for a whole address here, as a client without a memory would send it."""
        sent = dict(headers or {})
        if key is not None:
            sent.setdefault("Authorization", f"Bearer {key}")
        address = self.url + path if path.startswith("/") else path
        with self.client() as client:
            return client.request(
                method, address, headers=sent, json=json, content=content, data=form, auth=auth, files=files
            )

    @abstractmethod
    def client(self) -> httpx2.Client:
        """A new client of this server."""


@dataclass
class ServerProcess(RunningServer):
    """The real server with all its processes, and its log in a file."""

    process: subprocess.Popen[bytes]
    log: Path

    def client(self) -> httpx2.Client:
        """A client with a connection of its own."""
        return httpx2.Client(timeout=60, verify=tls())

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
def start_server(
    settings: Settings, *, files: int | None = None, bounds: Mapping[str, float] | None = None, **environment: str
) -> Iterator[ServerProcess]:
    """Serve these settings on a free port until the block ends.

    Perhaps with so many open files at most, and with other bounds than the product's: what happens at one is the same.
    """
    port = free_port()
    settings = replace(settings, port=port, base_url=f"http://127.0.0.1:{port}")
    command = [*_with_files(files), sys.executable, *_mainstay(bounds or {}), "serve"]
    with start_command(settings, command, {**os.environ, **environment_of(settings), **environment}) as running:
        yield running


@contextmanager
def start_command(settings: Settings, command: list[str], environment: Mapping[str, str]) -> Iterator[ServerProcess]:
    """Run a command that serves these settings until the block ends."""
    log, folder = settings.data / f"server-{settings.port}.log", DataFolder(settings.data)
    folder.make()
    if not folder.templates.exists():
        folder.templates.symlink_to(_translated(), target_is_directory=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    running = ServerProcess(settings, process, log)
    try:
        _wait_until_ready(running)
        yield running
    finally:
        # Also when its first process has ended: none of the others outlives the test.
        with suppress(ProcessLookupError):
            running.kill()


@cache
def _translated() -> Path:
    """What templates of pages are translated to, by the first server of this process: it is a third of a start."""
    folder = mkdtemp(prefix="mainstay-templates-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def free_port() -> int:
    """A port of the loopback on which nobody listens; none of those that the system gives to whoever connects."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def _with_files(most: int | None) -> list[str]:
    return ["sh", "-c", f'ulimit -n {most} && exec "$@"', "sh"] if most else []


def _mainstay(bounds: Mapping[str, float]) -> list[str]:
    """How Python runs the product, perhaps with some constants of its modules at other values."""
    if not bounds:
        return ["-m", "mainstay"]
    changed = [f"import {name.rpartition('.')[0]}; {name} = {value}" for name, value in bounds.items()]
    return ["-c", "\n".join([*changed, "from mainstay.__main__ import main; main()"])]


def _wait_until_ready(running: ServerProcess) -> None:
    with running.client() as client:
        for _ in range(int(START_SECONDS / _GLANCE_SECONDS)):
            with suppress(httpx2.TransportError):
                if client.get(f"{running.url}/readyz", timeout=START_SECONDS).status_code == httpx2.codes.OK:
                    return
            # Asked again soon, unless it has ended meanwhile.
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(_GLANCE_SECONDS)
                break
    raise RuntimeError(f"The server did not start:\n{running.log.read_text()}")
