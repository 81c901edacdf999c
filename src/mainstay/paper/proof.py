"""Prints a draft to be looked at: stamped, and kept nowhere.

In a process of its own that ends with it: one process prints what is issued, and whoever serves people does not take
the memory that printing takes.
"""

import json
import subprocess
import sys
from base64 import b64decode, b64encode

from mainstay.paper.pdf import render
from mainstay.paper.snapshot import Snapshot

_LONGEST_SECONDS = 30


def proof(snapshot: str, logo: bytes | None) -> bytes:
    """The PDF of a draft."""
    given = json.dumps({"snapshot": snapshot, "logo": b64encode(logo).decode() if logo else None})
    ended = subprocess.run(
        [sys.executable, "-m", __name__],
        input=given.encode(),
        stdout=subprocess.PIPE,
        timeout=_LONGEST_SECONDS,
        check=True,
    )
    return ended.stdout


def _print() -> None:
    given = json.load(sys.stdin.buffer)
    logo = b64decode(given["logo"]) if given["logo"] else None
    sys.stdout.buffer.write(render(Snapshot.model_validate_json(given["snapshot"]), logo, "draft"))


if __name__ == "__main__":
    _print()
