"""What Mainstay is to reach: ratios within one run, because the numbers of one machine mean nothing on another."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import median

from bench.billing import Billing, Rates
from bench.board import BoardPage
from bench.first_token import FirstTokenTimes
from bench.flat import MAX_GROWTH, ReadGrowth
from bench.neighbours.measuring import NeighbourResults, Slowdown
from bench.neighbours.memory import MemoryGrowth
from bench.neighbours.start_of_day import DayStart
from bench.papers import PdfRates
from bench.rounds import RoundResults
from bench.webhooks import SendingRates

ORGANISATION = "Mainstay, organisation"
TWO_WORKERS = "Mainstay, organisation, two workers"
PEOPLE = "Mainstay, 25 of 100 people"
PEOPLE_OF_MANY = "Mainstay, 25 of 50,000 people"
REFERENCE_ORGANISATION = "reference, organisation"
REFERENCE_PEOPLE = "reference, 25 of 100 people"
CEILING = "ceiling, an empty answer"
TOOLS_LIST = "Mainstay, tools/list"
TOOLS_CALL = "Mainstay, tools/call"
SDK_LIST = "MCP SDK, tools/list"
SDK_CALL = "MCP SDK, tools/call"
FAST_LIST = "FastMCP, tools/list"
FAST_CALL = "FastMCP, tools/call"
CHANGE = "Mainstay, change a person"
REFERENCE_CHANGE = "reference, change a person"
JOBS = "Mainstay, 25 of 1,000 jobs"
REFERENCE_JOBS = "reference, 25 of 1,000 jobs"
CREATE = "Mainstay, make a job"
REFERENCE_CREATE = "reference, make a job"
# Pages of the office of a firm with 20,000 jobs and as many invoices; `{invoice}` is one of twenty lines.
PAGES = {
    "page: home": "/",
    "page: board": "/jobs/board",
    "page: a day of the schedule": "/schedule?view=day",
    "page: a week of the schedule": "/schedule?view=week",
    "page: a month of the schedule": "/schedule?view=month",
    "page: a list of jobs": "/jobs",
    "page: a list of invoices": "/invoices",
    "page: a job": "/jobs/{job}",
    "page: an invoice": "/invoices/{invoice}",
    "page: a quote's lines": "/quotes/{quote}/lines",
    "page: sending a quote": "/quotes/{quote}/send",
}
# What each took before the office was redesigned, as times the list of the reference in the same run (decision 90).
# There was no page of a month.
PAGES_BEFORE = {
    "page: home": 2.55,
    "page: board": 2.88,
    "page: a day of the schedule": 1.87,
    "page: a week of the schedule": 5.12,
    "page: a list of jobs": 2.80,
    "page: a list of invoices": 2.79,
    "page: a job": 2.95,
    "page: an invoice": 1.20,
    "page: a quote's lines": 2.21,
    "page: sending a quote": 0.50,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A goal, and what was measured: the median of all rounds, and where the middle half of them lies."""

    goal: str
    bound: str
    measured: float
    low: float
    high: float
    met: bool
    # The same by processor time instead of requests a second: other programs on the machine disturb it less.
    by_cpu: float | None = None
    # Why it is missed, where the number does not say it.
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GoalRatio:
    """One measure over another: at least so much, or at most."""

    text: str
    numerator: str
    denominator: str
    least: float = 0.0
    most: float = float("inf")
    attribute: str = "load.rate"
    # How many cores the first has for each of the second's; none where processor time does not tell the same.
    cores: int = 1

    def judge(self, rounds: Sequence[RoundResults]) -> Verdict:
        """Take the ratio within each round."""
        by_cpu = [self.cores / ratio for ratio in self._ratios(rounds, "server_cpu")] if self.cores else []
        # Where several processes leave the client no core, it takes from them what it needs, and the more they answer,
        # the more: how many requests a second they would answer is then told only by the time that each takes them.
        crowded = self.cores > 1 and len(os.sched_getaffinity(0)) <= self.cores
        ratios = by_cpu if crowded else self._ratios(rounds, self.attribute)
        return _make_verdict(self.text, ratios, self.least, self.most, median(by_cpu) if by_cpu else None)

    def _ratios(self, rounds: Sequence[RoundResults], attribute: str) -> list[float]:
        value = attrgetter(attribute)
        return [value(measured[self.numerator]) / value(measured[self.denominator]) for measured in rounds]


