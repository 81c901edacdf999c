"""What the operator sees: a log without secrets, and metrics of all workers on a listener of their own."""

import re
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import orjson
import pytest

from agents import legacy, post
from cast import EMAILS, PASSWORD, Cast, assemble
from commanding import command
from installations import Installations
from mainstay.staging import open_stage
from mainstay.terms.rights import Access, Role
from parking import park
from running import ServerProcess, start_server
from talking import JSON, NEWCOMER, ORGANISATION, PEOPLE, head, speak
from visiting import visit
from waiting import wait_until

# Planted where a client can put it, and searched for where it must not come to lie.
PLANTED = "svc_sk_" + "planted" * 6 + "x"


@dataclass
class Watched:
    """A server of its own, whose log and metrics nobody else fills."""

    server: ServerProcess
    cast: Cast
    metrics: str

    def log(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.server.log.read_text().splitlines()]

    def logged(self, answer: httpx2.Response) -> list[dict[str, Any]]:
        return [line for line in self.log() if line.get("request") == answer.headers["X-Request-Id"]]

    def counted(self) -> dict[str, float]:
        answer = httpx2.get(f"http://{self.metrics}/metrics")
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


@pytest.fixture(scope="module")
def watched(engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        metrics = f"127.0.0.1:{free.getsockname()[1]}"
    settings = replace(installations.furnished(engine, tmp_path_factory.mktemp("watched")), metrics=metrics)
    stage = open_stage(settings)
    with start_server(settings) as server:
        # The worker, which shows the metrics, starts beside the server.
        with httpx2.Client(transport=httpx2.HTTPTransport(retries=10)) as client:
            client.get(f"http://{metrics}/metrics", timeout=30)
        yield Watched(server, assemble(stage), metrics)
        assert server.stop() == 0
    stage.database.close()


def test_a_request_is_logged_with_its_id(watched: Watched) -> None:
    key = watched.cast.key()
    server = watched.server
    made = server.request("POST", PEOPLE, key, json=NEWCOMER)
    missed = server.request("GET", f"{PEOPLE}/nobody?", key)
    strange = server.request("GET", ORGANISATION)

    for answer, method, path in (
        (made, "POST", PEOPLE),
        (missed, "GET", f"{PEOPLE}/nobody"),
        (strange, "GET", ORGANISATION),
    ):
        [line] = watched.logged(answer)
        assert (line["event"], line["level"]) == ("request", "info")
        assert (line["method"], line["path"], line["status"]) == (method, path, answer.status_code)
        assert line["address"] == "127.0.0.1"
        assert line["ms"] > 0
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["at"])
    # The audit trail knows the same id.
    with watched.cast.stage.database.reading(watched.cast.organisation) as rows:
        found = rows.one(
            "SELECT operation FROM audit WHERE organisation_id = :organisation AND request_id = :id",
            id=made.headers["X-Request-Id"],
        )
    assert found == ("invite_person",)


def test_of_tools_changes_and_refusals_are_logged_and_readings_are_not(watched: Watched) -> None:
    key, server = watched.cast.key(), watched.server

    def called(tool: str, **arguments: str) -> list[str]:
        answer = post(server, key, legacy("tools/call", {"name": tool, "arguments": arguments}))
        assert answer.json()["result"]
        return [line["path"] for line in watched.logged(answer)]

    assert called("get_person", personId="person_nobody") == ["/mcp"]
    assert called("list_people", role="king") == ["/mcp"]
    assert called("update_organisation", name="Another") == ["/mcp"]
    assert called("list_people") == []


def test_metrics_count_over_all_workers(watched: Watched) -> None:
    key = watched.cast.key()
    watched.server.request("GET", "/nowhere")
    series = 'mainstay_requests_total{route="get_organisation",status="2xx"}'
    before = watched.counted().get(series, 0)

    # Each on a connection of its own, so that both workers have their share.
    for _ in range(40):
        assert watched.server.request("GET", ORGANISATION, key).status_code == 200

    # A request is counted once it is answered, which may be a moment after the client has the answer.
    for _ in range(1000):
        counted = watched.counted()
        if counted[series] - before >= 40:
            break
    assert counted[series] - before == 40
    assert counted["mainstay_up"] == 1
    assert counted['mainstay_request_seconds_count{route="get_organisation"}'] >= 40
    assert counted['mainstay_requests_total{route="none",status="4xx"}'] >= 1


