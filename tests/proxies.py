"""The proxies of Debian with the files of `deploy`, and what is asked through them over TLS, under the real name."""

import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2
import pytest

from guide import DEPLOY, NAME, ROOT, Home
from mainstay.settings import read_settings
from running import RunningServer, free_port
from waiting import wait_until

CERTIFICATE = ROOT / "tests" / "deploy" / "certificate.pem"
# Where `tests/proxies.sh` puts the programs of Debian's packages that are not installed.
_UNPACKED = Path(sys.prefix, "clients", "proxies")


@dataclass
class Proxied(RunningServer):
    """The server as those see it who come through a proxy, from an address of the loopback."""

    plain_port: int
    port: int
    trusted: Path
    address: str = "127.0.0.2"

    def client(self) -> httpx2.Client:
        """A client with a connection of its own."""
        tls = ssl.create_default_context(cafile=self.trusted)
        return httpx2.Client(timeout=30, transport=_ByName(httpx2.HTTPTransport(tls, local_address=self.address), self))

    def coming_from(self, address: str) -> "Proxied":
        """The same for someone at another address."""
        return replace(self, address=address)

    @property
    def is_up(self) -> bool:
        """Whether it answers."""
        with suppress(httpx2.TransportError, FileNotFoundError):
            return self.request("GET", "/healthz").status_code == httpx2.codes.OK
        return False


class _ByName(httpx2.BaseTransport):
    """Finds the real name at a port of the loopback; what is sent, and the name that TLS proves, are the real ones."""

    def __init__(self, inner: httpx2.BaseTransport, proxied: Proxied) -> None:
        self._inner, self._proxied = inner, proxied

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        secure = request.url.scheme == "https"
        port = self._proxied.port if secure else self._proxied.plain_port
        request.extensions["sni_hostname"] = request.url.host
        request.url = request.url.copy_with(host="127.0.0.1", port=port)
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


@contextmanager
def caddy(home: Home, folder: Path) -> Iterator[Proxied]:
    """Caddy, with certificates of its own making."""
    ports = free_port(), free_port()
    own = f"""{{
\tadmin off
\tlocal_certs
\tskip_install_trust
\tdefault_bind 127.0.0.1
\thttp_port {ports[0]}
\thttps_port {ports[1]}
\tstorage file_system {folder}
"""
    file = folder / "Caddyfile"
    file.write_text(home.moved((DEPLOY / "Caddyfile").read_text("utf-8")).replace("{\n", own, 1), "utf-8")
    trusted = folder / "pki" / "authorities" / "local" / "root.crt"
    with _started([_program("caddy"), "run", "--config", str(file), "--adapter", "caddyfile"], folder) as started:
        yield _up(started, folder, ports, trusted)


@contextmanager
def nginx(home: Home, folder: Path) -> Iterator[Proxied]:
    """Nginx, with the files around the site that it has on Debian put into a folder."""
    ports = free_port(), free_port()
    (folder / NAME).mkdir()
    for name in ("fullchain.pem", "privkey.pem"):
        shutil.copy(CERTIFICATE, folder / NAME / name)
    site = home.moved((DEPLOY / "nginx.conf").read_text("utf-8"))
    for usual, port in zip(("80", "443"), ports, strict=True):
        site = site.replace(f"listen {usual}", f"listen 127.0.0.1:{port}").replace(f"listen [::]:{usual}", "# listen")
    (folder / "site.conf").write_text(site.replace("/etc/letsencrypt/live", str(folder)), "utf-8")
    temporary = "".join(f"{name}_temp_path {folder}/{name};\n" for name in _PASSING)
    around = f"{_AS_ROOT}pid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}include site.conf;\n}}\n"
    (folder / "nginx.conf").write_text(around, "utf-8")
    with _started(
        [_program("nginx"), "-e", "stderr", "-c", str(folder / "nginx.conf"), "-g", "daemon off;"], folder
    ) as started:
        yield _up(started, folder, ports, CERTIFICATE)


_PASSING = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
# Its processes would become another user, who sees nothing of a folder of the tests.
_AS_ROOT = "user root;\n" if os.geteuid() == 0 else ""

PROXIES: dict[str, Callable[[Home, Path], AbstractContextManager[Proxied]]] = {"caddy": caddy, "nginx": nginx}


def _up(process: subprocess.Popen[bytes], folder: Path, ports: tuple[int, int], trusted: Path) -> Proxied:
    proxied = Proxied(replace(read_settings({}), base_url=f"https://{NAME}"), *ports, trusted)
    wait_until(lambda: proxied.is_up or process.poll() is not None)
    assert process.poll() is None, (folder / "log").read_text()
    return proxied


def _program(name: str) -> str:
    places = os.pathsep.join(
        [os.environ["PATH"], "/usr/sbin", *(str(_UNPACKED / at) for at in ("usr/sbin", "usr/bin"))]
    )
    found = shutil.which(name, path=places)
    if found is None:
        pytest.skip(f"{name} is not here. `make test` gets it from the packages of Debian, where the system is one.")
    return found


@contextmanager
def _started(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "log").open("wb") as log:
        own = {**os.environ, "XDG_CONFIG_HOME": str(folder)}
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=own)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(15)
