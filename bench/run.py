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
from bench.board import measure_board
from bench.client import NUMBER
from bench.contenders.running import ROOT, Contender, plan_mainstay, plan_reference, run_contender
from bench.firm import BenchFirm
from bench.first_token import measure_first_tokens
from bench.flat import LARGE, SMALL, ReadGrowth, measure_growth
from bench.neighbours.measuring import FULL, QUICK, NeighbourResults, measure_neighbours
from bench.neighbours.start_of_day import ORGANISATIONS, ROUNDS, DayStart, measure_day_starts
from bench.papers import measure_pdfs
from bench.processes import cpu_seconds, machine_cpu_seconds, process_tree, read_memory
from bench.report import BenchResults, print_results, write_json
from bench.rounds import BenchField, MeasuredAddress, RoundResults
from bench.stock import BenchStock, make_stock
from bench.webhooks import measure_sending

RESULTS = ROOT / "bench" / "results" / "latest.json"

_MIN_ROUNDS = 3
_QUICK_INVOICES = 10_000
_PDF_ROUNDS = 3
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
    _print_progress("sending to webhooks")
    sendings = measure_sending(1.0, monotonic() + 12) if quick else measure_sending(2.0, monotonic() + 40)
    _print_progress("drafting, issuing and listing invoices, beside Tryton")
    billings = (
        measure_billing(_QUICK_INVOICES, 0.5, monotonic())
        if quick
        else measure_billing(INVOICES, 2.0, monotonic() + 60)
    )
    _print_progress("making PDFs, beside bare Typst")
    papers = [measure_pdfs(0.5 if quick else 3.0) for _ in range(_PDF_ROUNDS)]
    _print_progress("the first piece of a model's reply, beside a bare socket")
    first_tokens = measure_first_tokens(monotonic() + (3 if quick else 15))
    _print_progress("the schedule of 30 people with 400 visits a week")
    board = measure_board()
    flatness = () if quick else _measure_flatness()
    _print_progress("a neighbour's requests while other firms are busy")
    neighbours = measure_neighbours(QUICK, ["sqlite"]) if quick else measure_neighbours(FULL)
    day_starts = () if quick else _measure_day_starts()
    outcome = replace(
        outcome,
        sendings=sendings,
        billings=billings,
        papers=papers,
        first_tokens=first_tokens,
        board=board,
        flatness=flatness,
        neighbours=neighbours,
        day_starts=day_starts,
    )
    print_results(outcome)
    write_json(outcome, RESULTS)
    print(f"Everything is in {RESULTS.relative_to(ROOT)}.")


def _measure_flatness() -> list[ReadGrowth]:
    _print_progress(f"reading in firms of {SMALL:,} and {LARGE:,} jobs, invoices, payments and orders")
    return measure_growth(LARGE)


def _measure_day_starts() -> list[DayStart]:
    _print_progress(f"the start of the day of {ORGANISATIONS:,} organisations")
    return measure_day_starts(ORGANISATIONS, ROUNDS)


