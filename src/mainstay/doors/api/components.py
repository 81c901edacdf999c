"""The named schemas of the OpenAPI description: for each kind of record, list, request body and event."""

import re
from collections.abc import Sequence
from typing import Any, get_args

from pydantic.json_schema import models_json_schema

from mainstay.doors.api.routes import Endpoint
from mainstay.doors.schemas import Schema, input_schema
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import AssignableRole, RequiresPermission, RequiresPermissionForValues
from mainstay.vocabulary.schemas import Output
from mainstay.webhooks.model import EventOut

_REF_PREFIX = "#/components/schemas/"
_TEXT_LIST: Schema = {"type": "array", "items": {"type": "string"}}
_HIDDEN_FIELDS = _TEXT_LIST | {
    "description": "The fields that are null because your role may not see them; only if there are any."
}


def schema_ref(name: str) -> Schema:
    """Return a reference to the schema of this name."""
    return {"$ref": _REF_PREFIX + name}


def schema_name_of(model: type[Output]) -> str:
    """Return the name of a record's schema: `Person` for PersonOut."""
    return model.__name__.removesuffix("Out")


def build_schemas(endpoints: Sequence[Endpoint], events: Sequence[type[Event]]) -> Schema:
    """Build all schemas, by name."""
    operations = [endpoint.operation for endpoint in endpoints]
    outputs: set[type[Output]] = {
        EventOut,
        *(operation.output for operation in operations),
        *(event.output for event in events),
    }
    schemas = _build_record_schemas(sorted(outputs, key=lambda model: model.__name__))
    schemas["AssignableRole"] = {
        "type": "string",
        "enum": list(get_args(AssignableRole)),
        "description": "The roles that an API key or an agent can give: all except owner.",
    }
    for operation in operations:
        if operation.shows_actions:
            _add_answer_fields(schemas[schema_name_of(operation.output)], operation)
        if operation.returns_page:
            schemas[f"{schema_name_of(operation.output)}List"] = _build_list_schema(operation)
    for endpoint in endpoints:
        if endpoint.operation.changes:
            schemas[endpoint.operation.input.__name__] = replace_enums(_build_body_schema(endpoint), schemas)
    for event in events:
        schemas[event.__name__] = _build_event_schema(event, schemas)
    schemas["Error"] = _object_schema({"error": {"type": "string", "description": "A sentence for people."}})
    texts = {name: {"type": "string"} for name in ("operation", "summary")}
    lists = dict.fromkeys(("effects", "warnings", "blockers"), _TEXT_LIST)
    schemas["Preview"] = _object_schema({"object": _const_text("preview"), **texts, **lists})
    schemas["Preview"]["properties"]["email"] = _build_previewed_email()
    schemas["Preview"]["properties"]["previewToken"] = {
        "type": "string",
        "description": "To send with `confirmed`; only if the operation takes that.",
    }
    schemas["Confirmation"] = _object_schema(
        {
            "object": _const_text("confirmation"),
            "id": {"type": "string"},
            "url": {"type": "string", "format": "uri", "description": "Where the person of the key confirms it."},
            "expiresAt": {"type": "string", "format": "date-time"},
            "preview": schema_ref("Preview"),
        }
    )
    schemas["PreviewDiffers"] = _object_schema({**schemas["Error"]["properties"], "preview": schema_ref("Preview")})
    return schemas


def _build_previewed_email() -> Schema:
    """Build the schema of the email in a preview."""
    addresses = dict.fromkeys(("to", "cc"), _TEXT_LIST)
    message = {"type": "string", "description": "Its text. `{link}` stands for the link to the document."}
    return _object_schema({**addresses, "subject": {"type": "string"}, "message": message}) | {
        "type": ["object", "null"],
        "description": "The email that would be sent, if it is one. The input has fields of the same names.",
    }


def replace_enums(part: Any, schemas: Schema) -> Any:
    """Replace each enum in a part of a schema by a reference, if the same enum has a schema of its own."""
    if isinstance(part, list):
        return [replace_enums(inner, schemas) for inner in part]
    if not isinstance(part, dict):
        return part
    if isinstance(values := part.get("enum"), list):
        for name, schema in schemas.items():
            if schema.get("enum") == values:
                return schema_ref(name) | {key: part[key] for key in ("description", "default") if key in part}
    return {key: replace_enums(inner, schemas) for key, inner in part.items()}


