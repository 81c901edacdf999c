"""Tasks for the tests of child processes; each runs in a child."""

import os
from pathlib import Path
from typing import NoReturn

from mainstay.backing.child import BadContent

Given = tuple[object, tuple[bytes, ...]]


def echo(value: object, *blobs: bytes) -> Given:
    return value, blobs


def process_id() -> Given:
    return os.getpid(), ()


def print_something() -> Given:
    os.write(1, b"not an answer\n")
    return "answered", ()


def read_environment() -> Given:
    return dict(os.environ), ()


def read_priority() -> Given:
    return os.nice(0), ()


def refuse() -> NoReturn:
    raise BadContent("It is empty.")


def fail() -> NoReturn:
    raise ValueError("a fault of ours")


def crash() -> NoReturn:
    os.abort()


def take_memory(megabytes: int) -> Given:
    return len(bytearray(megabytes * 1_000_000)), ()


def compute_forever() -> NoReturn:
    while True:
        pass


def wait_forever() -> NoReturn:
    while True:
        os.read(os.pipe()[0], 1)


def write_file(path: str) -> Given:
    return Path(path).write_text("something"), ()


kept: list[bytearray] = []


def keep_memory(megabytes: int) -> Given:
    kept.append(bytearray(b"x" * megabytes * 1_000_000))
    return os.getpid(), ()
