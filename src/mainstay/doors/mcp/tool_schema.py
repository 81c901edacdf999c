"""The description of a tool, as `tools/list` returns it."""

from functools import cache
from typing import Any

from pydantic.alias_generators import to_camel

from mainstay.doors.schemas import Schema, input_schema, output_schema
from mainstay.kernel.operation import Effect, Operation
from mainstay.values.part_changes import MERGE_NOTE
from mainstay.vocabulary.schemas import Output


def describe_tool(operation: Operation) -> Schema:
    """Describe a tool, as `tools/list` returns it."""
    reads = operation.effect is Effect.READ
    return {
        "name": operation.name,
        "title": operation.title,
        "description": f"{operation.title}. {operation.description}".strip(),
        "inputSchema": _build_input_schema(operation),
        "outputSchema": _build_output_schema(operation),
        "annotations": {
            "readOnlyHint": reads,
            "destructiveHint": operation.changes and not operation.only_adds,
            "idempotentHint": reads or _is_idempotent(operation),
            "openWorldHint": operation.emails_outside,
        },
    }


def _is_idempotent(operation: Operation) -> bool:
    """Return whether repeating the operation changes nothing: it sets fields of a record and adds no lines."""
    return (operation.api_path or "").startswith("PATCH ") and "edits" not in operation.input.model_fields


def _build_input_schema(operation: Operation) -> Schema:
    """Return the input schema: each field has a description, unless the instructions describe it for all tools."""
    schema: Schema = _shorten(input_schema(operation), nulls=operation.on is not None)
    record_fields = (
        {} if operation.returns_page else _output_fields_of(operation.on.output if operation.on else operation.output)
    )
    fields = _DescriptionChooser(_fields_in_instructions(operation)).choose(schema.get("properties", {}), record_fields)
    if operation.changes:
        fields |= {IDEMPOTENCY_KEY: _KEY_SCHEMA, DRY_RUN: _DRY_RUN_SCHEMA}
    return schema | {"properties": fields, "additionalProperties": False}


def _fields_in_instructions(operation: Operation) -> frozenset[str]:
    """Return the fields that the instructions describe, including the id of the operation's record."""
    record_store = operation.on or operation.offered_on
    record_id = to_camel(record_store.id_field) if record_store and record_store.id_field else None
    return IN_INSTRUCTIONS | {record_id, f"{record_id}s"} if record_id else IN_INSTRUCTIONS


# The instructions describe these fields once for all tools.
IN_INSTRUCTIONS = frozenset({"confirmed", "previewToken", "limit", "startingAfter"})
# Every tool that changes something takes these fields in addition to its operation's input.
IDEMPOTENCY_KEY = "idempotencyKey"
_KEY_SCHEMA = {"type": "string", "description": "A repeat with this key gets the first answer."}
DRY_RUN = "dryRun"
_DRY_RUN_SCHEMA = {"type": "boolean", "description": "True only shows what would happen."}


@cache
def _output_fields_of(model: type[Output]) -> Schema:
    """Return the fields of a record's output, in short form."""
    fields: Schema = _shorten(output_schema(model), nulls=False)["properties"]
    return fields


class _DescriptionChooser:
    """Chooses which fields of a tool keep their descriptions.

    The fields of the tool itself keep them, unless the instructions describe them once for all tools. The fields within
    a field lose them if the record shows a field of the same name and kind, or if the same tool has described them
    before. Descriptions of the values that a field takes are always kept.
    """

    def __init__(self, in_instructions: frozenset[str]) -> None:
        self._in_instructions = in_instructions
        self._described: set[tuple[str, str]] = set()

    def choose(self, fields: Schema, record_fields: Schema) -> Schema:
        """Return the fields of the tool itself."""
        # Fields that the instructions describe cannot be cleared, so they lose the null as well.
        return {
            name: _drop_description(_without_null(field))
            if name in self._in_instructions
            else self._choose_whole(name, field, record_fields)
            for name, field in fields.items()
        }

    def _choose_whole(self, name: str, field: Schema, record_fields: Schema) -> Schema:
        self._described.add((name, field.get("description", "")))
        return self._choose_within(field, _record_fields_within(name, record_fields))

    def _choose_inner(self, fields: Schema, record_fields: Schema) -> Schema:
        """Return the fields within a field."""
        return {
            name: self._choose_within(
                self._choose_description(name, field, record_fields.get(name, {})),
                _record_fields_within(name, record_fields),
            )
            for name, field in fields.items()
        }

    def _choose_description(self, name: str, field: Schema, record_field: Schema) -> Schema:
        description = field.get("description", "")
        if (name, description) in self._described or (
            _type_of(_without_null(field)) == _type_of(record_field) and not _explains_values(field)
        ):
            return _drop_description(field) | ({"description": MERGE_NOTE} if _is_merged(field) else {})
        self._described.add((name, description))
        return field

    def _choose_within(self, part: Schema, record_fields: Schema) -> Schema:
        chosen = dict(part)
        if "anyOf" in part:
            chosen["anyOf"] = [self._choose_within(option, record_fields) for option in part["anyOf"]]
        if "items" in part:
            chosen["items"] = self._choose_within(part["items"], record_fields)
        if "properties" in part:
            chosen["properties"] = self._choose_inner(part["properties"], record_fields)
        if "additionalProperties" in part:
            chosen["additionalProperties"] = self._choose_within(part["additionalProperties"], record_fields)
        return chosen


