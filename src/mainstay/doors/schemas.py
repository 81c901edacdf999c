"""The JSON schemas of operations, as doors show them: whole, with nothing to look up elsewhere."""

from typing import Any

from mainstay.kernel.operation import Operation
from mainstay.terms.shapes import Shown

Schema = dict[str, Any]


def input_schema(operation: Operation) -> Schema:
    """What an operation takes, with every reference replaced by what it stands for."""
    return _whole(operation.input.model_json_schema(by_alias=True))


def output_schema(shown: type[Shown]) -> Schema:
    """What is answered, likewise."""
    return _whole(shown.model_json_schema(by_alias=True, mode="serialization"))


def _whole(schema: Schema) -> Schema:
    definitions = schema.pop("$defs", {})
    inlined: Schema = _inlined(schema, definitions)
    inlined.setdefault("properties", {})
    inlined.pop("description", None)
    return inlined


def _inlined(part: Any, definitions: Schema) -> Any:
    """A part of a schema without references, and without what would mislead.

    Pydantic makes up titles from names, and calls a bound by a name of its own where a validator comes before it. And
    what may be left out is no null by default: sent, null clears a field.
    """
    if isinstance(part, list):
        return [_inlined(inner, definitions) for inner in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        meant = definitions[part["$ref"].rpartition("/")[2]]
        return _inlined({**meant, **{name: inner for name, inner in part.items() if name != "$ref"}}, definitions)
    told: Schema = {
        str(_BOUNDS.get(name, name)): _inlined(inner, definitions)
        for name, inner in part.items()
        if not (name == "title" and type(inner) is str) and not (name == "default" and inner is None)
    }
    return _flattened(told)


def _flattened(part: Schema) -> Schema:
    """A part of a schema whose alternatives have no alternatives of their own: a decimal is text, a number or null."""
    nested = [option for option in part.get("anyOf", ()) if isinstance(option, dict) and "anyOf" in option]
    if not nested:
        return part
    words = {name: inner for option in nested for name, inner in option.items() if name != "anyOf"}
    options = [one for option in part["anyOf"] for one in (option["anyOf"] if option in nested else [option])]
    return words | part | {"anyOf": options}


_BOUNDS = {"ge": "minimum", "le": "maximum"}
