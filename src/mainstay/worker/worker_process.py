"""The parts of a worker process besides the worker: the dispatcher in a thread, and the signals that end both."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from mainstay.webhooks.dispatcher import Dispatcher


@contextmanager
def run_dispatcher(dispatcher: Dispatcher, stopping: threading.Event) -> Iterator[None]:
    """Run the dispatcher in a thread. If either the dispatcher or the worker ends, the other is ended too."""
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(dispatcher.run)
        future.add_done_callback(lambda _: stopping.set())
        try:
            yield
        finally:
            dispatcher.stop()
            future.result()


def stop_on_signal(wake: Callable[[], None]) -> threading.Event:
    """Return an event that is set when the process is asked to end; the worker is woken then too."""
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        wake()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return stopping
