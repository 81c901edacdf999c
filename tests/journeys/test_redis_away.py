"""Redis goes away and comes back, while the server runs on."""

import socket
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
from redis import Redis

from cast import assemble
from mainstay.settings import read_settings
from mainstay.staging import open_stage
from redises import Server
from running import ServerProcess, start_server, tls
from talking import ORGANISATION, refused
from waiting import wait_until


@pytest.fixture
def redis() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:  # shorter than tmp_path: a socket's path holds 108 bytes
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = Server(Path(folder), port)
        server.start()
        yield server
        server.kill()


def test_while_redis_is_away_the_machine_counts_and_afterwards_both_do(redis: Server, tmp_path: Path) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", redis=redis.url, workers=1)
    stage = open_stage(settings)
    cast = assemble(stage)
    key, other = cast.key(), cast.key()
    stage.database.close()
    with start_server(settings) as server:
        assert _ask(server, key, 200) == [200] * 200
        redis.kill()
        # Nobody is told of it, and nobody gets more than they had.
        assert sorted(_ask(server, key, 401)) == [200] * 400 + [429]
        assert refused(server.request("GET", ORGANISATION, key), 429)
        assert _events(server, "redis_away")

        redis.start()
        # It looks by itself whether Redis is back, beside what it is asked.
        wait_until(
            lambda: _asked(server, other) and len(_events(server, "redis_back")) == len(_events(server, "redis_away"))
        )
        assert server.request("GET", ORGANISATION, key).status_code == 429
        with Redis.from_url(redis.url) as shared:
            assert _asked(server, other)
            # Under the empty name one only looks whether it is there.
            assert {*shared.scan_iter("mainstay:limit:*")} - {b"mainstay:limit:"}
        assert not _events(server, "fault")
        assert server.stop() == 0


def _asked(server: ServerProcess, key: str) -> bool:
    return server.request("GET", ORGANISATION, key).status_code == httpx2.codes.OK


def _ask(server: ServerProcess, key: str, times: int) -> list[int]:
    with httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"}, verify=tls()) as client:
        return [client.get(ORGANISATION).status_code for _ in range(times)]


def _events(server: ServerProcess, event: str) -> list[dict[str, Any]]:
    lines = [orjson.loads(line) for line in server.log.read_text().splitlines()]
    return [line for line in lines if line["event"] == event]