def _build_record_schemas(models: Sequence[type[Output]]) -> Schema:
    _, definitions = models_json_schema(
        [(model, "serialization") for model in models], by_alias=True, ref_template=_REF_PREFIX + "{model}"
    )
    schemas: Schema = {name.removesuffix("Out"): _clean_schema(schema) for name, schema in definitions["$defs"].items()}
    for model in models:
        properties = schemas[schema_name_of(model)]["properties"]
        # The value is fixed for each kind of record, but Pydantic knows it only as text.
        properties["object"] = _const_text(model.noun)
        if _has_hidden_fields(model):
            properties["hidden"] = _HIDDEN_FIELDS
    return schemas


def _has_hidden_fields(model: type[Output]) -> bool:
    """Return whether some fields of a record are hidden from some roles."""
    marks = (mark for field in model.model_fields.values() for mark in field.metadata)
    return any(isinstance(mark, (RequiresPermission, RequiresPermissionForValues)) for mark in marks)


def _clean_schema(part: Any) -> Any:
    """Return a part of a schema without the titles and null defaults of Pydantic, and without the suffix `Out`."""
    if isinstance(part, list):
        return [_clean_schema(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    cleaned = {
        name: _clean_schema(inner)
        for name, inner in part.items()
        if not (name == "title" and isinstance(inner, str)) and not (name == "default" and inner is None)
    }
    if isinstance(cleaned.get("$ref"), str):
        cleaned["$ref"] = re.sub(r"Out$", "", cleaned["$ref"])
    return cleaned


def _add_answer_fields(schema: Schema, operation: Operation) -> None:
    """Add the fields that only an answer with a single record has; lists and events leave them out."""
    properties: Schema = schema["properties"]
    if operation.output.office_path:
        properties.setdefault("url", {"type": "string", "format": "uri", "description": "Its page on the website."})
    properties["availableActions"] = _TEXT_LIST | {"description": "The operations that are possible on it now."}
    if operation.deletes:
        properties["deleted"] = {"type": "boolean", "description": "True in the response to its deletion."}
    if operation.changes and not operation.is_irreversible:
        description = "What to check after a change; only if there is something."
        properties["warnings"] = _TEXT_LIST | {"description": description}


def _build_list_schema(operation: Operation) -> Schema:
    has_more = {"type": "boolean", "description": "Whether there is another page."}
    data = {"type": "array", "items": schema_ref(schema_name_of(operation.output))}
    schema = _object_schema({"object": _const_text("list"), "data": data, "hasMore": has_more})
    if _has_hidden_fields(operation.output):
        # A list names its hidden fields once, next to the records.
        schema["properties"]["hidden"] = _HIDDEN_FIELDS
    if operation.totals_model:
        schema["properties"]["totals"] = _clean_schema(
            operation.totals_model.model_json_schema(mode="serialization", by_alias=True)
        )
    return schema


def _build_body_schema(endpoint: Endpoint) -> Schema:
    """Return the schema of a request body: the input without the fields in the path."""
    schema = input_schema(endpoint.operation)
    for name in endpoint.path_only_fields:
        del schema["properties"][name]
    schema["required"] = [name for name in schema.get("required", ()) if name not in endpoint.path_only_fields]
    return schema


def _build_event_schema(event: type[Event], schemas: Schema) -> Schema:
    """Return the schema of one kind of event: the one of all events, with its type and its record."""
    base = schemas["Event"]
    data: Schema = schemas["EventData"]
    data_fields = {**data["properties"], "object": schema_ref(schema_name_of(event.output))}
    overrides = {"type": _const_text(event.name), "data": {**data, "properties": data_fields}}
    return {**base, "description": event.__doc__, "properties": {**base["properties"], **overrides}}


def _const_text(text: str) -> Schema:
    return {"type": "string", "const": text}


def _object_schema(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
