"""Runs `mainstay` in a fork of a process that has imported it already: to import it takes most of the time of a start.

What a start does by itself is tested by `tests/deploy`, and wherever the command is begun as any other.
"""

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from mainstay.__main__ import main

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["mainstay.__main__", "mainstay.serve_command", "mainstay.server_app"])


class ForkedCommand:
    """A command that runs; it is used like a `subprocess.Popen`."""

    def __init__(self, words: list[str], environment: Mapping[str, str], log: Path) -> None:
        self._process = _CONTEXT.Process(target=_run_command, args=(words, dict(environment), log))
        self._process.start()
        assert self._process.pid
        self.pid = self._process.pid

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, and return its exit code."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(["mainstay"], timeout or 0.0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self._process.exitcode is None:
            os.kill(self.pid, number)


def _run_command(words: list[str], environment: dict[str, str], log: Path) -> None:
    """Become what `subprocess.Popen` would begin: a session of its own, with this environment and this output."""
    os.setsid()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    multiprocessing.set_start_method("fork", force=True)
    sys.argv = ["mainstay", *words]
    main()
