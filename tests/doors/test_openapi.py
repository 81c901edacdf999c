"""The description of the API is valid, complete and the same wherever it is shown."""

from collections.abc import Iterator
from functools import cache
from types import FunctionType
from typing import Any

import jsonschema
import orjson
import pytest
import schemathesis
from schemathesis.core.result import Ok

from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.openapi import build_openapi
from mainstay.kernel.operation import Effect
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Access, Role
from support.cast import Cast
from support.raw_http import check_refusal
from support.servers import RunningServer

API_OPERATIONS = [operation for operation in CATALOGUE.operations if operation.api_path and Door.API in operation.doors]
# What makes a record or changes one has a route for each, and there a name of its own.
BY_ID = {operation.name: f"{operation.name}_by_id" for operation in API_OPERATIONS if operation.creates_without_id}


@cache
def read_document() -> Any:
    """Return the description; it is written when a test first needs it, not when tests are collected."""
    return orjson.loads(build_openapi(CATALOGUE, "https://office.example"))


@cache
def find_described() -> dict[str, tuple[str, str, Any]]:
    """Return the method, path and description of each operation, by its name."""
    return {
        operation["operationId"]: (method, path, operation)
        for path, methods in read_document()["paths"].items()
        for method, operation in methods.items()
    }


def find_schemas() -> Any:
    """Return the schemas of the description, by name."""
    return read_document()["components"]["schemas"]


def test_it_is_valid_openapi_3_1() -> None:
    assert read_document()["openapi"].startswith("3.1.")
    schema = schemathesis.openapi.from_dict(read_document())

    schema.validate()

    assert all(isinstance(operation, Ok) for operation in schema.get_all_operations())


def test_every_operation_of_the_catalogue_is_in_it_and_nothing_else() -> None:
    assert set(find_described()) == {operation.name for operation in API_OPERATIONS} | {*BY_ID.values()}
    assert {*BY_ID} == {
        "save_site",
        "save_contact",
        "save_equipment",
        "save_price_item",
        "save_tax_rate",
        "save_supplier",
    }
    for operation in API_OPERATIONS:
        method, path, _ = find_described()[operation.name]
        declared_method, _, declared_path = str(operation.api_path).partition(" ")
        assert method == declared_method.lower()
        assert path.count("{") == declared_path.count("{")
        assert (method == "get") == (operation.effect is Effect.READ)


def test_every_operation_has_words_and_every_field_of_it_a_place() -> None:
    for operation in API_OPERATIONS:
        _, _, described = find_described()[operation.name]
        assert described["summary"] == operation.title
        in_body = find_schemas()[operation.input.__name__] if operation.changes else {}
        places = {parameter["name"] for parameter in described["parameters"]} | set(in_body.get("properties", {}))
        fields = {field.alias for field in operation.input.model_fields.values()}
        if operation.name in BY_ID:
            # The id stands in the path of the other route, and in no body.
            assert operation.on
            (one,) = [
                one["name"] for one in find_described()[BY_ID[operation.name]][2]["parameters"] if one["in"] == "path"
            ]
            fields.remove(one)
        assert places - {"Idempotency-Key", "If-Match", "Prefer"} == fields
        if operation.changes:
            assert in_body["additionalProperties"] is False
            assert described["requestBody"]["required"] is True


def test_what_makes_or_changes_has_a_route_for_each() -> None:
    for name, by_id in BY_ID.items():
        made, changed = find_described()[name], find_described()[by_id]
        assert (made[0], changed[0]) == ("post", "patch")
        assert changed[1].startswith(f"{made[1]}/{{")
        assert ("201" in made[2]["responses"], "201" in changed[2]["responses"]) == (True, False)
        assert "If-Match" not in [parameter["name"] for parameter in made[2]["parameters"]]
        assert "If-Match" in [parameter["name"] for parameter in changed[2]["parameters"]]


