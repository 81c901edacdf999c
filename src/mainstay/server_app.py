"""Build the application of one server process: settings, database and all doors. Only this file knows every door."""

import gc
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from multiprocessing import parent_process
from typing import TYPE_CHECKING

from mainstay.business.issuing.pdf_printer import Printer
from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.catalogue import CATALOGUE
from mainstay.composition import (
    open_document_client,
    open_files,
    open_first_organisation,
    open_key_maker,
    open_link_maker,
    open_performer,
    open_sealer,
    open_signer,
)
from mainstay.doors.api import door as api
from mainstay.doors.api.openapi import PublicOpenApi, build_openapi
from mainstay.doors.api.reference import ReferencePage
from mainstay.doors.api.routes import build_api_router
from mainstay.doors.assistant.assistant_parts import AssistantParts
from mainstay.doors.assistant.live_text import LiveText
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.doors.assistant.turn_runner import TurnRunner
from mainstay.doors.bearer_auth import BearerAuth
from mainstay.doors.document_answers import DocumentAnswers
from mainstay.doors.health import Health
from mainstay.doors.http import HttpApp, RequestHandler
from mainstay.doors.links.downloads import DownloadDoor
from mainstay.doors.links.link_access import LinkAccess
from mainstay.doors.links.uploads import UploadDoor
from mainstay.doors.mcp.door import McpDoor
from mainstay.doors.mcp.elicitation import Elicitation
from mainstay.doors.mcp.instructions import INSTRUCTIONS
from mainstay.doors.mcp.tools import Tools
from mainstay.doors.metric_labels import (
    DOWNLOAD_LABEL,
    METRIC_LABELS,
    SINGLE_PATHS,
    STATIC_LABEL,
    UPLOAD_LABEL,
)
from mainstay.doors.oauth.approve import ApprovalScreen
from mainstay.doors.oauth.authorize import Authorization
from mainstay.doors.oauth.client_documents import ClientDocuments
from mainstay.doors.oauth.metadata import build_well_known
from mainstay.doors.oauth.register import RegisterEndpoint
from mainstay.doors.oauth.revoke import RevokeEndpoint
from mainstay.doors.oauth.token import TokenEndpoint
from mainstay.doors.office.routes import TokenMakers, build_office
from mainstay.doors.pages.page_language import localise_door
from mainstay.doors.pages.session import Visitors
from mainstay.doors.runner import CONTENT_THREADS, PRINT_THREADS, Runner, Threads
from mainstay.doors.server_names import ServerNames
from mainstay.doors.turns import LONGEST_REST_SECONDS, Turns
from mainstay.identity.last_used import WRITE_SECONDS, LastUsed
from mainstay.identity.tokens import TokenIssuer
from mainstay.infrastructure.connection_limits import ConnectionLimiter, prepare_connection_limits
from mainstay.infrastructure.content_reader import ContentReader
from mainstay.infrastructure.cpu_priority import look_for_working_children, pin_to_core, share_working_children
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.files import TemporaryFiles
from mainstay.infrastructure.migrations.apply import make_schema_guard
from mainstay.infrastructure.periodic import PeriodicTask
from mainstay.infrastructure.process_slots import claim_slot
from mainstay.infrastructure.processes import block_sigterm, end_with_parent
from mainstay.infrastructure.rate_limits import MachineRateLimits, RateLimits
from mainstay.infrastructure.readiness import Readiness
from mainstay.infrastructure.shared_metrics import SharedMetrics
from mainstay.infrastructure.streaming_client import StreamingClient
from mainstay.kernel.perform import Performer
from mainstay.lazy_import import import_lazily
from mainstay.settings import Settings, read_settings

if TYPE_CHECKING:
    from mainstay.infrastructure.webhook_client import WebhookClient

# How often a process looks at the use of its database connections, and at the other processes.
SAMPLE_SECONDS = 1.0


def application() -> HttpApp:
    """Return the application of one server process. Granian calls this in each process."""
    block_sigterm()
    settings = read_settings()
    if parent := parent_process():
        end_with_parent(parent.pid or 0)
    performer = open_performer(settings)
    slot = claim_slot(DataFolder(settings.data).process_slots, count_process_slots(settings))
    share_working_children(DataFolder(settings.data).working_children)
    pin_to_core(slot.number)
    app = open_app(settings, performer, slot.number)
    # What exists now stays, so the garbage collector need not look at it again.
    gc.collect()
    gc.freeze()
    return app


