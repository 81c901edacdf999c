"""Events: what happened, told in the same words to webhooks, the feed and the timeline."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import orjson

from mainstay.kernel.shapes import One, R, Shown
from mainstay.kernel.wire import to_json


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a record, with the record as it is now and the fields as they were before."""

    name: ClassVar[str]
    about: ClassVar[type[Shown]]

    record: One[Any]
    previous: Mapping[str, object] = field(default_factory=dict)


def differences(before: One[R], after: One[R]) -> dict[str, object]:
    """The fields as they were before the change, those alone that it changed."""
    was, is_now = (orjson.loads(to_json(record)) for record in (before, after))
    always = {"updatedAt", "updatedBy", "version"}
    return {name: value for name, value in was.items() if value != is_now[name] and name not in always}
