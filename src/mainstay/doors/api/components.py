"""The named schemas of the API's description: one for each record and each list, for what is sent and for events."""

import re
from collections.abc import Sequence
from typing import Any, get_args

from pydantic.json_schema import models_json_schema

from mainstay.doors.api.routes import Endpoint
from mainstay.doors.schemas import Schema, input_schema
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Operation
from mainstay.terms.rights import AssignableRole, Needs, NeedsFor
from mainstay.terms.shapes import Shown
from mainstay.webhooks.model import EventOut

_REF = "#/components/schemas/"
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
_HIDDEN = _TEXTS | {
    "description": "The fields that are null because your role may not see them; there only if any are."
}


def named(name: str) -> Schema:
    """A reference to a schema by its name."""
    return {"$ref": _REF + name}


def name_of(model: type[Shown]) -> str:
    """What a record is called: `Person` for PersonOut."""
    return model.__name__.removesuffix("Out")


def schemas_of(endpoints: Sequence[Endpoint], events: Sequence[type[Event]]) -> Schema:
    """Every schema by its name."""
    operations = [endpoint.operation for endpoint in endpoints]
    outputs: set[type[Shown]] = {
        EventOut,
        *(operation.output for operation in operations),
        *(event.about for event in events),
    }
    schemas = _records(sorted(outputs, key=lambda model: model.__name__))
    schemas["AssignableRole"] = {
        "type": "string",
        "enum": list(get_args(AssignableRole)),
        "description": "The roles that can be given by a key or an agent: all but the owner's.",
    }
    for operation in operations:
        if operation.tells_actions:
            _tell_actions(schemas[name_of(operation.output)], operation)
        if operation.lists:
            schemas[f"{name_of(operation.output)}List"] = _list(operation)
    for endpoint in endpoints:
        if endpoint.operation.changes:
            schemas[endpoint.operation.input.__name__] = with_enums(_body(endpoint), schemas)
    for event in events:
        schemas[event.__name__] = _event(event, schemas)
    schemas["Error"] = _closed({"error": {"type": "string", "description": "A sentence for people."}})
    words = {name: {"type": "string"} for name in ("operation", "summary")}
    lists = dict.fromkeys(("effects", "warnings", "blockers"), _TEXTS)
    schemas["Preview"] = _closed({"object": _word("preview"), **words, **lists})
    return schemas


def with_enums(part: Any, schemas: Schema) -> Any:
    """A part of a schema in which a set of words that has a name stands by its name."""
    if isinstance(part, list):
        return [with_enums(inner, schemas) for inner in part]
    if not isinstance(part, dict):
        return part
    if isinstance(words := part.get("enum"), list):
        for name, schema in schemas.items():
            if schema.get("enum") == words:
                return named(name) | {key: part[key] for key in ("description", "default") if key in part}
    return {key: with_enums(inner, schemas) for key, inner in part.items()}


def _records(models: Sequence[type[Shown]]) -> Schema:
    _, definitions = models_json_schema(
        [(model, "serialization") for model in models], by_alias=True, ref_template=_REF + "{model}"
    )
    schemas: Schema = {name.removesuffix("Out"): _plain(schema) for name, schema in definitions["$defs"].items()}
    for model in models:
        properties = schemas[name_of(model)]["properties"]
        # The word is fixed for each kind of record, though Pydantic knows it only as text.
        properties["object"] = _word(model.noun)
        if _hides(model):
            properties["hidden"] = _HIDDEN
    return schemas


def _hides(model: type[Shown]) -> bool:
    """Return whether some fields of a record are hidden from some roles."""
    marks = (mark for field in model.model_fields.values() for mark in field.metadata)
    return any(isinstance(mark, (Needs, NeedsFor)) for mark in marks)


def _plain(part: Any) -> Any:
    """A part of a schema without what Pydantic makes up, and with records called by their names."""
    if isinstance(part, list):
        return [_plain(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    kept = {
        name: _plain(inner)
        for name, inner in part.items()
        if not (name == "title" and isinstance(inner, str)) and not (name == "default" and inner is None)
    }
    if isinstance(kept.get("$ref"), str):
        kept["$ref"] = re.sub(r"Out$", "", kept["$ref"])
    return kept


def _tell_actions(schema: Schema, operation: Operation) -> None:
    """What is told of a record that was asked for by itself, and left out in lists and events."""
    properties: Schema = schema["properties"]
    if operation.output.place:
        properties.setdefault(
            "url", {"type": "string", "format": "uri", "description": "Where people see it in the office."}
        )
    properties["availableActions"] = _TEXTS | {"description": "The names of the operations that you can do to it now."}
    if operation.ends:
        properties["deleted"] = {"type": "boolean", "description": "True in the answer of what deletes it."}
    if operation.changes and not operation.is_irreversible:
        words = "What is worth a look though it was done; there only after a change, where there is something."
        properties["warnings"] = _TEXTS | {"description": words}


def _list(operation: Operation) -> Schema:
    more = {"type": "boolean", "description": "Whether there is another page behind this one."}
    data = {"type": "array", "items": named(name_of(operation.output))}
    schema = _closed({"object": _word("list"), "data": data, "hasMore": more})
    if _hides(operation.output):
        # Of a list it is said once, beside the records.
        schema["properties"]["hidden"] = _HIDDEN
    if operation.totals:
        schema["properties"]["totals"] = _plain(operation.totals.model_json_schema(mode="serialization", by_alias=True))
    return schema


def _body(endpoint: Endpoint) -> Schema:
    """The body of a write: the input without what stands in the path."""
    schema = input_schema(endpoint.operation)
    for name in endpoint.elsewhere:
        del schema["properties"][name]
    schema["required"] = [name for name in schema.get("required", ()) if name not in endpoint.elsewhere]
    return schema


def _event(event: type[Event], schemas: Schema) -> Schema:
    """An event of one kind: as every event, with its kind and its record."""
    every = schemas["Event"]
    data: Schema = schemas["EventData"]
    about = {**data["properties"], "object": named(name_of(event.about))}
    own = {"type": _word(event.name), "data": {**data, "properties": about}}
    return {**every, "description": event.__doc__, "properties": {**every["properties"], **own}}


def _word(word: str) -> Schema:
    return {"type": "string", "const": word}


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
