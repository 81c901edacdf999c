"""What the operator's Prometheus reads: requests by route, status and duration, webhooks, mails, outbox and pools."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from mainstay.backing.database import Pool
from mainstay.backing.tallies import Tallies

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Meters:
    """Counts the requests of these routes into tallies that were made for `meter_names(routes)`."""

    def __init__(self, tallies: Tallies, routes: Sequence[str]) -> None:
        self._sums = tallies.own
        self._totals = tallies.totals
        self._routes = tuple(routes)
        self._firsts = [tallies.index(_names_of(route)[0]) for route in routes]

    def observe(self, route_index: int, status: int, seconds: float) -> None:
        """Count one answered request."""
        first, sums = self._firsts[route_index], self._sums
        sums[first + _STATUS_AT.get(status, _FAULT_AT)] += 1.0
        sums[first + _BUCKETS_AT + bisect_left(_BOUNDS, seconds)] += 1.0
        sums[first + _SUM_AT] += seconds

    def text(self) -> str:
        """Everything counted so far by all processes."""
        return expose(self._totals(), self._routes)


def meter_names(routes: Sequence[str]) -> list[str]:
    """The tallies that meters need, in this order: one for each series, under its own name; routes may share one."""
    return [name for route in dict.fromkeys(routes) for name in _names_of(route)]


def expose(totals: Mapping[str, float], routes: Sequence[str]) -> str:
    """Write the totals of `meter_names(routes)` in Prometheus's text format; routes never asked for are left out."""
    requests: list[str] = []
    seconds: list[str] = []
    for route in dict.fromkeys(routes):
        names = _names_of(route)
        counts = [int(count) for count in accumulate(totals[name] for name in names[_BUCKETS_AT:_SUM_AT])]
        if not counts[-1]:
            continue
        requests += [f"{name} {int(totals[name])}" for name in names[:_BUCKETS_AT]]
        seconds += [f"{name} {count}" for name, count in zip(names[_BUCKETS_AT:_SUM_AT], counts, strict=True)]
        seconds += [
            f"{names[_SUM_AT]} {totals[names[_SUM_AT]]!r}",
            f"{_SECONDS}_count{_labels(route=route)} {counts[-1]}",
        ]
    lines = [
        "# HELP mainstay_up Whether the server answers.",
        "# TYPE mainstay_up gauge",
        "mainstay_up 1",
        f"# HELP {_REQUESTS} Answered requests; 429 stands apart from the other 4xx.",
        f"# TYPE {_REQUESTS} counter",
        *requests,
        f"# HELP {_SECONDS} Time from a request's head to its answer.",
        f"# TYPE {_SECONDS} histogram",
        *seconds,
    ]
    return "\n".join(lines) + "\n"


def attempts_text(counts: Mapping[str, int]) -> str:
    """Write how many attempts to send to webhooks ended how, in the same format."""
    words = "Attempts to send an event to a webhook, since the worker began."
    return _family("mainstay_webhook_attempts_total", "counter", words, _by("outcome", counts))


def mails_text(counts: Mapping[str, int]) -> str:
    """Write how many attempts to send a mail ended how, in the same format."""
    words = "Attempts to send a mail, since the worker began."
    return _family("mainstay_mails_total", "counter", words, _by("outcome", counts))


def waiting_mails_text(waiting: int, parked: int, most: int) -> str:
    """Write how many mails are in the outbox, in the same format."""
    counted = _counted_to(most)
    return _family("mainstay_mails_waiting", "gauge", f"Mails that wait to be sent.{counted}", {"": waiting}) + _family(
        "mainstay_mails_parked",
        "gauge",
        f"Mails that could not be sent and are not tried again by themselves.{counted}",
        {"": parked},
    )


class LaneGauges(NamedTuple):
    """One lane of the outbox: tasks that wait, tasks that failed for good, and seconds since the oldest was due."""

    waiting: int
    parked: int
    late: float