def _explains_values(field: Schema) -> bool:
    """Return whether the description of a field explains some of its values."""
    description = field.get("description", "")
    return any(f"`{value}`" in description for value in _without_null(field).get("enum", ()))


def _record_fields_within(name: str, record_fields: Schema) -> Schema:
    """Return the fields that a record shows within the field of this name, or else within any of its fields."""
    return _inner_fields_of(record_fields[name]) if record_fields.get(name) else _item_fields_of(record_fields)


def _item_fields_of(record_fields: Schema) -> Schema:
    """Return the fields of all list items in a record: a field that the record lacks may change its items."""
    parts: Schema = {}
    for part in record_fields.values():
        parts |= part.get("items", {}).get("properties", {})
    return parts


def _inner_fields_of(part: Schema) -> Schema:
    """Return the fields of a part, of the items if it is a list, or of the values if it is a mapping."""
    part = part.get("additionalProperties", part)
    fields: Schema = part.get("items", part).get("properties", {})
    return fields


def _without_null(field: Schema) -> Schema:
    """Return the schema of a field when it is not null."""
    options: list[Schema] = field.get("anyOf", [field])
    return options[0]


def _type_of(part: Schema) -> tuple[str | None, str | None]:
    return part.get("type"), part.get("items", {}).get("type")


def _drop_description(field: Schema) -> Schema:
    return {name: inner for name, inner in field.items() if name != "description"}


def _shorten(part: Any, *, nulls: bool) -> Any:
    """Return a part of a schema without what a language model need not read, since refusals explain every fault.

    It leaves out examples, bounds and patterns, that additional properties are refused, usual defaults, and null where
    null clears nothing. Several fields with the same schema are described once.
    """
    if isinstance(part, list):
        return [_shorten(inner, nulls=nulls) for inner in part]
    if not isinstance(part, dict):
        return part
    options = part.get("anyOf", ())
    non_null = [option for option in options if option != _NULL]
    if _NULL in options and len(non_null) == 1:
        others = {name: inner for name, inner in part.items() if name != "anyOf"}
        shortened = _shorten({**non_null[0], **others}, nulls=nulls and _is_merged(others))
        return _allow_null(shortened) if nulls else shortened
    if _NULL in options and not nulls:
        part = part | {"anyOf": non_null}
    kept_keywords = {
        name: inner
        for name, inner in part.items()
        if name not in _OMITTED_KEYWORDS and (name, inner) not in _OMITTED_DEFAULTS
    }
    fields = list(kept_keywords.pop("properties", {}).items())
    short = {name: _shorten(inner, nulls=nulls) for name, inner in kept_keywords.items()}
    if "items" in short:
        # The description of the list is enough.
        short["items"] = _drop_description(short["items"])
    if not fields:
        return short
    if len(fields) > _MAX_ALIKE and all(inner == fields[0][1] for _, inner in fields):
        names = {"enum": [name for name, _ in fields]}
        # The description of the containing field is enough.
        return short | {
            "propertyNames": names,
            "additionalProperties": _drop_description(_shorten(fields[0][1], nulls=nulls)),
        }
    # A field that is replaced as a whole needs no null within it.
    return short | {
        "properties": {
            name: _shorten(inner, nulls=nulls and ("properties" not in inner or _is_merged(inner)))
            for name, inner in fields
        }
    }


def _is_merged(field: Schema) -> bool:
    """Return whether a field is merged with what is there, so that null clears single fields of it."""
    return str(field.get("description", "")).endswith(MERGE_NOTE)


def _allow_null(part: Schema) -> Schema:
    outer: Schema = {name: part.pop(name) for name in ("description", "default") if name in part}
    return {"anyOf": [part, _NULL], **outer}


_NULL = {"type": "null"}
_OMITTED_KEYWORDS = {"examples", "minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems"}
_OMITTED_DEFAULTS: Any = (("additionalProperties", False), ("default", False), ("default", []))
# More fields than this that are all alike are described as one.
_MAX_ALIKE = 2


def _build_output_schema(operation: Operation) -> Schema:
    """Return the output schema: the frame of a list, or any object otherwise.

    Clients that build a type from a schema drop fields that it does not name, so a schema names all fields or none.
    """
    if not operation.returns_page:
        return {"type": "object"}
    properties: Schema = {
        "object": {"type": "string"},
        "data": {"type": "array", "items": {"type": "object"}},
        "hasMore": {"type": "boolean"},
    }
    if operation.totals_model:
        properties["totals"] = {"type": "object"}
    return {"type": "object", "properties": properties}
