"""`mainstay serve`: one process that keeps the server processes and the worker running, and ends them together."""

import gc
import os
import socket
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.context import ForkProcess
from time import monotonic
from typing import Any

from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes
from granian.http import HTTP1Settings
from granian.server import MPServer

from mainstay.composition import check_installation, open_files, open_first_organisation, open_performer
from mainstay.doors.metric_labels import METRIC_LABELS
from mainstay.doors.pages.rendering import compile_templates
from mainstay.identity.first_organisation import SET_UP_PATH, has_no_accounts
from mainstay.infrastructure.connection_limits import prepare_connection_limits
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable
from mainstay.infrastructure.files import FileStoreUnavailable, TemporaryFiles
from mainstay.infrastructure.log import log
from mainstay.infrastructure.metrics_listener import check_metrics_address
from mainstay.infrastructure.processes import (
    DEATHS_SECONDS,
    MAX_DEATHS,
    RecentDeaths,
    end_children_on_sigterm,
    prepare_worker_process,
)
from mainstay.infrastructure.rate_limits import MachineRateLimits
from mainstay.infrastructure.shared_metrics import SharedMetrics
from mainstay.lazy_import import import_lazily
from mainstay.server_app import count_process_slots
from mainstay.settings import SettingError, Settings, to_environment

HEADER_SECONDS = 10
# A request may wait this long to be finished when the server is asked to end.
GRACE_SECONDS = 20


class _SupervisedServer(MPServer):
    """Granian, with server processes that are replaced if they die.

    Granian's own loop ends everything at the second death within some seconds, and only its own log says so.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gave_up = False
        self.stopping = threading.Event()

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        deaths: defaultdict[int, RecentDeaths] = defaultdict(RecentDeaths)
        due: dict[int, float] = {}
        while True:
            self.main_loop_interrupt.wait(min(due.values()) - monotonic() if due else None)
            self.main_loop_interrupt.clear()
            if self.interrupt_signal:
                log("stopping")
                self.stopping.set()
                break
            if self.reload_signal:
                reload: Callable[[Any, Any], None] = self._reload
                reload(spawn_target, target_loader)
            while self.interrupt_children:
                number = self.interrupt_children.pop()
                pause = deaths[number].pause_after(monotonic())
                log("server process ended", level="error", code=self.wrks[number].inner.exitcode, pause=pause)
                if pause is None:
                    reason = f"A server process ended {MAX_DEATHS} times in {DEATHS_SECONDS:.0f} seconds."
                    log("giving up", level="error", reason=reason)
                    self.gave_up = True
                    return
                due[number] = monotonic() + pause
            for number in [number for number, at in due.items() if at <= monotonic()]:
                del due[number]
                self._respawn_workers([number], spawn_target, target_loader)
        # Processes that were asked to end at the same time have ended by themselves: that is no failure.
        self.interrupt_children.clear()


# The server of Mainstay, and of everything that the benchmarks compare it with.
make_server = partial(
    _SupervisedServer,
    loop=Loops.uvloop,
    runtime_mode=RuntimeModes.st,
    http=HTTPModes.http1,
    http1_settings=HTTP1Settings(header_read_timeout=HEADER_SECONDS * 1000),
    websockets=False,
    backlog=2048,
    log_enabled=False,
)


def serve(settings: Settings) -> None:
    """Serve all doors until asked to end."""
    check_port(settings)
    check_metrics_address(settings.metrics)
    code = prepare_shared_files(settings)
    # Each process reads its settings from the environment, so flags are put there.
    os.environ |= to_environment(settings)

    server = make_server(
        "mainstay.server_app:application",
        interface=Interfaces.RSGI,
        address=settings.host,
        port=settings.port,
        factory=True,
        workers=settings.workers,
        backpressure=prepare_connection_limits().max_accepted,
        respawn_interval=0.1,
        workers_kill_timeout=GRACE_SECONDS,
    )
    end_children_on_sigterm()
    worker = _SupervisedWorker(settings, server.stopping)
    server.on_startup(worker.start)
    server.on_shutdown(worker.stop)
    # What exists now stays. If the garbage collector does not touch it, the server processes share its memory.
    gc.freeze()
    gc.enable()
    _log_start(settings, code)
    server.serve()
    if server.gave_up:
        sys.exit(1)
    log("stopped")


def prepare_shared_files(settings: Settings) -> str | None:
    """Create the files that the server processes share; return the code to set up the first organisation, if needed."""
    code = _open_installation(settings)
    open_files(settings).remove_unfinished()
    create_run_files(settings)
    compile_templates(DataFolder(settings.data).templates)
    return code


def create_run_files(settings: Settings) -> None:
    """Create the files without which no server process starts, as they are before the first request."""
    folder = DataFolder(settings.data)
    TemporaryFiles(folder.temporary_files).prepare_folder()
    MachineRateLimits.create(folder.rate_limits)
    SharedMetrics.create(folder.counters, METRIC_LABELS, count_process_slots(settings))


def _open_installation(settings: Settings) -> str | None:
    """Check that everything belongs to one installation; return the code for its first organisation, if it has none."""
    database = open_performer(settings).database
    try:
        check_installation(settings, database)
        with database.read_transaction(ALL_ORGANISATIONS) as db:
            return open_first_organisation(settings).code if has_no_accounts(db) else None
    finally:
        database.close()


def _log_start(settings: Settings, code: str | None) -> None:
    """Log where it listens, the address that people use, and what the operator has to do."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    log("serving", address=settings.base_url, listener=f"{host}:{settings.port}", workers=settings.workers)
    if settings.smtp is None:
        next_step = "Nobody gets a mail. Set MAINSTAY_SMTP."
        log("mails go to a folder", level="warn", folder=str(DataFolder(settings.data).emails), next=next_step)
    if code:
        next_step = "Open the link to make the first organisation."
        log("no organisation yet", next=next_step, link=f"{settings.base_url}{SET_UP_PATH}?code={code}", code=code)


