"""The command line, within this process or as a process of its own."""

import io
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, TextIO
from unittest.mock import patch

import orjson

from mainstay.__main__ import HOUSE
from mainstay.doors.cli.line import run
from mainstay.settings import Settings, environment_of


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    output: str
    errors: str

    @property
    def outcome(self) -> Any:
        """The one JSON object of a command that did what it was asked."""
        assert (self.code, self.errors) == (0, "")
        assert self.output.count("\n") == 1
        return orjson.loads(self.output)

    @property
    def refusal(self) -> str:
        """The one sentence of a command that was refused."""
        assert (self.code, self.output) == (1, "")
        assert self.errors.count("\n") == 1
        assert self.errors.endswith("\n")
        return self.errors.rstrip("\n")


def command(settings: Settings, *words: str, typed: str = "", **environment: str) -> Ended:
    """Run a command in this installation, within this process: to begin another takes longer than most commands do."""
    output, errors = _Said(sys.stdout), _Said(sys.stderr)
    around = patch.dict(os.environ, {**environment_of(settings), **environment})
    with around, patch.object(sys, "stdin", io.StringIO(typed)), redirect_stdout(output), redirect_stderr(errors):
        code = run(HOUSE, words)
    return Ended(code, output.getvalue(), errors.getvalue())


class _Said(io.StringIO):
    """What this thread says; what others say meanwhile, such as doors within this process, goes where it went."""

    def __init__(self, elsewhere: TextIO) -> None:
        super().__init__()
        self._elsewhere = elsewhere
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        return super().write(text) if threading.get_ident() == self._thread else self._elsewhere.write(text)


def commands(settings: Settings, *lines: Sequence[str]) -> list[Ended]:
    """Run several commands, one after another."""
    return [command(settings, *words) for words in lines]


def process(settings: Settings, *words: str, **environment: str) -> Ended:
    """Run `mainstay` with these words in this installation."""
    ended = subprocess.run(
        [sys.executable, "-m", "mainstay", *words],
        env={**os.environ, **environment_of(settings), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def processes(settings: Settings, *lines: Sequence[str]) -> list[Ended]:
    """Run several that have nothing to do with each other, side by side."""
    with ThreadPoolExecutor() as beside:
        return list(beside.map(lambda words: process(settings, *words), lines))
