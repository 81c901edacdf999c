"""Debian's proxies with the files of `deploy`, and a client that uses them over TLS by the real host name."""

import os
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2

from mainstay.settings import read_settings
from support.debian_programs import find_program
from support.operator_guide import DEPLOY, HOST_NAME, ROOT, GuideHome
from support.servers import RunningServer, free_port
from support.waiting import wait_until

CERTIFICATE = ROOT / "tests" / "deploy" / "certificate.pem"


@dataclass
class ProxiedServer(RunningServer):
    """The server behind a proxy, used from an address of the loopback."""

    plain_port: int
    port: int
    certificate: Path
    address: str = "127.0.0.2"

    def client(self) -> httpx2.Client:
        """A client with a connection of its own."""
        tls = ssl.create_default_context(cafile=self.certificate)
        return httpx2.Client(
            timeout=30, transport=_LoopbackTransport(httpx2.HTTPTransport(tls, local_address=self.address), self)
        )

    def from_address(self, address: str) -> "ProxiedServer":
        """Return the same server, used from another address."""
        return replace(self, address=address)

    @property
    def is_up(self) -> bool:
        """Whether it answers."""
        with suppress(httpx2.TransportError, FileNotFoundError):
            return self.request("GET", "/healthz").status_code == httpx2.codes.OK
        return False


class _LoopbackTransport(httpx2.BaseTransport):
    """Sends requests for the real host name to a port of the loopback; TLS checks the real name."""

    def __init__(self, inner: httpx2.BaseTransport, server: ProxiedServer) -> None:
        self._inner, self._server = inner, server

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        secure = request.url.scheme == "https"
        port = self._server.port if secure else self._server.plain_port
        request.extensions["sni_hostname"] = request.url.host
        request.url = request.url.copy_with(host="127.0.0.1", port=port)
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


@contextmanager
def run_caddy(home: GuideHome, folder: Path) -> Iterator[ProxiedServer]:
    """Run Caddy, with certificates of its own making."""
    ports = free_port(), free_port()
    own_settings = f"""{{
\tadmin off
\tlocal_certs
\tskip_install_trust
\tdefault_bind 127.0.0.1
\thttp_port {ports[0]}
\thttps_port {ports[1]}
\tstorage file_system {folder}
"""
    file = folder / "Caddyfile"
    file.write_text(home.relocate((DEPLOY / "Caddyfile").read_text("utf-8")).replace("{\n", own_settings, 1), "utf-8")
    certificate = folder / "pki" / "authorities" / "local" / "root.crt"
    with _run_program(
        [find_program("caddy"), "run", "--config", str(file), "--adapter", "caddyfile"], folder
    ) as process:
        yield _wait_until_up(process, folder, ports, certificate)


@contextmanager
def run_nginx(home: GuideHome, folder: Path) -> Iterator[ProxiedServer]:
    """Run nginx, with the files that it has on Debian around the site in a folder."""
    ports = free_port(), free_port()
    (folder / HOST_NAME).mkdir()
    for name in ("fullchain.pem", "privkey.pem"):
        shutil.copy(CERTIFICATE, folder / HOST_NAME / name)
    site = home.relocate((DEPLOY / "nginx.conf").read_text("utf-8"))
    for standard_port, port in zip(("80", "443"), ports, strict=True):
        site = site.replace(f"listen {standard_port}", f"listen 127.0.0.1:{port}").replace(
            f"listen [::]:{standard_port}", "# listen"
        )
    (folder / "site.conf").write_text(site.replace("/etc/letsencrypt/live", str(folder)), "utf-8")
    temporary = "".join(f"{name}_temp_path {folder}/{name};\n" for name in _TEMPORARY_FOLDERS)
    main_file = (
        f"{_USER_LINE}pid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}include site.conf;\n}}\n"
    )
    (folder / "nginx.conf").write_text(main_file, "utf-8")
    with _run_program(
        [find_program("nginx"), "-e", "stderr", "-c", str(folder / "nginx.conf"), "-g", "daemon off;"], folder
    ) as process:
        yield _wait_until_up(process, folder, ports, CERTIFICATE)


_TEMPORARY_FOLDERS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
# Its processes would become another user, who sees nothing of a folder of the tests.
_USER_LINE = "user root;\n" if os.geteuid() == 0 else ""

PROXIES: dict[str, Callable[[GuideHome, Path], AbstractContextManager[ProxiedServer]]] = {
    "caddy": run_caddy,
    "nginx": run_nginx,
}


def _wait_until_up(
    process: subprocess.Popen[bytes], folder: Path, ports: tuple[int, int], certificate: Path
) -> ProxiedServer:
    server = ProxiedServer(replace(read_settings({}), base_url=f"https://{HOST_NAME}"), *ports, certificate)
    wait_until(lambda: server.is_up or process.poll() is not None)
    assert process.poll() is None, (folder / "log").read_text()
    return server


@contextmanager
def _run_program(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "log").open("wb") as log:
        environment = {**os.environ, "XDG_CONFIG_HOME": str(folder)}
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(15)
