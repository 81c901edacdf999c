"""Two machines serve one installation and share one limit through Redis."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from mainstay.composition import open_performer
from mainstay.settings import Settings, read_settings
from support.cast import make_cast
from support.engines import PostgresServer
from support.raw_http import ORGANISATION, check_refusal
from support.redis_server import RedisServer
from support.servers import RunningServer, make_tls_context, share_files, start_server


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """The address of a real Redis."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = RedisServer(tmp_path, port)
    server.start()
    yield server.url
    server.kill()


def test_two_servers_share_one_limit(redis: str, postgresql: PostgresServer, tmp_path: Path) -> None:
    first = replace(
        read_settings({}),
        data=tmp_path / "first",
        database=postgresql.new_database(),
        redis=redis,
        workers=1,
        secret="s" * 32,
    )
    second = replace(first, data=tmp_path / "second")
    share_files(first, second)
    key, other = _make_keys(first)
    with start_server(first) as one, start_server(second) as two:
        answers = _request_many([one, two], key, 601)

        assert sorted(answers) == [200] * 600 + [429]
        for server in (one, two):
            limited = server.request("GET", ORGANISATION, key)
            check_refusal(limited, 429)
            assert limited.headers["Retry-After"] == "60"
            assert server.request("GET", ORGANISATION, other).status_code == 200
            assert "redis_away" not in server.log.read_text()
            assert server.stop() == 0


def _make_keys(settings: Settings) -> tuple[str, str]:
    performer = open_performer(settings)
    cast = make_cast(performer)
    keys = cast.make_key(), cast.make_key()
    performer.database.close()
    return keys


def _request_many(servers: list[RunningServer], key: str, times: int) -> list[int]:
    def client(number: int) -> list[int]:
        headers = {"Authorization": f"Bearer {key}"}
        with httpx2.Client(
            base_url=servers[number % 2].url, headers=headers, timeout=30, verify=make_tls_context()
        ) as connection:
            share = len(range(number, times, 8))
            return [connection.get(ORGANISATION).status_code for _ in range(share)]

    with ThreadPoolExecutor(8) as clients:
        return [status for statuses in clients.map(client, range(8)) for status in statuses]
