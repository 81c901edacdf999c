"""How the server ends: gently when asked, wholly when killed, and how it lives on when a part of it dies."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import orjson
import pytest

from mainstay.composition import open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.processes import DEATHS_SECONDS, MAX_DEATHS
from mainstay.serve_command import prepare_shared_files
from mainstay.settings import Settings, read_settings, to_environment
from mainstay.values.moments import parse_moment
from support.cast import make_cast
from support.process_list import outbox_workers_of, processes_of, server_processes_of, wait_until_gone
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE, format_head, receive_response
from support.servers import ServerProcess, make_tls_context, start_server
from support.waiting import wait_until

T = TypeVar("T")


@pytest.mark.engines("sqlite", "postgresql")
def test_asked_to_end_it_finishes_what_it_has_begun_and_leaves_nothing(fresh_settings: Settings) -> None:
    performer = open_performer(fresh_settings)
    cast = make_cast(performer)
    key = cast.make_key()
    with start_server(fresh_settings) as server:
        running = set(processes_of(server))
        assert len(running) >= 3
        lines = [_begin_request(server, key, number) for number in range(8)]
        crowd = _Writers(server, cast.make_key())

        server.process.send_signal(signal.SIGTERM)
        for line, rest in lines:
            line.sendall(rest)
            assert receive_response(line).status == 201
            line.close()

        assert server.process.wait(15) == 0
        crowd.join()
        wait_until_gone(running)
        assert processes_of(server) == {}
        assert '"fault"' not in server.log.read_text()

    # What was acknowledged was kept, also by those who asked while it was ending.
    with performer.database.read_transaction(cast.organisation) as db:
        emails = {str(email) for (email,) in db.all("SELECT email FROM person WHERE organisation_id = :organisation")}
    performer.database.close()
    assert {f"begun{number}@new.example" for number in range(8)} <= emails
    assert crowd.acknowledged <= emails
    assert crowd.acknowledged


def _begin_request(server: ServerProcess, key: str, number: int) -> tuple[socket.socket, bytes]:
    """Send a request with half of its body; return the connection and the other half."""
    body = orjson.dumps(NEW_PERSON | {"email": f"begun{number}@new.example"})
    line = socket.create_connection((server.settings.host, server.settings.port), timeout=30)
    line.sendall(format_head("GET", ORGANISATION, key))
    assert receive_response(line).status == 200
    start = format_head("POST", PEOPLE, key, Content_Type="application/json", Content_Length=str(len(body)))
    line.sendall(start + body[:20])
    return line, body[20:]


class _Writers:
    """Clients who write without a pause until the server is gone."""

    def __init__(self, server: ServerProcess, key: str) -> None:
        self.acknowledged: set[str] = set()
        self._server = server
        self._key = key
        self._going = threading.Semaphore(0)
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(3)]
        for thread in self._threads:
            thread.start()
        for _ in range(10):
            assert self._going.acquire(timeout=30)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()

    def _write(self, client: int) -> None:
        with httpx2.Client(
            base_url=self._server.url, headers={"Authorization": f"Bearer {self._key}"}, verify=make_tls_context()
        ) as connection:
            for number in range(190):
                email = f"crowd{client}-{number}@new.example"
                try:
                    answer = connection.post(PEOPLE, json=NEW_PERSON | {"email": email}, timeout=30)
                except httpx2.TransportError:
                    return
                assert answer.status_code == 201, answer.text
                self.acknowledged.add(email)
                self._going.release()


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.long)])
def test_asked_to_end_while_it_is_still_starting_it_ends(fresh_settings: Settings, times: int) -> None:
    for _ in range(times):
        # One process is ready; the others may be anywhere between their birth and their work.
        with start_server(replace(fresh_settings, workers=4)) as server:
            assert server.stop() == 0
            assert processes_of(server) == {}


# What the server does in each process, asked to end at the worst moment: it listens, but its loop does not run yet.
_SIGNALLED_EARLY = """
import asyncio
import os
import signal

import uvloop

from mainstay.server_app import application

