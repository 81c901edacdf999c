"""Whether readings stay as quick among 100,000 jobs, invoices, payments and orders as among 1,000 of each.

Every list of the work and of the money by each filter and in each order, from the beginning and behind a record, as
programs are told it and as pages show it; searching; the overview and a week of the schedule. The board is made of such
lists. For an owner, for a member with few jobs and for one with many.

Not measured is what no index has and takes as long as it takes (decision 40): two words each of which thousands have
and hardly any record both, and a common word in a list that is narrowed by something else as well.

`python -m bench.flat` measures this part alone.
"""

import argparse
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import thread_time_ns
from typing import Any

import orjson

# The parts of the bench are found from the root, however this is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.firm import RARE, Firm, make_firm
from bench.trail import TILL

from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.customers.operations import get_customer, list_customers
from mainstay.business.customers.places import list_contacts, list_sites
from mainstay.business.hours.operations import list_hours
from mainstay.business.invoices.operations import get_invoice, list_invoices
from mainstay.business.invoices.paying import list_payments
from mainstay.business.jobs.operations import get_job, list_jobs
from mainstay.business.overview.operations import get_overview
from mainstay.business.purchasing.operations import list_purchase_orders
from mainstay.business.records.activity import list_activity
from mainstay.business.records.documents import list_documents
from mainstay.business.records.notes import list_notes
from mainstay.business.records.search import search
from mainstay.business.schedule.board import get_schedule
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.ledger.replay import Answer
from mainstay.settings import read_settings
from mainstay.staging import open_stage
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Refusal
from mainstay.values.moments import system_clock

SMALL, LARGE = 1_000, 100_000
MOST = 1.5
# What takes less is measured as if it took this: a few microseconds more are no growth.
FLOOR_MICROSECONDS = 150.0

_LISTS = (
    list_customers,
    list_sites,
    list_contacts,
    list_jobs,
    list_visits,
    list_hours,
    list_time_off,
    list_notes,
    list_documents,
    list_unbilled,
    list_invoices,
    list_payments,
    list_purchase_orders,
    list_activity,
)
# A number, a word of very many and one of as many in either firm, two words; beginnings; and what nobody has.
_TEXTS = ("J-0042", "boiler", RARE, f"boiler {RARE}", "01422 000042", "boi", RARE[:5], "zzyzx", "zzy")
_WARM, _TURNS, _MORE_TURNS = 1, 5, 31
_PAGE = 25


@dataclass(frozen=True, slots=True)
class Place:
    """A firm, and the stage on which it is asked."""

    stage: Stage
    firm: Firm


@dataclass(frozen=True, slots=True)
class Asking:
    """One reading, for one of three people."""

    name: str
    who: Callable[[Firm], Actor]
    operation: Operation
    given: Callable[[Place], dict[str, object]]
    # Whether it is for a page of the office: counted, and each record with what can be done to it.
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Flatness:
    """What a reading took in both firms, in microseconds of processor time."""

    name: str
    small: float
    large: float

    @property
    def growth(self) -> float:
        """How many times as long it takes in the large firm."""
        return self.large / max(self.small, FLOOR_MICROSECONDS)


def measure_growth(jobs: int, wanted: str = "") -> list[Flatness]:
    """Every reading in a firm of 1,000 jobs and in one of so many."""
    with TemporaryDirectory(prefix="mainstay-flat-") as folder:
        small, large = (_open_place(Path(folder) / str(size), size) for size in (SMALL, jobs))
        try:
            return measure_flatness(small, large, wanted)
        finally:
            for place in (small, large):
                place.stage.database.close()


def measure_flatness(small: Place, large: Place, wanted: str = "") -> list[Flatness]:
    """Every reading, side by side, the one that grows most first; what seems to grow is looked at again."""
    measured = []
    for asking in askings():
        if wanted not in asking.name:
            continue
        try:
            runs = _runs(asking, (small, large))
            found = _measure(asking, runs, _TURNS)
        except Refusal:
            # Not everyone may ask for everything.
            continue
        # What has grown beyond doubt need not be looked at again.
        unsure = MOST * 0.9 < found.growth < MOST * 2
        measured.append(_measure(asking, runs, _MORE_TURNS) if unsure else found)
    return sorted(measured, key=lambda one: -one.growth)


def _measure(asking: Asking, runs: Sequence[Callable[[], object]], turns: int) -> Flatness:
    took: tuple[list[int], ...] = tuple([] for _ in runs)
    for turn in range(_WARM + turns):
        for times, run in zip(took, runs, strict=True):
            began = thread_time_ns()
            run()
            if turn >= _WARM:
                times.append(thread_time_ns() - began)
    small, large = (median(times) / 1000 for times in took)
    return Flatness(asking.name, small, large)


def _runs(asking: Asking, places: Sequence[Place]) -> list[Callable[[], object]]:
    """What is measured in each firm: of a list, as many records in all, for a longer answer takes longer anywhere.

    And where a page goes on in one firm, it does in the other: what goes on is counted, what ends is not.
    """
    given = [asking.given(place) for place in places]
    if asking.operation.lists:
        answers = [_perform(asking, place, asked)() for place, asked in zip(places, given, strict=True)]
        pages = [orjson.loads(answer.body) for answer in answers]
        limit = min(len(page["data"]) for page in pages)
        if len({page["hasMore"] or len(page["data"]) > limit for page in pages}) > 1:
            limit -= 1
        given = [{**asked, "limit": max(1, limit)} for asked in given]
    return [_perform(asking, place, asked) for place, asked in zip(places, given, strict=True)]


