"""Probes, and what is at no door at all."""

import pytest

from support.raw_http import check_refusal
from support.servers import RunningServer


def test_the_server_says_that_it_lives_and_that_it_can_work(server: RunningServer) -> None:
    for path, body in (("/healthz", b'{"status":"alive"}'), ("/readyz", b'{"status":"ready"}')):
        answer = server.request("GET", path)

        assert (answer.status_code, answer.content) == (200, body)
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api", "/api/", "/api/v2/organisation", "/api/v1organisation", "/metrics"]
)
def test_there_is_nothing_where_there_is_no_door(server: RunningServer, path: str) -> None:
    assert check_refusal(server.request("GET", path), 404).startswith("There is nothing at this address.")


@pytest.mark.parametrize(
    "path", ["//api/v1/organisation", "/api//v1/organisation", "/./api/v1/organisation", "/%00", "/%FF"]
)
def test_an_odd_way_leads_nowhere(server: RunningServer, path: str) -> None:
    assert 400 <= server.request("GET", path).status_code < 500
