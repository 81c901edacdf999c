"""The OpenAPI 3.1 description of the API, derived from the catalogue."""

import re
import sys
from collections.abc import Sequence
from http import HTTPStatus

import orjson

from mainstay.doors.api.components import name_of, named, schemas_of, with_enums
from mainstay.doors.api.routes import Endpoint, endpoints_of
from mainstay.doors.http import OUR_FAULT
from mainstay.doors.schemas import Schema, input_schema
from mainstay.kernel.catalogue import Catalogue
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Operation
from mainstay.values.words import words_of

VERSION = "0.1.0"

_ABOUT = (
    "The Mainstay HTTP API. It is in beta and grows over time; the changelog says what is new. Every request carries "
    "`Authorization: Bearer <API_KEY>`; the key says which organisation it is for. A PATCH changes only the "
    "fields that are sent; null clears one. A record that has a number is named by it or by its id; a path takes a "
    "hyphen for each slash in a number: `26-0001` for `26/0001`."
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
    "500": OUR_FAULT,
}
_ON_READS = ("401", "403", "404", "422", "429", "500")
# What was never issued has no file.
_ON_FILES = tuple(sorted({*_ON_READS, "409"}))


def describe(catalogue: Catalogue, base_url: str) -> bytes:
    """The whole description as JSON."""
    endpoints = endpoints_of(catalogue.operations)
    schemas = schemas_of(endpoints, catalogue.events)
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    return orjson.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Mainstay HTTP API (beta)", "version": VERSION, "description": _ABOUT},
            "servers": [{"url": f"{base_url}/api/v1"}],
            "security": [{"apiKey": []}],
            "tags": [{"name": area, "description": about} for area, about in areas_of(endpoints).items()],
            "paths": paths,
            "webhooks": {event.name: _webhook(event) for event in catalogue.events},
            "components": {
                "securitySchemes": {"apiKey": {"type": "http", "scheme": "bearer"}},
                "schemas": schemas,
                "responses": {status: _refusal(text) for status, text in _REFUSALS.items()},
            },
        },
        option=orjson.OPT_INDENT_2,
    )


def areas_of(endpoints: Sequence[Endpoint]) -> dict[str, str]:
    """The areas that the operations belong to, in their order, with what each is about."""
    areas = {}
    for endpoint in endpoints:
        package = _package(endpoint.operation.function.__module__)
        about = re.sub(r"^Floor \d+: ", "", sys.modules[package].__doc__ or "") if package in sys.modules else ""
        areas[area_of(endpoint.operation)] = about[:1].upper() + about[1:]
    return areas


def area_of(operation: Operation) -> str:
    """The area that an operation is declared in."""
    return _area(operation.function.__module__)


def _area(module: str) -> str:
    return words_of(_package(module).rpartition(".")[2])


def _package(module: str) -> str:
    return module.rpartition(".")[0]


def _operation(endpoint: Endpoint, schemas: Schema) -> Schema:
    operation = endpoint.operation
    on_reads = _ON_FILES if operation.gives else _ON_READS
    statuses = _REFUSALS if operation.changes else on_reads
    described: Schema = {
        # One that also makes records has two routes, and each has a name of its own.
        "operationId": f"{operation.name}_by_id" if operation.makes and endpoint.parameters else operation.name,
        "tags": [area_of(operation)],
        "summary": operation.title,
        "description": operation.description,
        "parameters": [*_parameters(endpoint, schemas), *(_write_headers(endpoint) if operation.changes else ())],
        "responses": {
            str(endpoint.status): _success(endpoint),
            **({"202": _still_being_made(operation)} if operation.gives else {}),
            **{status: {"$ref": f"#/components/responses/{status}"} for status in statuses},
        },
    }
    if operation.changes:
        described["requestBody"] = {"required": True, "content": _json(named(operation.input.__name__))}
    return described


def _success(endpoint: Endpoint) -> Schema:
    operation = endpoint.operation
    if operation.gives:
        file: Schema = {"type": "string", "contentMediaType": operation.gives}
        return {"description": operation.title, "content": {operation.gives: {"schema": file}}}
    schema = named(name_of(operation.output) + ("List" if operation.lists else ""))
    if operation.attaches:
        attached = {name: named(name_of(model)) for name, model in operation.attaches.items()}
        schema = {"allOf": [schema, {"type": "object", "properties": attached}]}
    if operation.is_irreversible:
        schema = {"oneOf": [schema, named("Preview")]}
    return {"description": operation.title, "content": _json(schema)}


def _still_being_made(operation: Operation) -> Schema:
    """What is answered while a file is made."""
    return {
        "description": "The file is still being made. Ask again after the seconds in `Retry-After`.",
        "headers": {"Retry-After": {"schema": {"type": "integer"}}},
        "content": _json(named(name_of(operation.output))),
    }


def _webhook(event: type[Event]) -> Schema:
    """What is sent to webhooks of this kind of event."""
    return {
        "post": {
            "operationId": f"on_{event.name.replace('.', '_')}",
            "tags": [_area(event.__module__)],
            "summary": (event.__doc__ or "").strip(),
            "security": [],
            "parameters": [_SENT | {"name": name, "description": words} for name, words in _SIGNED.items()],
            "requestBody": {"required": True, "content": _json(named(event.__name__))},
            "responses": {
                "2XX": {"description": "It has arrived."},
                "410": {"description": "Nothing is to be sent here any more: the webhook is disabled."},
                "default": {"description": "It is sent again, for more than three days."},
            },
        }
    }


def _parameters(endpoint: Endpoint, schemas: Schema) -> list[Schema]:
    """Path parameters, and for a read the query: everything else of the input."""
    schema = input_schema(endpoint.operation)
    parameters = []
    for name, of_name in schema["properties"].items():
        in_path = name in endpoint.parameters
        if in_path or not endpoint.operation.changes:
            told = with_enums(_word(of_name), schemas)
            # Beside a reference a description is not read by everyone.
            parameters.append(
                {
                    "name": name,
                    "in": "path" if in_path else "query",
                    "required": in_path or name in schema.get("required", ()),
                    **({"description": told.pop("description")} if "description" in told else {}),
                    "schema": told,
                }
            )
    return parameters


def _word(schema: Schema) -> Schema:
    """A parameter's schema: in a path or query there is no null, only leaving it out."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if not kinds:
        return schema
    told = {name: part for name, part in schema.items() if name not in {"anyOf", "default"}}
    return {**kinds[0], **told}


def _write_headers(endpoint: Endpoint) -> list[Schema]:
    # What is made anew has no version to expect, nor has what is done to no record.
    expects = endpoint.operation.on or endpoint.operation.offered_on
    made = endpoint.status == HTTPStatus.CREATED
    return [_IDEMPOTENCY_KEY, _IF_MATCH] if expects and not made else [_IDEMPOTENCY_KEY]


_IDEMPOTENCY_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "Repeating a request with the same key within 24 hours gives the first answer again.",
}
_IF_MATCH: Schema = {
    "name": "If-Match",
    "in": "header",
    "schema": {"type": "string"},
    "description": "The ETag of the version that is to be changed; another version is refused with 412.",
}
_SENT: Schema = {"in": "header", "required": True, "schema": {"type": "string"}}
_SIGNED = {
    "webhook-id": "The event's id: the same each time that it is sent.",
    "webhook-timestamp": "When it was sent, in seconds since 1970.",
    "webhook-signature": "`v1,` and the base64 of the HMAC-SHA256 of id.timestamp.body; two during a rotation.",
}


def _refusal(text: str) -> Schema:
    return {"description": text, "content": _json(named("Error"))}


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}
