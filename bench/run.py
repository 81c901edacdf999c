"""`make bench`: Mainstay beside a reference and a ceiling, in one run on one machine.

`--quick` takes about three minutes. It leaves out whether readings stay flat in a firm of 100,000 jobs, compares
invoices with Tryton in smaller books, and sends few requests of a busy firm's neighbour, on SQLite only.
Tryton's books are made once, which takes a minute or two, and kept.

It informs: a goal that is missed is marked. Only a run that could not measure fails.
"""

import argparse
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import orjson

# The parts of the bench are found from the root, however this is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import goals
from bench.billing import INVOICES, measure_billing
from bench.client import NUMBER
from bench.contenders.running import ROOT, Contender, mainstay, other, running
from bench.firm import Firm
from bench.flat import LARGE, SMALL, Flatness, measure_growth
from bench.neighbours.measuring import FULL, QUICK, Neighbours, measure_neighbours
from bench.neighbours.start_of_day import ORGANISATIONS, ROUNDS, DayStart, measure_day_starts
from bench.papers import measure_papers
from bench.processes import cpu_seconds, family, machine_seconds, memories
from bench.report import Outcome, show, write
from bench.rounds import Aim, Field, Round
from bench.stock import Stock, make_stock
from bench.webhooks import measure_sending

RESULTS = ROOT / "bench" / "results" / "latest.json"

_LEAST_ROUNDS = 3
_FEWER_INVOICES = 10_000
_PAPERS = 3
_ORGANISATION = "/api/v1/organisation"
_PEOPLE = "/api/v1/people?limit=25"
_JOBS = "/api/v1/jobs?limit=25"
# The cookie of a sign-in where addresses are not secure.
_COOKIE = "mainstay"
# Without blanks, as the clients of tool servers write.
_LIST = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).decode()
_CALL = orjson.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_organisation", "arguments": {}}}
).decode()
_CHANGE = orjson.dumps({"phone": f"+44 7700 {NUMBER}"}).decode()


def main() -> None:
    began = monotonic()
    parser = argparse.ArgumentParser(description="Measure Mainstay against references in the same run.")
    parser.add_argument("--quick", action="store_true", help="a rough look in about three minutes")
    quick = parser.parse_args().quick
    for number in (signal.SIGTERM, signal.SIGHUP):
        # As an exception, so that everything that was started is ended.
        signal.signal(number, lambda *_: sys.exit("The bench was ended."))
    outcome = measure(0.5, began + 60) if quick else measure(1.0, began + 260)
    _say("sending to webhooks")
    sendings = measure_sending(1.0, monotonic() + 12) if quick else measure_sending(2.0, monotonic() + 40)
    _say("drafting, issuing and listing invoices, beside Tryton")
    billings = (
        measure_billing(_FEWER_INVOICES, 0.5, monotonic())
        if quick
        else measure_billing(INVOICES, 2.0, monotonic() + 60)
    )
    _say("making PDFs, beside bare Typst")
    papers = [measure_papers(0.5 if quick else 3.0) for _ in range(_PAPERS)]
    flatness = () if quick else _measure_flatness()
    _say("a neighbour's requests while other firms are busy")
    neighbours = measure_neighbours(QUICK, ["sqlite"]) if quick else measure_neighbours(FULL)
    day_starts = () if quick else _measure_day_starts()
    outcome = replace(
        outcome,
        sendings=sendings,
        billings=billings,
        papers=papers,
        flatness=flatness,
        neighbours=neighbours,
        day_starts=day_starts,
    )
    show(outcome)
    write(outcome, RESULTS)
    print(f"Everything is in {RESULTS.relative_to(ROOT)}.")


def _measure_flatness() -> list[Flatness]:
    _say(f"reading in firms of {SMALL:,} and {LARGE:,} jobs, invoices, payments and orders")
    return measure_growth(LARGE)


def _measure_day_starts() -> list[DayStart]:
    _say(f"the start of the day of {ORGANISATIONS:,} organisations")
    return measure_day_starts(ORGANISATIONS, ROUNDS)


