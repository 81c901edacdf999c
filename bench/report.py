"""The results: a table for people, JSON for what compares runs."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median

from bench.billing import Billing
from bench.board import BoardPage
from bench.first_token import FirstTokenTimes
from bench.flat import LARGE, MAX_GROWTH, SMALL, ReadGrowth
from bench.goals import (
    RATIOS,
    Verdict,
    is_slowed,
    judge_billing,
    judge_board,
    judge_day_starts,
    judge_first_tokens,
    judge_flatness,
    judge_memory,
    judge_neighbours,
    judge_pages,
    judge_papers,
    judge_sending,
)
from bench.neighbours.measuring import NeighbourResults
from bench.neighbours.start_of_day import DayStart
from bench.papers import PdfRates
from bench.processes import ProcessMemory
from bench.rounds import CONNECTIONS, AddressResult, RoundResults
from bench.webhooks import SendingRates

_PACKAGES = ("mainstay", "granian", "uvloop", "pydantic", "orjson", "starlette", "fastapi", "sqlalchemy", "aiosqlite")


@dataclass(frozen=True, slots=True)
class BenchResults:
    """Everything that one run measured."""

    rounds: Sequence[RoundResults]
    seconds: float
    # Of every process of `mainstay serve`, with one worker and with two.
    memory: Sequence[ProcessMemory]
    # The part of the machine's processor time that other programs took meanwhile.
    taken_by_others: float
    sendings: Sequence[SendingRates]
    # Beside Tryton; none where it is not installed.
    billings: Sequence[Billing]
    papers: Sequence[PdfRates]
    # What the assistant adds to its model until the first piece of text.
    first_tokens: Sequence[FirstTokenTimes]
    # The schedule of a large firm.
    board: Sequence[BoardPage]
    # Every reading in a small firm and in a large one, the one that grows most first; none in a quick look.
    flatness: Sequence[ReadGrowth]
    # What one firm's load costs another.
    neighbours: NeighbourResults
    # The start of the day of many organisations, with one worker and with two; none in a quick look.
    day_starts: Sequence[DayStart]

    def judge_goals(self) -> list[Verdict]:
        """Every goal."""
        shares = [memory.share for memory in self.memory if memory.is_worker]
        ratios = [ratio.judge(self.rounds) for ratio in RATIOS]
        readings = [*judge_pages(self.rounds), *judge_board(self.board), *judge_flatness(self.flatness)]
        money = [*judge_billing(self.billings), judge_papers(self.papers)]
        sending = [*judge_sending(self.sendings), *judge_first_tokens(self.first_tokens), judge_memory(shares)]
        return [
            *ratios,
            *readings,
            *money,
            *sending,
            *judge_neighbours(self.neighbours),
            *judge_day_starts(self.day_starts),
        ]


def print_results(outcome: BenchResults) -> None:
    """Print the tables."""
    print(f"\n{'median of the rounds':38}{'requests/s':>11}{'p50 ms':>9}{'p99 ms':>9}{'CPU µs':>9}{'client':>9}")
    for name in outcome.rounds[0]:
        middle = _medians_of([measured[name] for measured in outcome.rounds])
        print(
            f"{name:38}{middle['rate']:11,.0f}{middle['p50']:9.2f}{middle['p99']:9.2f}"
            f"{middle['server_cpu']:9.0f}{middle['client_cpu']:9.0f}"
        )
    print(f"\n{'webhooks, median of the rounds':38}{'posts/s':>11}{'CPU µs':>9}")
    for name, rate, cpu in _SENDING_ROWS:
        rates, cpus = ([getattr(sending, of) for sending in outcome.sendings] if of else [] for of in (rate, cpu))
        print(f"{name:38}{median(rates):11,.0f}{f'{median(cpus):.0f}' if cpus else '':>9}")
    _print_billing(outcome)
    print(f"\n{'memory after the load':38}{'RSS MB':>11}{'share MB':>9}")
    for memory in outcome.memory:
        print(f"{memory.process:38}{memory.resident:11.1f}{memory.share:9.1f}")
    _print_flatness(outcome.flatness)
    print_neighbours(outcome.neighbours)
    print_day_starts(outcome.day_starts)
    print_verdicts(outcome.judge_goals())
    print(
        f"\n{len(outcome.rounds)} rounds of {outcome.seconds:g} s each, {CONNECTIONS} connections, no answer but 200 or"
        f" 201; other programs took {outcome.taken_by_others:.0%} of the machine."
    )


def print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Print which goals are met."""
    columns = f"{'measured':>11}{'middle half':>20}{'by CPU':>9}{'goal':>9}"
    print(f"\n{'goals, by ratios within a round':{_GOAL_WIDTH}}{columns}")
    for verdict in verdicts:
        spread = f"{verdict.low:.2f} to {verdict.high:.2f}"
        by_cpu = f"{verdict.by_cpu:.2f}" if verdict.by_cpu else ""
        mark = "" if verdict.met else f"   MISSED {verdict.reason}".rstrip()
        print(f"{verdict.goal:{_GOAL_WIDTH}}{verdict.measured:11.2f}{spread:>20}{by_cpu:>9}{verdict.bound:>9}{mark}")


