"""Metrics for the operator's Prometheus: requests by route, status and duration, webhooks, emails, outbox and pools."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from mainstay.infrastructure.database import PoolUsage
from mainstay.infrastructure.shared_counters import SharedCounters

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class RequestMetrics:
    """Counts the requests of these routes in counters that were created for `counter_names(routes)`."""

    def __init__(self, shared_counters: SharedCounters, routes: Sequence[str]) -> None:
        self._counters = shared_counters.own_row
        self._sum_rows = shared_counters.sum_rows
        self._routes = tuple(routes)
        self._first_indices = [shared_counters.find_index(_counter_names_of(route)[0]) for route in routes]

    def observe(self, route_index: int, status: int, seconds: float) -> None:
        """Count one answered request."""
        first, counters = self._first_indices[route_index], self._counters
        counters[first + _STATUS_AT.get(status, _FAULT_AT)] += 1.0
        counters[first + _BUCKETS_AT + bisect_left(_BOUNDS, seconds)] += 1.0
        counters[first + _SUM_AT] += seconds

    def to_text(self) -> str:
        """Return everything that all processes have counted so far."""
        return format_requests(self._sum_rows(), self._routes)


def counter_names(routes: Sequence[str]) -> list[str]:
    """Return the names of the counters, in order: one for each time series; routes may share counters."""
    return [name for route in dict.fromkeys(routes) for name in _counter_names_of(route)]


def format_requests(totals: Mapping[str, float], routes: Sequence[str]) -> str:
    """Return the totals of `counter_names(routes)` in Prometheus's text format, without routes that had no requests."""
    requests: list[str] = []
    seconds: list[str] = []
    for route in dict.fromkeys(routes):
        names = _counter_names_of(route)
        counts = [int(count) for count in accumulate(totals[name] for name in names[_BUCKETS_AT:_SUM_AT])]
        if not counts[-1]:
            continue
        requests += [f"{name} {int(totals[name])}" for name in names[:_BUCKETS_AT]]
        seconds += [f"{name} {count}" for name, count in zip(names[_BUCKETS_AT:_SUM_AT], counts, strict=True)]
        seconds += [
            f"{names[_SUM_AT]} {totals[names[_SUM_AT]]!r}",
            f"{_SECONDS}_count{_format_labels(route=route)} {counts[-1]}",
        ]
    lines = [
        "# HELP mainstay_up Whether the server answers.",
        "# TYPE mainstay_up gauge",
        "mainstay_up 1",
        f"# HELP {_REQUESTS} Answered requests; 429 is counted separately from the other 4xx.",
        f"# TYPE {_REQUESTS} counter",
        *requests,
        f"# HELP {_SECONDS} Time from a request's head to its answer.",
        f"# TYPE {_SECONDS} histogram",
        *seconds,
    ]
    return "\n".join(lines) + "\n"


def format_webhook_attempts(counts: Mapping[str, int]) -> str:
    """Return the number of attempts to send to webhooks by their outcome, in the same format."""
    help_text = "Attempts to send an event to a webhook, since the worker started."
    return _format_family("mainstay_webhook_attempts_total", "counter", help_text, _label_values("outcome", counts))


def format_emails(counts: Mapping[str, int]) -> str:
    """Return the number of attempts to send an email by their outcome, in the same format."""
    help_text = "Attempts to send an email, since the worker started."
    return _format_family("mainstay_mails_total", "counter", help_text, _label_values("outcome", counts))


def format_waiting_emails(waiting: int, parked: int, limit: int) -> str:
    """Return the number of emails in the outbox, in the same format."""
    limit_note = _limit_note(limit)
    return _format_family(
        "mainstay_mails_waiting", "gauge", f"Emails waiting to be sent.{limit_note}", {"": waiting}
    ) + _format_family(
        "mainstay_mails_parked",
        "gauge",
        f"Emails that could not be sent and are no longer retried.{limit_note}",
        {"": parked},
    )


class LaneGauges(NamedTuple):
    """The state of one outbox lane: waiting tasks, permanently failed tasks, and seconds since the oldest was due."""

    waiting: int
    parked: int
    late_seconds: float


