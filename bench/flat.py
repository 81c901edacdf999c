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

from bench.firm import RARE_WORD, BenchFirm, make_firm
from bench.trail import TILL_KEY

from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.customers.operations import get_customer, list_customers
from mainstay.business.customers.sites_and_contacts import list_contacts, list_sites
from mainstay.business.hours.operations import list_hours
from mainstay.business.invoices.drafting.operations import get_invoice, list_invoices
from mainstay.business.invoices.payments.recording import list_payments
from mainstay.business.jobs.operations import get_job, list_jobs
from mainstay.business.overview.operations import get_overview
from mainstay.business.purchasing.operations import list_purchase_orders
from mainstay.business.records.activity import list_activity
from mainstay.business.records.attachments import list_documents
from mainstay.business.records.notes import list_notes
from mainstay.business.records.search import search
from mainstay.business.schedule.board import get_schedule
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits
from mainstay.changes.idempotency import Answer
from mainstay.composition import open_performer
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.settings import read_settings
from mainstay.values.moments import system_clock
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Refusal

SMALL, LARGE = 1_000, 100_000
MAX_GROWTH = 1.5
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
_SEARCH_TEXTS = (
    "J-0042",
    "boiler",
    RARE_WORD,
    f"boiler {RARE_WORD}",
    "01422 000042",
    "boi",
    RARE_WORD[:5],
    "zzyzx",
    "zzy",
)
_WARM_UP_TURNS, _TURNS, _MORE_TURNS = 1, 5, 31
_PAGE = 25


@dataclass(frozen=True, slots=True)
class OpenFirm:
    """A firm, and the performer of its database."""

    performer: Performer
    firm: BenchFirm


@dataclass(frozen=True, slots=True)
class MeasuredRead:
    """One read, for one of three people."""

    name: str
    actor_of: Callable[[BenchFirm], Actor]
    operation: Operation
    make_input: Callable[[OpenFirm], dict[str, object]]
    # Whether it is for a page of the office: counted, and each record with what can be done to it.
    for_page: bool = False


@dataclass(frozen=True, slots=True)
class ReadGrowth:
    """What a reading took in both firms, in microseconds of processor time."""

    name: str
    small: float
    large: float

    @property
    def growth(self) -> float:
        """How many times as long it takes in the large firm."""
        return self.large / max(self.small, FLOOR_MICROSECONDS)


def measure_growth(jobs: int, name_part: str = "") -> list[ReadGrowth]:
    """Measure every read in a firm of 1,000 jobs and in one of so many."""
    with TemporaryDirectory(prefix="mainstay-flat-") as folder:
        small, large = (_open_firm(Path(folder) / str(size), size) for size in (SMALL, jobs))
        try:
            return measure_flatness(small, large, name_part)
        finally:
            for place in (small, large):
                place.performer.database.close()


def measure_flatness(small: OpenFirm, large: OpenFirm, name_part: str = "") -> list[ReadGrowth]:
    """Measure every read in both firms, the one that grows most first; doubtful ones are measured again."""
    measured = []
    for read in list_reads():
        if name_part not in read.name:
            continue
        try:
            runs = _make_runs(read, (small, large))
            found = _measure_read(read, runs, _TURNS)
        except Refusal:
            # Not everyone may ask for everything.
            continue
        # What has grown beyond doubt need not be looked at again.
        unsure = MAX_GROWTH * 0.9 < found.growth < MAX_GROWTH * 2
        measured.append(_measure_read(read, runs, _MORE_TURNS) if unsure else found)
    return sorted(measured, key=lambda one: -one.growth)


def _measure_read(read: MeasuredRead, runs: Sequence[Callable[[], object]], turns: int) -> ReadGrowth:
    took: tuple[list[int], ...] = tuple([] for _ in runs)
    for turn in range(_WARM_UP_TURNS + turns):
        for times, run in zip(took, runs, strict=True):
            began = thread_time_ns()
            run()
            if turn >= _WARM_UP_TURNS:
                times.append(thread_time_ns() - began)
    small, large = (median(times) / 1000 for times in took)
    return ReadGrowth(read.name, small, large)


def _make_runs(read: MeasuredRead, places: Sequence[OpenFirm]) -> list[Callable[[], object]]:
    """What is measured in each firm: of a list, as many records in all, for a longer answer takes longer anywhere.

    And where a page goes on in one firm, it does in the other: what goes on is counted, what ends is not.
    """
    given = [read.make_input(place) for place in places]
    if read.operation.returns_page:
        answers = [_make_run(read, place, values)() for place, values in zip(places, given, strict=True)]
        pages = [orjson.loads(answer.body) for answer in answers]
        limit = min(len(page["data"]) for page in pages)
        if len({page["hasMore"] or len(page["data"]) > limit for page in pages}) > 1:
            limit -= 1
        given = [{**values, "limit": max(1, limit)} for values in given]
    return [_make_run(read, place, values) for place, values in zip(places, given, strict=True)]


def _make_run(read: MeasuredRead, open_firm: OpenFirm, given: dict[str, object]) -> Callable[[], Answer]:
    actor, raw = read.actor_of(open_firm.firm), orjson.dumps(given)
    request = RequestDetails("req_1", with_actions=read.for_page)
    return lambda: open_firm.performer.perform(read.operation, actor, raw, request)