RATIOS = (
    GoalRatio("organisation: times the reference", ORGANISATION, REFERENCE_ORGANISATION, least=15),
    GoalRatio("list: times the reference", PEOPLE, REFERENCE_PEOPLE, least=10),
    GoalRatio("organisation: part of the ceiling", ORGANISATION, CEILING, least=0.30),
    GoalRatio("list: part of the ceiling", PEOPLE, CEILING, least=0.15),
    GoalRatio("tools/list: times the SDK", TOOLS_LIST, SDK_LIST, least=5),
    GoalRatio("tools/call: times the SDK", TOOLS_CALL, SDK_CALL, least=5),
    GoalRatio("tools/list: times FastMCP", TOOLS_LIST, FAST_LIST, least=10),
    GoalRatio("tools/call: times FastMCP", TOOLS_CALL, FAST_CALL, least=10),
    # By processor time: for each change both wait for the disk, and as long. The reference writes the row and no more;
    # in ours are the trail, the event, the words one searches by, and what the worker does about it afterwards.
    GoalRatio("change: times the reference", REFERENCE_CHANGE, CHANGE, least=1, attribute="server_cpu", cores=0),
    GoalRatio("jobs: times the reference", JOBS, REFERENCE_JOBS, least=10),
    # Likewise; but here the reference stores everything that belongs to a job too. Otherwise it would not be a job.
    GoalRatio("make a job: times the reference", REFERENCE_CREATE, CREATE, least=5, attribute="server_cpu", cores=0),
    GoalRatio("two workers: times one", TWO_WORKERS, ORGANISATION, least=1.7, cores=2),
    GoalRatio("list: p50 with 50,000 people over 100", PEOPLE_OF_MANY, PEOPLE, most=1.5, attribute="load.p50", cores=0),
)

_MAX_MEGABYTES = 100
_MAX_SLOWDOWN = 2.0
_MAX_WRITE_MILLISECONDS = 250
# The gain of a second worker where organisations' days begin.
_MIN_GAIN_OF_TWO = 1.0
_MAX_GROWTH_IN_MEMORY = 1.2
_MAX_MILLISECONDS = 40
# Until the first piece of a reply.
_MAX_ADDED_MILLISECONDS = 20
_MAX_TIMES_BEFORE = 1.2


def judge_sending(rounds: Sequence[SendingRates]) -> list[Verdict]:
    """What becomes of webhooks: how fast they are sent, and what dead receivers cost a healthy one."""
    by_cpu = median(sending.client_cpu / sending.worker_cpu for sending in rounds)
    return [
        _make_verdict(
            "webhooks: part of the client alone", [of.worker / of.client for of in rounds], 0.5, by_cpu=by_cpu
        ),
        _make_verdict("webhooks: one of 20, 19 dead", [of.among_dead / of.among_healthy for of in rounds], 0.8),
    ]


def judge_billing(rounds: Sequence[Billing]) -> list[Verdict]:
    """Invoices beside Tryton; there is nothing to judge where it is not installed."""

    def ratios(rate_of: Callable[[Rates], float]) -> list[float]:
        return [rate_of(billing.ours) / rate_of(billing.theirs) for billing in rounds]

    if not rounds:
        return []
    return [
        _make_verdict("draft 20 lines: times Tryton", ratios(attrgetter("draft")), least=1),
        _make_verdict("issue it: times Tryton", ratios(attrgetter("issue")), least=1),
        _make_verdict(f"25 of {rounds[0].invoices:,} invoices: times Tryton", ratios(attrgetter("list")), least=5),
    ]


def judge_papers(rounds: Sequence[PdfRates]) -> Verdict:
    """How much of the speed of bare Typst is left."""
    return _make_verdict("PDFs: part of bare Typst", [papers.ours / papers.bare for papers in rounds], least=0.7)


def judge_first_tokens(rounds: Sequence[FirstTokenTimes]) -> list[Verdict]:
    """What we add to the bare server of a model, in each of its protocols."""
    added: dict[str, list[float]] = {}
    for times in rounds:
        added.setdefault(times.dialect, []).append(times.ours - times.bare)
    return [
        _make_verdict(f"assistant: added CPU, {dialect}, in ms", milliseconds, most=_MAX_ADDED_MILLISECONDS)
        for dialect, milliseconds in added.items()
    ]


def judge_pages(rounds: Sequence[RoundResults]) -> list[Verdict]:
    """The server's own time for each page, on one core: in milliseconds, and beside what it took before."""
    in_milliseconds = [
        _make_verdict(
            f"{name}, in ms", [measured[name].server_cpu / 1000 for measured in rounds], most=_MAX_MILLISECONDS
        )
        for name in PAGES
    ]
    beside_before = [
        _make_verdict(
            f"{name}, times before",
            [measured[name].server_cpu / measured[REFERENCE_PEOPLE].server_cpu / before for measured in rounds],
            most=_MAX_TIMES_BEFORE,
        )
        for name, before in PAGES_BEFORE.items()
    ]
    return [*in_milliseconds, *beside_before]


