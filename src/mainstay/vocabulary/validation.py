"""Validate the raw input of an operation strictly, and name all faults at once in plain words."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input

# JSON that has passed the strict decoder, or the parameters of a query.
RawInput = bytes | Mapping[str, str]

UNKNOWN_FIELD = "is not known here"
NOT_AN_OBJECT = "is not an object"

# The message for each type of error that Pydantic reports; `{…}` are details of the error.
PROBLEMS = {
    "missing": "is required",
    "extra_forbidden": UNKNOWN_FIELD,
    "string_type": "is not text",
    # Also for a list that needs at least one entry.
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
    "model_type": NOT_AN_OBJECT,
}


def parse_input(model: type[Input], raw: RawInput) -> Input:
    """Return the validated input, or raise a refusal that names every faulty field."""
    # The validator that the model's own methods call, without their overhead.
    validator: Any = model.__pydantic_validator__
    try:
        is_json = isinstance(raw, bytes)
        given: Input = validator.validate_json(raw, strict=True) if is_json else validator.validate_strings(raw)
    except ValidationError as error:
        raise Invalid(faults_of(error)) from None
    return given


def faults_of(error: ValidationError, *prefix: str) -> list[Fault]:
    """Return the errors of Pydantic in plain words; `prefix` names the part of the input that was validated."""
    faults = []
    for found in error.errors(include_url=False):
        field = ".".join(map(str, (*prefix, *found["loc"]))) or "body"
        empty = found["type"] == "model_type" and found["input"] is None and found["loc"]
        kind = "missing" if empty else found["type"]
        if kind == "too_short" and found["ctx"]["min_length"] == 1:
            kind = "string_too_short"
        problem = PROBLEMS.get(kind, "is not valid").format(**found.get("ctx", {}))
        faults.append(Fault(field, problem))
    return faults