def list_reads() -> Iterator[MeasuredRead]:
    """Yield every read that is measured."""
    today = system_clock().date()
    monday = today - timedelta(days=today.weekday())
    week: dict[str, object] = {"from": monday.isoformat(), "until": (monday + timedelta(days=6)).isoformat()}
    single: list[tuple[Operation, _InputMaker, str]] = [
        (get_overview, partial(_return_given, {}), ""),
        (get_schedule, partial(_return_given, week), "a week"),
        (get_job, partial(_values_of_firm, ["jobId"]), "by id"),
        (get_customer, partial(_values_of_firm, ["customerId"]), "by id"),
        (get_invoice, partial(_values_of_firm, ["invoiceId"]), "by id"),
        *((search, partial(_return_given, {"text": text}), text) for text in _SEARCH_TEXTS),
    ]
    for role, actor_of in _ACTORS.items():
        for operation, given, suffix in single:
            yield MeasuredRead(f"{operation.name} {suffix}, {role}", actor_of, operation, partial(_input_for, given))
        for operation in _LISTS:
            for suffix, filtered in _list_filters(operation):
                for after_record in (False, True):
                    for for_page in (False, True):
                        words = [operation.name, suffix, "behind" * after_record, "shown" * for_page]
                        name = f"{' '.join(filter(None, words))}, {role}"
                        make_input = _make_page_input(operation, actor_of, filtered, after_record=after_record)
                        yield MeasuredRead(name, actor_of, operation, make_input, for_page)


def _input_for(given: "_InputMaker", place: OpenFirm) -> dict[str, object]:
    return given(place.firm)


_ACTORS: dict[str, Callable[[BenchFirm], Actor]] = {
    "owner": lambda firm: firm.owner,
    "few": lambda firm: firm.few,
    "many": lambda firm: firm.many,
}
# Fields that take not just anything, by what they are given in each firm.
_FIELD_VALUES: dict[str, Callable[[BenchFirm], object]] = {
    "customerId": lambda firm: firm.customer,
    "siteId": lambda firm: firm.site,
    "personId": lambda firm: firm.person,
    "leadPersonId": lambda firm: firm.person,
    "jobId": lambda firm: firm.job,
    "recordId": lambda firm: firm.job,
    "clientId": lambda _: TILL_KEY.id,
    "invoiceId": lambda firm: firm.invoice,
    "quoteId": lambda firm: firm.quote,
    "supplierId": lambda firm: firm.supplier,
    "seriesId": lambda _: "series_01JCDZ8Q4X0V9M2T6W3B7K5N1R",
    "groupId": lambda _: "group_01JCDZ8Q4X0V9M2T6W3B7K5N1R",
    "from": lambda _: (system_clock().date() - timedelta(days=30)).isoformat(),
    "until": lambda _: system_clock().date().isoformat(),
    "dueBefore": lambda _: system_clock().date().isoformat(),
}
_InputMaker = Callable[[BenchFirm], dict[str, object]]


def _list_filters(operation: Operation) -> Iterator[tuple[str, _InputMaker]]:
    """Yield the inputs of a list: plain, by each filter and in each order."""
    schema: dict[str, Any] = operation.input.model_json_schema(by_alias=True)
    needed = {"recordId"} & schema["properties"].keys()
    yield "", partial(_values_of_firm, needed)
    for name, part in schema["properties"].items():
        if name in {"limit", "startingAfter"}:
            continue
        if name in _FIELD_VALUES:
            yield name, partial(_values_of_firm, [name])
            continue
        for value in _SEARCH_TEXTS if name == "text" else _list_values(part, schema):
            yield f"{name}={value}", partial(_return_given, {name: value})


def _values_of_firm(names: Collection[str], firm: BenchFirm) -> dict[str, object]:
    return {name: _FIELD_VALUES[name](firm) for name in names}


def _return_given(given: dict[str, object], _: BenchFirm) -> dict[str, object]:
    return given


# A day in the middle of the firm's records.
_DAY = "2026-03-02"


def _list_values(part: dict[str, Any], schema: dict[str, Any]) -> list[object]:
    for option in part.get("anyOf", [part]):
        of_option = schema["$defs"][option["$ref"].rpartition("/")[2]] if "$ref" in option else option
        if "enum" in of_option:
            return [*of_option["enum"]]
        if of_option.get("type") == "boolean":
            return [True]
        if of_option.get("format") == "date":
            return [_DAY]
    raise KeyError(f"The bench does not know what to give for {part}.")


def _make_page_input(
    operation: Operation, actor_of: Callable[[BenchFirm], Actor], filtered: _InputMaker, *, after_record: bool
) -> Callable[[OpenFirm], dict[str, object]]:
    """What is given for a page; behind a record, there is a whole page in either firm, where there are so many."""

    def given(place: OpenFirm) -> dict[str, object]:
        values = filtered(place.firm)
        if not after_record:
            return values
        raw = orjson.dumps({**values, "limit": 100})
        answer = place.performer.perform(operation, actor_of(place.firm), raw, RequestDetails("req_1"))
        records = orjson.loads(answer.body)["data"]
        # What is listed by job goes on behind a job.
        ids = [record.get("id") or record["jobId"] for record in records]
        return {**values, "startingAfter": ids[max(0, len(ids) - _PAGE - 2)]} if ids else values

    return given


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure whether readings stay as quick however large a firm is.")
    parser.add_argument("--jobs", type=int, default=LARGE, help="how many jobs the large firm has")
    parser.add_argument("--only", default="", help="what the name of a reading has in it")
    arguments = parser.parse_args()
    for one in measure_growth(arguments.jobs, arguments.only):
        print(f"{one.name:60}{one.small:10.0f}{one.large:10.0f}{one.growth:8.2f}")


def _open_firm(data: Path, jobs: int) -> OpenFirm:
    """A new firm with so many jobs, in a data folder of its own."""
    performer = open_performer(replace(read_settings({}), data=data))
    return OpenFirm(performer, make_firm(performer, data, jobs))


if __name__ == "__main__":
    main()
