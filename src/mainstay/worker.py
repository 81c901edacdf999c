"""Empties the outbox at its own pace, and does what is due now and then."""

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby

import orjson

from mainstay.backing.database import EVERY, Handle, Unreachable
from mainstay.backing.log import log, log_error
from mainstay.backing.mail import Attachment, Mail, MailNotSent, Post, Undeliverable
from mainstay.backing.wakeups import Wakeups
from mainstay.business.issuing.press import Press
from mainstay.business.organisation.store import await_day, days_begun
from mainstay.identity.links import LinkMaker
from mainstay.identity.mails import LINK
from mainstay.kernel.perform import Stage
from mainstay.kernel.reaction import Happening, Reaction, Timer
from mainstay.ledger import events, outbox
from mainstay.ledger.outbox import EVENT, RETRIES, Letter, Work
from mainstay.values.moments import beginning_of, local_date, moment_text
from mainstay.webhooks import retention
from mainstay.webhooks.dispatcher import Dispatcher
from mainstay.webhooks.fan_out import fan_out

# How long the worker rests when nobody rings: work that falls due by itself waits no longer than this.
REST_SECONDS = 1.0
# How long what has begun to come in gathers before it is looked at.
GATHER_SECONDS = 0.05
# How much is taken from the outbox at once.
BATCH = 50
# The kind of the letter that is left where what is due when a day begins fails.
TIMER = "timer"
TIDY_EVERY = timedelta(minutes=10)


# Does one kind of work; what it raises is tried again later.
Doing = Callable[[Work], None]
# Removes what is kept no longer, or mends what a wrong clock has left.
Forgetting = Callable[[Handle, datetime], None]


class Hopeless(Exception):
    """The work can never be done, however often it is tried."""