def open_app(
    settings: Settings, performer: Performer, slot: int, open_web: "Callable[[], WebhookClient]" = open_document_client
) -> HttpApp:
    """Build the application with all doors. It counts requests in this slot; stopping it closes the performer.

    `open_web` opens the client that fetches the descriptions of apps.
    """
    folder = DataFolder(settings.data)
    limits = _open_rate_limits(settings)
    last_used = LastUsed(performer.database)
    metrics = SharedMetrics(folder.counters, METRIC_LABELS, slot)
    turns = Turns(on_refusal=metrics.count_timeout, longest_rest=LONGEST_REST_SECONDS)
    runner = Runner(performer.database.reads_inline, Threads(settings.pool_size), change_turns=turns)
    usage_task = PeriodicTask(last_used.write_uses, WRITE_SECONDS, runner.threads.quick)
    bearer_auth = BearerAuth(performer, limits, last_used, runner)
    addresses = ServerNames(settings.base_url, settings.trusted_proxies)
    tools = Tools(CATALOGUE.operations)
    assistant = TurnRunner(_open_assistant(settings, performer, runner, tools))
    # Made when it is first requested, which in most server processes never happens.
    describe_once = cache(lambda: build_openapi(CATALOGUE, settings.base_url))
    visitors = _open_visitors(settings, performer, runner, limits, addresses)
    connection_limiter = ConnectionLimiter(settings.port, addresses.limited_network, prepare_connection_limits())
    sampling_task = PeriodicTask(partial(_observe, performer, metrics), SAMPLE_SECONDS, None)

    async def start() -> None:
        connection_limiter.start()
        await usage_task.start()
        await sampling_task.start()
        await assistant.start()

    async def stop() -> None:
        connection_limiter.stop()
        await assistant.close()
        await sampling_task.stop()
        await usage_task.stop()
        runner.threads.close()
        visitors.temporary_files.close()
        performer.database.close()

    return HttpApp(
        doors=_make_doors(settings, bearer_auth, visitors, tools, describe_once)
        | _make_oauth_doors(settings, bearer_auth, visitors, cache(open_web)),
        prefix_doors=_make_prefix_doors(settings, bearer_auth, visitors, describe_once),
        default_door=_open_office(settings, visitors, tools, assistant),
        server_names=addresses,
        meters=metrics.request_metrics,
        route_numbers={path: METRIC_LABELS.index(path) for path in SINGLE_PATHS},
        start=start,
        stop=stop,
    )


def _make_prefix_doors(
    settings: Settings, bearer_auth: BearerAuth, visitors: Visitors, describe_once: Callable[[], bytes]
) -> dict[str, RequestHandler]:
    """Return the doors of everything below a path."""
    document_answers = DocumentAnswers(bearer_auth.performer, bearer_auth.runner, visitors.files)
    router = build_api_router(CATALOGUE.operations)
    access = LinkAccess(bearer_auth, visitors.addresses)
    return {
        api.API_PREFIX: api.ApiDoor(bearer_auth, router, describe_once, document_answers),
        "/uploads": UploadDoor(
            access, visitors.file_intake, visitors.temporary_files, METRIC_LABELS.index(UPLOAD_LABEL)
        ),
        "/downloads": DownloadDoor(access, document_answers, METRIC_LABELS.index(DOWNLOAD_LABEL)),
        "/.well-known": build_well_known(
            settings.base_url, fetches_client_documents=settings.client_documents == "fetch"
        ),
    }


def _open_assistant(settings: Settings, performer: Performer, runner: Runner, tools: Tools) -> AssistantParts:
    """Return what the assistant works with. The operator's own model may be in a private network."""
    operator_model = (
        ModelSettings(
            settings.assistant_url,
            ModelDialect(settings.assistant_dialect),
            settings.assistant_model,
            settings.assistant_key,
            allows_private=True,
        )
        if settings.assistant_url and settings.assistant_model
        else None
    )
    return AssistantParts(
        performer,
        runner,
        tools,
        INSTRUCTIONS,
        StreamingClient(),
        open_sealer(settings),
        operator_model,
        LiveText(),
    )


