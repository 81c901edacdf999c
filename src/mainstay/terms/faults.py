"""Raw input into an operation's Input: strictly, and with every fault told at once in plain words."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.shapes import Input

# A door hands over JSON that has passed the strict decoder, or the words of a query.
Raw = bytes | Mapping[str, str]

UNKNOWN = "is not known here"
NO_OBJECT = "is not an object"

# What people are told for each kind of fault that Pydantic finds; `{…}` are its own details.
PROBLEMS = {
    "missing": "is required",
    "extra_forbidden": UNKNOWN,
    "string_type": "is not text",
    # A list as well, of which one entry is needed.
    "string_too_short": "is empty",
    "string_too_long": "is longer than {max_length} characters",
    "string_pattern_mismatch": "is not of the right form",
    "int_type": "is not a whole number",
    "int_parsing": "is not a whole number",
    "int_parsing_size": "is too large",
    "greater_than_equal": "is below {ge}",
    "less_than_equal": "is above {le}",
    "bool_type": "is not true or false (send the JSON boolean true, not text)",
    "bool_parsing": "is not true or false",
    "list_type": "is not a list",
    "too_long": "has more than {max_length} entries",
    "too_short": "has fewer than {min_length} entries",
    "enum": "is not one of {expected}",
    "literal_error": "is not one of {expected}",
    "value_error": "{error}",
    "model_type": NO_OBJECT,
}


def accept(model: type[Input], raw: Raw) -> Input:
    """The input, or a refusal that names every faulty field."""
    # What the model's own methods ask, without what they do for callers that want more.
    validator: Any = model.__pydantic_validator__
    try:
        written = isinstance(raw, bytes)
        given: Input = validator.validate_json(raw, strict=True) if written else validator.validate_strings(raw)
    except ValidationError as error:
        raise Invalid(faults_of(error)) from None
    return given


def faults_of(error: ValidationError, *within: str) -> list[Fault]:
    """What Pydantic found wrong, in plain words; in a part of an input, behind the name of that part."""
    faults = []
    for found in error.errors(include_url=False):
        field = ".".join(map(str, (*within, *found["loc"]))) or "body"
        empty = found["type"] == "model_type" and found["input"] is None and found["loc"]
        kind = "missing" if empty else found["type"]
        if kind == "too_short" and found["ctx"]["min_length"] == 1:
            kind = "string_too_short"
        problem = PROBLEMS.get(kind, "is not valid").format(**found.get("ctx", {}))
        faults.append(Fault(field, problem))
    return faults
