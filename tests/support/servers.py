"""The product over HTTP: as processes of its own here, in the test's process in `in_process`."""

import os
import secrets
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
from typing import Any

import httpx2

from mainstay.infrastructure.data_folder import DataFolder
from mainstay.settings import Settings, to_environment
from support.forked_command import ForkedCommand

START_SECONDS = 120.0
_POLL_SECONDS = 0.05
# Compiled page templates, for the installations of this run and later ones: to compile them takes longer than all else
# that a server does when it starts.
_TEMPLATE_CACHE = Path(sys.prefix, "templates")


@cache
def make_tls_context() -> ssl.SSLContext:
    """Make the TLS context once: a client would make one for each request, which takes longer than the request."""
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
        """Send one request, for a path or a whole address, without cookies."""
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

    process: subprocess.Popen[bytes] | ForkedCommand
    log: Path

    def client(self) -> httpx2.Client:
        """A client with a connection of its own."""
        return httpx2.Client(timeout=60, verify=make_tls_context())

    def stop(self) -> int:
        """Ask the server to end, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        # Sooner than the server kills what does not end when it is asked.
        return self.process.wait(15)

    def kill(self) -> None:
        """End it and everything it started, at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)


@contextmanager
def start_server(
    settings: Settings,
    *,
    max_open_files: int | None = None,
    constants: Mapping[str, float] | None = None,
    **environment: str,
) -> Iterator[ServerProcess]:
    """Serve these settings on a free port until the block ends.

    The number of open files can be limited, and constants of the product can be set to other values.
    """
    port = free_port()
    settings = replace(settings, port=port, base_url=f"http://127.0.0.1:{port}")
    command = None
    if max_open_files or constants:
        command = [*_limit_open_files(max_open_files), sys.executable, *_python_arguments(constants or {}), "serve"]
    with start_command(settings, command, {**os.environ, **to_environment(settings), **environment}) as running:
        yield running


@contextmanager
def start_command(
    settings: Settings, command: list[str] | None, environment: Mapping[str, str]
) -> Iterator[ServerProcess]:
    """Run a command that serves these settings until the block ends: this one, or `mainstay serve` in a fork."""
    log = settings.data / f"server-{settings.port}.log"
    link_template_cache(DataFolder(settings.data))
    process = _start_process(command, environment, log) if command else ForkedCommand(["serve"], environment, log)
    running = ServerProcess(settings, process, log)
    try:
        _wait_until_ready(running)
        yield running
    finally:
        # Also when its first process has ended: none of the others outlives the test.
        with suppress(ProcessLookupError):
            running.kill()


def _start_process(command: list[str], environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )


def share_files(first: Settings, second: Settings) -> None:
    """Let two servers have one file store, as a network file system does."""
    folder = DataFolder(first.data).files
    folder.mkdir(parents=True)
    second.data.mkdir()
    DataFolder(second.data).files.symlink_to(folder)


def link_template_cache(folder: DataFolder) -> None:
    """Have an installation without compiled page templates share those of all others."""
    folder.create()
    if not folder.templates.exists():
        _TEMPLATE_CACHE.mkdir(exist_ok=True)
        folder.templates.symlink_to(_TEMPLATE_CACHE, target_is_directory=True)


def free_port() -> int:
    """Return a free port of the loopback, outside the range that the system gives to clients."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def _limit_open_files(maximum: int | None) -> list[str]:
    return ["sh", "-c", f'ulimit -n {maximum} && exec "$@"', "sh"] if maximum else []


def _python_arguments(constants: Mapping[str, float]) -> list[str]:
    """Return the arguments by which Python runs the product, with constants of its modules changed."""
    if not constants:
        return ["-m", "mainstay"]
    assignments = [f"import {name.rpartition('.')[0]}; {name} = {value}" for name, value in constants.items()]
    return ["-c", "\n".join([*assignments, "from mainstay.__main__ import main; main()"])]


def _wait_until_ready(running: ServerProcess) -> None:
    with running.client() as client:
        for _ in range(int(START_SECONDS / _POLL_SECONDS)):
            with suppress(httpx2.TransportError):
                if client.get(f"{running.url}/readyz", timeout=START_SECONDS).status_code == httpx2.codes.OK:
                    return
            # Asked again soon, unless it has ended meanwhile.
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(_POLL_SECONDS)
                break
    raise RuntimeError(f"The server did not start:\n{running.log.read_text()}")
