"""A worker process with a kind of task that kills it as soon as its other tasks are done; its clock may be ahead."""

import os
import signal
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mainstay.backing.database import EVERY
from mainstay.backing.folder import DataFolder
from mainstay.backing.wakeups import Wakeups
from mainstay.ledger.outbox_queue import Work
from mainstay.settings import read_settings
from mainstay.staging import open_stage
from mainstay.values.moments import system_clock
from mainstay.worker.worker import Worker
from mainstay.working import open_worker
from waiting import wait_until


def main() -> None:
    """Work until killed."""
    ahead = timedelta(seconds=float(sys.argv[1]))
    settings = read_settings(os.environ)

    def clock() -> datetime:
        return system_clock() + ahead

    stage = open_stage(settings, clock)

    def is_alone() -> bool:
        with stage.database.reading(EVERY) as rows:
            return rows.one("SELECT 1 FROM outbox WHERE kind <> 'kill'") is None

    def kill(_work: Work) -> None:
        wait_until(is_alone)
        os.kill(os.getpid(), signal.SIGKILL)

    worker = Worker(stage, {**open_worker(settings, stage).kinds, "kill": kill}, ())
    with Wakeups.listen(DataFolder(settings.data).bell) as bell:
        worker.run(bell, threading.Event(), lambda: None)


if __name__ == "__main__":
    main()