def measure(seconds: float, until: float) -> BenchResults:
    """Start everything, measure each aim for this long in rounds until this moment, and end everything."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mainstay-bench-")))
        _print_progress("making the people, jobs and keys")
        stock = make_stock(folder)
        _print_progress("starting the contenders")
        data_of_two, data_of_reference = (
            shutil.copytree(stock.data, folder / name) for name in ("data-of-two", "data-of-reference")
        )
        plans = (
            plan_mainstay(stock.data, 1),
            plan_mainstay(data_of_two, 2),
            replace(plan_mainstay(stock.paged_data, 1), name="pages"),
            plan_reference("reference", {"BENCH_DATABASE": str(data_of_reference / "mainstay.db")}),
            plan_reference("ceiling", {}),
            plan_reference("mcp_sdk", {}),
            plan_reference("mcp_fast", {}),
        )
        contenders = {plan.name: stack.enter_context(run_contender(plan, folder)) for plan in plans}
        aims = _make_addresses(contenders, stock)
        _check_answers(aims)
        field = BenchField(aims)
        _print_progress("warming up")
        field.run_round(seconds / 2)
        began, before = monotonic(), _others_cpu_seconds(contenders)
        rounds = list(_run_rounds(field, seconds, until))
        others = (_others_cpu_seconds(contenders) - before) / (monotonic() - began) / (os.cpu_count() or 1)
        memory = [found for name in ("mainstay-1", "mainstay-2") for found in read_memory(name, contenders[name].pid)]
        return BenchResults(
            rounds,
            seconds,
            memory,
            others,
            sendings=(),
            billings=(),
            papers=(),
            first_tokens=(),
            board=(),
            flatness=(),
            neighbours=NeighbourResults(),
            day_starts=(),
        )


def _make_addresses(contenders: Mapping[str, Contender], stock: BenchStock) -> list[MeasuredAddress]:
    """Return the addresses to measure; neighbours in the list are compared."""
    one, two, reference = contenders["mainstay-1"], contenders["mainstay-2"], contenders["reference"]
    return [
        MeasuredAddress(goals.REFERENCE_ORGANISATION, reference, _ORGANISATION, stock.small_keys),
        MeasuredAddress(goals.TWO_WORKERS, two, _ORGANISATION, stock.small_keys),
        MeasuredAddress(goals.ORGANISATION, one, _ORGANISATION, stock.small_keys),
        MeasuredAddress(goals.CEILING, contenders["ceiling"], "/", stock.small_keys),
        MeasuredAddress(goals.PEOPLE_OF_MANY, one, _PEOPLE, stock.large_keys),
        MeasuredAddress(goals.PEOPLE, one, _PEOPLE, stock.small_keys),
        MeasuredAddress(goals.REFERENCE_PEOPLE, reference, _PEOPLE, stock.small_keys),
        MeasuredAddress(goals.SDK_LIST, contenders["mcp_sdk"], "/mcp", stock.small_keys, "POST", _LIST),
        MeasuredAddress(goals.TOOLS_LIST, one, "/mcp", stock.small_keys, "POST", _LIST),
        MeasuredAddress(goals.FAST_LIST, contenders["mcp_fast"], "/mcp", stock.small_keys, "POST", _LIST),
        MeasuredAddress(goals.SDK_CALL, contenders["mcp_sdk"], "/mcp", stock.small_keys, "POST", _CALL),
        MeasuredAddress(goals.TOOLS_CALL, one, "/mcp", stock.small_keys, "POST", _CALL),
        MeasuredAddress(goals.FAST_CALL, contenders["mcp_fast"], "/mcp", stock.small_keys, "POST", _CALL),
        MeasuredAddress(goals.JOBS, one, _JOBS, stock.job_keys),
        MeasuredAddress(goals.REFERENCE_JOBS, reference, _JOBS, stock.job_keys),
        *(
            MeasuredAddress(
                name, contender, "/api/v1/jobs", stock.job_keys, "POST", _make_job_json(stock.jobs), connections=1
            )
            for name, contender in ((goals.CREATE, one), (goals.REFERENCE_CREATE, reference))
        ),
        # One at a time: the reference gives up where many change something at once.
        MeasuredAddress(
            goals.CHANGE, one, f"/api/v1/people/{stock.person}", stock.small_keys, "PATCH", _CHANGE, connections=1
        ),
        MeasuredAddress(
            goals.REFERENCE_CHANGE,
            reference,
            f"/api/v1/people/{stock.person}",
            stock.small_keys,
            "PATCH",
            _CHANGE,
            connections=1,
        ),
        *(
            MeasuredAddress(
                name,
                contenders["pages"],
                path.format(invoice=stock.paged.invoice, job=stock.paged.job, quote=stock.paged.quote),
                stock.sign_in,
                connections=1,
                cookie=_COOKIE,
            )
            for name, path in goals.PAGES.items()
        ),
    ]


def _make_job_json(firm: BenchFirm) -> str:
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


def _check_answers(aims: list[MeasuredAddress]) -> None:
    """Check that Mainstay and the reference give the same answers; the trivial tools of others are left out."""
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


def _run_rounds(field: BenchField, seconds: float, until: float) -> Iterator[RoundResults]:
    number, longest = 0, 0.0
    while number < _MIN_ROUNDS or monotonic() + longest < until:
        began = monotonic()
        measured = field.run_round(seconds, backward=number % 2 == 1)
        yield measured
        number += 1
        longest = max(longest, monotonic() - began)
        rates = ", ".join(f"{measured[name].load.rate:,.0f}" for name in measured)
        _print_progress(f"round {number}: {rates} requests/s")


def _others_cpu_seconds(contenders: Mapping[str, Contender]) -> float:
    """The processor time that went neither to the contenders nor to the clients nor to this process."""
    times = os.times()
    own = times.user + times.system + times.children_user + times.children_system
    pids = [pid for contender in contenders.values() for pid in process_tree(contender.pid)]
    return machine_cpu_seconds() - cpu_seconds(pids) - own


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
