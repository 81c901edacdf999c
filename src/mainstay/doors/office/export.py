"""A list as a file for spreadsheets: all of its pages, as the person who asks would see them."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from time import monotonic
from typing import IO, Any
from zoneinfo import ZoneInfo

import orjson

from mainstay.backing.deadline import WAIT_SECONDS, under
from mainstay.backing.files import PassingFiles
from mainstay.doors.downloads import download
from mainstay.doors.http import Response
from mainstay.doors.packing import packing_into
from mainstay.doors.pages.showing import MOMENTS, Here, cells, told
from mainstay.doors.pages.words import who
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor, Stamp
from mainstay.terms.shapes import Record, Shown
from mainstay.terms.wire import MoneyText, PriceText
from mainstay.values.moments import parse_moment

MOST_ROWS = 100_000
_PAGE = 100
# What a spreadsheet takes for the beginning of a formula, also where it is as wide as a Chinese letter.
_WIDE = "\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
_FORMULA = (*"=+-@\t\r\n", *_WIDE)


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

    def answer(self, passing: PassingFiles, called: str, *, packs: bool) -> Response:
        """Write it, and answer from what was written. It takes long, and so is nothing for the event loop."""
        return as_file(passing, called, self.write, packs=packs)

    def write(self, file: IO[bytes]) -> None:
        """Write it: a line of labels, and one for each record."""
        write_lines(file, self.lists.output, self.records(), self.zone, self.most)

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


def write_lines(
    file: IO[bytes], model: type[Shown], records: Iterable[dict[str, Any]], zone: str, most: int | None = None
) -> None:
    """Write records as a spreadsheet reads them; of more than so many, the first."""
    names = columns(model)
    # Spreadsheets know UTF-8 by a mark at its beginning.
    with TextIOWrapper(file, "utf-8-sig", newline="") as text:
        lines = csv.writer(text)
        lines.writerow(told(model)[name][0] for name in names)
        for number, record in enumerate(records):
            if number == most:
                lines.writerow([f"Only the first {most:,} are here. Narrow the list to get the others."])
                return
            lines.writerow(_cell(model, name, record, zone) for name in names)


def columns(model: type[Shown]) -> list[str]:
    """What people want to read of such records, by its names in JSON: what it is, then who made it and when."""
    everyone_s = {field.alias or name for name, field in Record.model_fields.items()}
    names = [name for name in told(model) if name not in _OURS and not name.endswith("Id")]
    return sorted(names, key=everyone_s.__contains__)


# Identifiers and counters of ours tell people nothing.
_OURS = {"object", "id", "version"}


def _cell(model: type[Shown], name: str, record: dict[str, Any], zone: str) -> str:
    value, kind = record[name], told(model)[name][1]
    if value is None or value in ([], ""):
        return ""
    if kind is Stamp:
        text = who(value)
    elif name.endswith(MOMENTS):
        text = f"{parse_moment(value).astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"
    else:
        [cell] = cells(model, [name], record, Here(zone))
        text = cell.text
    # A number of ours is one, also below zero.
    return text if kind in {PriceText, MoneyText, int} else harmless(text)


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
