"""Tasks for the tests of child processes; each runs in a child."""

import ctypes
import os
import platform
import struct
from pathlib import Path
from typing import NoReturn

from mainstay.infrastructure.child_process import BadContent
from mainstay.values.message import Message

TaskResult = tuple[object, tuple[bytes, ...]]

_GET_ATTRIBUTES = {"x86_64": 315, "aarch64": 275}


def echo(value: object, *blobs: bytes) -> TaskResult:
    return value, blobs


def return_process_id() -> TaskResult:
    return os.getpid(), ()


def print_something() -> TaskResult:
    os.write(1, b"not an answer\n")
    return "answered", ()


def read_environment() -> TaskResult:
    return dict(os.environ), ()


def read_priority() -> TaskResult:
    attributes = ctypes.create_string_buffer(64)
    # sched_getattr(2): the slice comes after the size, the policy, the flags, the niceness and the priority.
    ctypes.CDLL(None).syscall(_GET_ATTRIBUTES[platform.machine()], 0, attributes, len(attributes), 0)
    (slice_nanoseconds,) = struct.unpack_from("Q", attributes.raw, 24)
    return [os.sched_getscheduler(0), os.nice(0), len(os.sched_getaffinity(0)), slice_nanoseconds], ()


def read_policies_of_parent() -> TaskResult:
    threads = Path(f"/proc/{os.getppid()}/task").iterdir()
    return sorted({os.sched_getscheduler(int(thread.name)) for thread in threads}), ()


def refuse() -> NoReturn:
    raise BadContent(Message("It is empty."))


def fail() -> NoReturn:
    raise ValueError("a fault of ours")


def crash() -> NoReturn:
    os.abort()


def use_memory(megabytes: int) -> TaskResult:
    return len(bytearray(megabytes * 1_000_000)), ()


def compute_forever() -> NoReturn:
    while True:
        pass


def wait_forever() -> NoReturn:
    while True:
        os.read(os.pipe()[0], 1)


def write_file(path: str) -> TaskResult:
    return Path(path).write_text("something"), ()


KEPT_MEMORY: list[bytearray] = []


def keep_memory(megabytes: int) -> TaskResult:
    KEPT_MEMORY.append(bytearray(b"x" * megabytes * 1_000_000))
    return os.getpid(), ()
