"""Serves another contender on the server, and with the settings, that Mainstay is served with.

`python -m bench.contenders.server bench.contenders.ceiling 8001`
"""

import os
import sys

from granian.constants import Interfaces

from mainstay.serve_command import make_server


def main() -> None:
    contender, port = sys.argv[1:]
    # A worker of Mainstay keeps all its threads on one core. The others gain from it too, the reference by a fifth.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    make_server(f"{contender}:app", interface=Interfaces.ASGI, address="127.0.0.1", port=int(port)).serve()


if __name__ == "__main__":
    main()
