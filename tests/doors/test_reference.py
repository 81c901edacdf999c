"""The public reference: every operation, with examples that are taken."""

import ast
import re
import shlex

import orjson
import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.reference import build_entry, build_example_body
from mainstay.doors.api.routes import Endpoint, endpoints_of
from mainstay.values.ids import is_id, new_id
from mainstay.vocabulary.validation import parse_input
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.servers import RunningServer

ENDPOINTS = endpoints_of(CATALOGUE.operations)
ENDPOINT = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.operation.name)
ADDRESS = "https://office.example/api/v1"


def test_it_shows_every_operation_and_every_event_to_anyone(server: RunningServer) -> None:
    page = server.request("GET", "/developers")
    assert page.status_code == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    shown = visible_text(page.text)
    for endpoint in ENDPOINTS:
        assert f'id="{endpoint.operation.name}"' in page.text
        assert endpoint.operation.title in shown
        assert f"{endpoint.method} {endpoint.path}" in shown
    for event in CATALOGUE.events:
        assert event.name in shown
    assert f"{server.url}/api/v1" in shown
    assert 'href="/changelog"' in page.text
    assert 'href="/openapi.json"' in page.text
    assert server.request("GET", "/developers").content == page.content
    assert server.request("HEAD", "/developers").status_code == 200
    assert server.request("POST", "/developers").status_code == 405


def test_every_place_on_the_page_has_a_name_of_its_own(server: RunningServer) -> None:
    page = server.request("GET", "/developers").text
    places = re.findall(r'<section id="([^"]+)"', page)
    assert len(places) == len({*places}) == len(ENDPOINTS) + 1
    assert [f"#{place}" for place in places] == re.findall(r'<li><a href="(#[^"]+)"', page)
    # What scrolls by itself is reached by the keyboard.
    assert "<pre>" not in page


@ENDPOINT
def test_an_example_is_taken_by_its_operation(endpoint: Endpoint) -> None:
    shown = build_entry(endpoint, ADDRESS)
    written = shlex.split(shown.curl.replace("\\\n", ""))
    assert written[0] == "curl"
    assert "Authorization: Bearer $MAINSTAY_KEY" in written
    (call, _) = ast.parse(shown.python).body
    assert isinstance(call, ast.Assign)
    assert isinstance(call.value, ast.Call)
    sent = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.value.keywords}
    if not endpoint.operation.changes:
        assert sent == {}
        return
    body = orjson.loads(written[written.index("-d") + 1])
    assert body == sent["json"] == build_example_body(endpoint)
    parse_input(
        endpoint.operation.input,
        orjson.dumps(body | {name: new_id(kind_of(name)) for name in endpoint.path_parameters}),
    )


def kind_of(parameter: str) -> str:
    """What a parameter of a path is the id of."""
    return {"taxRateId": "tax", "savedViewId": "view"}.get(parameter, parameter.removesuffix("Id"))


def test_an_example_shows_ids_of_the_right_kind_and_what_a_new_record_needs() -> None:
    bodies = {(endpoint.method, endpoint.path): build_example_body(endpoint) for endpoint in ENDPOINTS}
    assert bodies["POST", "/jobs"].keys() == {"customerId", "title"}
    assert is_id(bodies["POST", "/jobs"]["customerId"], "customer")
    assert is_id(bodies["POST", "/customers/{customerId}/merge"]["intoCustomerId"], "customer")
    assert bodies["POST", "/sites"].keys() == {"customerId", "address", "status"}
    assert bodies["POST", "/contacts"].keys() == {"customerId", "name", "receives", "status"}
    assert "siteId" not in bodies["PATCH", "/sites/{siteId}"]


def test_settings_lead_there(server: RunningServer, cast: Cast) -> None:
    assert 'href="/developers"' in sign_in_new_person(server, cast).get("/settings/developer/keys").text
