"""The JSON schemas of operations, as the doors publish them: complete, without references."""

from typing import Any

from mainstay.kernel.operation import Operation
from mainstay.vocabulary.schemas import Output

Schema = dict[str, Any]


def input_schema(operation: Operation) -> Schema:
    """Return the schema of an operation's input, with every reference replaced by its definition."""
    return _inline_references(operation.input.model_json_schema(by_alias=True))


def output_schema(model: type[Output]) -> Schema:
    """Return the schema of an output model, with every reference replaced by its definition."""
    return _inline_references(model.model_json_schema(by_alias=True, mode="serialization"))


def _inline_references(schema: Schema) -> Schema:
    definitions = schema.pop("$defs", {})
    inlined: Schema = _inline_part(schema, definitions)
    inlined.setdefault("properties", {})
    inlined.pop("description", None)
    return inlined


def _inline_part(part: Any, definitions: Schema) -> Any:
    """Return a part of a schema without references and without what would mislead.

    Pydantic derives titles from names, and uses names of its own for a bound that follows a validator. A default of
    null is removed: a field that is left out is not null, because sending null clears the field.
    """
    if isinstance(part, list):
        return [_inline_part(inner, definitions) for inner in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        definition = definitions[part["$ref"].rpartition("/")[2]]
        return _inline_part(
            {**definition, **{name: inner for name, inner in part.items() if name != "$ref"}}, definitions
        )
    cleaned: Schema = {
        str(_BOUND_KEYWORDS.get(name, name)): _inline_part(inner, definitions)
        for name, inner in part.items()
        if not (name == "title" and type(inner) is str) and not (name == "default" and inner is None)
    }
    return _merge_alternatives(cleaned)


def _merge_alternatives(part: Schema) -> Schema:
    """Merge nested alternatives of a schema into one list: a decimal is text, a number or null."""
    nested = [option for option in part.get("anyOf", ()) if isinstance(option, dict) and "anyOf" in option]
    if not nested:
        return part
    keywords = {name: inner for option in nested for name, inner in option.items() if name != "anyOf"}
    options = [
        alternative for option in part["anyOf"] for alternative in (option["anyOf"] if option in nested else [option])
    ]
    return keywords | part | {"anyOf": options}


_BOUND_KEYWORDS = {"ge": "minimum", "le": "maximum"}
