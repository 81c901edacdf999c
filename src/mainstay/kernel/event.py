"""Events: what happened, told in the same words to webhooks, the feed and the timeline."""

from dataclasses import dataclass
from typing import ClassVar

import orjson

from mainstay.terms.shapes import Kept, Shown
from mainstay.terms.wire import different, to_json, to_record


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a record, with the record as it is now and, where it changed, as it was before."""

    name: ClassVar[str]
    about: ClassVar[type[Shown]]

    record: Kept
    before: Kept | None = None

    def data(self) -> bytes:
        """What is told: the whole record, and the fields that are different now as they were before."""
        return b'{"object":%s,"previous":%s}' % (to_json(self.record), orjson.dumps(self._previous()))

    def _previous(self) -> dict[str, object]:
        if self.before is None:
            return {}
        before = to_record(self.before)
        return {name: before[name] for name in different(self.before, self.record)}
