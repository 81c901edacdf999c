"""The command line as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import orjson

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
    """Run `mainstay` with these words in this installation."""
    process = subprocess.run(
        [sys.executable, "-m", "mainstay", *words],
        env={**os.environ, **environment_of(settings), **environment},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Ended(process.returncode, process.stdout, process.stderr)


def at_once(settings: Settings, *lines: Sequence[str]) -> list[Ended]:
    """Run several commands that have nothing to do with each other, side by side."""
    with ThreadPoolExecutor() as processes:
        return list(processes.map(lambda words: command(settings, *words), lines))