def format_outbox(lanes: Mapping[str, LaneGauges], limit: int) -> str:
    """Return what is in the outbox, in total and in each lane, in the same format."""
    limit_note = _limit_note(limit)
    late = {name: round(lane.late_seconds, 3) for name, lane in lanes.items()}
    waiting = {name: lane.waiting for name, lane in lanes.items()}
    parked = {name: lane.parked for name, lane in lanes.items()}
    gauges: dict[str, tuple[str, float, Mapping[str, float]]] = {
        "waiting": (f"Tasks waiting to be done.{limit_note}", sum(waiting.values()), waiting),
        "parked": (
            f"Tasks that failed and are no longer retried.{limit_note}",
            sum(parked.values()),
            parked,
        ),
        "late_seconds": ("For how long the longest of what waits has been due.", max(late.values(), default=0.0), late),
    }
    return "".join(
        _format_family(f"mainstay_outbox_{name}", "gauge", help_text, {"": value})
        + _format_family(
            f"mainstay_outbox_lane_{name}", "gauge", f"In each lane: {help_text}", _label_values("lane", by_lane)
        )
        for name, (help_text, value, by_lane) in gauges.items()
    )


def _limit_note(limit: int) -> str:
    return f" Counting stops at {limit} in each lane."


def format_timeouts(count: int) -> str:
    """Return the number of changes that did not get their turn in their organisation, in the same format."""
    help_text = "Changes that were given up because others of the same organisation took too long or were too many."
    return _format_family("mainstay_change_timeouts_total", "counter", help_text, {"": count})


def format_pools(pools: Mapping[str, PoolUsage]) -> str:
    """Return how database connections are used, by kind of process, or an empty text if there are no pools."""
    if not pools:
        return ""
    return "".join(
        _format_family(
            f"mainstay_pool_{name}",
            kind,
            help_text,
            _label_values("process", {process: pool[index] for process, pool in pools.items()}),
        )
        for index, (name, kind, help_text) in enumerate(_POOL_METRICS)
    )


# In the order of the fields of `PoolUsage`.
_POOL_METRICS = (
    ("size", "gauge", "Connections to the database that are open."),
    ("used", "gauge", "Connections to the database that are in use."),
    ("waiting", "gauge", "Who waits for a connection to the database."),
    ("queued_total", "counter", "How often someone had to wait for a connection."),
    ("wait_seconds_total", "counter", "For how long they had to wait in all."),
    ("errors_total", "counter", "How often they waited in vain."),
)


def _format_family(name: str, kind: str, help_text: str, samples: Mapping[str, float]) -> str:
    lines = [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
    return "\n".join([*lines, *(f"{name}{labels} {value}" for labels, value in samples.items())]) + "\n"


def _label_values(label: str, values: Mapping[str, float]) -> dict[str, float]:
    return {_format_labels(**{label: label_value}): value for label_value, value in values.items()}


_REQUESTS = "mainstay_requests_total"
_SECONDS = "mainstay_request_seconds"
_STATUSES = ("2xx", "3xx", "4xx", "429", "5xx")
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_BOUND_LABELS = (*(f"{bound:g}" for bound in _BOUNDS), "+Inf")


# The positions of a route's counters, relative to its first one. An invalid status counts as a server error.
_STATUS_AT = {status: _STATUSES.index(f"{status // 100}xx") for status in range(200, 600)} | {
    429: _STATUSES.index("429")
}
_FAULT_AT = _STATUSES.index("5xx")
_BUCKETS_AT = len(_STATUSES)
_SUM_AT = _BUCKETS_AT + len(_BOUND_LABELS)


@cache
def _counter_names_of(route: str) -> list[str]:
    return [
        *(f"{_REQUESTS}{_format_labels(route=route, status=status)}" for status in _STATUSES),
        *(f"{_SECONDS}_bucket{_format_labels(route=route, le=bound)}" for bound in _BOUND_LABELS),
        f"{_SECONDS}_sum{_format_labels(route=route)}",
    ]


def _format_labels(**labels: str) -> str:
    quoted = (value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for value in labels.values())
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(labels, quoted, strict=True)) + "}"