@dataclass(slots=True)
class Worker:
    """One worker; several may run at once."""

    stage: Stage
    # What is done for each kind of work, but for events and timers.
    kinds: Mapping[str, Doing]
    upkeep: Sequence[Forgetting]
    _tidied_at: datetime | None = None

    def __post_init__(self) -> None:
        """Refuse a house in which a kind of work has two who do it: the second would never be asked."""
        counted = Counter([EVENT, TIMER, *self.kinds, *(chore.name for chore in self.stage.catalogue.chores)])
        for kind, number in counted.items():
            if number > 1:
                raise ValueError(f"Work of the kind {kind} would be done by two, of whom only one is asked.")

    def run(self, bell: Wakeups, stopping: threading.Event, tell: Callable[[], None]) -> None:
        """Work until told to stop; what is begun is finished. Tell the dispatcher whenever there may be more for it."""
        while not stopping.is_set():
            try:
                self.tidy()
                self.begin_days()
                while not stopping.is_set() and self.step():
                    tell()
            except Unreachable as fault:
                log("database away", level="error", message=str(fault))
            if bell.wait(REST_SECONDS):
                # What comes in a burst is done together: each time costs more than what is done, and the servers too,
                # which see anew what was changed beside them.
                stopping.wait(GATHER_SECONDS)
                bell.wait(0)
                tell()

    def step(self) -> bool:
        """Do some work; False when nothing is due."""
        with self.stage.database.changing(EVERY) as rows:
            taken = outbox.take(rows, self.stage.clock(), BATCH)
        told = sorted((work for work in taken if work.kind == EVENT), key=_whose)
        for organisation, works in groupby(told, _whose):
            self._tell_all(organisation, list(works))
        for work in taken:
            if work.kind != EVENT:
                self._try(work)
        return bool(taken)

    def begin_days(self) -> None:
        """Do what is due in the organisations whose day has begun since they were last visited."""
        now = self.stage.clock()
        with self.stage.database.reading(EVERY) as rows:
            begun = days_begun(rows, now, BATCH)
        for organisation, zone in begun:
            today = local_date(now, zone)
            for timer in self.stage.catalogue.timers:
                self._begin_day(timer, organisation, today)
            with self.stage.database.changing(organisation) as rows:
                await_day(rows, beginning_of(today + timedelta(days=1), zone))

    def tidy(self) -> None:
        """Remove what is kept no longer; at once also where the clock was set back."""
        now = self.stage.clock()
        if self._tidied_at and abs(now - self._tidied_at) < TIDY_EVERY:
            return
        self._tidied_at = now
        with self.stage.database.changing(EVERY) as rows:
            for forget in self.upkeep:
                forget(rows, now)
        more = True
        while more:
            with self.stage.database.changing(EVERY) as rows:
                more = retention.forget_old(rows, now)

    def _begin_day(self, timer: Timer, organisation: str, day: date) -> None:
        try:
            self.stage.begin_day(timer, organisation, day)
        except Unreachable:
            raise
        except Exception as fault:
            # What is due in other organisations does not wait for it.
            log_error("timer failed", fault, timer=timer.name, organisation=organisation)
            again = moment_text(self.stage.clock() + RETRIES[0])
            letter = Letter(TIMER, {"timer": timer.name, "on": day.isoformat()}, f"What is due each day, for {day}")
            with self.stage.database.changing(organisation) as rows:
                outbox.put(rows, letter, again)

    def _begin_day_again(self, work: Work) -> None:
        """Do what failed when a day began; if it was done since, nothing."""
        for timer in self.stage.catalogue.timers:
            if timer.name == work.payload["timer"]:
                self.stage.begin_day(timer, work.organisation, date.fromisoformat(work.payload["on"]))
                return
        raise Hopeless(f"This Mainstay does not know the timer {work.payload['timer']}.")

    def _tell_all(self, organisation: str, works: Sequence[Work]) -> None:
        """Tell of many events of an organisation at once, but for those that something follows.

        If one of them is faulty, each is told of by itself.
        """
        try:
            alone = [work for work in works if self._reactions(work)]
            self._tell(organisation, [work for work in works if work not in alone], done=True)
        except Unreachable:
            raise
        except Exception as fault:
            log_error("events taken one by one", fault, organisation=organisation)
            alone = list(works)
        for work in alone:
            self._try(work)

    def _try(self, work: Work) -> None:
        try:
            self._do(work)
        except Unreachable:
            # The lease runs out by itself.
            raise
        except Hopeless as fault:
            with self.stage.database.changing(EVERY) as rows:
                outbox.park(rows, work, self.stage.clock(), str(fault), str(fault))
            log_error("work parked", fault, work=work.id, kind=work.kind)
        except Exception as fault:
            # Whatever it is, this piece of work must not keep the others waiting.
            with self.stage.database.changing(EVERY) as rows:
                again = outbox.postpone(rows, work, self.stage.clock(), f"{type(fault).__name__}: {fault}")
            log_error("work failed", fault, work=work.id, kind=work.kind, again=again and moment_text(again))

    def _do(self, work: Work) -> None:
        if work.kind == EVENT:
            self._tell(work.organisation, [work], done=False)
            self._react(work)
        elif work.kind == TIMER:
            self._begin_day_again(work)
        elif work.kind in self.kinds:
            self.kinds[work.kind](work)
        elif chore := self.stage.catalogue.chore(work.kind):
            self.stage.do_chore(chore, work)
        else:
            raise Hopeless(f"This Mainstay does not know work of the kind {work.kind}.")
        with self.stage.database.changing(work.organisation) as rows:
            outbox.finish(rows, work)

    def _react(self, work: Work) -> None:
        """Do what follows an event; what fails holds up nothing else that does, and is alone done again."""
        failed = None
        for reaction, happening in self._reactions(work):
            try:
                self.stage.react(reaction, work.organisation, happening)
            except Unreachable:
                raise
            except Exception as fault:
                failed = failed or fault
        if failed:
            raise failed

    def _reactions(self, work: Work) -> list[tuple[Reaction, Happening]]:
        """What follows an event; nothing follows one that is kept no longer."""
        with self.stage.database.reading(work.organisation) as rows:
            event = events.find(rows, work.payload["event"])
        reactions = self.stage.catalogue.reactions_to(event.kind) if event else []
        if event is None or not reactions:
            return []
        happening = Happening(work.payload["event"], orjson.loads(event.actor), orjson.loads(event.data)["object"])
        return [(reaction, happening) for reaction in reactions]

    def _tell(self, organisation: str, works: Sequence[Work], *, done: bool) -> None:
        """Let events be sent to webhooks, once each, however often it is said; whether that is all there is to do."""
        with self.stage.database.changing(organisation) as rows:
            told = []
            for work in works:
                event = events.find(rows, work.payload["event"])
                if done:
                    outbox.finish(rows, work)
                if event is not None:
                    told.append((work.payload["event"], event.kind))
            fan_out(rows, told, moment_text(self.stage.clock()))


def printing(press: Press) -> Doing:
    """What makes the PDFs of documents; one that is made already stays as it is."""

    def print_once(work: Work) -> None:
        press.print(work.organisation, work.payload["record"], work.payload.get("form", "pdf"))

    return print_once


def mailing(post: Post, links: LinkMaker, press: Press, counts: Counter[str]) -> Doing:
    """What sends mails; a link in one is made only now, and a document that goes with it printed if it is not yet.

    Counts how many were `sent`, and how often one `failed`.
    """

    def send(work: Work) -> None:
        payload = dict(work.payload)
        kind, link = payload.pop("link_kind", ""), payload.pop("link", "")
        if link:
            address = links.address(kind, link)
            payload |= {name: text.replace(LINK, address) for name, text in payload.items() if name in {"text", "html"}}
        paper, called = payload.pop("paper", ""), payload.pop("paper_name", "")
        attached = (Attachment(called, press.print(work.organisation, paper)),) if paper else ()
        try:
            post.send(Mail(id=work.id, attached=attached, **payload))
        except MailNotSent:
            counts["failed"] += 1
            raise
        except Undeliverable as fault:
            counts["failed"] += 1
            raise Hopeless(str(fault)) from fault
        counts["sent"] += 1

    return send


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


def stop_on_signal(wake: Callable[[], None]) -> threading.Event:
    """Set when the process is asked to end; it is woken then."""
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        wake()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return stopping
