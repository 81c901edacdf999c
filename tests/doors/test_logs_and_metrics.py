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

from mainstay.composition import open_performer
from mainstay.vocabulary.permissions import Access, Role
from support.browser_session import sign_in_new_person
from support.cast import EMAILS, PASSWORD, Cast, make_cast
from support.command_line import run_command
from support.failed_work import park_new_task
from support.installations import Installations
from support.mcp_client import make_legacy_call, post_call
from support.raw_http import JSON, NEW_PERSON, ORGANISATION, PEOPLE, format_head, send_raw
from support.servers import ServerProcess, start_server
from support.waiting import wait_until

# Planted where a client can put it, and searched for where it must not come to lie.
PLANTED_SECRET = "svc_sk_" + "planted" * 6 + "x"


@dataclass
class WatchedServer:
    """A server of its own, whose log and metrics nobody else fills."""

    server: ServerProcess
    cast: Cast
    metrics: str

    def read_log(self) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.server.log.read_text().splitlines()]

    def find_log_lines(self, answer: httpx2.Response) -> list[dict[str, Any]]:
        return [line for line in self.read_log() if line.get("request") == answer.headers["X-Request-Id"]]

    def read_metrics(self) -> dict[str, float]:
        answer = httpx2.get(f"http://{self.metrics}/metrics")
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


@pytest.fixture(scope="module")
def watched_server(
    engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WatchedServer]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        metrics = f"127.0.0.1:{free.getsockname()[1]}"
    settings = replace(installations.make_with_accounts(engine, tmp_path_factory.mktemp("watched")), metrics=metrics)
    performer = open_performer(settings)
    with start_server(settings) as server:
        # The worker, which shows the metrics, starts beside the server.
        with httpx2.Client(transport=httpx2.HTTPTransport(retries=10)) as client:
            client.get(f"http://{metrics}/metrics", timeout=30)
        yield WatchedServer(server, make_cast(performer), metrics)
        assert server.stop() == 0
    performer.database.close()


def test_a_request_is_logged_with_its_id(watched_server: WatchedServer) -> None:
    key = watched_server.cast.make_key()
    server = watched_server.server
    made = server.request("POST", PEOPLE, key, json=NEW_PERSON)
    missed = server.request("GET", f"{PEOPLE}/nobody?", key)
    strange = server.request("GET", ORGANISATION)

    for answer, method, path in (
        (made, "POST", PEOPLE),
        (missed, "GET", f"{PEOPLE}/nobody"),
        (strange, "GET", ORGANISATION),
    ):
        [line] = watched_server.find_log_lines(answer)
        assert (line["event"], line["level"]) == ("request", "info")
        assert (line["method"], line["path"], line["status"]) == (method, path, answer.status_code)
        assert line["address"] == "127.0.0.1"
        assert line["ms"] > 0
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["at"])
    # The audit trail knows the same id.
    with watched_server.cast.performer.database.read_transaction(watched_server.cast.organisation) as db:
        found = db.one(
            "SELECT operation FROM audit WHERE organisation_id = :organisation AND request_id = :id",
            id=made.headers["X-Request-Id"],
        )
    assert found == ("invite_person",)


def test_of_tools_changes_and_refusals_are_logged_and_readings_are_not(watched_server: WatchedServer) -> None:
    key, server = watched_server.cast.make_key(), watched_server.server

    def called(tool: str, **arguments: str) -> list[str]:
        answer = post_call(server, key, make_legacy_call("tools/call", {"name": tool, "arguments": arguments}))
        assert answer.json()["result"]
        return [line["path"] for line in watched_server.find_log_lines(answer)]

    assert called("get_person", personId="person_nobody") == ["/mcp"]
    assert called("list_people", role="king") == ["/mcp"]
    assert called("update_organisation", name="Another") == ["/mcp"]
    assert called("list_people") == []


def test_metrics_count_over_all_workers(watched_server: WatchedServer) -> None:
    key = watched_server.cast.make_key()
    watched_server.server.request("GET", "/nowhere")
    series = 'mainstay_requests_total{route="get_organisation",status="2xx"}'
    before = watched_server.read_metrics().get(series, 0)

    # Each on a connection of its own, so that both workers have their share.
    for _ in range(40):
        assert watched_server.server.request("GET", ORGANISATION, key).status_code == 200

    # A request is counted once it is answered, which may be a moment after the client has the answer.
    for _ in range(1000):
        counted = watched_server.read_metrics()
        if counted[series] - before >= 40:
            break
    assert counted[series] - before == 40
    assert counted["mainstay_up"] == 1
    assert counted['mainstay_request_seconds_count{route="get_organisation"}'] >= 40
    assert counted['mainstay_requests_total{route="none",status="4xx"}'] >= 1


