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

from mainstay.__main__ import COMMANDS
from mainstay.doors.cli.command_line import run_command_line
from mainstay.settings import Settings, to_environment


@dataclass(frozen=True)
class CommandResult:
    """A command that has ended."""

    code: int
    output: str
    errors: str

    @property
    def json(self) -> Any:
        """The JSON object that a successful command printed."""
        assert (self.code, self.errors) == (0, "")
        assert self.output.count("\n") == 1
        return orjson.loads(self.output)

    @property
    def error(self) -> str:
        """The sentence that a refused command printed."""
        assert (self.code, self.output) == (1, "")
        assert self.errors.count("\n") == 1
        assert self.errors.endswith("\n")
        return self.errors.rstrip("\n")


def run_command(settings: Settings, *words: str, stdin_text: str = "", **environment: str) -> CommandResult:
    """Run a command in this installation, within this process: to begin another takes longer than most commands do."""
    output, errors = _ThreadOutput(sys.stdout), _ThreadOutput(sys.stderr)
    environment_patch = patch.dict(os.environ, {**to_environment(settings), **environment})
    with (
        environment_patch,
        patch.object(sys, "stdin", io.StringIO(stdin_text)),
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        code = run_command_line(COMMANDS, words)
    return CommandResult(code, output.getvalue(), errors.getvalue())


class _ThreadOutput(io.StringIO):
    """The output of this thread; that of other threads, such as in-process doors, goes where it went before."""

    def __init__(self, elsewhere: TextIO) -> None:
        super().__init__()
        self._original = elsewhere
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        return super().write(text) if threading.get_ident() == self._thread else self._original.write(text)


def run_commands(settings: Settings, *lines: Sequence[str]) -> list[CommandResult]:
    """Run several commands, one after another."""
    return [run_command(settings, *words) for words in lines]


def run_process(settings: Settings, *words: str, **environment: str) -> CommandResult:
    """Run `mainstay` with these words in this installation."""
    ended = subprocess.run(
        [sys.executable, "-m", "mainstay", *words],
        env={**os.environ, **to_environment(settings), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return CommandResult(ended.returncode, ended.stdout, ended.stderr)


def run_processes(settings: Settings, *lines: Sequence[str]) -> list[CommandResult]:
    """Run several independent commands side by side."""
    with ThreadPoolExecutor() as executor:
        return list(executor.map(lambda words: run_process(settings, *words), lines))
