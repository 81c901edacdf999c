"""Empties the outbox at its own pace, and does what is due now and then."""

import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson

from mainstay.backing.database import EVERY, Database, Handle, Unreachable
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

# How long the worker rests when nobody rings: work that falls due by itself waits no longer than this.
REST_SECONDS = 1.0
TIDY_EVERY = timedelta(minutes=10)
EVENTS_KEPT = timedelta(days=30)


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

    def run(self, bell: Wakeups, stopping: threading.Event) -> None:
        """Work until told to stop; what is begun is finished."""
        while not stopping.is_set():
            try:
                self.tidy()
                while not stopping.is_set() and self.step():
                    pass
            except Unreachable as fault:
                log_error("database away", fault)
            bell.wait(REST_SECONDS)

    def step(self) -> bool:
        """Do one piece of work; False when nothing is due."""
        with self.database.changing(EVERY) as rows:
            work = outbox.take(rows, self.clock())
        if work is None:
            return False
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
        return True

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
            rows.run("DELETE FROM event WHERE created_at < :before", before=moment_text(now - EVENTS_KEPT))

    def _do(self, work: Work) -> None:
        if work.kind == MAIL:
            self.post.send(self._message(work))
        with self.database.changing(work.organisation) as rows:
            if work.kind == EVENT:
                self._react(rows, work.payload["event"])
            outbox.finish(rows, work)

    def _message(self, work: Work) -> Message:
        payload = dict(work.payload)
        kind, link = payload.pop("link_kind", ""), payload.pop("link", "")
        if link:
            payload["text"] = payload["text"].replace(LINK, self.links.address(kind, link))
        return Message(id=work.id, **payload)

    def _react(self, rows: Handle, event: str) -> None:
        row = rows.one(
            "SELECT type, actor, data FROM event WHERE organisation_id = :organisation AND id = :id", id=event
        )
        if row is None:
            return
        type_, actor, data = map(str, row)
        now = self.clock()
        happening = Happening(rows, type_, orjson.loads(actor), orjson.loads(data)["object"], self.base_url, now)
        for reaction in self.reactions.get(type_, ()):
            for letter in reaction(happening):
                outbox.put(rows, letter, moment_text(now))


def stop_on_signal() -> threading.Event:
    """Set when the process is asked to end."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    return stopping
