"""Validate the raw input of an operation strictly, and name all faults at once in plain words."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from pydantic import ValidationError

from mainstay.values.fields import ALLOWED_YEARS, WRONG_YEAR
from mainstay.values.message import Message, MessageValue, PossibleChoices, message_of
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input

# JSON that has passed the strict decoder, or the parameters of a query.
RawInput = bytes | Mapping[str, str]

# The templates of problems for which doors have a hint, or a sentence of their own.
UNKNOWN_FIELD = "is not known here"
NOT_AN_OBJECT = "is not an object"
REQUIRED = "is required"
EMPTY = "is empty"
NOT_ONE_OF = "is not one of {choices}"
NOT_A_BOOLEAN = "is not true or false (send the JSON boolean true, not text)"

# The template for each type of error that Pydantic reports; `{…}` are details of the error.
PROBLEMS = {
    "missing": REQUIRED,
    "extra_forbidden": UNKNOWN_FIELD,
    "string_type": "is not text",
    # Also for a list that needs at least one entry.
    "string_too_short": EMPTY,
    "string_too_long": "is longer than {max_length} characters",
    "string_pattern_mismatch": "has the wrong format",
    "int_type": "is not a whole number",
    "int_parsing": "is not a whole number",
    "int_parsing_size": "is too large",
    "greater_than_equal": "is below {ge}",
    "less_than_equal": "is above {le}",
    "bool_type": NOT_A_BOOLEAN,
    "bool_parsing": "is not true or false",
    "list_type": "is not a list",
    "too_long": "has more than {max_length} entries",
    "too_short": "has fewer than {min_length} entries",
    "enum": NOT_ONE_OF,
    "literal_error": NOT_ONE_OF,
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
        faults.append(Fault(field, _message_of(kind, found.get("ctx", {}))))
    return faults


def _message_of(kind: str, details: Mapping[str, Any]) -> Message:
    """Return the message for an error of Pydantic with these details."""
    if kind == "value_error":
        return message_of(details["error"])
    values: dict[str, MessageValue] = {name: value for name, value in details.items() if isinstance(value, (int, str))}
    if "expected" in values:
        values["choices"] = PossibleChoices(tuple(re.findall("'([^']*)'", str(values.pop("expected")))))
    return Message.from_template(PROBLEMS.get(kind, "is not valid"), values)


def parse_day(field: str, text: str) -> date:
    """Return the date given in a field; refuse a year that is a typing error."""
    day = date.fromisoformat(text)
    if day.year not in ALLOWED_YEARS:
        raise Invalid([Fault(field, WRONG_YEAR)])
    return day
