"""Kills the processes that read and print for this one, as the kernel does when memory runs out."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_POLL_SECONDS = 0.001


@contextmanager
def kill_children() -> Iterator[None]:
    """Kill each child that reads or prints content as soon as it runs, until the block ends."""
    has_ended = threading.Event()

    def go_on_killing() -> None:
        while not has_ended.wait(_POLL_SECONDS):
            _kill_running_children()

    # A child that has printed before is quick, and might finish before the thread runs.
    _kill_running_children()
    thread = threading.Thread(target=go_on_killing)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def _kill_running_children() -> None:
    for child in _find_children():
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _find_children() -> Iterator[int]:
    for thread in Path("/proc/self/task").iterdir():
        # Threads and processes may end meanwhile.
        with suppress(OSError):
            for number in (thread / "children").read_text("ascii").split():
                if b"child_process" in Path(f"/proc/{number}/cmdline").read_bytes():
                    yield int(number)
