"""Builds the house: settings → backing → doors. The only file that knows everyone."""

import asyncio
import gc
import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from multiprocessing import parent_process
from random import uniform
from urllib.parse import urlsplit

from mainstay.backing.callers import Callers, open_bounds
from mainstay.backing.database import Database, Unreachable
from mainstay.backing.exposition import Meters, attempts_text, meter_names
from mainstay.backing.folder import DataFolder
from mainstay.backing.guard import Guard
from mainstay.backing.limits import Limits, MachineLimits
from mainstay.backing.log import log_error
from mainstay.backing.mail import open_post
from mainstay.backing.metrics_listener import metrics_listener
from mainstay.backing.migrations.apply import is_current, migrate
from mainstay.backing.postgresql import PostgresDatabase
from mainstay.backing.processes import end_with_parent, hold_asking
from mainstay.backing.redis_limits import RedisLimits
from mainstay.backing.rows import claim_row
from mainstay.backing.secret import installation_secret
from mainstay.backing.sqlite import SqliteDatabase
from mainstay.backing.tallies import Tallies
from mainstay.backing.wakeups import Bell, Wakeups
from mainstay.backing.web import Web
from mainstay.catalogue import CATALOGUE, UPKEEP
from mainstay.doors.addresses import Addresses
from mainstay.doors.api import door as api
from mainstay.doors.api.openapi import describe
from mainstay.doors.api.routes import api_paths, endpoints_of
from mainstay.doors.entrance import Entrance
from mainstay.doors.health import Health
from mainstay.doors.http import Door, Front
from mainstay.doors.mcp.door import McpDoor
from mainstay.doors.mcp.tools import Tools
from mainstay.doors.oauth.approve import Approval
from mainstay.doors.oauth.authorize import Authorization
from mainstay.doors.oauth.metadata import well_known
from mainstay.doors.oauth.register import Register
from mainstay.doors.oauth.revoke import Revoke
from mainstay.doors.oauth.token import Token
from mainstay.doors.office.routes import office
from mainstay.doors.pages.session import Visitors
from mainstay.doors.running import Runner
from mainstay.identity.authenticate import standing
from mainstay.identity.last_used import EVERY_SECONDS, LastUsed
from mainstay.identity.links import LinkMaker
from mainstay.identity.mails import MAIL
from mainstay.identity.tokens import TokenOffice
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings, WrongSetting, read_settings
from mainstay.values.moments import Clock, system_clock
from mainstay.webhooks.dispatcher import Dispatcher
from mainstay.webhooks.queue import Queue
from mainstay.webhooks.signature import Signer
from mainstay.worker import Worker, beside, mailing, stop_on_signal

THREADS = 8
# Routes as the meters count them; the first is for requests that found no route.
METERED = ("none", *(endpoint.operation.name for endpoint in endpoints_of(CATALOGUE.operations)), "mcp")


def connect(settings: Settings) -> Database:
    """The database of these settings, as it is."""
    folder = DataFolder(settings.data)
    try:
        folder.make()
    except OSError as fault:
        raise WrongSetting(f"MAINSTAY_DATA is not a folder that can be used: {fault.strerror}.") from None
    return PostgresDatabase(settings.database) if settings.database else SqliteDatabase(folder.database)


def open_stage(settings: Settings, clock: Clock = system_clock) -> Stage:
    """Where operations are performed, on a database brought to the newest schema."""
    database = connect(settings)
    migrate(database)
    ring = Bell(DataFolder(settings.data).bell).ring
    return Stage(database, clock, standing, ring, CATALOGUE, _guard(settings), settings.base_url)


def open_worker(settings: Settings, stage: Stage) -> Worker:
    """What empties the outbox of a stage."""
    sender = f"Mainstay <no-reply@{urlsplit(settings.base_url).hostname}>"
    post = open_post(settings.smtp, DataFolder(settings.data).mails, sender)
    return Worker(stage, {MAIL: mailing(post, _link_maker(settings))}, UPKEEP)


def open_dispatcher(settings: Settings, stage: Stage) -> Dispatcher:
    """What sends the deliveries of a stage."""
    queue = Queue(stage, chance=partial(uniform, -1, 1))
    return Dispatcher(queue, open_signer(settings), Web(_guard(settings)), stage.clock)


def open_signer(settings: Settings) -> Signer:
    """What makes the secrets of webhooks."""
    return Signer(_secret(settings))


def work(settings: Settings) -> None:
    """Empty the outbox, and send what is due to webhooks, until asked to end."""
    folder = DataFolder(settings.data)
    stage = open_stage(settings)
    worker, dispatcher = open_worker(settings, stage), open_dispatcher(settings, stage)
    stopping = stop_on_signal()
    metrics = metrics_listener(settings.metrics, _metrics_text(settings, dispatcher))
    with Wakeups.listen(folder.bell) as bell, metrics, beside(dispatcher, stopping):
        worker.run(bell, stopping, dispatcher.wake)
    stage.database.close()


