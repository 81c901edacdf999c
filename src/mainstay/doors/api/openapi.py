"""The OpenAPI 3.1 description of the API, derived from the catalogue."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus

import orjson

from mainstay.doors.api.components import build_schemas, replace_enums, schema_name_of, schema_ref
from mainstay.doors.api.routes import Endpoint, endpoints_of
from mainstay.doors.cors import ANY_ORIGIN, answer_preflight
from mainstay.doors.http import SERVER_ERROR, Request, Response, error_response
from mainstay.doors.schemas import Schema, input_schema
from mainstay.kernel.catalogue import Catalogue
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Operation
from mainstay.values.choices import to_label

API_VERSION = "0.1.0"

_DESCRIPTION = (
    "The Mainstay HTTP API. It is in beta; the changelog lists what is new. Send `Authorization: Bearer <API_KEY>` "
    "with every request; the key decides which organisation it is for. A PATCH changes only the fields that are sent; "
    "null clears a field. Records with a number can be named by number or ID; in a path, write a hyphen for each slash "
    "in a number: `26-0001` for `26/0001`."
)

_REFUSALS = {
    "400": "The body is not valid JSON.",
    "401": "The API key is missing, malformed or revoked.",
    "402": "The subscription is inactive; records can be read but not changed.",
    "403": "The key is read-only, or the role may not do this.",
    "404": "There is no record with this ID.",
    "408": "The body did not arrive in time.",
    "409": "The current state of the records does not allow it.",
    "412": "The record has changed since the version in If-Match.",
    "413": "The body is larger than 16 KB.",
    "415": "The body is not application/json.",
    "422": "Some fields are wrong; the message lists them, separated by semicolons.",
    "429": "More than 600 requests in a minute; wait the seconds in Retry-After.",
    "500": str(SERVER_ERROR),
}
_READ_STATUSES = ("401", "403", "404", "422", "429", "500")
# A document that was never issued has no file.
_FILE_STATUSES = tuple(sorted({*_READ_STATUSES, "409"}))


def build_openapi(catalogue: Catalogue, base_url: str) -> bytes:
    """Return the OpenAPI document as JSON."""
    endpoints = endpoints_of(catalogue.operations)
    schemas = build_schemas(endpoints, catalogue.events)
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _describe_operation(endpoint, schemas)
    return orjson.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Mainstay HTTP API (beta)", "version": API_VERSION, "description": _DESCRIPTION},
            "servers": [{"url": f"{base_url}/api/v1"}],
            "security": [{"apiKey": []}],
            "tags": [{"name": area, "description": about} for area, about in areas_of(endpoints).items()],
            "paths": paths,
            "webhooks": {event.name: _describe_webhook(event) for event in catalogue.events},
            "components": {
                "securitySchemes": {"apiKey": {"type": "http", "scheme": "bearer"}},
                "schemas": schemas,
                "responses": {status: _describe_refusal(text) for status, text in _REFUSALS.items()},
            },
        },
        option=orjson.OPT_INDENT_2,
    )


def areas_of(endpoints: Sequence[Endpoint]) -> dict[str, str]:
    """Return the areas of the operations, in their order, with a description of each."""
    areas = {}
    for endpoint in endpoints:
        package = _package_of(endpoint.operation.function.__module__)
        areas[area_of(endpoint.operation)] = sys.modules[package].__doc__ or "" if package in sys.modules else ""
    return areas


def area_of(operation: Operation) -> str:
    """Return the name of the area that declares an operation."""
    return _area_of_module(operation.function.__module__)


def _area_of_module(module: str) -> str:
    return to_label(_package_of(module).rpartition(".")[2])


def _package_of(module: str) -> str:
    """Return the package of an area: `mainstay.business.invoices` of `mainstay.business.invoices.issuing.crediting`."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[1] == "business" else -1])


def _describe_operation(endpoint: Endpoint, schemas: Schema) -> Schema:
    operation = endpoint.operation
    read_statuses = _FILE_STATUSES if operation.returns_file else _READ_STATUSES
    statuses = _REFUSALS if operation.changes else read_statuses
    description: Schema = {
        # An operation that also creates records has two routes, so the second one gets its own name.
        "operationId": f"{operation.name}_by_id"
        if operation.creates_without_id and endpoint.path_parameters
        else operation.name,
        "tags": [area_of(operation)],
        "summary": operation.title,
        "description": operation.description,
        "parameters": [
            *_describe_parameters(endpoint, schemas),
            *(_describe_write_headers(endpoint) if operation.changes else ()),
        ],
        "responses": {
            **_describe_dry_run(endpoint),
            str(endpoint.status): _describe_success(endpoint),
            **({"202": _describe_pending_file(operation)} if operation.returns_file else {}),
            **{status: {"$ref": f"#/components/responses/{status}"} for status in statuses},
            **_describe_confirmation(operation),
        },
    }
    if operation.changes:
        description["requestBody"] = {"required": True, "content": _json_content(schema_ref(operation.input.__name__))}
    return description


def _describe_success(endpoint: Endpoint) -> Schema:
    operation = endpoint.operation
    if operation.returns_file:
        file: Schema = {"type": "string", "contentMediaType": operation.returns_file}
        return {"description": operation.title, "content": {operation.returns_file: {"schema": file}}}
    schema = schema_ref(schema_name_of(operation.output) + ("List" if operation.returns_page else ""))
    if operation.extra_records:
        attached = {name: schema_ref(schema_name_of(model)) for name, model in operation.extra_records.items()}
        schema = {"allOf": [schema, {"type": "object", "properties": attached}]}
    if operation.changes and endpoint.status == HTTPStatus.OK:
        schema = {"oneOf": [schema, schema_ref("Preview")]}
    headers = {"headers": _CHANGE_ID} if operation.undone_by else {}
    return {"description": operation.title, **headers, "content": _json_content(schema)}


