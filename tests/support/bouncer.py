"""A real pgbouncer with the file of `deploy`, in front of the PostgreSQL of the tests."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from support.debian_programs import find_program, library_environment
from support.operator_guide import DEPLOY
from support.servers import free_port
from support.waiting import wait_until


@contextmanager
def run_pgbouncer(database: str, folder: Path, *, pool_size: int) -> Iterator[str]:
    """Run pgbouncer in front of a database, with so many connections to it; yield the address through it."""
    server, port = conninfo_to_dict(database), free_port()
    target = f"host={server['host']} port={server.get('port') or 5432} dbname={server['dbname']} user={server['user']}"
    changes = {
        "mainstay": target,
        "listen_port": port,
        "unix_socket_dir": "",
        "logfile": "",
        "pidfile": "",
        # The server of the tests asks for no passwords either.
        "auth_type": "any",
        "default_pool_size": pool_size,
    }
    lines = (DEPLOY / "pgbouncer.ini").read_text("utf-8").splitlines()
    file = folder / "pgbouncer.ini"
    file.write_text("\n".join(_change_line(line, changes) for line in lines), "utf-8")
    # It refuses to run as root, and the owner of the server may use its socket.
    user = ["-u", Path(str(server["host"])).owner()] if os.geteuid() == 0 else []
    log = folder / "pgbouncer.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [find_program("pgbouncer"), *user, str(file)], stdout=output, stderr=output, env=library_environment()
        )
    try:
        url = f"postgresql://{server['user']}@127.0.0.1:{port}/mainstay"
        wait_until(lambda: _is_reachable(url) or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield url
    finally:
        process.terminate()
        process.wait(15)


def _change_line(line: str, changes: dict[str, object]) -> str:
    name = line.partition(" = ")[0]
    return f"{name} = {changes[name]}" if name in changes else line


def _is_reachable(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True