def application() -> Front:
    """The doors of one server process; what the server calls in each."""
    hold_asking()
    settings = read_settings()
    if parent := parent_process():
        end_with_parent(parent.pid or 0)
    stage = open_stage(settings)
    row = claim_row(DataFolder(settings.data).rows, process_rows(settings))
    _settle_on_core(row.number)
    front = open_front(settings, stage, row.number)
    # What stands now stays: the collector need not look at it again and again.
    gc.collect()
    gc.freeze()
    return front


def open_front(settings: Settings, stage: Stage, row: int) -> Front:
    """Every door to a stage, which counts its requests in this row; the stage is closed when the front is stopped."""
    folder = DataFolder(settings.data)
    machine = MachineLimits(folder.limits)
    limits: Limits = RedisLimits(settings.redis, machine) if settings.redis else machine
    last_used = LastUsed(stage.database)
    threads = ThreadPoolExecutor(THREADS)
    writing = _Repeated(last_used.write, EVERY_SECONDS, threads)
    runner = Runner(stage.database.reads_inline, threads)
    entrance = Entrance(stage, limits, last_used, runner)
    addresses = Addresses(settings.base_url, settings.trusted_proxies)
    tools = Tools(CATALOGUE.operations)
    visitors = Visitors(stage, runner, limits, addresses, settings.base_url)
    callers = Callers(settings.port, addresses.holder, open_bounds())

    async def start() -> None:
        callers.start()
        await writing.start()

    async def stop() -> None:
        callers.stop()
        await writing.stop()
        threads.shutdown()
        stage.database.close()

    return Front(
        doors=_doors(settings, entrance, visitors, tools),
        areas={
            api.PREFIX: api.ApiDoor(
                entrance, api_paths(CATALOGUE.operations), describe(CATALOGUE.operations, settings.base_url)
            ),
            "/.well-known": well_known(settings.base_url),
        },
        nowhere=office(visitors, _link_maker(settings), tools.names, open_signer(settings)),
        addresses=addresses,
        meters=Meters(Tallies(folder.tallies, meter_names(METERED), row), METERED),
        start=start,
        stop=stop,
    )


def _doors(settings: Settings, entrance: Entrance, visitors: Visitors, tools: Tools) -> dict[str, Door]:
    """The doors by their paths."""
    base, stage, runner = settings.base_url, entrance.stage, entrance.runner
    health = Health(lambda: is_current(stage.database), runner)
    challenge = f'Bearer resource_metadata="{base}/.well-known/oauth-protected-resource/mcp"'
    server_info = {"name": "mainstay", "title": "Mainstay", "version": version("mainstay")}
    agents = McpDoor(entrance, tools, server_info, challenge, METERED.index("mcp"))
    office = TokenOffice(stage.database, base)
    authorization = Authorization(stage, runner, base, settings.loopback_ports == "any")
    return {
        "/mcp": agents,
        "/mcp/": agents,
        "/oauth/register": Register(stage, entrance.limits, visitors.addresses, runner),
        "/oauth/authorize": Approval(authorization, visitors),
        "/oauth/token": Token(stage, office, runner, f"{base}/mcp"),
        "/oauth/revoke": Revoke(stage, office, runner),
        "/healthz": health.alive,
        "/readyz": health.is_ready,
    }


def _link_maker(settings: Settings) -> LinkMaker:
    return LinkMaker(_secret(settings), settings.base_url)


def _secret(settings: Settings) -> bytes:
    return installation_secret(settings.secret, DataFolder(settings.data).secret)


def _guard(settings: Settings) -> Guard:
    return Guard(allow_private=settings.webhook_private_addresses == "allow")


def _metrics_text(settings: Settings, dispatcher: Dispatcher) -> Callable[[], str]:
    path = DataFolder(settings.data).tallies
    # Opened at each reading: a server that starts anew replaces the file.
    return lambda: Meters(Tallies(path, meter_names(METERED), 0), METERED).text() + attempts_text(dispatcher.counts)


def process_rows(settings: Settings) -> int:
    """How many server processes may count at once: while one is replaced, both are there."""
    return settings.workers * 2


def _settle_on_core(number: int) -> None:
    """Keep a process's threads on one core, and let none of them push another off it.

    Handing Python's lock from core to core costs more than it gains. On one core, a thread that waits for the lock
    would interrupt the one that lets go of it for a moment, at each statement: as batch work it waits for its turn.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


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
