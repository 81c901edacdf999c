"""How long others wait for their writes while somebody checks and imports 2,000 rows.

The rows are jobs that name the sites of one customer, which costs most. Two other processes write all the time: one for
another organisation, which waits for SQLite's write lock, and one for the same organisation, which waits on PostgreSQL
as well. `python -m bench.importing` measures this part alone.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Literal, NamedTuple

# The parts of the bench are found from the root, and what starts PostgreSQL among the tests, however this is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from bench.performing import perform

from mainstay.business.customers.operations import create_customer, update_customer
from mainstay.business.importing import store
from mainstay.business.importing.import_model import CHECKING, IMPORTING, ImportRun, RunStatus
from mainstay.business.importing.import_run import ImportWork
from mainstay.business.importing.record_kinds import find_import_kinds
from mainstay.business.importing.steps import pace_for
from mainstay.business.people.invitations import create_organisation
from mainstay.catalogue import CATALOGUE
from mainstay.composition import open_performer
from mainstay.identity.authenticate import actor_of_person
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings, read_settings
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor, Door, operator_actor
from support.engines import start_postgresql

IMPORT_KINDS = find_import_kinds(CATALOGUE)

ROWS = 2_000
_BASELINE_SECONDS = 4.0
# Between two writes of a neighbour.
_PAUSE_SECONDS = 0.02

# What a process that writes is told.
_REPORT, _END = "tell", "end"

Engine = Literal["sqlite", "postgresql"]


class WaitTimes(NamedTuple):
    """How long writes took, in milliseconds."""

    writes: int
    median: float
    longest: float


@dataclass(frozen=True, slots=True)
class ImportWaits:
    """How long writes of others took while nothing was imported, and during an import."""

    engine: Engine
    rows: int
    # How long checking the rows took, and importing them, in seconds.
    check_seconds: float
    import_seconds: float
    neighbour_quiet: WaitTimes
    neighbour: WaitTimes
    own_quiet: WaitTimes
    own: WaitTimes


def measure_import(engine: Engine) -> ImportWaits:
    """Import 2,000 rows while two other processes write."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mainstay-importing-")))
        settings = replace(read_settings({}), data=folder / "data")
        if engine == "postgresql":
            server = start_postgresql(folder / "postgresql", durable=True)
            settings = replace(settings, database=server.new_database())
        performer = open_performer(settings)
        stack.callback(performer.database.close)
        importing, other = _make_owner(performer), _make_owner(performer)
        _import_file(performer, importing, "customers", ["Name", "Ref"], [["Calder", "C-1"]])
        sites = [["C-1", f"Mill {number}", f"{number} Mill Road"] for number in range(ROWS)]
        _import_file(performer, importing, "sites", ["Customer", "Site name", "Address"], sites)
        neighbour, own = (stack.enter_context(_run_writer(settings, actor)) for actor in (other, importing))
        quiet = _measure_waits(_BASELINE_SECONDS, neighbour, own)
        jobs = [["C-1", f"Boiler {number}", f"Mill {number}", f"J-{number}"] for number in range(ROWS)]
        seconds = _import_file(performer, importing, "jobs", ["Customer", "Title", "Site", "Ref"], jobs)
        busy = _measure_waits(0.0, neighbour, own)
        return ImportWaits(engine, ROWS, *seconds, quiet[0], busy[0], quiet[1], busy[1])


def _import_file(
    performer: Performer, actor: Actor, kind: str, headings: list[str], lines: list[list[str]]
) -> tuple[float, float]:
    """Check a file and import it, as the office does; how many seconds each took."""
    fresh = store.NewImport(IMPORT_KINDS[kind], "bench.csv", (), headings, list(enumerate(lines, 2)))
    with performer.database.write_transaction(actor.organisation) as rows:
        rows.me = actor.id
        record_id = store.insert(rows, fresh, performer.clock())
    began = perf_counter()
    _begin_step(performer, actor, record_id, CHECKING).check()
    between = perf_counter()
    _begin_step(performer, actor, record_id, IMPORTING).import_rows()
    ended = perf_counter()
    if not _fetch_run(performer, actor, record_id).is_done:
        raise RuntimeError("The import was refused.")
    return between - began, ended - between


def _begin_step(performer: Performer, actor: Actor, record_id: str, status: RunStatus) -> ImportWork:
    with performer.database.write_transaction(actor.organisation) as db:
        store.begin_run(db, _fetch_run(performer, actor, record_id), status)
    run = _fetch_run(performer, actor, record_id)
    return ImportWork(performer, actor, run, None, None, lambda _done: None, pace_for(performer.database.engine))


def _fetch_run(performer: Performer, actor: Actor, record_id: str) -> ImportRun:
    with performer.database.read_transaction(actor.organisation) as rows:
        rows.me = actor.id
        return store.fetch(rows, IMPORT_KINDS, record_id)


def _make_owner(performer: Performer) -> Actor:
    """Make an organisation, and return its owner in the office."""
    actor = operator_actor(new_id("org"))
    owner = perform(
        performer,
        create_organisation,
        actor,
        name="Hartley Plumbing and Heating",
        ownerName="Ruth Hartley",
        ownerEmail=f"{actor.organisation.lower()}@hartley.example",
        password="a password for the bench",
    )
    with performer.database.read_transaction(actor.organisation) as db:
        return actor_of_person(db, owner["id"], Door.OFFICE)


@contextmanager
def _run_writer(settings: Settings, actor: Actor) -> Iterator[Connection]:
    """Run a process that writes all the time, and reports the times of its writes when asked."""
    spawning = get_context("spawn")
    ours, theirs = spawning.Pipe()
    process = spawning.Process(target=_write_all_the_time, args=(settings, actor, theirs), daemon=True)
    process.start()
    # It is there once it has answered.
    ours.send(_REPORT)
    ours.recv()
    yield ours
    ours.send(_END)
    process.join()


def _write_all_the_time(settings: Settings, actor: Actor, requests: Connection) -> None:
    performer = open_performer(settings)
    customer = perform(performer, create_customer, actor, name="Ryburn")["id"]
    times: list[float] = []
    number = 0
    while True:
        if requests.poll():
            if requests.recv() == _END:
                break
            requests.send(times)
            times = []
        began = perf_counter()
        number += 1
        perform(performer, update_customer, actor, customerId=customer, phone=f"+44 1422 {number:06}")
        times.append(perf_counter() - began)
        sleep(_PAUSE_SECONDS)
    performer.database.close()


def _measure_waits(seconds: float, *writers: Connection) -> list[WaitTimes]:
    """Return the times of writes since the last report, after so many seconds."""
    if seconds:
        # What was before is not meant.
        _collect_times(writers)
        sleep(seconds)
    return [WaitTimes(len(times), 1000 * median(times), 1000 * max(times)) for times in _collect_times(writers)]


def _collect_times(writers: tuple[Connection, ...]) -> list[list[float]]:
    for writer in writers:
        writer.send(_REPORT)
    return [writer.recv() for writer in writers]


if __name__ == "__main__":
    for measured in (measure_import("sqlite"), measure_import("postgresql")):
        print(measured)
