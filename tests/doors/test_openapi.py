"""The description of the API is valid, complete and the same wherever it is shown."""

from typing import Any

import orjson
import pytest
import schemathesis
from schemathesis.core.result import Ok

from cast import Cast
from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.openapi import describe
from mainstay.kernel.operation import Effect
from mainstay.terms.actor import Door
from mainstay.terms.rights import Access
from running import RunningServer
from talking import refused

DOCUMENT = orjson.loads(describe(CATALOGUE.operations, "https://office.example"))
DESCRIBED = {
    operation["operationId"]: (method, path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
OFFERED = [operation for operation in CATALOGUE.operations if operation.rest and Door.API in operation.offered]


def test_it_is_valid_openapi_3_1() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    schema = schemathesis.openapi.from_dict(DOCUMENT)

    schema.validate()

    assert all(isinstance(operation, Ok) for operation in schema.get_all_operations())


def test_every_operation_of_the_catalogue_is_in_it_and_nothing_else() -> None:
    assert set(DESCRIBED) == {operation.name for operation in OFFERED}
    for operation in OFFERED:
        method, path, _ = DESCRIBED[operation.name]
        declared_method, _, declared_path = str(operation.rest).partition(" ")
        assert method == declared_method.lower()
        assert path.count("{") == declared_path.count("{")
        assert (method == "get") == (operation.effect is Effect.READ)


def test_every_operation_has_words_and_every_field_of_it_a_place() -> None:
    for operation in OFFERED:
        _, _, described = DESCRIBED[operation.name]
        assert described["summary"] == operation.title
        in_body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        places = {parameter["name"] for parameter in described["parameters"]} | set(in_body.get("properties", {}))
        fields = {field.alias for field in operation.input.model_fields.values()}
        assert places - {"Idempotency-Key", "If-Match"} == fields
        if operation.changes:
            assert in_body["additionalProperties"] is False
            assert described["requestBody"]["required"] is True


def test_what_answers_with_one_record_tells_where_it_is_seen_and_what_can_be_done_to_it() -> None:
    telling = {
        name for name, (_, _, described) in DESCRIBED.items() if b"/Actionable" in orjson.dumps(described["responses"])
    }
    assert telling == {operation.name for operation in OFFERED if not operation.lists} - {"get_me"}
    assert all(operation.output.place for operation in OFFERED if operation.tells_actions)


def test_it_says_that_the_api_is_in_beta_and_where_the_key_goes() -> None:
    assert "beta" in DOCUMENT["info"]["title"]
    assert "beta" in DOCUMENT["info"]["description"]
    assert "changelog" in DOCUMENT["info"]["description"]
    assert DOCUMENT["components"]["securitySchemes"] == {"apiKey": {"type": "http", "scheme": "bearer"}}
    assert DOCUMENT["security"] == [{"apiKey": []}]
    assert DOCUMENT["servers"] == [{"url": "https://office.example/api/v1"}]


def test_every_reference_leads_somewhere() -> None:
    def references(part: Any) -> list[str]:
        if isinstance(part, list):
            return [found for inner in part for found in references(inner)]
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [found for inner in part.values() for found in references(inner)]
        return []

    found = set(references(DOCUMENT))
    assert found
    for reference in found:
        place: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
        assert isinstance(place, dict)


@pytest.mark.parametrize("status", ["401", "429", "500"])
def test_every_operation_tells_its_refusals(status: str) -> None:
    for _, _, described in DESCRIBED.values():
        assert status in described["responses"]
    error = DOCUMENT["components"]["schemas"]["Error"]
    assert error["required"] == ["error"]
    assert error["additionalProperties"] is False


def test_it_is_served_to_a_key_like_every_path(server: RunningServer, cast: Cast) -> None:
    refused(server.request("GET", "/api/v1/openapi.json"), 401)

    answer = server.request("GET", "/api/v1/openapi.json", cast.key(Access.READ), headers={"Host": "localhost:1"})

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.content == describe(CATALOGUE.operations, server.settings.base_url)
    assert answer.json()["servers"] == [{"url": f"{server.url}/api/v1"}]