def test_what_answers_with_one_record_may_tell_where_it_is_seen_and_what_can_be_done_to_it() -> None:
    extra_fields = {"url", "availableActions"}
    for operation in [one for one in API_OPERATIONS if not one.returns_file]:
        record = find_schemas()[operation.output.__name__.removesuffix("Out")]
        telling = any(other.shows_actions for other in API_OPERATIONS if other.output is operation.output)
        seen = {"url"} if operation.output.office_path else set()
        # What hits of a search and other answers say of their own has no actions.
        assert ("availableActions" in record["properties"]) == telling
        assert (extra_fields & record["properties"].keys()) == ({"availableActions"} | seen if telling else set())
        # Lists and events leave them out.
        assert not extra_fields & {*record["required"]}


def test_it_says_that_the_api_is_in_beta_and_where_the_key_goes() -> None:
    assert "beta" in read_document()["info"]["title"]
    assert "beta" in read_document()["info"]["description"]
    assert "changelog" in read_document()["info"]["description"]
    assert read_document()["components"]["securitySchemes"] == {"apiKey": {"type": "http", "scheme": "bearer"}}
    assert read_document()["security"] == [{"apiKey": []}]
    assert read_document()["servers"] == [{"url": "https://office.example/api/v1"}]


def test_every_reference_leads_somewhere() -> None:
    def references(part: Any) -> list[str]:
        if isinstance(part, list):
            return [found for inner in part for found in references(inner)]
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [found for inner in part.values() for found in references(inner)]
        return []

    found = set(references(read_document()))
    assert found
    for reference in found:
        place: Any = read_document()
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
        assert isinstance(place, dict)


@pytest.mark.parametrize("status", ["401", "429", "500"])
def test_every_operation_tells_its_refusals(status: str) -> None:
    for _, _, described in find_described().values():
        assert status in described["responses"]
    error = read_document()["components"]["schemas"]["Error"]
    assert error["required"] == ["error"]
    assert error["additionalProperties"] is False


def find_called_functions(by: object, found: set[FunctionType]) -> set[FunctionType]:
    """A function of the product, and those that it and they call by their names."""
    if isinstance(by, FunctionType) and by.__module__.startswith("mainstay.") and by not in found:
        found.add(by)
        captured = [cell.cell_contents for cell in by.__closure__ or ()]
        for called in [*captured, *(by.__globals__.get(name) for name in by.__code__.co_names)]:
            find_called_functions(called, found)
    return found


def test_a_reading_that_the_state_of_things_may_refuse_says_so_and_no_other_does() -> None:
    readings = [operation for operation in API_OPERATIONS if not operation.changes]
    refusing = {
        operation.name
        for operation in readings
        if any(
            {"Conflict", "refuse"} & {*one.__code__.co_names}
            for one in find_called_functions(operation.function, set())
        )
    }
    assert {"get_invoice_pdf", "get_invoice_ubl", "get_quote_pdf"} <= refusing
    assert {one.name for one in readings if "409" in find_described()[one.name][2]["responses"]} == refusing


def test_it_is_served_to_a_key_like_every_path(server: RunningServer, cast: Cast) -> None:
    check_refusal(server.request("GET", "/api/v1/openapi.json"), 401)

    answer = server.request("GET", "/api/v1/openapi.json", cast.make_key(Access.READ), headers={"Host": "localhost:1"})

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.content == build_openapi(CATALOGUE, server.settings.base_url)
    assert answer.json()["servers"] == [{"url": f"{server.url}/api/v1"}]


