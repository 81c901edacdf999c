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
from bench.contenders.running import Contender, mainstay, running
from bench.firm import LINES, Firm, lines, make_firm
from bench.performing import insert_key
from bench.processes import cpu_seconds, family

from mainstay.kernel.context import Context, Envelope
from mainstay.settings import read_settings
from mainstay.staging import open_stage
from mainstay.values.ids import new_id

INVOICES = 100_000
_JOBS = 1_000
# A key may ask 600 times a minute.
_KEYS = 50
_LEAST, _MOST = 3, 30
_LEAST_ROUNDS = 3
_PATIENCE = 60.0
_TOTAL = "2400.00"


@dataclass(frozen=True, slots=True)
class Rates:
    """How many a second."""

    draft: float
    issue: float
    list: float


@dataclass(frozen=True, slots=True)
class Billing:
    """One round, with as many invoices in the books of each."""

    invoices: int
    ours: Rates
    theirs: Rates


class _Books(Protocol):
    """Whoever is asked."""

    def begin(self) -> None: ...
    def draft(self, lines: Sequence[dict[str, Any]]) -> Any: ...
    def issue(self, invoice: Any) -> None: ...
    def list(self) -> int: ...
    def status(self, invoice: Any) -> tuple[str, str]: ...


def measure_billing(invoices: int, seconds: float, until: float) -> list[Billing]:
    """In rounds until this moment, each act for so long at most; nothing where Tryton is not installed."""
    if not tryton.is_installed():
        return []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mainstay-billing-")))
        firm, keys = _make_firm(folder / "ours", invoices)
        plan = tryton.make_books(invoices, folder / "tryton")
        contender = stack.enter_context(running(mainstay(folder / "ours", 1), folder))
        ours = _Mainstay(contender, firm, keys)
        theirs = tryton.Tryton(stack.enter_context(running(plan, folder)), folder / "tryton")
        _check(ours, "sent")
        _check(theirs, "posted")
        return list(_rounds(invoices, (ours, theirs), contender, seconds, until))


def _rounds(
    invoices: int, books: tuple[_Books, _Books], printing: Contender, seconds: float, until: float
) -> Iterator[Billing]:
    number = 0
    while number < _LEAST_ROUNDS or monotonic() < until:
        measured = {}
        for one in books if number % 2 else books[::-1]:
            # What is printed behind an answer is not to take from the next what it needs.
            _rest(printing)
            one.begin()
            measured[one] = _rates(one, seconds)
        yield Billing(invoices, measured[books[0]], measured[books[1]])
        number += 1


def _rates(books: _Books, seconds: float) -> Rates:
    drafts: list[Any] = []
    drafted = _rate(lambda: drafts.append(books.draft(lines(LINES))), seconds, _MOST)
    issued = _rate(lambda: books.issue(drafts.pop()), seconds, len(drafts))
    return Rates(drafted, issued, _rate(books.list, seconds, 10 * _MOST))


def _rate(act: Callable[[], object], seconds: float, most: int) -> float:
    """How often a second, of a few times at least."""
    count, began = 0, perf_counter()
    while count < most and (count < _LEAST or perf_counter() < began + seconds):
        act()
        count += 1
    return count / (perf_counter() - began)


def _rest(contender: Contender) -> None:
    """Wait until a server has nothing left to do."""
    deadline, before = monotonic() + _PATIENCE, -1.0
    while monotonic() < deadline and (now := cpu_seconds(family(contender.pid))) > before + 0.01:
        before = now
        sleep(0.3)


def _check(books: _Books, status: str) -> None:
    """An invoice must have been issued, and come to the same with either."""
    invoice = books.draft(lines(LINES))
    books.issue(invoice)
    if (found := books.status(invoice)) != (status, _TOTAL) or books.list() != 25:
        raise RuntimeError(f"An invoice is {found}, and not {(status, _TOTAL)}.")


class _Mainstay:
    """One connection of a program with keys."""

    def __init__(self, contender: Contender, firm: Firm, keys: Sequence[str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", contender.port, timeout=_PATIENCE)
        self._firm = firm
        self._keys = cycle(keys)

    def begin(self) -> None:
        """Open a connection anew: one that was idle may be closed."""
        self._connection.close()

    def draft(self, lines: Sequence[dict[str, Any]]) -> str:
        """A new draft; its id."""
        given = {"customerId": self._firm.customer, "title": "Replace the boiler", "lines": lines}
        return str(self._ask("POST", "", given)["id"])

    def issue(self, invoice: str) -> None:
        """Give it its number, and send it to nobody."""
        self._ask("POST", f"/{invoice}/send", {"deliver": "none", "confirmed": True})

    def list(self) -> int:
        """Twenty-five invoices; how many there were."""
        return len(self._ask("GET", "?limit=25")["data"])

    def status(self, invoice: str) -> tuple[str, str]:
        """The state of an invoice, and what it comes to."""
        found = self._ask("GET", f"/{invoice}")
        return found["status"], found["total"]

    def _ask(self, method: str, path: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
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


def _make_firm(data: Path, invoices: int) -> tuple[Firm, list[str]]:
    stage = open_stage(replace(read_settings({}), data=data))
    try:
        firm = make_firm(stage, data, _JOBS, invoices)
        with stage.database.changing(firm.owner.organisation) as rows:
            ctx = Context(rows, firm.owner, Envelope(new_id("req")), stage.clock)
            return firm, [insert_key(ctx, str(firm.owner.id)) for _ in range(_KEYS)]
    finally:
        stage.database.close()


if __name__ == "__main__":
    for round_ in measure_billing(INVOICES, 1.0, monotonic() + 20):
        print(round_)
