"""Messages as JSON: for those that are stored, or come from another process, and are rendered later."""

from string import Formatter
from typing import Any, cast

import orjson

from mainstay.values.message import (
    Amount,
    CalendarDate,
    CalendarDates,
    Choice,
    DecimalNumber,
    Duration,
    FieldName,
    FileSize,
    LocalMoment,
    LocalPeriod,
    Message,
    MessageValue,
    PossibleChoices,
    RenderedText,
    ShownMessage,
)

_VALUE_TYPES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Amount,
        CalendarDate,
        CalendarDates,
        Choice,
        DecimalNumber,
        Duration,
        FieldName,
        FileSize,
        LocalMoment,
        LocalPeriod,
        PossibleChoices,
    )
}
_TEMPLATE = "template"


def dump_message(message: Message | str) -> str:
    """Return a message as a text to be stored."""
    return message if isinstance(message, str) else orjson.dumps(_to_json(message)).decode()


def load_message(text: str) -> ShownMessage:
    """Return a stored message. Any other text is shown as it is, such as what a mail server answered."""
    if not text.startswith("{"):
        return RenderedText(text)
    try:
        stored = orjson.loads(text)
    except orjson.JSONDecodeError:
        return RenderedText(text)
    return _from_json(stored) if isinstance(stored, dict) and _TEMPLATE in stored else RenderedText(text)


def _to_json(value: MessageValue) -> Any:
    if isinstance(value, Message):
        stored = {_TEMPLATE: value.template, "values": {name: _to_json(each) for name, each in value.values.items()}}
        return stored if value.plural is None else {**stored, "plural": value.plural}
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, list):
        return [*map(_to_json, value)]
    # Typed values are tuples of texts and numbers.
    return {"type": type(value).__name__, "parts": [*cast("tuple[object, ...]", value)]}


def _from_json(stored: Any) -> Any:
    if isinstance(stored, list):
        return [*map(_from_json, stored)]
    if not isinstance(stored, dict):
        return stored
    if _TEMPLATE not in stored:
        return _VALUE_TYPES[stored["type"]](*map(_to_part, stored["parts"]))
    message = Message.from_template(
        _require_plain(stored[_TEMPLATE]), {name: _from_json(value) for name, value in stored["values"].items()}
    )
    message.plural = _require_plain(stored["plural"]) if "plural" in stored else None
    return message


def _to_part(part: Any) -> Any:
    return tuple(part) if isinstance(part, list) else part


def _require_plain(template: str) -> str:
    """Refuse a template that does more than name its values: it may come from a process that a file has taken over."""
    if any(name is not None and (not name.isidentifier() or spec) for _, name, spec, _ in Formatter().parse(template)):
        raise ValueError("A template only names its values.")
    return template