def test_metrics_count_pages_and_the_doors_of_oauth_by_their_routes(watched: Watched) -> None:
    server, visiting = watched.server, visit(watched.server, watched.cast)
    person = watched.cast.people[Role.MEMBER]
    asked: dict[str, Callable[[], object]] = {
        "GET /people/{id}": lambda: visiting.get(f"/people/{person}"),
        "POST /sign-in": lambda: visiting.post("/sign-in", {}),
        "/oauth/token": lambda: server.request("POST", "/oauth/token", form={"grant_type": "x"}),
        "/.well-known/oauth-authorization-server": lambda: server.request(
            "GET", "/.well-known/oauth-authorization-server"
        ),
        "static": lambda: server.request("GET", re.findall(r"/static/[^\"]+", visiting.get("/").text)[0]),
    }
    for ask in asked.values():
        ask()

    def counted() -> dict[str, float] | None:
        found = watched.counted()
        names = {route: f'mainstay_request_seconds_count{{route="{route}"}}' for route in asked}
        return {route: found[name] for route, name in names.items()} if found.keys() >= {*names.values()} else None

    assert wait_until(counted) == dict.fromkeys(asked, 1)
    # However many records and addresses there are, there are no more series: none bears what was asked for.
    assert not [name for name in watched.counted() if person in name]


def test_metrics_tell_of_mails(watched: Watched) -> None:
    before = watched.counted()
    assert before.keys() >= {"mainstay_mails_waiting", "mainstay_mails_parked"}
    sent = 'mainstay_mails_total{outcome="sent"}'
    body = NEWCOMER | {"email": f"mailed.{watched.cast.organisation}@new.example"}
    assert watched.server.request("POST", PEOPLE, watched.cast.key(), json=body).status_code == 201
    assert wait_until(lambda: watched.counted()[sent] > before[sent])


@pytest.mark.only_on("postgresql")
def test_metrics_tell_how_connections_are_used(watched: Watched) -> None:
    key = watched.cast.key()
    with ThreadPoolExecutor(20) as clients:
        for answer in [clients.submit(watched.server.request, "GET", PEOPLE, key) for _ in range(60)]:
            assert answer.result().status_code == 200

    def told() -> dict[str, float] | None:
        found = watched.counted()
        return found if found['mainstay_pool_size{process="server"}'] >= 2 else None

    found = wait_until(told)
    assert found['mainstay_pool_size{process="worker"}'] >= 1
    assert found['mainstay_pool_errors_total{process="server"}'] == 0
    # Once all are answered, every connection rests.
    assert wait_until(lambda: watched.counted()['mainstay_pool_used{process="server"}'] == 0)


@pytest.mark.only_on("sqlite")
def test_of_an_embedded_database_no_connections_are_told(watched: Watched) -> None:
    assert not [name for name in watched.counted() if name.startswith("mainstay_pool")]


def test_metrics_tell_of_work_that_could_not_be_done(watched: Watched) -> None:
    before = watched.counted()
    assert before.keys() >= {"mainstay_outbox_waiting", "mainstay_outbox_late_seconds"}
    park(watched.cast)
    assert watched.counted()["mainstay_outbox_parked"] == before["mainstay_outbox_parked"] + 1


def test_no_secret_comes_into_the_log_the_metrics_or_the_database(watched: Watched) -> None:
    server = watched.server
    key, reading = watched.cast.key(), watched.cast.key(Access.READ)
    server.request("GET", ORGANISATION, reading)
    server.request("GET", ORGANISATION, PLANTED)
    server.request("GET", f"/api/v1/people/{PLANTED}", key)
    server.request("GET", f"/{PLANTED}?access_token={PLANTED}")
    server.request("POST", PEOPLE, key, headers={"Cookie": f"session={PLANTED}"}, json={"password": PLANTED})
    server.request(
        "POST", PEOPLE, key, headers=JSON | {"Idempotency-Key": "x" * 300, "X-Secret": PLANTED}, content=b"{"
    )
    speak(server, head("GET", f"{ORGANISATION}?token={PLANTED}", key, Authorization_=PLANTED))
    command(server.settings, "demo", "--json")

    log = server.log.read_text()
    assert log.count('"request"') > 5
    for secret in (PLANTED.removeprefix("svc_sk_"), key.removeprefix("svc_sk_"), reading.removeprefix("svc_sk_")):
        assert secret not in log
    for secret in (PASSWORD, EMAILS[Role.OWNER]):
        assert secret not in log
    metrics = httpx2.get(f"http://{watched.metrics}/metrics").text
    assert "planted" not in metrics
    # In the database there are hashes.
    with watched.cast.stage.database.reading("*") as rows:
        for table in ("api_key", "audit", "event", "account", "replay", "outbox"):
            for row in rows.all(f"SELECT * FROM {table}"):
                text = repr(row)
                assert key.removeprefix("svc_sk_") not in text
                assert PASSWORD not in text


def test_metrics_are_not_open_to_those_who_use_the_product(watched: Watched) -> None:
    server = watched.server
    assert server.request("GET", "/metrics").status_code == 404
    assert httpx2.get(f"http://{server.settings.metrics}/").status_code == 404