def outbox_text(lanes: Mapping[str, LaneGauges], most: int) -> str:
    """Write what is in the outbox, in all and in each lane, in the same format."""
    counted = _counted_to(most)
    late = {name: round(lane.late, 3) for name, lane in lanes.items()}
    waiting = {name: lane.waiting for name, lane in lanes.items()}
    parked = {name: lane.parked for name, lane in lanes.items()}
    gauges: dict[str, tuple[str, float, Mapping[str, float]]] = {
        "waiting": (f"Work that waits to be done.{counted}", sum(waiting.values()), waiting),
        "parked": (
            f"Work that could not be done and is not tried again by itself.{counted}",
            sum(parked.values()),
            parked,
        ),
        "late_seconds": ("For how long the longest of what waits has been due.", max(late.values(), default=0.0), late),
    }
    return "".join(
        _family(f"mainstay_outbox_{name}", "gauge", words, {"": value})
        + _family(f"mainstay_outbox_lane_{name}", "gauge", f"In each lane: {words}", _by("lane", by_lane))
        for name, (words, value, by_lane) in gauges.items()
    )


def _counted_to(most: int) -> str:
    return f" Counting stops at {most} in each lane."


def timeouts_text(count: int) -> str:
    """Write how many changes waited in vain for others of their organisation, in the same format."""
    words = "Changes that were given up because others of the same organisation took too long."
    return _family("mainstay_change_timeouts_total", "counter", words, {"": count})


def pools_text(pools: Mapping[str, Pool]) -> str:
    """Write how connections to the database are used, by the kind of process that uses them; nothing where none is."""
    if not pools:
        return ""
    return "".join(
        _family(f"mainstay_pool_{name}", kind, words, _by("process", {of: pool[at] for of, pool in pools.items()}))
        for at, (name, kind, words) in enumerate(_POOL)
    )


# In the order of what is told of a pool.
_POOL = (
    ("size", "gauge", "Connections to the database that are open."),
    ("used", "gauge", "Connections to the database that are in use."),
    ("waiting", "gauge", "Who waits for a connection to the database."),
    ("queued_total", "counter", "How often someone had to wait for a connection."),
    ("wait_seconds_total", "counter", "For how long they had to wait in all."),
    ("errors_total", "counter", "How often they waited in vain."),
)


def _family(name: str, kind: str, words: str, samples: Mapping[str, float]) -> str:
    lines = [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
    return "\n".join([*lines, *(f"{name}{labels} {value}" for labels, value in samples.items())]) + "\n"


def _by(label: str, values: Mapping[str, float]) -> dict[str, float]:
    return {_labels(**{label: named}): value for named, value in values.items()}


_REQUESTS = "mainstay_requests_total"
_SECONDS = "mainstay_request_seconds"
_STATUSES = ("2xx", "3xx", "4xx", "429", "5xx")
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_BOUND_LABELS = (*(f"{bound:g}" for bound in _BOUNDS), "+Inf")


# Where a route's tallies lie, counted from its first. What is no status of an answer counts as a fault.
_STATUS_AT = {status: _STATUSES.index(f"{status // 100}xx") for status in range(200, 600)} | {
    429: _STATUSES.index("429")
}
_FAULT_AT = _STATUSES.index("5xx")
_BUCKETS_AT = len(_STATUSES)
_SUM_AT = _BUCKETS_AT + len(_BOUND_LABELS)


@cache
def _names_of(route: str) -> list[str]:
    return [
        *(f"{_REQUESTS}{_labels(route=route, status=status)}" for status in _STATUSES),
        *(f"{_SECONDS}_bucket{_labels(route=route, le=bound)}" for bound in _BOUND_LABELS),
        f"{_SECONDS}_sum{_labels(route=route)}",
    ]


def _labels(**labels: str) -> str:
    quoted = (value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for value in labels.values())
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(labels, quoted, strict=True)) + "}"
