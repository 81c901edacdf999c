"""Builds the house of one server process: settings → backing → doors. The only file that knows every door."""

import gc
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from multiprocessing import parent_process

from mainstay.backing.callers import Callers, open_bounds
from mainstay.backing.content_reader import ContentReader
from mainstay.backing.files import PassingFiles
from mainstay.backing.folder import DataFolder
from mainstay.backing.limits import Limits, MachineLimits
from mainstay.backing.migrations.apply import is_current
from mainstay.backing.processes import end_with_parent, hold_asking, settle_on_core
from mainstay.backing.repeating import Repeated
from mainstay.backing.rows import claim_row
from mainstay.backing.served import Served
from mainstay.business.issuing.printer import Printer
from mainstay.catalogue import CATALOGUE
from mainstay.doors.addresses import Addresses
from mainstay.doors.api import door as api
from mainstay.doors.api.openapi import describe
from mainstay.doors.api.public import PublicDescription
from mainstay.doors.api.reference import Reference
from mainstay.doors.api.routes import api_paths
from mainstay.doors.entrance import Entrance
from mainstay.doors.health import Health
from mainstay.doors.http import Answering, Front
from mainstay.doors.mcp.door import McpDoor
from mainstay.doors.mcp.tools import Tools
from mainstay.doors.metering import METERED, SINGLE, STATIC
from mainstay.doors.oauth.approve import Consent
from mainstay.doors.oauth.authorize import Authorization
from mainstay.doors.oauth.metadata import well_known
from mainstay.doors.oauth.register import Register
from mainstay.doors.oauth.revoke import Revoke
from mainstay.doors.oauth.token import Token
from mainstay.doors.office.routes import Makers, office
from mainstay.doors.pages.session import Visitors
from mainstay.doors.papers import Papers
from mainstay.doors.running import CONTENT_THREADS, Runner
from mainstay.doors.turns import Turns
from mainstay.identity.last_used import EVERY_SECONDS, LastUsed
from mainstay.identity.tokens import TokenOffice
from mainstay.kernel.perform import Stage
from mainstay.late import late
from mainstay.settings import Settings, read_settings
from mainstay.staging import (
    open_files,
    open_founding,
    open_key_maker,
    open_link_maker,
    open_sealer,
    open_signer,
    open_stage,
)

# How often it is noted how connections are used.
SAMPLE_SECONDS = 1.0


def application() -> Front:
    """The doors of one server process; what the server calls in each."""
    hold_asking()
    settings = read_settings()
    if parent := parent_process():
        end_with_parent(parent.pid or 0)
    stage = open_stage(settings)
    row = claim_row(DataFolder(settings.data).rows, process_rows(settings))
    settle_on_core(row.number)
    front = open_front(settings, stage, row.number)
    # What stands now stays: the collector need not look at it again and again.
    gc.collect()
    gc.freeze()
    return front


def open_front(settings: Settings, stage: Stage, row: int) -> Front:
    """Every door to a stage, which counts its requests in this row; the stage is closed when the front is stopped."""
    folder = DataFolder(settings.data)
    limits = _limits(settings)
    last_used = LastUsed(stage.database)
    counted = Served(folder.tallies, METERED, row)
    runner = Runner(stage.database.reads_inline, change_turns=Turns(on_timeout=counted.count_timeout))
    writing = Repeated(last_used.write, EVERY_SECONDS, runner.threads.quick)
    entrance = Entrance(stage, limits, last_used, runner)
    addresses = Addresses(settings.base_url, settings.trusted_proxies)
    operations = CATALOGUE.operations
    tools = Tools(operations)
    # Made when it is first asked for: most server processes never are.
    described = cache(lambda: describe(CATALOGUE, settings.base_url))
    files, passing = open_files(settings), PassingFiles(folder.passing)
    sealer = open_sealer(settings)
    content, printer = ContentReader(CONTENT_THREADS), Printer(CONTENT_THREADS)
    visitors = Visitors(stage, runner, limits, addresses, settings.base_url, sealer, files, passing, content, printer)
    callers = Callers(settings.port, addresses.holder, open_bounds())
    sampling = Repeated(lambda: counted.observe_pool(stage.database.pool()), SAMPLE_SECONDS, None)

    async def start() -> None:
        callers.start()
        await writing.start()
        await sampling.start()

    async def stop() -> None:
        callers.stop()
        await sampling.stop()
        await writing.stop()
        runner.threads.close()
        passing.close()
        stage.database.close()

    return Front(
        doors=_doors(settings, entrance, visitors, tools, described),
        areas={
            api.PREFIX: api.ApiDoor(entrance, api_paths(operations), described, Papers(stage, runner, files)),
            "/.well-known": well_known(settings.base_url),
        },
        nowhere=office(visitors, tools.names, _makers(settings), METERED.index(STATIC)),
        addresses=addresses,
        meters=counted.meters,
        numbers={path: METERED.index(path) for path in SINGLE},
        start=start,
        stop=stop,
    )


def _doors(
    settings: Settings, entrance: Entrance, visitors: Visitors, tools: Tools, described: Callable[[], bytes]
) -> dict[str, Answering]:
    """The doors by their paths."""
    base, stage, runner = settings.base_url, entrance.stage, entrance.runner
    health = Health(lambda: is_current(stage.database), runner)
    challenge = f'Bearer resource_metadata="{base}/.well-known/oauth-protected-resource/mcp"'
    server_info = {"name": "mainstay", "title": "Mainstay", "version": version("mainstay")}
    agents = McpDoor(entrance, tools, server_info, challenge, METERED.index("mcp"))
    tokens = TokenOffice(stage)
    authorization = Authorization(stage, runner, base, settings.loopback_ports == "any")
    return {
        "/mcp": agents,
        "/mcp/": agents,
        "/oauth/register": Register(stage, entrance.limits, visitors.addresses, runner),
        "/oauth/authorize": Consent(authorization, visitors),
        "/oauth/token": Token(stage, tokens, runner, f"{base}/mcp"),
        "/oauth/revoke": Revoke(stage, tokens, runner),
        "/openapi.json": PublicDescription(described),
        "/developers": Reference(CATALOGUE, base),
        "/healthz": health.alive,
        "/readyz": health.is_ready,
    }


def _limits(settings: Settings) -> Limits:
    machine = MachineLimits(DataFolder(settings.data).limits)
    if not settings.redis:
        return machine
    shared: Limits = late("mainstay.backing.redis_limits").RedisLimits(settings.redis, machine)
    return shared


def _makers(settings: Settings) -> Makers:
    return Makers(open_link_maker(settings), open_signer(settings), open_key_maker(settings), open_founding(settings))


def process_rows(settings: Settings) -> int:
    """How many server processes may count at once: while one is replaced, both are there."""
    return settings.workers * 2
