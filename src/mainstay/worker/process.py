"""What a worker process needs beside the worker: the dispatcher in a thread, and signals that end both."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from mainstay.webhooks.dispatcher import Dispatcher


@contextmanager
def beside(dispatcher: Dispatcher, stopping: threading.Event) -> Iterator[None]:
    """Have the dispatcher run in a thread meanwhile. When either of the two ends, the other is ended too."""
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(dispatcher.run)
        running.add_done_callback(lambda _: stopping.set())
        try:
            yield
        finally:
            dispatcher.stop()
            running.result()


def stop_on_signal(wake: Callable[[], None]) -> threading.Event:
    """Set when the process is asked to end; it is woken then."""
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        wake()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return stopping