front = application()
loop = uvloop.new_event_loop()
asyncio.set_event_loop(loop)
asked = asyncio.Event()
loop.add_signal_handler(signal.SIGTERM, asked.set)
os.kill(os.getpid(), signal.SIGTERM)
front.__rsgi_init__(loop)
loop.run_until_complete(asyncio.wait_for(asked.wait(), 15))
front.__rsgi_del__(loop)
"""


def test_asked_to_end_before_its_loop_runs_a_process_hears_it_then(fresh_settings: Settings) -> None:
    prepare_shared_files(fresh_settings)
    environment = {**os.environ, **to_environment(fresh_settings)}

    subprocess.run([sys.executable, "-c", _SIGNALLED_EARLY], env=environment, check=True, timeout=30)


@pytest.fixture
def embedded_settings(tmp_path: Path) -> Settings:
    """How processes live and die does not depend on the database."""
    return replace(read_settings({}), data=tmp_path / "data", workers=2)


@pytest.fixture
def key(embedded_settings: Settings) -> str:
    performer = open_performer(embedded_settings)
    key = make_cast(performer).make_key()
    performer.database.close()
    return key


def test_a_part_that_dies_is_replaced_while_the_others_go_on(embedded_settings: Settings, key: str) -> None:
    with start_server(embedded_settings) as server:
        before = server_processes_of(server)
        assert len(before) == 2
        killed = min(before)
        os.kill(killed, signal.SIGKILL)
        wait_until_gone({killed})
        assert _request_until(server, key, lambda: len(server_processes_of(server)) == 2)
        assert killed not in server_processes_of(server)

        worker = _request_until(server, key, lambda: _find_outbox_worker(server))
        os.kill(worker, signal.SIGKILL)
        wait_until_gone({worker})
        assert _request_until(server, key, lambda: _find_outbox_worker(server)) != worker

        assert server.stop() == 0
        assert processes_of(server) == {}


def test_parts_that_die_again_and_again_are_replaced_each_time_and_the_log_tells(
    embedded_settings: Settings, key: str
) -> None:
    with start_server(embedded_settings) as server:
        for _ in range(3):
            before = server_processes_of(server)
            for pid in before:
                os.kill(pid, signal.SIGKILL)
            wait_until_gone(before)
            assert _request_until(server, key, lambda: len(server_processes_of(server)) == 2)

        assert server.stop() == 0
        deaths = [line for line in _read_log(server) if line["event"] == "server process ended"]
        assert [line["code"] for line in deaths] == [-signal.SIGKILL] * 6
        assert [line["pause"] for line in deaths] == [0.1, 0.1, 0.2, 0.2, 0.4, 0.4]


def test_when_its_parts_die_whatever_is_done_the_server_ends_with_a_reason(embedded_settings: Settings) -> None:
    # How the pauses grow is tried where they are; here they would be waited for.
    brief = {"mainstay.infrastructure.processes._LONGEST_PAUSE": 0.2}
    with start_server(replace(embedded_settings, workers=1), constants=brief) as server:
        # No process can start any more.
        DataFolder(embedded_settings.data).rate_limits.unlink()
        os.kill(min(server_processes_of(server)), signal.SIGKILL)

        assert server.process.wait(60) == 1
        assert processes_of(server) == {}
        log = _read_log(server)
        deaths = [parse_moment(line["at"]) for line in log if line["event"] == "server process ended"]
        # Where the machine is slow, there were some before that minute.
        assert len([at for at in deaths if at > deaths[-1] - timedelta(seconds=DEATHS_SECONDS)]) == MAX_DEATHS
        assert (log[-1]["event"], log[-1]["reason"]) == (
            "giving up",
            "A server process ended 8 times in 60 seconds.",
        )


def test_it_tells_where_it_listens_what_there_is_to_do_and_that_it_is_stopping(embedded_settings: Settings) -> None:
    with start_server(embedded_settings) as server:
        assert server.stop() == 0
        log = _read_log(server)
    assert [line["event"] for line in log] == [
        "serving",
        "mails go to a folder",
        "no organisation yet",
        "stopping",
        "stopped",
    ]
    assert (log[0]["address"], log[0]["listener"]) == (server.url, f"127.0.0.1:{server.settings.port}")
    assert log[1]["folder"] == str(DataFolder(embedded_settings.data).emails)


def test_it_listens_where_it_says_whatever_its_address_is(embedded_settings: Settings, key: str) -> None:
    elsewhere = replace(embedded_settings, smtp="smtp://localhost:2525")
    with start_server(elsewhere, MAINSTAY_BASE_URL="https://office.example") as server:
        assert server.request("GET", ORGANISATION, key).status_code == 200
        assert server.stop() == 0
        log = _read_log(server)
    assert [line["event"] for line in log] == ["serving", "stopping", "stopped"]
    assert (log[0]["address"], log[0]["listener"]) == (
        "https://office.example",
        f"127.0.0.1:{server.settings.port}",
    )


def test_it_tells_of_a_worker_that_died_and_of_mails_that_nobody_gets(embedded_settings: Settings, key: str) -> None:
    with start_server(embedded_settings) as server:
        worker = _request_until(server, key, lambda: _find_outbox_worker(server))
        # It is forked: what it needs is in memory already.
        assert _command_of(worker) == _command_of(server.process.pid)
        os.kill(worker, signal.SIGKILL)
        assert server.request("POST", PEOPLE, key, json=NEW_PERSON).status_code == 201
        # The next worker sends the invitation.
        [mail] = wait_until(lambda: [line for line in _read_log(server) if line["event"] == "mail put into the folder"])
        assert (DataFolder(embedded_settings.data).emails / f"{mail['mail']}.eml").is_file()
        [died] = [line for line in _read_log(server) if line["event"] == "worker ended"]
        assert (died["level"], died["code"]) == ("error", -signal.SIGKILL)
        # And the next one is started again.
        [worker] = outbox_workers_of(server)
        assert "worker" in _command_of(worker)
        # It imports nothing from the folder in which the server was started.
        assert "-P" in _command_of(worker)


def test_no_part_is_missed_that_was_asked_to_end_with_all_others(embedded_settings: Settings, key: str) -> None:
    with start_server(embedded_settings) as server:
        worker = _request_until(server, key, lambda: _find_outbox_worker(server))
        line, rest = _begin_request(server, key, 0)
        # As systemd does, and a terminal.
        os.killpg(server.process.pid, signal.SIGTERM)
        wait_until_gone({worker})
        line.sendall(rest)
        assert receive_response(line).status == 201
        line.close()
        assert server.process.wait(15) == 0
        log = [line["event"] for line in _read_log(server)]
        assert ("stopping" in log, log[-1], "worker ended" in log) == (True, "stopped", False)


def _command_of(process: int) -> list[str]:
    return Path(f"/proc/{process}/cmdline").read_text().split("\0")


def _read_log(server: ServerProcess) -> list[dict[str, Any]]:
    """The lines of the log; what Python itself says of a process that could not start is not among them."""
    return [orjson.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]


def test_killing_the_parent_alone_leaves_no_orphan(embedded_settings: Settings, key: str) -> None:
    with start_server(embedded_settings) as server:
        _request_until(server, key, lambda: _find_outbox_worker(server))
        family = set(processes_of(server))
        assert len(family) == 4

        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait(30)

        wait_until_gone(family)
        assert processes_of(server) == {}
        with pytest.raises(httpx2.ConnectError):
            server.request("GET", "/healthz")


def _find_outbox_worker(server: ServerProcess) -> int | None:
    found = outbox_workers_of(server)
    return found[0] if found else None


def _request_until(server: ServerProcess, key: str, condition: Callable[[], T | None]) -> T:
    """Go on asking until something is so. Connections may break where a process dies; answers are never wrong."""
    for _ in range(5_000):
        with suppress(httpx2.TransportError):
            assert server.request("GET", ORGANISATION, key).status_code in {200, 429}
        if found := condition():
            return found
    pytest.fail("It never came to be.")
