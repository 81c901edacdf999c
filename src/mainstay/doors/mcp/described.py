"""A tool as `tools/list` shows it."""

from functools import cache
from typing import Any

from pydantic.alias_generators import to_camel

from mainstay.doors.schemas import Schema, input_schema, output_schema
from mainstay.kernel.operation import Effect, Operation
from mainstay.terms.shapes import Shown
from mainstay.values.parts import MERGED


def describe(operation: Operation) -> Schema:
    """A tool as `tools/list` shows it."""
    reads = operation.effect is Effect.READ
    return {
        "name": operation.name,
        "title": operation.title,
        "description": f"{operation.title}. {operation.description}".strip(),
        "inputSchema": _input(operation),
        "outputSchema": _output(operation),
        "annotations": {
            "readOnlyHint": reads,
            "destructiveHint": operation.changes and not operation.only_adds,
            "idempotentHint": reads or _says_what_becomes(operation),
            "openWorldHint": operation.mails,
        },
    }


def _says_what_becomes(operation: Operation) -> bool:
    """Whether it says what a record becomes, so that a repeat changes nothing; what adds lines adds them again."""
    return (operation.rest or "").startswith("PATCH ") and "edits" not in operation.input.model_fields


def _input(operation: Operation) -> Schema:
    """Return what a tool takes: each field with its description, unless the instructions describe it for all tools."""
    taken: Schema = _brief(input_schema(operation), nulls=operation.on is not None)
    shown = {} if operation.lists else _shown_by(operation.on.shown if operation.on else operation.output)
    fields = _Teller(_said_of(operation)).tell(taken.get("properties", {}), shown)
    if operation.changes:
        fields |= {IDEMPOTENCY_KEY: _KEY_SCHEMA}
    return taken | {"properties": fields, "additionalProperties": False}


def _said_of(operation: Operation) -> frozenset[str]:
    """The fields that the instructions tell of: whatever is done to a record names that record, say."""
    listing = operation.on or operation.offered_on
    of_record = to_camel(listing.id_field) if listing and listing.id_field else None
    return SAID_ONCE | {of_record, f"{of_record}s"} if of_record else SAID_ONCE


# What these mean is said once for all tools, in the instructions.
SAID_ONCE = frozenset({"confirmed", "limit", "startingAfter"})
# What every tool that changes something takes beside what its operation is given.
IDEMPOTENCY_KEY = "idempotencyKey"
_KEY_SCHEMA = {"type": "string", "description": "A repeat with this key gets the first answer."}


@cache
def _shown_by(model: type[Shown]) -> Schema:
    """The fields that a record shows."""
    fields: Schema = _brief(output_schema(model), nulls=False)["properties"]
    return fields


class _Teller:
    """Chooses which fields of a tool keep their descriptions.

    The fields of the tool itself keep them, unless the instructions describe them once for all tools. The fields within
    a field lose them if the record shows a field of the same name and kind, or if the same tool has described them
    before. Descriptions of the values that a field takes are always kept.
    """

    def __init__(self, said: frozenset[str]) -> None:
        self._said = said
        self._heard: set[tuple[str, str]] = set()

    def tell(self, fields: Schema, shown: Schema) -> Schema:
        """Return the fields of the tool itself."""
        # What the instructions describe cannot be cleared.
        return {
            name: _unsaid(_meant(field)) if name in self._said else self._whole(name, field, shown)
            for name, field in fields.items()
        }

    def _whole(self, name: str, field: Schema, shown: Schema) -> Schema:
        self._heard.add((name, field.get("description", "")))
        return self._within(field, _known_within(name, shown))

    def _tell_parts(self, fields: Schema, shown: Schema) -> Schema:
        """Return the fields within a field."""
        return {
            name: self._within(self._one(name, field, shown.get(name, {})), _known_within(name, shown))
            for name, field in fields.items()
        }

    def _one(self, name: str, field: Schema, known: Schema) -> Schema:
        words = field.get("description", "")
        if (name, words) in self._heard or (_kind(_meant(field)) == _kind(known) and not _tells_values(field)):
            return _unsaid(field) | ({"description": MERGED} if _is_merged(field) else {})
        self._heard.add((name, words))
        return field

    def _within(self, part: Schema, shown: Schema) -> Schema:
        told = dict(part)
        if "anyOf" in part:
            told["anyOf"] = [self._within(option, shown) for option in part["anyOf"]]
        if "items" in part:
            told["items"] = self._within(part["items"], shown)
        if "properties" in part:
            told["properties"] = self._tell_parts(part["properties"], shown)
        if "additionalProperties" in part:
            told["additionalProperties"] = self._within(part["additionalProperties"], shown)
        return told


