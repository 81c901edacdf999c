"""Answers as agents read them: moments as local times with their offset, and text written by outsiders named.

What is done to an answer is found once for each output model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin
from zoneinfo import ZoneInfo

import orjson
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mainstay.values.moments import parse_moment
from mainstay.vocabulary.roles import OutsiderText

JsonRecord = dict[str, Any]
# Changes the moments in a record to local times of this time zone, or of the record's own.
Localiser = Callable[[JsonRecord, str], None]
# The field of an answer that names the fields with text written by outsiders.
OUTSIDER_FIELDS = "outsiderText"


class AgentFormat(NamedTuple):
    """How an agent reads answers: in which time zone, and whether lists have every field."""

    time_zone: str
    has_full_lists: bool = False


class LocalTimes(dict[str, str]):
    """Stored moments as local times of a time zone, each calculated when it is first looked up."""

    def __init__(self, time_zone: str) -> None:
        super().__init__()
        self._time_zone = time_zone

    def __missing__(self, moment: str) -> str:
        """Calculate the local time of a moment."""
        if len(self) >= _MAX_TIMES:
            self.clear()
        local = self[moment] = format_local_moment(moment, self._time_zone)
        return local


# Of each time zone that is in use. Many records share the same moments, and an agent reads each several times.
_MAX_TIMES = 8192
local_times_of = lru_cache(32)(LocalTimes)


def format_local_moment(moment: str, time_zone: str) -> str:
    """Return a stored moment as exactly the same moment in a time zone: `2026-06-08T09:00:00+01:00`.

    A moment that cannot be written so stays in UTC: at the ends of the calendar, and where clocks ran by the sun.
    """
    try:
        local = parse_moment(moment).astimezone(ZoneInfo(time_zone))
    except OverflowError:
        return moment
    offset = local.utcoffset()
    if offset is None or offset.seconds % 60:
        return moment
    return local.isoformat("T", "milliseconds" if local.microsecond else "seconds")


def format_for_agent(
    body: bytes, model: type[BaseModel], agent_format: AgentFormat, extra_models: Mapping[str, type[BaseModel]]
) -> bytes:
    """Return a whole answer as an agent reads it; it may contain other records, whose models are given by name."""
    models = {"": model, **extra_models}
    if not any(compile_localiser(one) or find_outsider_fields(one) for one in models.values()):
        return body
    answer: JsonRecord = orjson.loads(body)
    outsider_text = []
    for name, record_model in models.items():
        record = answer.get(name) if name else answer
        if record is not None:
            if localise := compile_localiser(record_model):
                localise(record, agent_format.time_zone)
            paths = find_outsider_text(record_model, [record])
            outsider_text += [f"{name}.{path}" if name else path for path in paths]
    return orjson.dumps(answer | ({OUTSIDER_FIELDS: outsider_text} if outsider_text else {}))


@cache
def compile_localiser(model: type[BaseModel]) -> Localiser | None:
    """Return the function that changes the moments in a record of a model, or None if it has none."""
    moments = [field.alias or name for name, field in model.model_fields.items() if is_moment(field)]
    parts = [(name, found) for name, part, _ in _find_parts(model) if (found := compile_localiser(part))]
    if not moments and not parts:
        return None
    has_time_zone = "time_zone" in model.model_fields

    def localise(record: JsonRecord, time_zone: str) -> None:
        if has_time_zone:
            time_zone = record["timeZone"] or time_zone
        local_times = local_times_of(time_zone)
        for name in moments:
            if record[name] is not None:
                record[name] = local_times[record[name]]
        for name, localise_part in parts:
            for part in _list_parts(record[name]):
                localise_part(part, time_zone)

    return localise


@cache
def find_outsider_fields(model: type[BaseModel]) -> tuple[tuple[str, ...], ...]:
    """Return the paths of the fields with text written by outsiders, such as `suggestions[]`, `text`."""
    own = [
        (field.alias or name,)
        for name, field in model.model_fields.items()
        if any(isinstance(mark, OutsiderText) for mark in field.metadata)
    ]
    parts = [(name + suffix, part) for name, part, suffix in _find_parts(model)]
    return (*own, *((name, *path) for name, part in parts for path in find_outsider_fields(part)))


def find_outsider_text(model: type[BaseModel], records: Sequence[JsonRecord]) -> list[str]:
    """Return the paths of the fields in which some of these records have text written by outsiders."""
    fields = find_outsider_fields(model)
    return [".".join(path) for path in fields if any(_has_text(record, path) for record in records)] if fields else []


def is_moment(field: FieldInfo) -> bool:
    """Return whether a field of an output is a moment."""
    extra = field.json_schema_extra
    return isinstance(extra, dict) and extra.get("format") == "date-time"


def find_part_model(annotation: Any) -> type[BaseModel] | None:
    """Return the model within a field, which may be optional, a list or a mapping of it."""
    if get_origin(annotation) is Annotated:
        return find_part_model(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(find_part_model, get_args(annotation))), None)


def _find_parts(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel], str]]:
    """Yield the fields that contain other models: name, model, and `[]` if there are several."""
    for name, field in model.model_fields.items():
        if part := find_part_model(field.annotation):
            yield field.alias or name, part, "" if _is_single(field.annotation) else "[]"


def _is_single(annotation: Any) -> bool:
    """Return whether a field contains one model, not a list or a mapping."""
    origin = get_origin(annotation)
    return origin not in {list, dict} and all(map(_is_single, get_args(annotation) if origin else ()))


def _list_parts(value: Any) -> list[JsonRecord]:
    """Return the records in a field: one, or those of a list."""
    return value if isinstance(value, list) else [value] if value else []


def _has_text(value: Any, path: tuple[str, ...]) -> bool:
    name, *others = path
    parts = _list_parts(value)
    if not others:
        return any(part.get(name) for part in parts)
    return any(_has_text(part.get(name.removesuffix("[]")), tuple(others)) for part in parts)
