"""A worker process with a kind of task that kills it as soon as its other tasks are done; its clock may be ahead."""

import os
import signal
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mainstay.changes.outbox_queue import LeasedTask
from mainstay.composition import open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.worker_wakeups import WakeupListener
from mainstay.settings import read_settings
from mainstay.values.moments import system_clock
from mainstay.worker.worker import Worker
from mainstay.worker_command import open_worker
from support.waiting import wait_until


def main() -> None:
    """Work until killed."""
    clock_offset = timedelta(seconds=float(sys.argv[1]))
    settings = read_settings(os.environ)

    def clock() -> datetime:
        return system_clock() + clock_offset

    performer = open_performer(settings, clock)

    def has_only_kill_task() -> bool:
        with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            return db.one("SELECT 1 FROM outbox WHERE kind <> 'kill'") is None

    def kill(_work: LeasedTask) -> None:
        wait_until(has_only_kill_task)
        os.kill(os.getpid(), signal.SIGKILL)

    worker = Worker(performer, {**open_worker(settings, performer).task_functions, "kill": kill}, ())
    with WakeupListener.listen(DataFolder(settings.data).worker_socket) as wakeups:
        worker.run(wakeups, threading.Event(), lambda: None)


if __name__ == "__main__":
    main()
