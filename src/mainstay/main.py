"""Builds the house: settings → backing → doors. The only file that knows everyone."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

from mainstay.backing.database import Database, Unreachable
from mainstay.backing.exposition import Meters, meter_names
from mainstay.backing.folder import DataFolder
from mainstay.backing.limits import Limits, MachineLimits
from mainstay.backing.log import log_error
from mainstay.backing.mail import open_post
from mainstay.backing.metrics_listener import metrics_listener
from mainstay.backing.migrations.apply import is_current, migrate
from mainstay.backing.postgresql import PostgresDatabase
from mainstay.backing.processes import end_with_parent
from mainstay.backing.redis_limits import RedisLimits
from mainstay.backing.rows import claim_row
from mainstay.backing.sqlite import SqliteDatabase
from mainstay.backing.tallies import Tallies
from mainstay.backing.wakeups import Bell, Wakeups
from mainstay.catalogue import OPERATIONS, REACTIONS
from mainstay.doors.addresses import Addresses
from mainstay.doors.api import door as api
from mainstay.doors.api.openapi import describe
from mainstay.doors.api.routes import Routes, endpoints_of
from mainstay.doors.health import Health, nowhere
from mainstay.doors.http import Front
from mainstay.identity.authenticate import standing
from mainstay.identity.last_used import EVERY_SECONDS, LastUsed
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings, read_settings
from mainstay.values.moments import Clock, system_clock
from mainstay.worker import Worker, stop_on_signal

THREADS = 8
# Routes as the meters count them; the first is for requests that found no route.
METERED = ("none", *(endpoint.operation.name for endpoint in endpoints_of(OPERATIONS)))


def connect(settings: Settings) -> Database:
    """The database of these settings, as it is."""
    folder = DataFolder(settings.data)
    folder.make()
    return PostgresDatabase(settings.database) if settings.database else SqliteDatabase(folder.database)


def open_stage(settings: Settings, clock: Clock = system_clock) -> Stage:
    """Where operations are performed, on a database brought to the newest schema."""
    database = connect(settings)
    migrate(database)
    return Stage(database, clock, standing, Bell(DataFolder(settings.data).bell).ring)


def work(settings: Settings) -> None:
    """Empty the outbox until asked to end."""
    folder = DataFolder(settings.data)
    stage = open_stage(settings)
    sender = f"Mainstay <no-reply@{urlsplit(settings.base_url).hostname}>"
    worker = Worker(
        stage.database, stage.clock, open_post(settings.smtp, folder.mails, sender), REACTIONS, settings.base_url
    )
    stopping = stop_on_signal()
    with Wakeups.listen(folder.bell) as bell, metrics_listener(settings.metrics, _metrics_text(settings)):
        worker.run(bell, stopping)
    stage.database.close()


def application() -> Front:
    """The doors of one server process; what the server calls in each."""
    settings = read_settings()
    folder = DataFolder(settings.data)
    end_with_parent()
    stage = open_stage(settings)
    row = claim_row(folder.rows, process_rows(settings))
    _pin_to_core(row.number)
    machine = MachineLimits(folder.limits)
    limits: Limits = RedisLimits(settings.redis, machine) if settings.redis else machine
    last_used = LastUsed(stage.database)
    threads = ThreadPoolExecutor(THREADS)
    writing = _Repeated(last_used.write, EVERY_SECONDS, threads)
    health = Health(lambda: is_current(stage.database), threads)

    async def stop() -> None:
        await writing.stop()
        threads.shutdown()
        stage.database.close()

    return Front(
        doors={
            api.PREFIX: api.ApiDoor(
                stage, limits, last_used, Routes(OPERATIONS), describe(OPERATIONS, settings.base_url), threads
            ),
            "/healthz": health.alive,
            "/readyz": health.is_ready,
        },
        nowhere=nowhere,
        addresses=Addresses(settings.base_url, settings.trusted_proxies),
        meters=Meters(Tallies(folder.tallies, meter_names(METERED), row.number), METERED),
        start=writing.start,
        stop=stop,
    )


def _metrics_text(settings: Settings) -> Callable[[], str]:
    path = DataFolder(settings.data).tallies
    # Opened at each reading: a server that starts anew replaces the file.
    return lambda: Meters(Tallies(path, meter_names(METERED), 0), METERED).text()


def process_rows(settings: Settings) -> int:
    """How many server processes may count at once: while one is replaced, both are there."""
    return settings.workers * 2


def _pin_to_core(number: int) -> None:
    """Keep a process's threads on one core: handing Python's lock from core to core costs more than it gains."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})


class _Repeated:
    """Does something in a thread now and then, and once more at the end."""

    def __init__(self, work: Callable[[], None], seconds: float, threads: Executor) -> None:
        self._work = work
        self._seconds = seconds
        self._threads = threads
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._repeat())

    async def stop(self) -> None:
        """End, with nothing left undone."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._once()

    async def _repeat(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            await self._once()

    async def _once(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._work)
        except Unreachable as fault:
            log_error("not written, tried again later", fault)
