"""Invoices beside Tryton: twenty lines are drafted and issued, and twenty-five of very many listed.

Both are asked over HTTP on one connection, one request after the other, by the same client and by turns; their books
have as many invoices. `python -m bench.billing` measures this part alone.
"""

import http.client
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep
from typing import Any, Protocol

# The parts of the bench are found from the root, however this is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.contenders import tryton
from bench.contenders.running import Contender, plan_mainstay, run_contender
from bench.firm import INVOICE_LINES, BenchFirm, make_firm, make_lines
from bench.performing import insert_key
from bench.processes import cpu_seconds, process_tree

from mainstay.composition import open_performer
from mainstay.kernel.context import Context, RequestDetails
from mainstay.settings import read_settings
from mainstay.values.ids import new_id

INVOICES = 100_000
_JOBS = 1_000
# A key may ask 600 times a minute.
_KEYS = 50
_MIN_COUNT, _MAX_COUNT = 3, 30
_MIN_ROUNDS = 3
_TIMEOUT_SECONDS = 60.0
_TOTAL = "2400.00"


@dataclass(frozen=True, slots=True)
class Rates:
    """Actions a second."""

    draft: float
    issue: float
    list: float


@dataclass(frozen=True, slots=True)
class Billing:
    """One round, with as many invoices in the books of each."""

    invoices: int
    ours: Rates
    theirs: Rates


class _BillingClient(Protocol):
    """A client of the product or of Tryton."""

    def reconnect(self) -> None: ...
    def draft(self, lines: Sequence[dict[str, Any]]) -> Any: ...
    def issue(self, invoice: Any) -> None: ...
    def list(self) -> int: ...
    def status(self, invoice: Any) -> tuple[str, str]: ...


def measure_billing(invoices: int, seconds: float, until: float) -> list[Billing]:
    """Measure in rounds until this moment, each action for so long at most; empty if Tryton is not installed."""
    if not tryton.is_installed():
        return []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mainstay-billing-")))
        firm, keys = _make_firm(folder / "ours", invoices)
        plan = tryton.plan_tryton(invoices, folder / "tryton")
        contender = stack.enter_context(run_contender(plan_mainstay(folder / "ours", 1), folder))
        ours = _MainstayClient(contender, firm, keys)
        theirs = tryton.TrytonClient(stack.enter_context(run_contender(plan, folder)), folder / "tryton")
        _check_invoice(ours, "sent")
        _check_invoice(theirs, "posted")
        return list(_measure_rounds(invoices, (ours, theirs), contender, seconds, until))


def _measure_rounds(
    invoices: int, clients: tuple[_BillingClient, _BillingClient], printing: Contender, seconds: float, until: float
) -> Iterator[Billing]:
    number = 0
    while number < _MIN_ROUNDS or monotonic() < until:
        measured = {}
        for one in clients if number % 2 else clients[::-1]:
            # What is printed behind an answer is not to take from the next what it needs.
            _wait_until_idle(printing)
            one.reconnect()
            measured[one] = _measure_rates(one, seconds)
        yield Billing(invoices, measured[clients[0]], measured[clients[1]])
        number += 1


def _measure_rates(client: _BillingClient, seconds: float) -> Rates:
    drafts: list[Any] = []
    drafted = _measure_rate(lambda: drafts.append(client.draft(make_lines(INVOICE_LINES))), seconds, _MAX_COUNT)
    issued = _measure_rate(lambda: client.issue(drafts.pop()), seconds, len(drafts))
    return Rates(drafted, issued, _measure_rate(client.list, seconds, 10 * _MAX_COUNT))


def _measure_rate(action: Callable[[], object], seconds: float, max_count: int) -> float:
    """Return how often a second an action succeeds."""
    count, began = 0, perf_counter()
    while count < max_count and (count < _MIN_COUNT or perf_counter() < began + seconds):
        action()
        count += 1
    return count / (perf_counter() - began)


def _wait_until_idle(contender: Contender) -> None:
    """Wait until a server has nothing left to do."""
    deadline, before = monotonic() + _TIMEOUT_SECONDS, -1.0
    while monotonic() < deadline and (now := cpu_seconds(process_tree(contender.pid))) > before + 0.01:
        before = now
        sleep(0.3)


def _check_invoice(client: _BillingClient, status: str) -> None:
    """An invoice must have been issued, and come to the same with either."""
    invoice = client.draft(make_lines(INVOICE_LINES))
    client.issue(invoice)
    if (found := client.status(invoice)) != (status, _TOTAL) or client.list() != 25:
        raise RuntimeError(f"An invoice is {found}, and not {(status, _TOTAL)}.")


class _MainstayClient:
    """One connection of a program with keys."""

    def __init__(self, contender: Contender, firm: BenchFirm, keys: Sequence[str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", contender.port, timeout=_TIMEOUT_SECONDS)
        self._firm = firm
        self._keys = cycle(keys)

    def reconnect(self) -> None:
        """Reconnect: an idle connection may have been closed."""
        self._connection.close()

    def draft(self, lines: Sequence[dict[str, Any]]) -> str:
        """A new draft; its id."""
        given = {"customerId": self._firm.customer, "title": "Replace the boiler", "lines": lines}
        return str(self._request("POST", "", given)["id"])

    def issue(self, invoice: str) -> None:
        """Give it its number, and send it to nobody."""
        self._request("POST", f"/{invoice}/send", {"deliver": "none", "confirmed": True})

    def list(self) -> int:
        """Twenty-five invoices; how many there were."""
        return len(self._request("GET", "?limit=25")["data"])

    def status(self, invoice: str) -> tuple[str, str]:
        """The state of an invoice, and what it comes to."""
        found = self._request("GET", f"/{invoice}")
        return found["status"], found["total"]

    def _request(self, method: str, path: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {next(self._keys)}"}
        if given is not None:
            headers["Content-Type"] = "application/json"
        body = None if given is None else json.dumps(given)
        self._connection.request(method, f"/api/v1/invoices{path}", body, headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status not in {http.HTTPStatus.OK, http.HTTPStatus.CREATED}:
            raise RuntimeError(f"Mainstay answered {response.status} to {method} {path}: {content[:1000]!r}")
        answer: dict[str, Any] = json.loads(content)
        return answer


def _make_firm(data: Path, invoices: int) -> tuple[BenchFirm, list[str]]:
    performer = open_performer(replace(read_settings({}), data=data))
    try:
        firm = make_firm(performer, data, _JOBS, invoices)
        with performer.database.write_transaction(firm.owner.organisation) as db:
            ctx = Context(db, firm.owner, RequestDetails(new_id("req")), performer.clock)
            return firm, [insert_key(ctx, str(firm.owner.id)) for _ in range(_KEYS)]
    finally:
        performer.database.close()


if __name__ == "__main__":
    for round_ in measure_billing(INVOICES, 1.0, monotonic() + 20):
        print(round_)
