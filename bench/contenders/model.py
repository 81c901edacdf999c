"""A scripted model, in a process of its own: what is measured is who asks it.

`python -m bench.contenders.model CORE` prints its address, and serves until its input is closed.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from support.model_server import run_model_server_thread
from support.model_streams import ScriptedTurn

_REPLY = ScriptedTurn("Two jobs wait for parts, and one for the customer.")


def main() -> None:
    os.sched_setaffinity(0, {int(sys.argv[1])})
    with run_model_server_thread() as server:
        server.answer = lambda _request: _REPLY
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
