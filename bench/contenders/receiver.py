"""A receiver of webhooks that costs next to nothing: what is measured is who sends.

`python -m bench.contenders.receiver PORT CORE`. A path that begins with /ok is answered 200, one with /500 is answered
500, one with /hang is not answered; `GET /counts` tells how many requests came to each path.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from typing import ClassVar, cast

import uvloop

_ANSWERS = {
    b"/ok": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    b"/50": b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\n\r\nno",
    b"/ha": b"",
}
_LENGTH_HEADER = b"content-length: "


class ReceiverConnection(asyncio.Protocol):
    """One connection."""

    counts: ClassVar[Counter[bytes]] = Counter()

    def __init__(self) -> None:
        self._pending = b""
        self._write: Callable[[bytes], object] = bytes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._write = cast("asyncio.Transport", transport).write

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        pending = self._pending + data
        while (head := pending.find(b"\r\n\r\n")) >= 0:
            at = pending.lower().find(_LENGTH_HEADER, 0, head)
            length = int(pending[at + len(_LENGTH_HEADER) : pending.find(b"\r", at)]) if at >= 0 else 0
            end = head + 4 + length
            if len(pending) < end:
                break
            self._answer(pending.split(b" ", 2)[1])
            pending = pending[end:]
        self._pending = pending

    def _answer(self, path: bytes) -> None:
        if path == b"/counts":
            body = json.dumps({name.decode(): count for name, count in self.counts.items()}).encode()
            answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
        else:
            self.counts[path] += 1
            answer = _ANSWERS[path[:3]]
        if answer:
            self._write(answer)


async def main() -> None:
    port, core = map(int, sys.argv[1:])
    os.sched_setaffinity(0, {core})
    server = await asyncio.get_running_loop().create_server(ReceiverConnection, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