def _describe_dry_run(endpoint: Endpoint) -> Schema:
    """Describe the answer to the dry run of an operation whose own answer has another status."""
    if endpoint.status == HTTPStatus.OK:
        return {}
    return {str(int(HTTPStatus.OK)): {"description": "Dry run", "content": _json_content(schema_ref("Preview"))}}


def _describe_pending_file(operation: Operation) -> Schema:
    """Describe the answer while a file is still being made."""
    return {
        "description": "The file is still being created. Repeat after the seconds in `Retry-After`.",
        "headers": {"Retry-After": {"schema": {"type": "integer"}}},
        "content": _json_content(schema_ref(schema_name_of(operation.output))),
    }


def _describe_webhook(event: type[Event]) -> Schema:
    """Describe the request that a webhook gets for this kind of event."""
    return {
        "post": {
            "operationId": f"on_{event.name.replace('.', '_')}",
            "tags": [_area_of_module(event.__module__)],
            "summary": (event.__doc__ or "").strip(),
            "security": [],
            "parameters": [
                _WEBHOOK_HEADER | {"name": name, "description": text} for name, text in _WEBHOOK_HEADERS.items()
            ],
            "requestBody": {"required": True, "content": _json_content(schema_ref(event.__name__))},
            "responses": {
                "2XX": {"description": "The event has arrived."},
                "410": {"description": "Stop sending: the webhook is disabled."},
                "default": {"description": "The event is sent again, for more than three days."},
            },
        }
    }


def _describe_parameters(endpoint: Endpoint, schemas: Schema) -> list[Schema]:
    """Describe the path parameters; for a read, also the query parameters, which are the rest of the input."""
    schema = input_schema(endpoint.operation)
    parameters = []
    for name, field_schema in schema["properties"].items():
        in_path = name in endpoint.path_parameters
        if in_path or not endpoint.operation.changes:
            parameter_schema = replace_enums(_drop_null(field_schema), schemas)
            # Put the description outside, because some clients ignore one next to a reference.
            parameters.append(
                {
                    "name": name,
                    "in": "path" if in_path else "query",
                    "required": in_path or name in schema.get("required", ()),
                    **(
                        {"description": parameter_schema.pop("description")}
                        if "description" in parameter_schema
                        else {}
                    ),
                    "schema": parameter_schema,
                }
            )
    return parameters


def _drop_null(schema: Schema) -> Schema:
    """Return the schema of a parameter without null: a path or query has no null, only a missing parameter."""
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if not options:
        return schema
    others = {name: part for name, part in schema.items() if name not in {"anyOf", "default"}}
    return {**options[0], **others}


def _describe_write_headers(endpoint: Endpoint) -> list[Schema]:
    # There is no version to expect when a record is created, or when an operation has no record.
    has_version = endpoint.operation.on or endpoint.operation.offered_on
    creates = endpoint.status == HTTPStatus.CREATED
    return [_IDEMPOTENCY_KEY, _PREFER, *([_IF_MATCH] if has_version and not creates else [])]


_IDEMPOTENCY_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "A repeat with the same key within 24 hours gets the first response again.",
}
_PREFER: Schema = {
    "name": "Prefer",
    "in": "header",
    "schema": {"type": "string"},
    "description": "`dry-run` only previews the change; the response then has `Preference-Applied: dry-run`.",
}
_IF_MATCH: Schema = {
    "name": "If-Match",
    "in": "header",
    "schema": {"type": "string"},
    "description": "The ETag of the version to change; another version is refused with 412.",
}
_CHANGE_ID: Schema = {
    "Change-Id": {
        "schema": {"type": "string"},
        "description": "The ID to undo the change with, by `POST /changes/undo`. Left out if it cannot be.",
    }
}
_WEBHOOK_HEADER: Schema = {"in": "header", "required": True, "schema": {"type": "string"}}
_WEBHOOK_HEADERS = {
    "webhook-id": "The event's ID: the same each time it is sent.",
    "webhook-timestamp": "When it was sent, in seconds since 1970.",
    "webhook-signature": "`v1,` and the base64 of the HMAC-SHA256 of id.timestamp.body; two during a rotation.",
}


def _describe_refusal(text: str) -> Schema:
    return {"description": text, "content": _json_content(schema_ref("Error"))}


def _describe_confirmation(operation: Operation) -> Schema:
    """Describe the answers of an operation that waits for its person, or whose preview would differ."""
    if not operation.may_need_person:
        return {}
    waits = "Nothing was done yet: the person of the key has to confirm it on the website."
    differs = f"{_REFUSALS['409']} Or the preview of the token in `previewToken` would differ now."
    refusals = {"oneOf": [schema_ref("Error"), schema_ref("PreviewDiffers")]}
    answers: Schema = {"202": {"description": waits, "content": _json_content(schema_ref("Confirmation"))}}
    if not operation.is_irreversible:
        return answers
    return answers | {
        "409": {"description": differs, "content": _json_content(refusals)},
    }


def _json_content(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


@dataclass(frozen=True, slots=True)
class PublicOpenApi:
    """Answers with the same OpenAPI document as `/api/v1`, without a key and for pages of any site."""

    build_description: Callable[[], bytes]

    async def __call__(self, request: Request) -> Response:
        """Answer a request for the document."""
        if request.method == "OPTIONS":
            return answer_preflight(request, "GET, HEAD")
        if request.method not in {"GET", "HEAD"}:
            return error_response(405, "This method is not allowed here.", (("allow", "GET, HEAD"), *ANY_ORIGIN))
        return Response(200, self.build_description(), ANY_ORIGIN, quiet=True)
