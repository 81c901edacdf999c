"""`mainstay serve`: one process keeps the server processes and the outbox worker running, and ends them together."""

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

from mainstay.backing.callers import open_bounds
from mainstay.backing.database import EVERY, Unreachable
from mainstay.backing.files import PassingFiles
from mainstay.backing.folder import DataFolder
from mainstay.backing.limits import MachineLimits
from mainstay.backing.log import log
from mainstay.backing.metrics_listener import check_metrics
from mainstay.backing.processes import (
    DEATHS_SECONDS,
    MOST_DEATHS,
    Deaths,
    begin_worker,
    end_children_when_asked,
)
from mainstay.backing.served import Served
from mainstay.doors.metering import METERED
from mainstay.doors.pages.render import read_templates
from mainstay.identity.founding import PATH, is_awaited
from mainstay.late import late
from mainstay.main import process_rows
from mainstay.settings import Settings, WrongSetting, environment_of
from mainstay.staging import open_files, open_founding, open_stage

HEADER_SECONDS = 10
# A request may wait this long to be finished when the server is asked to end.
GRACE_SECONDS = 20


class _Server(MPServer):
    """Granian, with processes that are replaced when they die.

    Its own loop ends everything at the second death within some seconds, and says so only in a log of its own.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gave_up = False
        self.stopping = threading.Event()

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        deaths: defaultdict[int, Deaths] = defaultdict(Deaths)
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
                    reason = f"A server process ended {MOST_DEATHS} times in {DEATHS_SECONDS:.0f} seconds."
                    log("giving up", level="error", reason=reason)
                    self.gave_up = True
                    return
                due[number] = monotonic() + pause
            for number in [number for number, at in due.items() if at <= monotonic()]:
                del due[number]
                self._respawn_workers([number], spawn_target, target_loader)
        # Those who were asked to end at the same time did so by themselves; it is no failure.
        self.interrupt_children.clear()


# The server that we serve with, and that everything we are measured against is served with.
new_server = partial(
    _Server,
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
    _check_port(settings)
    check_metrics(settings.metrics)
    code = prepare(settings)
    # Each process reads its settings from the environment, so flags are put there.
    os.environ |= environment_of(settings)

    server = new_server(
        "mainstay.main:application",
        interface=Interfaces.RSGI,
        address=settings.host,
        port=settings.port,
        factory=True,
        workers=settings.workers,
        backpressure=open_bounds().accepted,
        respawn_interval=0.1,
        workers_kill_timeout=GRACE_SECONDS,
    )
    end_children_when_asked()
    worker = _KeptWorker(settings, server.stopping)
    server.on_startup(worker.start)
    server.on_shutdown(worker.stop)
    # What stands now stays: left alone, its memory is shared with the server processes.
    gc.freeze()
    gc.enable()
    _tell_of_start(settings, code)
    server.serve()
    if server.gave_up:
        sys.exit(1)
    log("stopped")


def prepare(settings: Settings) -> str | None:
    """Make what the server processes share; the code for the first organisation, where there is none yet."""
    folder = DataFolder(settings.data)
    code = _begin_founding(settings)
    open_files(settings).tidy()
    PassingFiles(folder.passing).prepare()
    MachineLimits.create(folder.limits)
    Served.create(folder.tallies, METERED, process_rows(settings))
    read_templates(folder.templates)
    return code


def _begin_founding(settings: Settings) -> str | None:
    database = open_stage(settings).database
    with database.reading(EVERY) as rows:
        awaited = is_awaited(rows)
    database.close()
    founding = open_founding(settings)
    if awaited:
        return founding.begin()
    founding.end()
    return None


def _tell_of_start(settings: Settings, code: str | None) -> None:
    """Say where it listens and under which address it is known, and what its operator has to know or to do."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    log("serving", address=settings.base_url, listener=f"{host}:{settings.port}", workers=settings.workers)
    if settings.smtp is None:
        told = "Nobody gets a mail. Set MAINSTAY_SMTP."
        log("mails go to a folder", level="warn", folder=str(DataFolder(settings.data).mails), next=told)
    if code:
        told = "Open the link to make the first organisation. Its code counts until the next start."
        log("no organisation yet", next=told, link=f"{settings.base_url}{PATH}?code={code}", code=code)


def _check_port(settings: Settings) -> None:
    """Refuse a port that is taken: the server processes would share it with whoever has it, or die again and again."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except OSError as fault:
        why = os.strerror(fault.errno or 0)
        raise WrongSetting(
            f"MAINSTAY_HOST and MAINSTAY_PORT cannot be {settings.host} and {settings.port}: {why}."
        ) from None


class _Forked(ForkProcess):
    """A worker that begins with all that this process has read, and shares the memory of it."""

    def wait(self) -> int | None:
        """Its exit code, once it has ended."""
        self.join()
        return self.exitcode


class _KeptWorker:
    """The outbox worker, which is started again when it dies, until it is stopped.

    The first is forked, which takes half of the time of a start. Later there are threads, and one that is forked among
    them may wait for ever for what another thread held: it is started anew.
    """

    def __init__(self, settings: Settings, stopping: threading.Event) -> None:
        self._settings = settings
        self._stopping = stopping
        self._process: _Forked | subprocess.Popen[bytes] | None = None
        self._keeper: threading.Thread | None = None

    def start(self) -> None:
        """Begin, while this process has no thread but its own."""
        process = self._process = _Forked(target=_work, args=[self._settings, os.getpid()])
        process.start()
        self._keeper = threading.Thread(target=self._keep, args=[process], daemon=True)
        self._keeper.start()

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self._stopping.set()
        if self._process:
            with suppress(ProcessLookupError):
                self._process.terminate()
        if self._keeper:
            self._keeper.join(GRACE_SECONDS)

    def _keep(self, process: "_Forked | subprocess.Popen[bytes]") -> None:
        while True:
            code = process.wait()
            # One that was asked to end at the same time as this process may be quicker: it is no failure.
            if self._stopping.wait(1.0):
                return
            log("worker ended", level="error", code=code)
            process = self._begin_anew()

    def _begin_anew(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "mainstay", "worker", "--end-with-parent", str(os.getpid())]
        process = self._process = subprocess.Popen(command)
        if self._stopping.is_set():
            # Asked to end while it was being started.
            process.terminate()
        return process


def _work(settings: Settings, parent: int) -> None:
    begin_worker(parent)
    try:
        late("mainstay.working").work(settings)
    except (WrongSetting, Unreachable) as fault:
        sys.exit(str(fault))
