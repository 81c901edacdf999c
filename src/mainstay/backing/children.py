"""Runs tasks in child processes with limits on memory, processor time and time.

A small workbook can unfold to gigabytes, a small image cost minutes, and a library written in another language can end
its whole process. Whatever reads or prints such content runs in a child (`child.py`). If the child dies, the one who
asked gets `ChildFailed`; this process lives on.
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

from mainstay.backing.child import BadContent, write_message

_MEGABYTE = 1_000_000
_PIECE = 1_048_576


class ChildFailed(Exception):
    """The child died, was ended because it took too long, or could not do its task."""


class Made(NamedTuple):
    """What a task gave: its result, and the bytes it made."""

    result: Any
    blobs: list[bytes]


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """How much one task may take, and when a child is replaced."""

    memory_bytes: int = 1_000 * _MEGABYTE
    cpu_seconds: int = 20
    # By the clock: the machine may be busy with others.
    seconds: int = 60
    # A child is replaced after so many tasks, or when it holds so much memory after one.
    tasks: int = 200
    resident_bytes: int = 300 * _MEGABYTE


class ChildPool:
    """Some children of one kind, started when they are needed, and ended with the pool or after a while of rest.

    It can be used from several threads.
    """

    def __init__(self, size: int, limits: ChildLimits | None = None) -> None:
        self._limits = limits or ChildLimits()
        self._places = threading.Semaphore(size)
        self._idle: list[_Child] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _end_all, self._idle)

    def run(self, task: str, *given: Any, blobs: tuple[bytes, ...] = ()) -> Made:
        """Run `module:function` with JSON values and bytes in a child.

        Raises BadContent if the content is at fault, and ChildFailed if the child could not do it.
        """
        with self._places:
            while True:
                with self._child() as child:
                    try:
                        return child.run(task, given, blobs)
                    except _NotBegun:
                        # It had just ended because it was idle: the next one is new.
                        continue

    @contextmanager
    def _child(self) -> Iterator["_Child"]:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        child = child or _Child(self._limits)
        try:
            yield child
        finally:
            if child.is_fit:
                with self._lock:
                    self._idle.append(child)
            else:
                child.end()


def _end_all(children: "list[_Child]") -> None:
    for child in children:
        child.end()


class _NotBegun(Exception):
    """The child had ended before it began the task."""


class _Child:
    """One child process, used by one thread at a time."""

    def __init__(self, limits: ChildLimits) -> None:
        self._limits = limits
        self._tasks = 0
        self.is_fit = True
        # With no secret of this installation in its environment, and nothing imported from the working folder.
        environment = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", "from mainstay.backing.child import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # What is worth knowing comes with the answer. A log file could not be written to: a child writes no files.
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._received = b""

    def run(self, task: str, given: tuple[Any, ...], blobs: tuple[bytes, ...]) -> Made:
        """Run one task; afterwards `is_fit` says whether the child can be used again."""
        self.is_fit = False
        until = monotonic() + self._limits.seconds
        self._send(task, given, blobs)
        try:
            self._read_line(until)
        except ChildFailed:
            if self._tasks:
                raise _NotBegun from None
            raise
        head = orjson.loads(self._read_line(until))
        made = [self._read(size, until) for size in head["blobs"]]
        self._tasks += 1
        self.is_fit = self._tasks < self._limits.tasks and head["residentBytes"] < self._limits.resident_bytes
        if "refused" in head:
            raise BadContent(head["refused"])
        if "failed" in head:
            self.is_fit = False
            raise ChildFailed(head["failed"])
        return Made(head["result"], made)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()

    def _send(self, task: str, given: tuple[Any, ...], blobs: tuple[bytes, ...]) -> None:
        channel = _stream(self._process.stdin)
        limits = self._limits
        try:
            if not self._tasks:
                bounds = {"memoryBytes": limits.memory_bytes, "cpuSeconds": limits.cpu_seconds}
                channel.write(orjson.dumps({**bounds, "seconds": limits.seconds}) + b"\n")
            write_message(channel, {"task": task, "given": given}, blobs)
        except BrokenPipeError:
            if self._tasks:
                raise _NotBegun from None
            raise ChildFailed(self._death()) from None

    def _read_line(self, until: float) -> bytes:
        while b"\n" not in self._received:
            self._receive(until)
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _read(self, size: int, until: float) -> bytes:
        parts, missing = [self._received[:size]], size - len(self._received)
        self._received = self._received[size:]
        while missing > 0:
            self._receive(until)
            parts.append(self._received[:missing])
            self._received = self._received[missing:]
            missing -= len(parts[-1])
        return b"".join(parts)

    def _receive(self, until: float) -> None:
        """Receive what comes next, before the time is over."""
        channel = _stream(self._process.stdout).fileno()
        ready, _, _ = select.select([channel], [], [], max(until - monotonic(), 0))
        if not ready:
            raise ChildFailed(f"took longer than {self._limits.seconds} seconds")
        piece = os.read(channel, _PIECE)
        if not piece:
            raise ChildFailed(self._death())
        self._received += piece

    def _death(self) -> str:
        code = self._process.wait()
        return f"the child process ended with {code}"


def _stream(stream: IO[bytes] | None) -> Any:
    if stream is None:
        raise ValueError("A child is always started with pipes.")
    return stream
