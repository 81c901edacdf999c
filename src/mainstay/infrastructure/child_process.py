"""The child process that reads and prints untrusted or heavy content; `child_pool.py` starts it.

It takes tasks from its standard input, one after another, and answers on its standard output. Its limits are set before
it reads the first byte: a file that takes too much memory or time ends this process and nothing else.
"""

import os
import resource
import signal
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from mainstay.infrastructure.cpu_priority import become_child
from mainstay.lazy_import import import_lazily
from mainstay.values.message import ShownMessage
from mainstay.values.stored_message import dump_message

# A child that waits this long for a task ends, and so releases its memory.
IDLE_SECONDS = 60
_HIGHEST_OOM_SCORE = "1000"


class BadContent(Exception):
    """The content itself is at fault; the message explains it to the person who uploaded it."""

    def __init__(self, message: ShownMessage) -> None:
        super().__init__(message)
        self.message = message


def write_message(channel: BinaryIO, head: dict[str, Any], blobs: tuple[bytes, ...] = ()) -> None:
    """Write one message: its head as a line of JSON, then the bytes that the head announces."""
    channel.write(orjson.dumps({**head, "blobs": [len(blob) for blob in blobs]}) + b"\n")
    channel.writelines(blobs)
    channel.flush()


def run_child() -> None:
    """Run tasks until there are none for a while, or until the parent is gone."""
    tasks = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints must not become part of an answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    limits = orjson.loads(tasks.readline() or b"{}")
    if not limits:
        return
    _set_limits(limits["memoryBytes"])
    while line := _wait_for_task(tasks):
        head = orjson.loads(line)
        blobs = tuple(tasks.read(size) for size in head["blobs"])
        write_message(answers, {"begun": True})
        _limit_time(limits["cpuSeconds"], limits["seconds"])
        write_message(answers, *_run_task(head, blobs))


def _run_task(head: dict[str, Any], blobs: tuple[bytes, ...]) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    module, _, function = head["task"].partition(":")
    try:
        result, produced = getattr(import_lazily(module), function)(*head["given"], *blobs)
    except BadContent as error:
        return {"refused": dump_message(error.message), "residentBytes": _resident_bytes()}, ()
    except BaseException as error:
        # Rust libraries panic with an exception that is not an Exception.
        problem = "out of memory" if isinstance(error, MemoryError) else "".join(traceback.format_exception(error))
        return {"failed": problem, "residentBytes": _resident_bytes()}, ()
    return {"result": result, "residentBytes": _resident_bytes()}, produced


def _wait_for_task(tasks: BinaryIO) -> bytes:
    """Wait for the next task; the alarm ends a process that nobody needs."""
    signal.alarm(IDLE_SECONDS)
    return tasks.readline()


def _set_limits(memory_bytes: int) -> None:
    """Set the memory limit and give up every right that reading and printing do not need."""
    become_child()
    if sys.platform == "linux":
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_HIGHEST_OOM_SCORE, "ascii")
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    # It writes no files, and no core dump when it dies.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A signal to the process group ends the parent, which lets this process finish its task.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _limit_time(cpu_seconds: int, seconds: int) -> None:
    """Limit the time of the task that starts now, even if the parent is not there to end it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
    signal.alarm(seconds)


def _resident_bytes() -> int:
    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
