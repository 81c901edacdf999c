"""The loads: what busy firms do while the neighbour is measured, in a process of its own."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, count, cycle
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from threading import Thread
from time import monotonic, sleep

import httpx2
import psycopg
from bench.neighbours.hostile_files import (
    make_many_scans_photo,
    make_repeated_cell_workbook,
    make_shared_string_workbook,
)
from bench.neighbours.office import LoadedSite, OfficeClient, open_draft, revise_quote, send_quote
from bench.neighbours.processes import CONTEXT, run_child_process

_WRITERS = 40
_ROWS = 2_000
_COLUMNS = ("name", "email", "billingAddress.line1", "billingAddress.city")
_IMPORT = "/settings/import"
_UPLOAD_PAUSE_SECONDS = 0.2
_POLL_SECONDS = 0.2
_MAIL_SECONDS = 15.0
_BEGIN_SECONDS = 40.0
_SETTLE_SECONDS = 0.5
_REPORT_SECONDS = 3.0
# Counts what was begun, whether or not it was answered.
_STARTED = "begun"
# No answer, or another than what the next step needs.
_NO_ANSWER = (httpx2.HTTPError, KeyError)
# The clients are on this machine only because the bench is.
_NICENESS = 10


@dataclass
class RunningLoad:
    """A load that is going on."""

    site: LoadedSite
    stopping: "Synchronized[int]"
    # How often which answer came to what the busy firms did.
    answers: Counter[str] = field(default_factory=Counter)

    def start(self, step: Callable[[], None], pause: float = 0.0) -> None:
        """Repeat a step in a thread until the load ends; a server that refuses or dies is loaded again."""

        def repeat() -> None:
            while not self.is_stopping:
                self.answers[_STARTED] += 1
                try:
                    step()
                except _NO_ANSWER as error:
                    self.answers[type(error).__name__] += 1
                    sleep(_POLL_SECONDS)
                sleep(pause)

        Thread(target=repeat, daemon=True).start()

    @property
    def is_stopping(self) -> bool:
        """Whether it is to end."""
        return bool(self.stopping.value)

    def count_answer(self, what: str, answer: httpx2.Response) -> httpx2.Response:
        """Count an answer."""
        self.answers[f"{what} {answer.status_code}"] += 1
        return answer


@dataclass(frozen=True)
class Situation:
    """What the busy firms do."""

    name: str
    # Starts the load; what it returns is kept until the load ends.
    begin: Callable[[RunningLoad], object]
    # How long the mail server of their customers takes for an email.
    mail_seconds: float = 0.0


@contextmanager
def run_load(situation: Situation, site: LoadedSite, answers: Counter[str]) -> Iterator[None]:
    """Load a server until the block ends; then tell what the busy firms were answered."""
    # No lock is shared with the process: if that is killed, nothing may wait for it.
    stopping = CONTEXT.Value("b", 0, lock=False)
    mine, theirs = CONTEXT.Pipe(duplex=False)
    site.mail.slow_seconds.value = situation.mail_seconds
    with run_child_process(_run_situation, situation, site, stopping, theirs):
        if not mine.poll(_BEGIN_SECONDS):
            raise RuntimeError(f"The load did not begin: {situation.name}")
        mine.recv()
        sleep(_SETTLE_SECONDS)
        try:
            yield
        finally:
            stopping.value = 1
            answers.update(mine.recv() if mine.poll(_REPORT_SECONDS) else {})
    if not answers[_STARTED]:
        raise RuntimeError(f"Nobody was busy: {situation.name}")


def _run_situation(situation: Situation, site: LoadedSite, stopping: "Synchronized[int]", reports: Connection) -> None:
    os.nice(_NICENESS)
    load = RunningLoad(site, stopping)
    load_state = situation.begin(load)
    reports.send(_STARTED)
    while not load.is_stopping:
        sleep(_POLL_SECONDS)
    reports.send(load.answers.copy())
    del load_state


def _upload_workbooks(load: RunningLoad) -> None:
    workbooks = (make_shared_string_workbook(), make_repeated_cell_workbook())

    def make_upload(path: str, fields: dict[str, str]) -> Callable[[], None]:
        turns = cycle((office, book) for office in _sign_in_offices(load.site) for book in workbooks)

        def upload() -> None:
            office, book = next(turns)
            load.count_answer("upload", office.send(path, fields, file=book))

        return upload

    for path, fields in ((_IMPORT, {"kind": "customers"}), ("/payments/statement", {})):
        for _ in range(2):
            load.start(make_upload(path, fields), _UPLOAD_PAUSE_SECONDS)


def _upload_photos(load: RunningLoad) -> None:
    photo = make_many_scans_photo()
    for office in _sign_in_offices(load.site)[:4]:
        job = office.firm.job

        def upload(office: OfficeClient = office, job: str = job) -> None:
            load.count_answer(
                "upload", office.send("/documents", {"recordId": job, "visibility": "field"}, files=photo)
            )

        load.start(upload, _UPLOAD_PAUSE_SECONDS)


def _send_documents(load: RunningLoad) -> None:
    mail, quotes = load.site.mail, [*load.site.stock.heavy_quotes[:5]]
    offices = [OfficeClient(load.site, load.site.stock.busy[0], key) for key in range(len(quotes))]

    def send(place: int) -> bool:
        sent = load.count_answer("send", send_quote(offices[place], quotes[place])).is_success
        quotes[place] = revise_quote(offices[place], quotes[place])
        return sent

    def send_five() -> None:
        before = mail.slow_count.value
        with ThreadPoolExecutor(len(quotes)) as threads:
            sent = sum(threads.map(send, range(len(quotes))))
        # The next five follow when these have arrived, or take too long.
        until = monotonic() + _MAIL_SECONDS
        while mail.slow_count.value < before + sent and monotonic() < until and not load.is_stopping:
            sleep(_POLL_SECONDS)
        load.answers["arrived"] += mail.slow_count.value - before

    load.start(send_five)


def _open_drafts(load: RunningLoad) -> None:
    for key, quote in enumerate(load.site.stock.heavy_quotes[5:9]):
        office = OfficeClient(load.site, load.site.stock.busy[0], key)
        titles = (f"Replace boiler {number}" for number in count())

        def open_next_draft(office: OfficeClient = office, quote: str = quote, titles: Iterator[str] = titles) -> None:
            load.count_answer("draft.pdf", open_draft(office, quote, next(titles)))

        load.start(open_next_draft)


def _import_rows(load: RunningLoad) -> None:
    imports = (_ImportSteps(load, office, number) for number, office in enumerate(cycle(_sign_in_offices(load.site))))
    # The first is checked before the measurement begins, so that rows are written during it.
    first = next(imports)
    with suppress(*_NO_ANSWER):
        first.check()
    turns = chain([first], imports)

    def import_file() -> None:
        run = next(turns)
        run.check()
        run.confirm()

    load.start(import_file)


class _ImportSteps:
    """One import of a file, step by step."""

    def __init__(self, load: RunningLoad, office: OfficeClient, number: int) -> None:
        self._load, self._office, self._number = load, office, number
        self._path = ""

    def check(self) -> None:
        """Upload the file and have its rows checked, once."""
        if self._path:
            return
        answer = self._office.send(_IMPORT, {"kind": "customers"}, file=_make_rows(self._number))
        self._path = self._load.count_answer("upload", answer).headers["location"]
        self._run_step("check", {f"column {name}": str(at) for at, name in enumerate(_COLUMNS)})

    def confirm(self) -> None:
        """Have the rows written."""
        self._run_step("confirm", {})

    def _run_step(self, step: str, fields: dict[str, str]) -> None:
        self._load.count_answer(step, self._office.send(f"{self._path}/{step}", fields))
        while not self._load.is_stopping and self._office.get(self._path).headers.get("refresh"):
            sleep(_POLL_SECONDS)


def _make_rows(number: int) -> bytes:
    rows = (f"Customer {number} {row},c{number}.{row}@import.example,{row} High Street,Leeds" for row in range(_ROWS))
    return "\n".join(("Name,Email,Address,City", *rows)).encode()


def _write_at_once(load: RunningLoad) -> object:
    firm = load.site.stock.busy[0]
    lock = _hold_lock(load.site.database, firm.organisation) if load.site.database else None
    for writer in range(_WRITERS):
        office = OfficeClient(load.site, firm, writer, _WRITERS)
        phones = (f"+44 7700 {writer:02}{number % 10_000:04}" for number in count())

        def write(office: OfficeClient = office, phones: Iterator[str] = phones) -> None:
            load.count_answer("write", office.call("PATCH", f"/customers/{firm.customer}", {"phone": next(phones)}))

        load.start(write)
    return lock


def _hold_lock(database: str, organisation: str) -> psycopg.Connection[tuple[object, ...]]:
    """Hold an organisation's lock as long as the connection lives."""
    connection = psycopg.connect(database)
    connection.execute("SELECT 1 FROM organisation WHERE id = %s FOR NO KEY UPDATE", (organisation,))
    return connection


def _sign_in_offices(site: LoadedSite) -> list[OfficeClient]:
    return [OfficeClient(site, firm) for firm in site.stock.busy]


SITUATIONS = {
    1: Situation("hostile workbooks", _upload_workbooks),
    2: Situation("hostile photos", _upload_photos),
    3: Situation("heavy emails", _send_documents, mail_seconds=2.0),
    4: Situation("heavy drafts", _open_drafts),
    5: Situation("import of 2,000", _import_rows),
    6: Situation("40 writers", _write_at_once),
}