def walk_document(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from walk_document(inner)


def test_operations_stand_in_areas_and_answer_with_schemas_that_have_names() -> None:
    assert [tag["name"] for tag in read_document()["tags"]] == [
        "Organisation",
        "People",
        "Customers",
        "Equipment",
        "Jobs",
        "Schedule",
        "Hours",
        "Pricelist",
        "Quotes",
        "Purchasing",
        "Invoices",
        "Costing",
        "Reporting",
        "Overview",
        "Records",
        "Saved views",
        "Webhooks",
    ]
    assert all(tag["description"] and "Floor" not in tag["description"] for tag in read_document()["tags"])
    for operation in API_OPERATIONS:
        method, _, described = find_described()[operation.name]
        assert described["tags"][0] in [tag["name"] for tag in read_document()["tags"]]
        success = "201" if "201" in described["responses"] else "200"
        if operation.returns_file:
            assert described["responses"][success]["content"].keys() == {operation.returns_file}
            continue
        schema = described["responses"][success]["content"]["application/json"]["schema"]
        name = operation.output.__name__.removesuffix("Out") + ("List" if operation.returns_page else "")
        [answer, *_] = schema.get("oneOf", [schema])
        # Some answers show other records beside it.
        [record, *_] = answer.get("allOf", [answer])
        assert record["$ref"] == f"#/components/schemas/{name}"
        if method != "get":
            body = described["requestBody"]["content"]["application/json"]["schema"]
            assert body == {"$ref": f"#/components/schemas/{operation.input.__name__}"}
    assert {"Person", "PersonList", "Organisation", "Me", "EventList"} <= find_schemas().keys()
    assert not [name for name in find_schemas() if name.endswith("Out")]


def test_nothing_has_a_title_that_was_made_up() -> None:
    titled = [part for part in walk_document(read_document()) if isinstance(part.get("title"), str)]
    assert [part["title"] for part in titled] == ["Mainstay HTTP API (beta)"]


def test_there_is_one_set_of_roles_and_everything_refers_to_it() -> None:
    sets = [tuple(part["enum"]) for part in walk_document(read_document()) if isinstance(part.get("enum"), list)]
    assert sets.count(tuple(Role)) == 1
    assert len([found for found in sets if "subcontractor" in found]) == 2
    (narrowed,) = [part for part in find_described()["list_people"][2]["parameters"] if part["name"] == "role"]
    assert narrowed["schema"] == {"$ref": "#/components/schemas/Role"}
    assert narrowed["description"]
    assert find_schemas()["InvitePerson"]["properties"]["role"]["$ref"].endswith("/AssignableRole")


def test_every_kind_of_event_is_a_webhook_with_a_type_of_its_own() -> None:
    assert read_document()["webhooks"].keys() == {event.name for event in CATALOGUE.events}
    for event in CATALOGUE.events:
        sent = read_document()["webhooks"][event.name]["post"]
        assert sent["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith(f"/{event.__name__}")
        schema = find_schemas()[event.__name__]
        assert schema["properties"]["type"]["const"] == event.name
        assert schema["properties"]["data"]["properties"]["object"]["$ref"].endswith(
            f"/{event.output.__name__.removesuffix('Out')}"
        )
        assert {*schema["required"]} == {*find_schemas()["Event"]["required"]}


def test_what_is_answered_and_sent_is_what_is_described(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    document = server.request("GET", "/openapi.json").json()

    def valid(name: str, value: Any) -> None:
        jsonschema.validate(value, {"$ref": f"#/components/schemas/{name}", "components": document["components"]})

    people = server.request("GET", "/api/v1/people", key).json()
    valid("PersonList", people)
    valid("Person", server.request("GET", f"/api/v1/people/{people['data'][0]['id']}", key).json())
    valid("Organisation", server.request("GET", "/api/v1/organisation", key).json())
    valid("Me", server.request("GET", "/api/v1/me", key).json())
    events = server.request("GET", "/api/v1/events", key).json()
    valid("EventList", events)
    valid("PersonJoined", events["data"][0])
    with pytest.raises(jsonschema.ValidationError):
        valid("PersonLeft", events["data"][0])


def test_it_is_public_for_programs_and_pages_that_make_clients(server: RunningServer, cast: Cast) -> None:
    public = server.request("GET", "/openapi.json", headers={"Origin": "http://localhost:9"})
    assert public.status_code == 200
    assert public.content == server.request("GET", "/api/v1/openapi.json", cast.make_key(Access.READ)).content
    assert public.headers["Access-Control-Allow-Origin"] == "*"
    head = server.request("HEAD", "/openapi.json")
    assert (head.status_code, head.content) == (200, b"")
    assert server.request("OPTIONS", "/openapi.json").status_code == 204
    refusal = server.request("POST", "/openapi.json", json={})
    assert check_refusal(refusal, 405)
    assert refusal.headers["Allow"] == "GET, HEAD"
