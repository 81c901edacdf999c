"""Measuring in rounds: each contender for a short time, then all of them again.

The speed of a machine can double or halve within seconds. What is compared is therefore measured side by side, ratios
are taken within a round, and the median over the rounds stands.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.client import LoadResult
from bench.contenders.running import ROOT, Contender
from bench.processes import cpu_seconds, process_tree

CONNECTIONS = 32


@dataclass(frozen=True, slots=True)
class MeasuredAddress:
    """One address of one contender, to be measured."""

    name: str
    contender: Contender
    path: str
    keys: Path
    method: str = "GET"
    # What is sent; nothing where the address is read.
    body: str = ""
    connections: int = CONNECTIONS
    # Where it is a page: the cookie of which the keys are the values.
    cookie: str = ""


@dataclass(frozen=True, slots=True)
class AddressResult:
    """The result of one address in one round."""

    load: LoadResult
    # The contender's processor time for a request, in microseconds: other programs on the machine cannot lengthen it.
    server_cpu: float


RoundResults = dict[str, AddressResult]


class BenchField:
    """All addresses, to be measured again and again."""

    def __init__(self, aims: Sequence[MeasuredAddress]) -> None:
        self._aims = aims
        # Every key has its limit: the rotation goes on where the load before ended.
        self._next_keys = dict.fromkeys((aim.keys for aim in aims), 0)

    def run_round(self, seconds: float, *, backward: bool = False) -> RoundResults:
        """Measure each address once; the order alternates, so that a machine that slows down favours none."""
        order = self._aims[::-1] if backward else self._aims
        measured = {aim.name: self._measure(aim, seconds) for aim in order}
        return {aim.name: measured[aim.name] for aim in self._aims}

    def _measure(self, aim: MeasuredAddress, seconds: float) -> AddressResult:
        pids = process_tree(aim.contender.pid)
        cpu = cpu_seconds(pids)
        load = self._run_client(aim, seconds)
        cpu = cpu_seconds(pids) - cpu
        return AddressResult(load, cpu / load.all_requests * 1e6)

    def _run_client(self, aim: MeasuredAddress, seconds: float) -> LoadResult:
        cores = sorted(os.sched_getaffinity(0))
        options: dict[str, Sequence[object]] = {
            "--port": [aim.contender.port],
            "--path": [aim.path],
            "--method": [aim.method],
            "--body": [aim.body],
            "--cookie": [aim.cookie],
            "--keys": [aim.keys],
            "--first": [self._next_keys[aim.keys]],
            "--connections": [aim.connections],
            "--seconds": [seconds],
            # The cores that the contender leaves free, or all where it leaves none.
            "--cores": cores[aim.contender.workers :] or cores,
        }
        command = [sys.executable, "-m", "bench.client"]
        for name, values in options.items():
            command += [name, *map(str, values)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            log = aim.contender.log.read_text()[-2000:]
            raise RuntimeError(f"{aim.name} could not be measured:\n{done.stderr}\nThe end of its log:\n{log}")
        load = LoadResult(**json.loads(done.stdout))
        self._next_keys[aim.keys] = load.next_key
        return load
