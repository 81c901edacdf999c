"""Empties the outbox at its own pace, and does what is due now and then."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

import orjson

from mainstay.backing.database import EVERY, Database, Unreachable
from mainstay.backing.log import log_error
from mainstay.backing.mail import Message, Post
from mainstay.backing.wakeups import Wakeups
from mainstay.identity import clients, links, sessions, tickets, tokens
from mainstay.identity.links import LinkMaker
from mainstay.identity.mails import LINK, MAIL
from mainstay.kernel import outbox, replay
from mainstay.kernel.outbox import EVENT, Work
from mainstay.kernel.reaction import Happening, Reaction
from mainstay.values.moments import Clock, moment_text
from mainstay.webhooks import retention
from mainstay.webhooks.dispatcher import Dispatcher
from mainstay.webhooks.fan_out import fan_out
from mainstay.webhooks.model import KEPT

# How long the worker rests when nobody rings: work that falls due by itself waits no longer than this.
REST_SECONDS = 1.0
# How much is taken from the outbox at once.
BATCH = 50
TIDY_EVERY = timedelta(minutes=10)


@dataclass(slots=True)
class Worker:
    """One worker; several may run at once."""

    database: Database
    clock: Clock
    post: Post
    reactions: Mapping[str, tuple[Reaction, ...]]
    base_url: str
    links: LinkMaker
    _tidied_at: datetime | None = None

    def run(self, bell: Wakeups, stopping: threading.Event, tell: Callable[[], None]) -> None:
        """Work until told to stop; what is begun is finished. Tell the dispatcher whenever there may be more for it."""
        while not stopping.is_set():
            try:
                self.tidy()
                while not stopping.is_set() and self.step():
                    tell()
            except Unreachable as fault:
                log_error("database away", fault)
            if bell.wait(REST_SECONDS):
                tell()

    def step(self) -> bool:
        """Do some work; False when nothing is due."""
        with self.database.changing(EVERY) as rows:
            taken = outbox.take(rows, self.clock(), BATCH)
        events = sorted((work for work in taken if work.kind == EVENT), key=_whose)
        for organisation, works in groupby(events, _whose):
            self._react_to_all(organisation, list(works))
        for work in taken:
            if work.kind != EVENT:
                self._try(work)
        return bool(taken)

    def tidy(self) -> None:
        """Remove what is kept no longer."""
        now = self.clock()
        if self._tidied_at and now - self._tidied_at < TIDY_EVERY:
            return
        self._tidied_at = now
        with self.database.changing(EVERY) as rows:
            replay.forget_old(rows, now)
            tokens.forget_expired(rows, now)
            clients.forget_never_approved(rows, now)
            sessions.forget_old(rows, now)
            links.forget_old(rows, now)
            tickets.forget_old(rows, now)
            rows.run("DELETE FROM event WHERE created_at < :before", before=moment_text(now - KEPT))
        more = True
        while more:
            with self.database.changing(EVERY) as rows:
                more = retention.forget_old(rows, now)

    def _react_to_all(self, organisation: str, works: Sequence[Work]) -> None:
        """React to many events of an organisation in one transaction; if one is faulty, to each by itself."""
        try:
            self._react(organisation, works)
        except Unreachable:
            raise
        except Exception as fault:
            log_error("events taken one by one", fault, organisation=organisation)
            for work in works:
                self._try(work)

    def _try(self, work: Work) -> None:
        try:
            self._do(work)
        except Unreachable:
            # The lease runs out by itself.
            raise
        except Exception as fault:
            # Whatever it is, this piece of work must not keep the others waiting.
            with self.database.changing(EVERY) as rows:
                again = outbox.postpone(rows, work, self.clock())
            log_error("work failed", fault, work=work.id, kind=work.kind, again=again and moment_text(again))

    def _do(self, work: Work) -> None:
        if work.kind == EVENT:
            self._react(work.organisation, [work])
            return
        if work.kind == MAIL:
            self.post.send(self._message(work))
        with self.database.changing(work.organisation) as rows:
            outbox.finish(rows, work)

    def _message(self, work: Work) -> Message:
        payload = dict(work.payload)
        kind, link = payload.pop("link_kind", ""), payload.pop("link", "")
        if link:
            payload["text"] = payload["text"].replace(LINK, self.links.address(kind, link))
        return Message(id=work.id, **payload)

    def _react(self, organisation: str, works: Sequence[Work]) -> None:
        """Do what follows events, and let them be sent to webhooks; nothing follows one that is kept no longer."""
        now = self.clock()
        at = moment_text(now)
        told = []
        with self.database.changing(organisation) as rows:
            for work in works:
                event = work.payload["event"]
                row = rows.one(
                    "SELECT type, actor, data FROM event WHERE organisation_id = :organisation AND id = :id", id=event
                )
                outbox.finish(rows, work)
                if row is None:
                    continue
                kind, actor, data = map(str, row)
                told.append((event, kind))
                for reaction in self.reactions.get(kind, ()):
                    record = orjson.loads(data)["object"]
                    happening = Happening(rows, kind, orjson.loads(actor), record, self.base_url, now)
                    for letter in reaction(happening):
                        outbox.put(rows, letter, at)
            fan_out(rows, told, at)


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


def _whose(work: Work) -> str:
    return work.organisation


def stop_on_signal() -> threading.Event:
    """Set when the process is asked to end."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    return stopping
