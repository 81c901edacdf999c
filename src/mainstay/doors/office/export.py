"""A list as a file for spreadsheets: all of its pages, as the person who asks would see them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import IO, Any, Self

import orjson

from mainstay.backing.deadline import WAIT_SECONDS, under
from mainstay.backing.files import PassingFiles
from mainstay.doors.downloads import download
from mainstay.doors.http import Response
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.table import columns_of, rows_of, write_rows
from mainstay.doors.packing import packing_into
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Refusal

MOST_ROWS = 100_000
_PAGE = 100


@dataclass(frozen=True, slots=True)
class Export:
    """One list, narrowed and ordered as its page is, for one person."""

    stage: Stage
    actor: Actor
    lists: Operation
    asked: Mapping[str, object]
    zone: str
    # The id of the request that it is for.
    request: str
    most: int = MOST_ROWS

    @classmethod
    def of(cls, desk: Desk, guest: Guest, lists: Operation, asked: Mapping[str, object]) -> Self:
        """The list as a guest of the office would see it."""
        return cls(desk.visitors.stage, guest.actor, lists, asked, guest.time_zone, guest.request.id)

    def write(self, file: IO[bytes]) -> None:
        """Write it: a line of labels, and one for each record."""
        write_rows(file, rows_of(columns_of(self.lists.output, self.zone), self.records(), self.most))

    def records(self) -> Iterator[dict[str, Any]]:
        """Page by page, so that nobody waits for a transaction as long as the list."""
        behind: dict[str, object] = {}
        while True:
            raw = orjson.dumps({**self.asked, **behind, "limit": _PAGE})
            with under(monotonic() + WAIT_SECONDS):
                answer = self.stage.perform(self.lists, self.actor, raw, Envelope(self.request))
            page = orjson.loads(answer.body)
            yield from page["data"]
            if not page["hasMore"]:
                return
            behind = {"startingAfter": page["data"][-1]["id"]}


async def export(
    desk: Desk,
    guest: Guest,
    listed: Export,
    called: str,
    write: Callable[[Export, IO[bytes]], None] = Export.write,
) -> Response:
    """A list as a file, for whoever asks; what it cannot be narrowed to is told in words for people."""
    written = partial(as_file, write=partial(write, listed), packs=guest.request.takes_gzip)
    try:
        return await desk.visitors.runner.take_long(guest.actor.organisation, written, desk.visitors.passing, called)
    except Refusal as refusal:
        raise desk.in_words(guest, listed.lists, listed.asked, refusal) from None


def as_file(passing: PassingFiles, called: str, write: Callable[[IO[bytes]], None], *, packs: bool) -> Response:
    """What is written into a file that passes, as an answer for spreadsheets; packed as it is written, or not."""
    path, file = passing.new()
    try:
        with file, packing_into(file) if packs else file as target:
            write(target)
        return download(path, f"{called}.csv", "text/csv; charset=utf-8", packs=packs)
    except BaseException:
        path.unlink()
        raise
