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

from mainstay.composition import open_performer
from mainstay.settings import read_settings
from support.cast import make_cast
from support.raw_http import ORGANISATION, check_refusal
from support.redis_server import RedisServer
from support.servers import ServerProcess, make_tls_context, start_server
from support.waiting import wait_until


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with tempfile.TemporaryDirectory() as folder:  # shorter than tmp_path: a socket's path holds 108 bytes
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = RedisServer(Path(folder), port)
        server.start()
        yield server
        server.kill()


def test_while_redis_is_away_the_machine_counts_and_afterwards_both_do(redis: RedisServer, tmp_path: Path) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", redis=redis.url, workers=1)
    performer = open_performer(settings)
    cast = make_cast(performer)
    key, other = cast.make_key(), cast.make_key()
    performer.database.close()
    with start_server(settings) as server:
        assert _request_many(server, key, 200) == [200] * 200
        redis.kill()
        # Nobody is told of it, and nobody gets more than they had.
        assert sorted(_request_many(server, key, 401)) == [200] * 400 + [429]
        assert check_refusal(server.request("GET", ORGANISATION, key), 429)
        assert _find_log_lines(server, "redis_away")

        redis.start()
        # It looks by itself whether Redis is back, beside what it is asked.
        wait_until(
            lambda: (
                _is_answered(server, other)
                and len(_find_log_lines(server, "redis_back")) == len(_find_log_lines(server, "redis_away"))
            )
        )
        assert server.request("GET", ORGANISATION, key).status_code == 429
        with Redis.from_url(redis.url) as shared:
            assert _is_answered(server, other)
            # Under the empty name one only looks whether it is there.
            assert {*shared.scan_iter("mainstay:limit:*")} - {b"mainstay:limit:"}
        assert not _find_log_lines(server, "fault")
        assert server.stop() == 0


def _is_answered(server: ServerProcess, key: str) -> bool:
    return server.request("GET", ORGANISATION, key).status_code == httpx2.codes.OK


def _request_many(server: ServerProcess, key: str, times: int) -> list[int]:
    with httpx2.Client(
        base_url=server.url, headers={"Authorization": f"Bearer {key}"}, verify=make_tls_context()
    ) as client:
        return [client.get(ORGANISATION).status_code for _ in range(times)]


def _find_log_lines(server: ServerProcess, event: str) -> list[dict[str, Any]]:
    lines = [orjson.loads(line) for line in server.log.read_text().splitlines()]
    return [line for line in lines if line["event"] == event]
