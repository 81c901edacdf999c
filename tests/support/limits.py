"""Run code in a process with limited processor time."""

import subprocess
import sys

_LIMITED_CODE = """
import resource
from pathlib import Path
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
{code}
"""


def run_with_cpu_limit(seconds: int, code: str) -> None:
    """Run code that may use the processor for so many seconds, and fail when it needs more."""
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED_CODE.format(seconds=seconds, code=code)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr or f"It needs more than {seconds} seconds."
