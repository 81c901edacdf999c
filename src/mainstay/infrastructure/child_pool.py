"""Run tasks in child processes with limits on memory, processor time and time.

A small workbook can unpack to gigabytes, a small image can take minutes, and a library written in another language can
crash its whole process. So code that reads or prints such content runs in a child (`child_process.py`). If the child
dies, the caller gets `ChildFailed`; this process lives on.
"""

import os
import select
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import IO, Any, NamedTuple

import orjson

from mainstay.infrastructure.child_process import BadContent, write_message
from mainstay.infrastructure.cpu_priority import interrupting_children
from mainstay.values.stored_message import load_message

_MEGABYTE = 1_000_000
_READ_BYTES = 1_048_576


class ChildFailed(Exception):
    """The child died, was killed because it took too long, or could not do its task."""


class TaskResult(NamedTuple):
    """What a task returned: its result, and the bytes that it produced."""

    result: Any
    blobs: list[bytes]


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """The limits of one task, and the conditions for replacing a child."""

    memory_bytes: int = 1_000 * _MEGABYTE
    cpu_seconds: int = 20
    # Elapsed time: the machine may be busy with other work.
    seconds: int = 60
    # A child is replaced after this many tasks, or if it holds this much memory after a task.
    tasks: int = 200
    resident_bytes: int = 300 * _MEGABYTE


class ChildPool:
    """A pool of children, started when they are needed, and ended with the pool or after they were idle for a while.

    Several threads can use it.
    """

    def __init__(self, size: int, limits: ChildLimits | None = None) -> None:
        self._limits = limits or ChildLimits()
        self._slots = threading.Semaphore(size)
        self._idle: list[_Child] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _end_all, self._idle)

    def run(self, task: str, *arguments: Any, blobs: tuple[bytes, ...] = ()) -> TaskResult:
        """Run `module:function` with JSON values and bytes in a child.

        Raise BadContent if the content is at fault, and ChildFailed if the child could not do it.
        """
        with self._slots:
            while True:
                with self._borrow_child() as child, interrupting_children():
                    try:
                        return child.run(task, arguments, blobs)
                    except _TaskNotStarted:
                        # It had just ended because it was idle: try the next one, which is new.
                        continue

    @contextmanager
    def _borrow_child(self) -> Iterator["_Child"]:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        child = child or _Child(self._limits)
        try:
            yield child
        finally:
            if child.is_reusable:
                with self._lock:
                    self._idle.append(child)
            else:
                child.end()


def _end_all(children: "list[_Child]") -> None:
    for child in children:
        child.end()


class _TaskNotStarted(Exception):
    """The child had ended before it started the task."""


class _Child:
    """One child process, used by one thread at a time."""

    def __init__(self, limits: ChildLimits) -> None:
        self._limits = limits
        self._tasks = 0
        self.is_reusable = True
        # The environment contains no secret of this installation, and nothing is imported from the working folder.
        environment = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", "from mainstay.infrastructure.child_process import run_child; run_child()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Errors come back with the answer. A log file could not be written: a child writes no files.
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._received = b""

    def run(self, task: str, arguments: tuple[Any, ...], blobs: tuple[bytes, ...]) -> TaskResult:
        """Run one task; afterwards `is_reusable` says whether the child can run another one."""
        self.is_reusable = False
        until = monotonic() + self._limits.seconds
        self._send(task, arguments, blobs)
        try:
            self._read_line(until)
        except ChildFailed:
            if self._tasks:
                raise _TaskNotStarted from None
            raise
        head = orjson.loads(self._read_line(until))
        produced = [self._read_bytes(size, until) for size in head["blobs"]]
        self._tasks += 1
        self.is_reusable = self._tasks < self._limits.tasks and head["residentBytes"] < self._limits.resident_bytes
        if "refused" in head:
            raise BadContent(load_message(head["refused"]))
        if "failed" in head:
            self.is_reusable = False
            raise ChildFailed(head["failed"])
        return TaskResult(head["result"], produced)

    def end(self) -> None:
        """Kill the process, even if it is working."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()

    def _send(self, task: str, arguments: tuple[Any, ...], blobs: tuple[bytes, ...]) -> None:
        channel = _require_stream(self._process.stdin)
        limits = self._limits
        try:
            if not self._tasks:
                child_limits = {"memoryBytes": limits.memory_bytes, "cpuSeconds": limits.cpu_seconds}
                channel.write(orjson.dumps({**child_limits, "seconds": limits.seconds}) + b"\n")
            write_message(channel, {"task": task, "given": arguments}, blobs)
        except BrokenPipeError:
            if self._tasks:
                raise _TaskNotStarted from None
            raise ChildFailed(self._describe_exit()) from None

    def _read_line(self, until: float) -> bytes:
        while b"\n" not in self._received:
            self._receive(until)
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _read_bytes(self, size: int, until: float) -> bytes:
        parts, missing = [self._received[:size]], size - len(self._received)
        self._received = self._received[size:]
        while missing > 0:
            self._receive(until)
            parts.append(self._received[:missing])
            self._received = self._received[missing:]
            missing -= len(parts[-1])
        return b"".join(parts)

    def _receive(self, until: float) -> None:
        """Receive the next bytes before the deadline."""
        channel = _require_stream(self._process.stdout).fileno()
        ready, _, _ = select.select([channel], [], [], max(until - monotonic(), 0))
        if not ready:
            raise ChildFailed(f"took longer than {self._limits.seconds} seconds")
        piece = os.read(channel, _READ_BYTES)
        if not piece:
            raise ChildFailed(self._describe_exit())
        self._received += piece

    def _describe_exit(self) -> str:
        code = self._process.wait()
        return f"the child process ended with {code}"


def _require_stream(stream: IO[bytes] | None) -> Any:
    if stream is None:
        raise ValueError("A child is always started with pipes.")
    return stream
