"""The description of a tool, as `tools/list` returns it."""

from typing import Any

from mainstay.doors.agent_calls import DETAIL, FULL_DETAIL
from mainstay.doors.schemas import Schema, input_schema
from mainstay.kernel.operation import Effect, Operation
from mainstay.values.part_changes import MERGE_NOTE


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
            "title": operation.title,
            "readOnlyHint": reads,
            "destructiveHint": _is_destructive(operation),
            "idempotentHint": reads or _is_idempotent(operation),
            "openWorldHint": operation.emails_outside,
        },
    }


def _is_destructive(operation: Operation) -> bool:
    """Return whether the operation ends or overwrites something that cannot be brought back."""
    return operation.changes and not operation.only_adds and operation.undone_by is None


def _is_idempotent(operation: Operation) -> bool:
    """Return whether repeating the operation changes nothing: it sets fields of a record and adds no lines."""
    return (operation.api_path or "").startswith("PATCH ") and "edits" not in operation.input.model_fields


def _build_input_schema(operation: Operation) -> Schema:
    """Return the input schema. Each field has a description, unless its name says everything."""
    clears = operation.on is not None and not operation.is_irreversible
    schema: Schema = _shorten(input_schema(operation), nulls=clears)
    fields = _choose_descriptions(schema.get("properties", {}), operation)
    if operation.returns_page:
        fields |= {DETAIL: _DETAIL_SCHEMA}
    if operation.changes:
        fields |= {IDEMPOTENCY_KEY: _KEY_SCHEMA}
    if operation.changes and not operation.is_irreversible:
        # What is irreversible has a preview of its own.
        fields |= {DRY_RUN: _DRY_RUN_SCHEMA}
    return schema | {"properties": fields, "additionalProperties": False}


# Fields of many tools, with what the instructions say of them in a few words; and those of them that need none.
_SHORT_DESCRIPTIONS = {
    "confirmed": "True does it; else a preview.",
    "previewToken": "Of that preview.",
    "startingAfter": "The last ID so far.",
}
PLAIN_COMMON_FIELDS = frozenset({"limit", "idempotencyKey", "dryRun"})
# Every tool that changes something takes these fields in addition to its operation's input, and every list another.
IDEMPOTENCY_KEY = "idempotencyKey"
_KEY_SCHEMA = {"type": "string"}
DRY_RUN = "dryRun"
_DRY_RUN_SCHEMA = {"type": "boolean"}
_DETAIL_SCHEMA = {"enum": [FULL_DETAIL], "type": "string", "description": "Adds what is left out."}
# Fields within another field whose names say everything.
PLAIN_FIELDS = frozenset(
    {"name", "email", "phone", "line1", "line2", "city", "region", "postalCode", "country"}
    | {"description", "quantity", "unit", "amount", "percent", "discountPercent", "subject", "text"}
    | {"account", "iban", "bic", "sortCode", "from", "until", "on"}
)


def _choose_descriptions(fields: Schema, operation: Operation) -> Schema:
    """Return the fields of a tool with the descriptions that it needs."""
    record_store = operation.on or operation.offered_on
    record_id = record_store.id_alias if record_store else ""
    said: set[tuple[str, str]] = set()
    chosen = {}
    for name, field in fields.items():
        if name in _SHORT_DESCRIPTIONS:
            chosen[name] = _without_null(field) | {"description": _SHORT_DESCRIPTIONS[name]}
        elif name in PLAIN_COMMON_FIELDS:
            chosen[name] = _drop_description(field)
        elif name in {record_id, f"{record_id}s"}:
            # It cannot be cleared, and which record it is of is said by its name.
            chosen[name] = {key: part for key, part in _without_null(field).items() if key != "description"} | (
                {"description": field["description"]} if "number" in field.get("description", "") else {}
            )
        else:
            chosen[name] = _drop_repeated(field, said)
    return chosen


def _drop_repeated(part: Schema, said: set[tuple[str, str]]) -> Schema:
    """Return a part of a schema without the descriptions of plain fields within it, and of those said before."""
    chosen = dict(part)
    if _is_merged(part):
        # What that means, the instructions say.
        chosen["description"] = part["description"].replace(MERGE_NOTE, "Its parts are merged.")
    for keyword in ("items", "additionalProperties"):
        if isinstance(part.get(keyword), dict):
            chosen[keyword] = _drop_repeated(part[keyword], said)
    if "anyOf" in part:
        chosen["anyOf"] = [_drop_repeated(option, said) for option in part["anyOf"]]
    if "properties" in part:
        chosen["properties"] = {}
        for name, field in part["properties"].items():
            words = (name, field.get("description", ""))
            is_needed = words not in said and (name not in PLAIN_FIELDS or _explains_values(field))
            said.add(words)
            chosen["properties"][name] = _drop_repeated(field if is_needed else _drop_description(field), said)
    return chosen


def _explains_values(field: Schema) -> bool:
    """Return whether the description of a field explains some of its values."""
    description = field.get("description", "")
    return any(f"`{value}`" in description for value in _without_null(field).get("enum", ()))


def _without_null(field: Schema) -> Schema:
    """Return the schema of a field when it is not null."""
    options: list[Schema] = field.get("anyOf", [field])
    return options[0]


def _drop_description(field: Schema) -> Schema:
    return {name: inner for name, inner in field.items() if name != "description"}


def _shorten(part: Any, *, nulls: bool) -> Any:
    """Return a part of a schema without what a language model need not read, since refusals explain every fault.

    It leaves out examples, bounds and patterns, that additional properties are refused, usual defaults, and null where
    null clears nothing and the description does not explain it. Several fields with the same schema are described once.
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
        return _allow_null(shortened) if nulls or _explains_null(part) else shortened
    if _NULL in options and not nulls and not _explains_null(part):
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


def _explains_null(field: Schema) -> bool:
    """Return whether the description of a field says what null means, such as that a line has no tax."""
    return "null " in field.get("description", "")


def _allow_null(part: Schema) -> Schema:
    outer: Schema = {name: part.pop(name) for name in ("description", "default") if name in part}
    return {"anyOf": [part, _NULL], **outer}


_NULL = {"type": "null"}
_OMITTED_KEYWORDS = {"examples", "minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems"}
_OMITTED_DEFAULTS: Any = (("additionalProperties", False), ("default", False), ("default", []))
# More fields than this that are all alike are described as one.
_MAX_ALIKE = 2


def _build_output_schema(operation: Operation) -> Schema:
    """Return the output schema: the frame of a list, and otherwise any object.

    A client that builds a type from a schema drops the fields that it does not name, unless the schema says that there
    are more.
    """
    if not operation.returns_page:
        return {"type": "object"}
    properties: Schema = {"data": {"type": "array"}, "hasMore": {"type": "boolean"}}
    if operation.totals_model:
        properties["totals"] = {"type": "object"}
    return {"type": "object", "properties": properties, "additionalProperties": True}