def judge_board(pages: Sequence[BoardPage]) -> list[Verdict]:
    """The processor time of each view of the schedule of a large firm, with that of the client that asks."""
    return [
        _make_verdict(f"{page.name} of 30 people, in ms", [page.milliseconds], most=_MAX_MILLISECONDS) for page in pages
    ]


def judge_flatness(readings: Sequence[ReadGrowth]) -> list[Verdict]:
    """Of all readings, the one that grows most counts; there is nothing to judge where none was measured."""
    growths = [reading.growth for reading in readings]
    if not growths:
        return []
    verdict = _make_verdict(f"{len(growths)} readings: the most one grows", growths, most=MAX_GROWTH)
    return [replace(verdict, measured=max(growths), met=max(growths) <= MAX_GROWTH)]


def judge_memory(megabytes: Sequence[float]) -> Verdict:
    """The largest worker counts."""
    largest = max(megabytes)
    return Verdict(
        "memory: the largest worker, in MB",
        f"< {_MAX_MEGABYTES}",
        largest,
        min(megabytes),
        largest,
        largest < _MAX_MEGABYTES,
    )


def judge_neighbours(found: NeighbourResults) -> list[Verdict]:
    """How much one firm's load slows another: of each situation, the request that is slowed most."""
    by_situation: dict[tuple[str, str], list[Slowdown]] = {}
    for one in found.slowdowns:
        by_situation.setdefault((one.engine, one.situation), []).append(one)
    verdicts = [_judge_situation(slowdowns) for slowdowns in by_situation.values()]
    verdicts += [_judge_worst_write(one) for one in found.slowdowns if one.is_write_during_import]
    return [*verdicts, _judge_growth(found.growth)] if found.growth else verdicts


def judge_day_starts(found: Sequence[DayStart]) -> list[Verdict]:
    """How much faster two workers are than one, on each engine."""
    by_engine: dict[str, list[float]] = {}
    for one in found:
        by_engine.setdefault(one.engine, []).append(one.one_worker / one.two_workers)
    return [
        _make_verdict(f"{engine}, start of the day: two workers", ratios, least=_MIN_GAIN_OF_TWO)
        for engine, ratios in by_engine.items()
    ]


def _judge_growth(processes: Sequence[MemoryGrowth]) -> Verdict:
    """The process that grows most counts, and none may have died."""
    ratios = [one.after / one.before for one in processes if one.after is not None] or [0.0]
    died = len(processes) - len(ratios)
    verdict = _make_verdict(
        f"memory after {processes[0].documents} heavy documents", ratios, most=_MAX_GROWTH_IN_MEMORY
    )
    met = max(ratios) <= _MAX_GROWTH_IN_MEMORY and not died
    return replace(verdict, measured=max(ratios), met=met, reason=f"{died} processes died" if died else "")


def is_slowed(one: Slowdown) -> bool:
    """Find out whether a request takes longer than it may, or fails."""
    return one.ratio > _MAX_SLOWDOWN or bool(one.failures)


def _judge_situation(slowdowns: Sequence[Slowdown]) -> Verdict:
    worst = max(slowdowns, key=attrgetter("ratio"))
    verdict = _make_verdict(
        f"{worst.engine}, {worst.situation}: {worst.request}", [one.ratio for one in slowdowns], most=_MAX_SLOWDOWN
    )
    reason = next((failure for one in slowdowns for failure in one.failures), "")
    met = not any(map(is_slowed, slowdowns))
    return replace(verdict, measured=worst.ratio, met=met, reason=reason)


def _judge_worst_write(one: Slowdown) -> Verdict:
    verdict = _make_verdict(f"{one.engine}, import: worst write, in ms", [one.worst], most=_MAX_WRITE_MILLISECONDS)
    return replace(verdict, met=verdict.met and not one.failures, reason=next(iter(one.failures), ""))


def _make_verdict(
    text: str, ratios: Sequence[float], least: float = 0.0, most: float = float("inf"), by_cpu: float | None = None
) -> Verdict:
    ordered, middle, quarter = sorted(ratios), median(ratios), len(ratios) // 4
    bound = f"≥ {least:g}" if least else f"≤ {most:g}"
    return Verdict(text, bound, middle, ordered[quarter], ordered[-1 - quarter], least <= middle <= most, by_cpu)