def test_metrics_count_pages_and_the_doors_of_oauth_by_their_routes(watched_server: WatchedServer) -> None:
    server, session = watched_server.server, sign_in_new_person(watched_server.server, watched_server.cast)
    person = watched_server.cast.people[Role.MEMBER]
    requests: dict[str, Callable[[], object]] = {
        "GET /people/{id}": lambda: session.get(f"/people/{person}"),
        "POST /sign-in": lambda: session.post("/sign-in", {}),
        "/oauth/token": lambda: server.request("POST", "/oauth/token", form={"grant_type": "x"}),
        "/.well-known/oauth-authorization-server": lambda: server.request(
            "GET", "/.well-known/oauth-authorization-server"
        ),
        "static": lambda: server.request("GET", re.findall(r"/static/[^\"]+", session.get("/").text)[0]),
    }
    for ask in requests.values():
        ask()

    def counted() -> dict[str, float] | None:
        found = watched_server.read_metrics()
        names = {route: f'mainstay_request_seconds_count{{route="{route}"}}' for route in requests}
        return {route: found[name] for route, name in names.items()} if found.keys() >= {*names.values()} else None

    assert wait_until(counted) == dict.fromkeys(requests, 1)
    # However many records and addresses there are, there are no more series: none bears what was asked for.
    assert not [name for name in watched_server.read_metrics() if person in name]


def test_metrics_tell_of_mails(watched_server: WatchedServer) -> None:
    before = watched_server.read_metrics()
    assert before.keys() >= {"mainstay_mails_waiting", "mainstay_mails_parked"}
    sent = 'mainstay_mails_total{outcome="sent"}'
    body = NEW_PERSON | {"email": f"mailed.{watched_server.cast.organisation}@new.example"}
    assert watched_server.server.request("POST", PEOPLE, watched_server.cast.make_key(), json=body).status_code == 201
    assert wait_until(lambda: watched_server.read_metrics()[sent] > before[sent])


@pytest.mark.only_on("postgresql")
def test_metrics_tell_how_connections_are_used(watched_server: WatchedServer) -> None:
    key = watched_server.cast.make_key()
    with ThreadPoolExecutor(20) as clients:
        for answer in [clients.submit(watched_server.server.request, "GET", PEOPLE, key) for _ in range(60)]:
            assert answer.result().status_code == 200

    def find_metrics() -> dict[str, float] | None:
        found = watched_server.read_metrics()
        return found if found['mainstay_pool_size{process="server"}'] >= 2 else None

    found = wait_until(find_metrics)
    assert found['mainstay_pool_size{process="worker"}'] >= 1
    assert found['mainstay_pool_errors_total{process="server"}'] == 0
    # Once all are answered, every connection rests.
    assert wait_until(lambda: watched_server.read_metrics()['mainstay_pool_used{process="server"}'] == 0)


@pytest.mark.only_on("sqlite")
def test_of_an_embedded_database_no_connections_are_told(watched_server: WatchedServer) -> None:
    assert not [name for name in watched_server.read_metrics() if name.startswith("mainstay_pool")]


def test_metrics_tell_of_work_that_could_not_be_done(watched_server: WatchedServer) -> None:
    before = watched_server.read_metrics()
    assert before.keys() >= {"mainstay_outbox_waiting", "mainstay_outbox_late_seconds"}
    park_new_task(watched_server.cast)
    assert watched_server.read_metrics()["mainstay_outbox_parked"] == before["mainstay_outbox_parked"] + 1


def test_no_secret_comes_into_the_log_the_metrics_or_the_database(watched_server: WatchedServer) -> None:
    server = watched_server.server
    key, reading = watched_server.cast.make_key(), watched_server.cast.make_key(Access.READ)
    server.request("GET", ORGANISATION, reading)
    server.request("GET", ORGANISATION, PLANTED_SECRET)
    server.request("GET", f"/api/v1/people/{PLANTED_SECRET}", key)
    server.request("GET", f"/{PLANTED_SECRET}?access_token={PLANTED_SECRET}")
    server.request(
        "POST", PEOPLE, key, headers={"Cookie": f"session={PLANTED_SECRET}"}, json={"password": PLANTED_SECRET}
    )
    server.request(
        "POST", PEOPLE, key, headers=JSON | {"Idempotency-Key": "x" * 300, "X-Secret": PLANTED_SECRET}, content=b"{"
    )
    send_raw(server, format_head("GET", f"{ORGANISATION}?token={PLANTED_SECRET}", key, Authorization_=PLANTED_SECRET))
    owner = ("--owner-name", "Nina", "--owner-email", "nina@nagel.example", "--password-stdin")
    made = run_command(
        server.settings, "organisation", "create", "--name", "Nagel", *owner, "--json", stdin_text=PLANTED_SECRET
    )
    assert made.json["owner"]["password"] == PLANTED_SECRET

    log = server.log.read_text()
    assert log.count('"request"') > 5
    for secret in (
        PLANTED_SECRET.removeprefix("svc_sk_"),
        key.removeprefix("svc_sk_"),
        reading.removeprefix("svc_sk_"),
    ):
        assert secret not in log
    for secret in (PASSWORD, EMAILS[Role.OWNER]):
        assert secret not in log
    metrics = httpx2.get(f"http://{watched_server.metrics}/metrics").text
    assert "planted" not in metrics
    # In the database there are hashes.
    with watched_server.cast.performer.database.read_transaction("*") as db:
        for table in ("api_key", "audit", "event", "account", "replay", "outbox"):
            for row in db.all(f"SELECT * FROM {table}"):
                text = repr(row)
                assert key.removeprefix("svc_sk_") not in text
                assert PASSWORD not in text
                assert PLANTED_SECRET not in text


def test_metrics_are_not_open_to_those_who_use_the_product(watched_server: WatchedServer) -> None:
    server = watched_server.server
    assert server.request("GET", "/metrics").status_code == 404
    assert httpx2.get(f"http://{server.settings.metrics}/").status_code == 404
