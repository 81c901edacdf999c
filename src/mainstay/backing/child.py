"""The child process in which foreign and heavy content is read and printed; `children.py` starts it.

It takes tasks from its standard input, one after the other, and answers on its standard output. Its limits are set
before it reads the first byte: a file that would take too much memory or time ends this process and nothing else.
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

from mainstay.late import late

# A child that waits this long for its next task ends, and gives its memory back.
IDLE_SECONDS = 60
_LOW_PRIORITY = 10
_KILL_ME_FIRST = "1000"


class BadContent(Exception):
    """The content itself is at fault; the text says why, to the person who handed it in."""


def write_message(channel: BinaryIO, head: dict[str, Any], blobs: tuple[bytes, ...] = ()) -> None:
    """Write one message: its head as a line of JSON, then the bytes that the head announces."""
    channel.write(orjson.dumps({**head, "blobs": [len(blob) for blob in blobs]}) + b"\n")
    channel.writelines(blobs)
    channel.flush()


def main() -> None:
    """Do tasks until there are none for a while, or the parent is gone."""
    tasks = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints is no answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    limits = orjson.loads(tasks.readline() or b"{}")
    if not limits:
        return
    _restrain(limits["memoryBytes"])
    while line := _next_line(tasks):
        head = orjson.loads(line)
        blobs = tuple(tasks.read(size) for size in head["blobs"])
        write_message(answers, {"begun": True})
        _limit_time(limits["cpuSeconds"], limits["seconds"])
        write_message(answers, *_do(head, blobs))


def _do(head: dict[str, Any], blobs: tuple[bytes, ...]) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    module, _, function = head["task"].partition(":")
    try:
        result, made = getattr(late(module), function)(*head["given"], *blobs)
    except BadContent as fault:
        return {"refused": str(fault), "residentBytes": _resident_bytes()}, ()
    except BaseException as fault:
        # Libraries written in Rust give up with an exception that is no Exception.
        problem = "out of memory" if isinstance(fault, MemoryError) else "".join(traceback.format_exception(fault))
        return {"failed": problem, "residentBytes": _resident_bytes()}, ()
    return {"result": result, "residentBytes": _resident_bytes()}, made


def _next_line(tasks: BinaryIO) -> bytes:
    """Wait for the next task; the alarm ends a process that nobody needs."""
    signal.alarm(IDLE_SECONDS)
    return tasks.readline()


def _restrain(memory_bytes: int) -> None:
    """Give up every right that reading and printing do not need."""
    os.nice(_LOW_PRIORITY)
    if sys.platform == "linux":
        # The parent is bound to one core; this process takes what is left of all of them.
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_KILL_ME_FIRST, "ascii")
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    # It writes no file, and leaves none behind when it dies.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A signal for the whole process group ends the parent, which lets this process finish its task.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _limit_time(cpu_seconds: int, seconds: int) -> None:
    """Let the task that begins now have so much time, whether or not the parent is there to end it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
    signal.alarm(seconds)


def _resident_bytes() -> int:
    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
