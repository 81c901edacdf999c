"""The OpenAPI 3.1 description of the API, derived from the catalogue."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import orjson
from pydantic.json_schema import models_json_schema

from mainstay.doors.api.routes import Endpoint, endpoints_of
from mainstay.doors.schemas import input_schema
from mainstay.kernel.operation import Effect, Operation

VERSION = "0.1.0"
_REF = "#/components/schemas/{model}"

_ABOUT = (
    "The Mainstay HTTP API. It is in beta and grows over time; the changelog says what is new. Every request carries "
    "`Authorization: Bearer <API_KEY>`; the key says which organisation it is for. A PATCH changes only the "
    "fields that are sent; null clears one."
)

_REFUSALS = {
    "400": "The body is not valid JSON.",
    "401": "The API key is missing, malformed or revoked.",
    "402": "The subscription is inactive; records can be read but not changed.",
    "403": "The key is read only, or the role may not do this.",
    "404": "There is no record with that identifier.",
    "408": "The body did not arrive in time.",
    "409": "The state of things does not allow it.",
    "412": "The record has changed since the version in If-Match.",
    "413": "The body is larger than 16 KB.",
    "415": "The body is not application/json.",
    "422": "Some fields are not as they must be; the message lists them, separated by semicolons.",
    "429": "More than 600 requests in a minute; wait for the seconds in Retry-After.",
    "500": "Something went wrong on our side; it is safe to try again.",
}
_ON_READS = ("401", "403", "404", "422", "429", "500")


def describe(operations: Sequence[Operation], base_url: str) -> bytes:
    """The whole description as JSON."""
    endpoints = endpoints_of(operations)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return orjson.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Mainstay HTTP API (beta)", "version": VERSION, "description": _ABOUT},
            "servers": [{"url": f"{base_url}/api/v1"}],
            "security": [{"apiKey": []}],
            "paths": paths,
            "components": {
                "securitySchemes": {"apiKey": {"type": "http", "scheme": "bearer"}},
                "schemas": _schemas(endpoints),
                "responses": {status: _refusal(text) for status, text in _REFUSALS.items()},
            },
        },
        option=orjson.OPT_INDENT_2,
    )


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation = endpoint.operation
    statuses = _REFUSALS if operation.changes else _ON_READS
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.title,
        "description": operation.description,
        "parameters": [*_parameters(endpoint), *(_write_headers(endpoint) if operation.changes else ())],
        "responses": {
            str(endpoint.status): _success(endpoint),
            **{status: {"$ref": f"#/components/responses/{status}"} for status in statuses},
        },
    }
    if operation.changes:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _body_schema(endpoint)}},
        }
    return described


def _success(endpoint: Endpoint) -> dict[str, Any]:
    operation = endpoint.operation
    schema: dict[str, Any] = {"$ref": _REF.format(model=operation.output.__name__)}
    if operation.tells_actions:
        schema = {"allOf": [schema, {"$ref": _REF.format(model="Actionable")}]}
    if operation.lists:
        schema = {
            "type": "object",
            "properties": {
                "object": {"const": "list"},
                "data": {"type": "array", "items": schema},
                "hasMore": {"type": "boolean", "description": "Whether there is another page behind this one."},
            },
            "required": ["object", "data", "hasMore"],
            "additionalProperties": False,
        }
    if operation.effect is Effect.IRREVERSIBLE:
        schema = {"oneOf": [schema, {"$ref": _REF.format(model="Preview")}]}
    return {"description": operation.title, "content": {"application/json": {"schema": schema}}}


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    """Path parameters, and for a read the query: everything else of the input."""
    schema = input_schema(endpoint.operation)
    parameters = []
    for name, of_name in schema["properties"].items():
        in_path = name in endpoint.parameters
        if in_path or not endpoint.operation.changes:
            required = name in schema.get("required", ())
            parameters.append(
                {"name": name, "in": "path" if in_path else "query", "required": required, "schema": _word(of_name)}
            )
    return parameters


def _word(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter's schema: in a path or query there is no null, only leaving it out."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if not kinds:
        return schema
    told = {name: part for name, part in schema.items() if name not in {"anyOf", "default"}}
    return {**kinds[0], **told}


def _body_schema(endpoint: Endpoint) -> dict[str, Any]:
    """The body of a write: the input without what stands in the path."""
    schema = input_schema(endpoint.operation)
    for name in endpoint.parameters:
        del schema["properties"][name]
    schema["required"] = [name for name in schema.get("required", ()) if name not in endpoint.parameters]
    return schema


def _write_headers(endpoint: Endpoint) -> list[dict[str, Any]]:
    # What is made anew has no version to expect.
    return [_IDEMPOTENCY_KEY] if endpoint.status == HTTPStatus.CREATED else [_IDEMPOTENCY_KEY, _IF_MATCH]


_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "Repeating a request with the same key within 24 hours gives the first answer again.",
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "schema": {"type": "string"},
    "description": "The ETag of the version that is to be changed; another version is refused with 412.",
}


def _schemas(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    outputs = {endpoint.operation.output for endpoint in endpoints}
    ordered = sorted(outputs, key=lambda model: model.__name__)
    _, definitions = models_json_schema(
        [(model, "serialization") for model in ordered], by_alias=True, ref_template=_REF
    )
    schemas: dict[str, Any] = definitions["$defs"]
    for model in outputs:
        # The word is fixed for each kind of record, though Pydantic knows it only as text.
        schemas[model.__name__]["properties"]["object"] = {"const": model.noun}
    texts = {"type": "array", "items": {"type": "string"}}
    schemas["Actionable"] = {
        "type": "object",
        "properties": {
            "url": {"type": "string", "format": "uri", "description": "Where people see it in the office."},
            "availableActions": texts | {"description": "The names of the operations that you can do to it now."},
        },
        "required": ["url", "availableActions"],
    }
    schemas["Error"] = _closed({"error": {"type": "string", "description": "A sentence for people."}})
    schemas["Preview"] = _closed(
        {
            "object": {"const": "preview"},
            "operation": {"type": "string"},
            "summary": {"type": "string"},
            "effects": texts,
            "warnings": texts,
            "blockers": texts,
        }
    )
    return schemas


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _refusal(text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": {"$ref": _REF.format(model="Error")}}}}