def _perform(asking: Asking, place: Place, given: dict[str, object]) -> Callable[[], Answer]:
    actor, raw = asking.who(place.firm), orjson.dumps(given)
    envelope = Envelope("req_1", actions=asking.shown)
    return lambda: place.stage.perform(asking.operation, actor, raw, envelope)


def askings() -> Iterator[Asking]:
    """All of them."""
    today = system_clock().date()
    monday = today - timedelta(days=today.weekday())
    week: dict[str, object] = {"from": monday.isoformat(), "until": (monday + timedelta(days=6)).isoformat()}
    single: list[tuple[Operation, _Given, str]] = [
        (get_overview, partial(_same, {}), ""),
        (get_schedule, partial(_same, week), "a week"),
        (get_job, partial(_of_firm, ["jobId"]), "by id"),
        (get_customer, partial(_of_firm, ["customerId"]), "by id"),
        (get_invoice, partial(_of_firm, ["invoiceId"]), "by id"),
        *((search, partial(_same, {"text": text}), text) for text in _TEXTS),
    ]
    for role, who in _WHO.items():
        for operation, given, told in single:
            yield Asking(f"{operation.name} {told}, {role}", who, operation, partial(_asked, given))
        for operation in _LISTS:
            for told, narrowed in _narrowed(operation):
                for behind in (False, True):
                    for shown in (False, True):
                        words = [operation.name, told, "behind" * behind, "shown" * shown]
                        name = f"{' '.join(filter(None, words))}, {role}"
                        page = _listed(operation, who, narrowed, behind=behind)
                        yield Asking(name, who, operation, page, shown)


def _asked(given: "_Given", place: Place) -> dict[str, object]:
    return given(place.firm)


_WHO: dict[str, Callable[[Firm], Actor]] = {
    "owner": lambda firm: firm.owner,
    "few": lambda firm: firm.few,
    "many": lambda firm: firm.many,
}
# Fields that take not just anything, by what they are given in each firm.
_GIVEN: dict[str, Callable[[Firm], object]] = {
    "customerId": lambda firm: firm.customer,
    "siteId": lambda firm: firm.site,
    "personId": lambda firm: firm.person,
    "leadPersonId": lambda firm: firm.person,
    "jobId": lambda firm: firm.job,
    "recordId": lambda firm: firm.job,
    "clientId": lambda _: TILL.id,
    "invoiceId": lambda firm: firm.invoice,
    "quoteId": lambda firm: firm.quote,
    "supplierId": lambda firm: firm.supplier,
    "seriesId": lambda _: "series_01JCDZ8Q4X0V9M2T6W3B7K5N1R",
    "groupId": lambda _: "group_01JCDZ8Q4X0V9M2T6W3B7K5N1R",
    "from": lambda _: (system_clock().date() - timedelta(days=30)).isoformat(),
    "until": lambda _: system_clock().date().isoformat(),
    "dueBefore": lambda _: system_clock().date().isoformat(),
}
_Given = Callable[[Firm], dict[str, object]]


def _narrowed(operation: Operation) -> Iterator[tuple[str, _Given]]:
    """A list as it is, by each of its filters and in each order."""
    schema: dict[str, Any] = operation.input.model_json_schema(by_alias=True)
    needed = {"recordId"} & schema["properties"].keys()
    yield "", partial(_of_firm, needed)
    for name, part in schema["properties"].items():
        if name in {"limit", "startingAfter"}:
            continue
        if name in _GIVEN:
            yield name, partial(_of_firm, [name])
            continue
        for value in _TEXTS if name == "text" else _values(part, schema):
            yield f"{name}={value}", partial(_same, {name: value})


def _of_firm(names: Collection[str], firm: Firm) -> dict[str, object]:
    return {name: _GIVEN[name](firm) for name in names}


def _same(given: dict[str, object], _: Firm) -> dict[str, object]:
    return given


def _values(part: dict[str, Any], schema: dict[str, Any]) -> list[object]:
    for option in part.get("anyOf", [part]):
        of_option = schema["$defs"][option["$ref"].rpartition("/")[2]] if "$ref" in option else option
        if "enum" in of_option:
            return [*of_option["enum"]]
        if of_option.get("type") == "boolean":
            return [True]
    raise KeyError(f"The bench does not know what to give for {part}.")


def _listed(
    operation: Operation, who: Callable[[Firm], Actor], narrowed: _Given, *, behind: bool
) -> Callable[[Place], dict[str, object]]:
    """What is given for a page; behind a record, there is a whole page in either firm, where there are so many."""

    def given(place: Place) -> dict[str, object]:
        asked = narrowed(place.firm)
        if not behind:
            return asked
        raw = orjson.dumps({**asked, "limit": 100})
        answer = place.stage.perform(operation, who(place.firm), raw, Envelope("req_1"))
        records = orjson.loads(answer.body)["data"]
        # What is listed by job goes on behind a job.
        ids = [record.get("id") or record["jobId"] for record in records]
        return {**asked, "startingAfter": ids[max(0, len(ids) - _PAGE - 2)]} if ids else asked

    return given


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure whether readings stay as quick however large a firm is.")
    parser.add_argument("--jobs", type=int, default=LARGE, help="how many jobs the large firm has")
    parser.add_argument("--only", default="", help="what the name of a reading has in it")
    given = parser.parse_args()
    for one in measure_growth(given.jobs, given.only):
        print(f"{one.name:60}{one.small:10.0f}{one.large:10.0f}{one.growth:8.2f}")


def _open_place(data: Path, jobs: int) -> Place:
    """A new firm with so many jobs, in a data folder of its own."""
    stage = open_stage(replace(read_settings({}), data=data))
    return Place(stage, make_firm(stage, data, jobs))


if __name__ == "__main__":
    main()
