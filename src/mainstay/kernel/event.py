"""Events: what happened to a record, in the same form for webhooks, the feed and the timeline."""

from dataclasses import dataclass
from typing import ClassVar

import orjson

from mainstay.vocabulary.record_json import find_changed_fields, to_dict, to_json
from mainstay.vocabulary.schemas import Output, StoredRecord


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a record: the record as it is now and, if it was changed, as it was before."""

    name: ClassVar[str]
    output: ClassVar[type[Output]]

    record: StoredRecord
    before: StoredRecord | None = None

    def to_payload(self) -> bytes:
        """Return the event as JSON: the whole record, and the previous values of the fields that changed."""
        return b'{"object":%s,"previous":%s}' % (to_json(self.record), orjson.dumps(self._previous_values()))

    def _previous_values(self) -> dict[str, object]:
        if self.before is None:
            return {}
        before = to_dict(self.before)
        return {name: before[name] for name in find_changed_fields(self.before, self.record)}


def declare_event(name: str, output: type[Output], text: str) -> type[Event]:
    """Declare what can happen to a record, `JobCreated` for `job.created`, with a sentence that people read."""
    class_name = "".join(part[0].upper() + part[1:] for part in name.split("."))
    return type(class_name, (Event,), {"__doc__": text, "name": name, "output": output})