def _tells_values(field: Schema) -> bool:
    """Whether the words of a field tell what some of the values mean that it takes."""
    words = field.get("description", "")
    return any(f"`{value}`" in words for value in _meant(field).get("enum", ()))


def _known_within(name: str, shown: Schema) -> Schema:
    """Return the fields that a record shows within the field of this name, or else within any of its fields."""
    return _fields_within(shown[name]) if shown.get(name) else _parts(shown)


def _parts(shown: Schema) -> Schema:
    """The fields of what a record has several of: what it does not show itself is about changes of those."""
    parts: Schema = {}
    for part in shown.values():
        parts |= part.get("items", {}).get("properties", {})
    return parts


def _fields_within(part: Schema) -> Schema:
    """The fields of what a part is, has several of, or has by several names."""
    part = part.get("additionalProperties", part)
    fields: Schema = part.get("items", part).get("properties", {})
    return fields


def _meant(field: Schema) -> Schema:
    """What a field takes when it is not null."""
    options: list[Schema] = field.get("anyOf", [field])
    return options[0]


def _kind(part: Schema) -> tuple[str | None, str | None]:
    return part.get("type"), part.get("items", {}).get("type")


def _unsaid(field: Schema) -> Schema:
    return {name: inner for name, inner in field.items() if name != "description"}


def _brief(part: Any, *, nulls: bool) -> Any:
    """A part of a schema without what no model needs to read: it is told what is wrong when something is.

    Examples; how long, large or many something may be, and of what; that nothing else is taken, and that nothing is
    meant where nothing is sent; that null is taken as well, where it clears nothing; and the same once more for each of
    several fields that are all alike.
    """
    if isinstance(part, list):
        return [_brief(inner, nulls=nulls) for inner in part]
    if not isinstance(part, dict):
        return part
    options = part.get("anyOf", ())
    meant = [option for option in options if option != _NULL]
    if _NULL in options and len(meant) == 1:
        words = {name: inner for name, inner in part.items() if name != "anyOf"}
        whole = _brief({**meant[0], **words}, nulls=nulls and _is_merged(words))
        return _or_null(whole) if nulls else whole
    if _NULL in options and not nulls:
        part = part | {"anyOf": meant}
    brief = {name: inner for name, inner in part.items() if name not in _NOT_READ and (name, inner) not in _USUAL}
    fields = list(brief.pop("properties", {}).items())
    shown = {name: _brief(inner, nulls=nulls) for name, inner in brief.items()}
    if "items" in shown:
        # What a list is of, the list itself says.
        shown["items"] = _unsaid(shown["items"])
    if not fields:
        return shown
    if len(fields) > _ALIKE and all(inner == fields[0][1] for _, inner in fields):
        names = {"enum": [name for name, _ in fields]}
        # What all of them are, the one that is made of them says.
        return shown | {"propertyNames": names, "additionalProperties": _unsaid(_brief(fields[0][1], nulls=nulls))}
    # What is replaced as a whole needs no null within it.
    return shown | {
        "properties": {
            name: _brief(inner, nulls=nulls and ("properties" not in inner or _is_merged(inner)))
            for name, inner in fields
        }
    }


def _is_merged(field: Schema) -> bool:
    """Return whether a field is merged with what is there, so that null clears single fields of it."""
    return str(field.get("description", "")).endswith(MERGED)


def _or_null(part: Schema) -> Schema:
    words: Schema = {name: part.pop(name) for name in ("description", "default") if name in part}
    return {"anyOf": [part, _NULL], **words}


_NULL = {"type": "null"}
_NOT_READ = {"examples", "minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems"}
_USUAL: Any = (("additionalProperties", False), ("default", False), ("default", []))
# So many fields that are all alike are worth telling as one.
_ALIKE = 2


def _output(operation: Operation) -> Schema:
    """Return what a tool answers: the envelope of a list, and else any object.

    Clients that build a type from a schema drop what it does not name. So a schema names everything or nothing.
    """
    if not operation.lists:
        return {"type": "object"}
    envelope: Schema = {
        "object": {"type": "string"},
        "data": {"type": "array", "items": {"type": "object"}},
        "hasMore": {"type": "boolean"},
    }
    if operation.totals:
        envelope["totals"] = {"type": "object"}
    return {"type": "object", "properties": envelope}
