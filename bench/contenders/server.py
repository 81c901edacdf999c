"""Serves another contender on the server, and with the settings, that Mainstay is served with.

`python -m bench.contenders.server bench.contenders.ceiling 8001`
"""

import os
import sys

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes
from granian.http import HTTP1Settings

from mainstay.serving import HEADER_SECONDS


def main() -> None:
    contender, port = sys.argv[1:]
    # A worker of Mainstay keeps all its threads on one core. The others gain from it too, the reference by a fifth.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    Granian(
        f"{contender}:app",
        address="127.0.0.1",
        port=int(port),
        workers=1,
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        runtime_mode=RuntimeModes.st,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_SECONDS * 1000),
        websockets=False,
        backlog=2048,
        log_enabled=False,
    ).serve()


if __name__ == "__main__":
    main()