def _observe(performer: Performer, metrics: SharedMetrics) -> None:
    metrics.observe_pool(performer.database.pool_usage())
    look_for_working_children()


def _open_visitors(
    settings: Settings, performer: Performer, runner: Runner, limits: RateLimits, addresses: ServerNames
) -> Visitors:
    files, temporary_files = open_files(settings), TemporaryFiles(DataFolder(settings.data).temporary_files)
    content, printer = ContentReader(CONTENT_THREADS), Printer(PRINT_THREADS)
    return Visitors(
        performer,
        runner,
        limits,
        addresses,
        settings.base_url,
        open_sealer(settings),
        files,
        temporary_files,
        content,
        printer,
    )


def _make_doors(
    settings: Settings, bearer_auth: BearerAuth, visitors: Visitors, tools: Tools, describe_once: Callable[[], bytes]
) -> dict[str, RequestHandler]:
    """Return the doors by their paths."""
    base, performer, runner = settings.base_url, bearer_auth.performer, bearer_auth.runner
    readiness = Readiness(
        performer.database, make_schema_guard(performer.database.engine), settings.data, open_files(settings)
    )
    health = Health(readiness.find_problem, runner)
    challenge = f'Bearer resource_metadata="{base}/.well-known/oauth-protected-resource/mcp"'
    server_info = {"name": "mainstay", "title": "Mainstay", "version": version("mainstay")}
    agents = McpDoor(
        bearer_auth,
        tools,
        Elicitation(visitors.sealer, performer.clock),
        server_info,
        challenge,
        METRIC_LABELS.index("mcp"),
    )
    return {
        "/mcp": agents,
        "/mcp/": agents,
        "/openapi.json": PublicOpenApi(describe_once),
        "/developers": ReferencePage(CATALOGUE, base),
        "/healthz": health.answer_alive,
        "/readyz": health.answer_ready,
    }


def _make_oauth_doors(
    settings: Settings, bearer_auth: BearerAuth, visitors: Visitors, open_web: "Callable[[], WebhookClient]"
) -> dict[str, RequestHandler]:
    """Return the doors by which apps connect, by their paths."""
    base, performer, runner = settings.base_url, bearer_auth.performer, bearer_auth.runner
    token_issuer = TokenIssuer(performer)
    documents = ClientDocuments(performer, runner, bearer_auth.limits, open_web, settings.client_documents == "fetch")
    authorization = Authorization(performer, runner, documents, base, settings.loopback_ports == "any")
    return {
        "/oauth/register": RegisterEndpoint(performer, bearer_auth.limits, visitors.addresses, runner),
        "/oauth/authorize": localise_door(ApprovalScreen(authorization, visitors), performer.languages),
        "/oauth/token": TokenEndpoint(performer, token_issuer, runner, f"{base}/mcp"),
        "/oauth/revoke": RevokeEndpoint(performer, token_issuer, runner),
    }


def _open_office(settings: Settings, visitors: Visitors, tools: Tools, assistant: TurnRunner) -> RequestHandler:
    office = build_office(
        visitors, tools.tool_names, _open_makers(settings), assistant, METRIC_LABELS.index(STATIC_LABEL)
    )
    return localise_door(office, visitors.performer.languages)


def _open_rate_limits(settings: Settings) -> RateLimits:
    machine_limits = MachineRateLimits(DataFolder(settings.data).rate_limits)
    if not settings.redis:
        return machine_limits
    shared_limits: RateLimits = import_lazily("mainstay.infrastructure.redis_rate_limits").RedisRateLimits(
        settings.redis, machine_limits
    )
    return shared_limits


def _open_makers(settings: Settings) -> TokenMakers:
    return TokenMakers(
        open_link_maker(settings), open_signer(settings), open_key_maker(settings), open_first_organisation(settings)
    )


def count_process_slots(settings: Settings) -> int:
    """Return how many server processes can run at once: while one is replaced, there are two."""
    return settings.workers * 2