def print_neighbours(found: NeighbourResults) -> None:
    """Print what one firm's load costs another, and what heavy documents leave in memory."""
    title = "the neighbour's requests, in ms"
    print(f"\n{title:46}{'quiet':>9}{'median':>9}{'worst':>9}{'ratio':>9}{'count':>7}")
    for one in found.slowdowns:
        name = f"{one.engine}, {one.situation}: {one.request}"
        failures = "".join(f"; {failure} ({often} times)" for failure, often in one.failures.items())
        mark = f"   SLOWED{failures}" if is_slowed(one) else ""
        print(f"{name:46}{one.quiet:9.1f}{one.median:9.1f}{one.worst:9.1f}{one.ratio:9.2f}{one.count:7}{mark}")
    for name, answers in found.answers.items():
        listed = ", ".join(f"{what} ({often} times)" for what, often in answers.items())
        print(f"{name}: busy firms: {listed}")
    for growth in found.growth:
        after = "died" if growth.after is None else f"{growth.after:.1f} MB"
        print(f"{growth.process}: {growth.before:.1f} MB, after {growth.documents} heavy documents {after}")


def print_day_starts(found: Sequence[DayStart]) -> None:
    """Print how long the start of the day took in each round."""
    for one in found:
        print(f"{one.engine}, start of the day: one worker {one.one_worker:.1f} s, two {one.two_workers:.1f} s")


def _print_billing(outcome: BenchResults) -> None:
    print(f"\n{'invoices, median of the rounds':38}{'Mainstay/s':>11}{'Tryton/s':>9}")
    if not outcome.billings:
        print("Tryton is not installed: `make bench` does it.")
    for title, act in _BILLING_ROWS if outcome.billings else ():
        ours, theirs = (median(getattr(getattr(one, of), act) for one in outcome.billings) for of in ("ours", "theirs"))
        print(f"{title.format(outcome.billings[0].invoices):38}{ours:11,.1f}{theirs:9,.1f}")
    print(f"\n{'PDFs of 20 lines, median of the rounds':38}{'Mainstay/s':>11}{'Typst/s':>9}")
    ours, bare = (median(getattr(one, of) for one in outcome.papers) for of in ("ours", "bare"))
    print(f"{'one process, one after the other':38}{ours:11,.1f}{bare:9,.1f}")


def _print_flatness(readings: Sequence[ReadGrowth]) -> None:
    if not readings:
        print("\nWhether readings stay flat is not measured in a quick look: `make bench-flat` does only that.")
        return
    title = f"what grows most, {SMALL:,} to {LARGE:,} of each kind"
    print(f"\n{title:58}{'CPU µs':>9}{'then':>9}{'times':>9}")
    for one in readings[:_WORST_COUNT]:
        print(f"{one.name:58}{one.small:9.0f}{one.large:9.0f}{one.growth:9.2f}")
    print(
        f"{sum(one.growth > MAX_GROWTH for one in readings)} of {len(readings)} readings grow to more"
        f" than {MAX_GROWTH:g} times."
    )


_WORST_COUNT = 6
_GOAL_WIDTH = 48
_BILLING_ROWS = (("draft an invoice of 20 lines", "draft"), ("issue it", "issue"), ("list 25 of {:,}", "list"))
_SENDING_ROWS = (
    ("Mainstay, one worker process", "worker", "worker_cpu"),
    ("the HTTP client alone", "client", "client_cpu"),
    ("one receiver, 19 others healthy", "among_healthy", ""),
    ("one receiver, 19 others dead", "among_dead", ""),
)


def write_json(outcome: BenchResults, path: Path) -> None:
    """Keep everything as JSON."""
    names = list(outcome.rounds[0])
    results = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"cores": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()},
        "packages": {package: version(package) for package in _PACKAGES},
        "secondsEach": outcome.seconds,
        "connections": CONNECTIONS,
        "takenByOthers": outcome.taken_by_others,
        "goals": [asdict(verdict) for verdict in outcome.judge_goals()],
        "medians": {name: _medians_of([measured[name] for measured in outcome.rounds]) for name in names},
        "memory": [asdict(memory) for memory in outcome.memory],
        "flatness": [asdict(reading) | {"growth": reading.growth} for reading in outcome.flatness],
        "billings": [asdict(billing) for billing in outcome.billings],
        "papers": [asdict(papers) for papers in outcome.papers],
        "firstTokens": [asdict(times) for times in outcome.first_tokens],
        "neighbours": asdict(outcome.neighbours),
        "dayStarts": [asdict(found) for found in outcome.day_starts],
        "sendings": [asdict(sending) for sending in outcome.sendings],
        "rounds": [{name: asdict(measure) for name, measure in measured.items()} for measured in outcome.rounds],
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results, indent=2) + "\n")


def _medians_of(measures: Sequence[AddressResult]) -> dict[str, float]:
    loads = [measure.load for measure in measures]
    return {
        "rate": median(load.rate for load in loads),
        "p50": median(load.p50 for load in loads),
        "p99": median(load.p99 for load in loads),
        "client_cpu": median(load.client_cpu for load in loads),
        "server_cpu": median(measure.server_cpu for measure in measures),
    }
