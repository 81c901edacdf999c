"""Processes of the bench itself: what receives, and what loads."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess

from mainstay.infrastructure.processes import end_with_parent

# Forked, because a fresh interpreter would take the processor for a second each time.
CONTEXT = get_context("fork")
_JOIN_SECONDS = 2.0


@contextmanager
def run_child_process(function: Callable[..., None], *given: object) -> Iterator[BaseProcess]:
    """Run a function in a process of its own; end the process with the block."""
    process = CONTEXT.Process(target=_run_function, args=(os.getpid(), function, *given), daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.terminate()
        process.join(_JOIN_SECONDS)
        if process.is_alive():
            process.kill()
        process.join()


def _run_function(parent: int, function: Callable[..., None], *given: object) -> None:
    # The bench ends what it started when it is interrupted itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent(parent)
    function(*given)