def check_port(settings: Settings) -> None:
    """Refuse a port that is in use: the server processes would share it with another program, or die repeatedly."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise SettingError(
            f"MAINSTAY_HOST and MAINSTAY_PORT cannot be {settings.host} and {settings.port}: {reason}."
        ) from None


class _ForkedWorker(ForkProcess):
    """A forked worker process, which shares the memory of what this process has imported."""

    def wait(self) -> int | None:
        """Wait until it has ended, and return its exit code."""
        self.join()
        return self.exitcode


class _SupervisedWorker:
    """The worker process, which is started again if it dies, until it is stopped.

    The first process is forked, which takes half the time of a start. Later this process has threads, and a fork could
    wait for ever for a lock that another thread held. So later processes are started afresh, not forked.
    """

    def __init__(self, settings: Settings, stopping: threading.Event) -> None:
        self._settings = settings
        self._stopping = stopping
        self._process: _ForkedWorker | subprocess.Popen[bytes] | None = None
        self._supervisor: threading.Thread | None = None

    def start(self) -> None:
        """Start it. This process must not have other threads yet."""
        process = self._process = _ForkedWorker(target=_run_worker, args=[self._settings, os.getpid()])
        process.start()
        self._supervisor = threading.Thread(target=self._supervise, args=[process], daemon=True)
        self._supervisor.start()

    def stop(self) -> None:
        """Ask it to end, and wait until it has ended."""
        self._stopping.set()
        if self._process:
            with suppress(ProcessLookupError):
                self._process.terminate()
        if self._supervisor:
            self._supervisor.join(GRACE_SECONDS)

    def _supervise(self, process: "_ForkedWorker | subprocess.Popen[bytes]") -> None:
        while True:
            code = process.wait()
            # If it was asked to end at the same time as this process, it may end first: that is no failure.
            if self._stopping.wait(1.0):
                return
            log("worker ended", level="error", code=code)
            process = self._restart()

    def _restart(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "mainstay", "worker", "--end-with-parent", str(os.getpid())]
        process = self._process = subprocess.Popen(command)
        if self._stopping.is_set():
            # This process was asked to end while it started the worker.
            process.terminate()
        return process


def _run_worker(settings: Settings, parent: int) -> None:
    prepare_worker_process(parent)
    try:
        import_lazily("mainstay.worker_command").work(settings)
    except (SettingError, DatabaseUnavailable, FileStoreUnavailable) as error:
        sys.exit(str(error))
