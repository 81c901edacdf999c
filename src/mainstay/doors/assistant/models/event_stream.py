"""Server-sent events, as the HTML standard defines them: the form in which every reply arrives."""

import re

from mainstay.doors.assistant.models.model_problem import ModelProblem
from mainstay.values.message import Message

# The last event of a reply may repeat everything that was asked and answered.
MAX_EVENT_BYTES = 4 * 1024 * 1024
_LINE_END = re.compile(rb"[\r\n]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventStream:
    """Reads bytes, split anywhere, and returns the data of each event. Comments and other fields are ignored."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_first_line = True
        self._ends_with_return = False

    def feed(self, received: bytes) -> list[str]:
        """Return the data of the events that end in these bytes."""
        events: list[str] = []
        start = 0
        for match in _LINE_END.finditer(received):
            end = match.start()
            is_second_half = received[end] == _NEWLINE and end == start and self._ends_with_return and not self._line
            self._ends_with_return = received[end] == _RETURN
            if not is_second_half:
                self._line += received[start:end]
                self._count(end - start)
                events += self._end_line()
            start = end + 1
        if start < len(received):
            self._ends_with_return = False
            self._line += received[start:]
            self._count(len(received) - start)
        return events

    def _count(self, added: int) -> None:
        self._size += added
        if self._size > MAX_EVENT_BYTES:
            raise ModelProblem(Message("The model's server sends more than a reply can hold."), is_temporary=False)

    def _end_line(self) -> list[str]:
        line = bytes(self._line)
        self._line.clear()
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            else:
                self._size -= len(line)
            return []
        data, self._data, self._size = self._data, [], 0
        return [b"\n".join(data).decode(errors="replace")] if data else []


_NEWLINE, _RETURN = b"\n\r"