def measure(seconds: float, until: float) -> Outcome:
    """Start everything, measure each aim for this long in rounds until this moment, and end everything."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mainstay-bench-")))
        _say("making the people, jobs and keys")
        stock = make_stock(folder)
        _say("starting the contenders")
        data_of_two, data_of_reference = (
            shutil.copytree(stock.data, folder / name) for name in ("data-of-two", "data-of-reference")
        )
        plans = (
            mainstay(stock.data, 1),
            mainstay(data_of_two, 2),
            replace(mainstay(stock.paged_data, 1), name="pages"),
            other("reference", {"BENCH_DATABASE": str(data_of_reference / "mainstay.db")}),
            other("ceiling", {}),
            other("mcp_sdk", {}),
            other("mcp_fast", {}),
        )
        contenders = {plan.name: stack.enter_context(running(plan, folder)) for plan in plans}
        aims = _aims(contenders, stock)
        _check_answers(aims)
        field = Field(aims)
        _say("warming up")
        field.round(seconds / 2)
        began, before = monotonic(), _seconds_of_others(contenders)
        rounds = list(_rounds(field, seconds, until))
        others = (_seconds_of_others(contenders) - before) / (monotonic() - began) / (os.cpu_count() or 1)
        memory = [found for name in ("mainstay-1", "mainstay-2") for found in memories(name, contenders[name].pid)]
        return Outcome(
            rounds,
            seconds,
            memory,
            others,
            sendings=(),
            billings=(),
            papers=(),
            flatness=(),
            neighbours=Neighbours(),
            day_starts=(),
        )


def _aims(contenders: Mapping[str, Contender], stock: Stock) -> list[Aim]:
    """What is measured; neighbours are compared."""
    one, two, reference = contenders["mainstay-1"], contenders["mainstay-2"], contenders["reference"]
    return [
        Aim(goals.REFERENCE_ORGANISATION, reference, _ORGANISATION, stock.small_keys),
        Aim(goals.TWO_WORKERS, two, _ORGANISATION, stock.small_keys),
        Aim(goals.ORGANISATION, one, _ORGANISATION, stock.small_keys),
        Aim(goals.CEILING, contenders["ceiling"], "/", stock.small_keys),
        Aim(goals.PEOPLE_OF_MANY, one, _PEOPLE, stock.large_keys),
        Aim(goals.PEOPLE, one, _PEOPLE, stock.small_keys),
        Aim(goals.REFERENCE_PEOPLE, reference, _PEOPLE, stock.small_keys),
        Aim(goals.SDK_LIST, contenders["mcp_sdk"], "/mcp", stock.small_keys, "POST", _LIST),
        Aim(goals.TOOLS_LIST, one, "/mcp", stock.small_keys, "POST", _LIST),
        Aim(goals.FAST_LIST, contenders["mcp_fast"], "/mcp", stock.small_keys, "POST", _LIST),
        Aim(goals.SDK_CALL, contenders["mcp_sdk"], "/mcp", stock.small_keys, "POST", _CALL),
        Aim(goals.TOOLS_CALL, one, "/mcp", stock.small_keys, "POST", _CALL),
        Aim(goals.FAST_CALL, contenders["mcp_fast"], "/mcp", stock.small_keys, "POST", _CALL),
        Aim(goals.JOBS, one, _JOBS, stock.job_keys),
        Aim(goals.REFERENCE_JOBS, reference, _JOBS, stock.job_keys),
        *(
            Aim(name, contender, "/api/v1/jobs", stock.job_keys, "POST", _new_job(stock.jobs), connections=1)
            for name, contender in ((goals.CREATE, one), (goals.REFERENCE_CREATE, reference))
        ),
        # One at a time: the reference gives up where many change something at once.
        Aim(goals.CHANGE, one, f"/api/v1/people/{stock.person}", stock.small_keys, "PATCH", _CHANGE, connections=1),
        Aim(
            goals.REFERENCE_CHANGE,
            reference,
            f"/api/v1/people/{stock.person}",
            stock.small_keys,
            "PATCH",
            _CHANGE,
            connections=1,
        ),
        *(
            Aim(
                name,
                contenders["pages"],
                path.format(invoice=stock.paged.invoice),
                stock.sign_in,
                connections=1,
                cookie=_COOKIE,
            )
            for name, path in goals.PAGES.items()
        ),
    ]


def _new_job(firm: Firm) -> str:
    """A job as the office makes it."""
    given = {
        "customerId": firm.customer,
        "siteId": firm.site,
        "title": f"Replace boiler {NUMBER}",
        "description": "Look first, then order. Photographs to the office, please.",
        "dueOn": "2027-11-15",
        "leadPersonId": firm.person,
        "tags": ["gas", "boiler"],
    }
    return orjson.dumps(given).decode()


def _check_answers(aims: list[Aim]) -> None:
    """Whoever is asked the same must answer the same; the trivial tools of others have nothing to compare."""
    answers: dict[tuple[str, Path], object] = {}
    for aim in aims:
        if aim.body or aim.cookie:
            continue
        answer = json.loads(aim.contender.get(aim.path, aim.keys.read_text().split()[0]))
        # What depends on who asks, and where; only Mainstay tells it.
        for name in ("url", "availableActions"):
            answer.pop(name, None)
        if answers.setdefault((aim.path, aim.keys), answer) != answer:
            raise RuntimeError(f"{aim.name}: another answer than the others gave:\n{answer}")


def _rounds(field: Field, seconds: float, until: float) -> Iterator[Round]:
    number, longest = 0, 0.0
    while number < _LEAST_ROUNDS or monotonic() + longest < until:
        began = monotonic()
        measured = field.round(seconds, backward=number % 2 == 1)
        yield measured
        number += 1
        longest = max(longest, monotonic() - began)
        rates = ", ".join(f"{measured[name].load.rate:,.0f}" for name in measured)
        _say(f"round {number}: {rates} requests/s")


def _seconds_of_others(contenders: Mapping[str, Contender]) -> float:
    """The processor time that went neither to the contenders nor to the clients nor to this process."""
    times = os.times()
    own = times.user + times.system + times.children_user + times.children_system
    pids = [pid for contender in contenders.values() for pid in family(contender.pid)]
    return machine_seconds() - cpu_seconds(pids) - own


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
