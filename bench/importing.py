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

from engines import start_postgresql
from mainstay.business.customers.operations import create_customer, update_customer
from mainstay.business.importing import store
from mainstay.business.importing.import_run import ImportWork
from mainstay.business.importing.model import KINDS
from mainstay.business.importing.run import CHECKING, IMPORTING, Run, RunStatus
from mainstay.business.importing.steps import pace_for
from mainstay.business.people.joining import create_organisation
from mainstay.identity.authenticate import actor_of_person
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings, read_settings
from mainstay.staging import open_stage
from mainstay.terms.actor import Actor, Door, operator
from mainstay.values.ids import new_id

ROWS = 2_000
_QUIET_SECONDS = 4.0
# Between two writes of a neighbour.
_REST_SECONDS = 0.02

# What a process that writes is told.
_TELL, _END = "tell", "end"

Engine = Literal["sqlite", "postgresql"]


class Waits(NamedTuple):
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
    neighbour_quiet: Waits
    neighbour: Waits
    own_quiet: Waits
    own: Waits


def measure_import(engine: Engine) -> ImportWaits:
    """Import 2,000 rows while two other processes write."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mainstay-importing-")))
        settings = replace(read_settings({}), data=folder / "data")
        if engine == "postgresql":
            server = start_postgresql(folder / "postgresql", durable=True)
            settings = replace(settings, database=server.new_database())
        stage = open_stage(settings)
        stack.callback(stage.database.close)
        importing, other = _person(stage), _person(stage)
        _import(stage, importing, "customers", ["Name", "Ref"], [["Calder", "C-1"]])
        sites = [["C-1", f"Mill {number}", f"{number} Mill Road"] for number in range(ROWS)]
        _import(stage, importing, "sites", ["Customer", "Site name", "Address"], sites)
        neighbour, own = (stack.enter_context(_writing(settings, actor)) for actor in (other, importing))
        quiet = _during(_QUIET_SECONDS, neighbour, own)
        jobs = [["C-1", f"Boiler {number}", f"Mill {number}", f"J-{number}"] for number in range(ROWS)]
        seconds = _import(stage, importing, "jobs", ["Customer", "Title", "Site", "Ref"], jobs)
        busy = _during(0.0, neighbour, own)
        return ImportWaits(engine, ROWS, *seconds, quiet[0], busy[0], quiet[1], busy[1])


def _import(stage: Stage, actor: Actor, kind: str, headings: list[str], lines: list[list[str]]) -> tuple[float, float]:
    """Check a file and import it, as the office does; how many seconds each took."""
    fresh = store.Fresh(KINDS[kind], "bench.csv", (), headings, list(enumerate(lines, 2)))
    with stage.database.changing(actor.organisation) as rows:
        rows.me = actor.id
        identity = store.insert(rows, fresh, stage.clock())
    began = perf_counter()
    _begin(stage, actor, identity, CHECKING).check()
    between = perf_counter()
    _begin(stage, actor, identity, IMPORTING).import_rows()
    ended = perf_counter()
    if not _find(stage, actor, identity).is_done:
        raise RuntimeError("The import was refused.")
    return between - began, ended - between


def _begin(stage: Stage, actor: Actor, identity: str, status: RunStatus) -> ImportWork:
    with stage.database.changing(actor.organisation) as rows:
        store.begin(rows, _find(stage, actor, identity), status)
    run = _find(stage, actor, identity)
    return ImportWork(stage, actor, run, None, None, lambda _done: None, pace_for(stage.database.engine))


def _find(stage: Stage, actor: Actor, identity: str) -> Run:
    with stage.database.reading(actor.organisation) as rows:
        rows.me = actor.id
        return store.fetch(rows, identity)


def _person(stage: Stage) -> Actor:
    """The owner of a new organisation, in the office."""
    acting = operator(new_id("org"))
    owner = perform(
        stage,
        create_organisation,
        acting,
        name="Hartley Plumbing and Heating",
        ownerName="Ruth Hartley",
        ownerEmail=f"{acting.organisation.lower()}@hartley.example",
        password="a password for the bench",
    )
    with stage.database.reading(acting.organisation) as rows:
        return actor_of_person(rows, owner["id"], Door.OFFICE)


@contextmanager
def _writing(settings: Settings, actor: Actor) -> Iterator[Connection]:
    """A process that writes all the time; it sends the times of its writes each time that it is asked for them."""
    spawning = get_context("spawn")
    ours, theirs = spawning.Pipe()
    process = spawning.Process(target=_write, args=(settings, actor, theirs), daemon=True)
    process.start()
    # It is there once it has answered.
    ours.send(_TELL)
    ours.recv()
    yield ours
    ours.send(_END)
    process.join()


def _write(settings: Settings, actor: Actor, asked: Connection) -> None:
    stage = open_stage(settings)
    customer = perform(stage, create_customer, actor, name="Ryburn")["id"]
    times: list[float] = []
    number = 0
    while True:
        if asked.poll():
            if asked.recv() == _END:
                break
            asked.send(times)
            times = []
        began = perf_counter()
        number += 1
        perform(stage, update_customer, actor, customerId=customer, phone=f"+44 1422 {number:06}")
        times.append(perf_counter() - began)
        sleep(_REST_SECONDS)
    stage.database.close()


def _during(seconds: float, *writers: Connection) -> list[Waits]:
    """The times of writes since they were last asked for, so many seconds from now."""
    if seconds:
        # What was before is not meant.
        _ask(writers)
        sleep(seconds)
    return [Waits(len(times), 1000 * median(times), 1000 * max(times)) for times in _ask(writers)]


def _ask(writers: tuple[Connection, ...]) -> list[list[float]]:
    for writer in writers:
        writer.send(_TELL)
    return [writer.recv() for writer in writers]


if __name__ == "__main__":
    for measured in (measure_import("sqlite"), measure_import("postgresql")):
        print(measured)
