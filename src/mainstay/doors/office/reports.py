"""Reports: the choice of them, each with its bars and its table, as files, and the journal for the accountant."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from itertools import chain
from typing import IO, Any, NamedTuple
from urllib.parse import urlencode

from mainstay.business.customers.operations import get_customer
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.reporting.journal import list_postings
from mainstay.business.reporting.operations import REPORTS, get_report
from mainstay.doors.http import Response
from mainstay.doors.office.charts import chart_of, percent
from mainstay.doors.office.desk import Desk, Guest, status_of, wrong
from mainstay.doors.office.export import Export, as_file, export
from mainstay.doors.office.references import References, unchanged
from mainstay.doors.office.table import harmless, write_rows
from mainstay.doors.pages.asking import Asked, asked_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.showing import NOTHING, Here, cells, known
from mainstay.doors.pages.words import date_words, days_words, month_words
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Invalid, NotFound
from mainstay.values.durations import hours_text

_PATH = "/reports"
_JOURNAL = f"{_PATH}/journal.csv"
# The columns of the journal's file, as docs/journal.md tells them, and the fields of a posting that they hold.
JOURNAL_COLUMNS = {
    "date": "on",
    "document": "document",
    "number": "number",
    "customer": "customerName",
    "account": "account",
    "detail": "detail",
    "taxCategory": "taxCategory",
    "taxPercent": "taxPercent",
    "debit": "debit",
    "credit": "credit",
    "currency": "currency",
    "invoices": "invoices",
    "text": "text",
}

# What stands above a statement of those whom it is from, and of the customer.
_OURS = ("name", "address", "email", "phone")
_THEIRS = ("name", "billingAddress")

Report = Mapping[str, Any]


class _Cell(NamedTuple):
    """A cell of a report, in words."""

    label: str
    text: str
    is_number: bool
    to: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell, for which a phone has no room."""
        return self.text == NOTHING


@dataclass(frozen=True)
class ReportPages:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", _PATH, enter(self.choose)),
            Route("GET", _JOURNAL, enter(self.journal)),
            Route("GET", f"{_PATH}/{{name}}", enter(self.show)),
            Route("GET", f"{_PATH}/{{name}}/export.csv", enter(self.export)),
        ]

    async def choose(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Which reports there are."""
        admit(get_report, guest.actor)
        year = self.desk.today(guest).replace(month=1, day=1)
        return self.desk.page(
            "reports.html",
            guest,
            area="Reports",
            reports=[
                {"path": f"{_PATH}/{name}", "title": one.title, "lead": one.lead} for name, one in REPORTS.items()
            ],
            journal={"path": _JOURNAL, "from": year.isoformat(), "until": self.desk.today(guest).isoformat()},
        )

    async def show(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """A report, of the time and narrowed to what its address says."""
        admit(get_report, guest.actor)
        words, shown, refusal = self._words(guest, at), self._table(guest, None), None
        asked, fields = await References(self.desk).offered(guest, self._asked(guest, at), words, None)
        try:
            # What a report cannot do without is asked for first.
            if words.keys() >= {*REPORTS[_known(at)].needs}:
                given = await self._given(guest, at, asked, words)
                report = await self.desk.perform(guest, get_report, given)
                fields |= {name: guest.here.date_to_type(report[name]) for name in ("from", "until") if report[name]}
                shown = self._table(guest, report) | await self._parties(guest, given)
        except Invalid as invalid:
            refusal = invalid
        return self.desk.page(
            "report.html",
            guest,
            status_of(refusal),
            area="Reports",
            title=REPORTS[_known(at)].title,
            lead=REPORTS[_known(at)].lead,
            path=f"{_PATH}/{at['name']}",
            asked=asked,
            fields=defaultdict(str, fields),
            ranges=self._ranges(guest, at, words),
            export=f"{_PATH}/{at['name']}/export.csv?{urlencode(words)}",
            **shown,
            **wrong(refusal),
        )

    async def export(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The same as a file for spreadsheets."""
        admit(get_report, guest.actor)
        words = self._words(guest, at)
        given = await self._given(guest, at, self._asked(guest, at), words)
        report = await self.desk.perform(guest, get_report, given)
        shown = [(place, column) for place, column in enumerate(report["columns"]) if column["kind"] != "id"]
        heads = [_head(one) for _, one in shown]
        rows = [[_plain(column["kind"], row[place]) for place, column in shown] for row in report["rows"]]
        left_out = f"Only the first {len(rows):,} are here. Ask for less time to get the others."
        more = [[left_out]] if report["hasMore"] else []
        lines = [heads, *rows, *more]
        passing, packs = self.desk.visitors.passing, guest.request.takes_gzip
        return as_file(passing, report["title"], partial(write_rows, rows=lines), packs=packs)

    async def journal(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Every posting between two dates, for the accountant."""
        admit(list_postings, guest.actor)
        words = query_words(guest.request)
        asked = {name: guest.here.read_date(words[name]) for name in ("from", "until") if words.get(name)}
        listed = Export.of(self.desk, guest, list_postings, asked)
        return await export(self.desk, guest, listed, "Journal", _write_journal)

    async def _given(
        self, guest: Guest, at: Mapping[str, str], asked: Sequence[Asked], words: Mapping[str, str]
    ) -> dict[str, str]:
        """What a report is asked for, as its operation takes it."""
        return {"name": _known(at), **await References(self.desk).resolved(guest, asked, words)}

    async def _parties(self, guest: Guest, given: Mapping[str, str]) -> dict[str, Any]:
        """Of what is handed to a customer: from whom it is, and for whom."""
        if "customerId" not in REPORTS[_known(given)].needs:
            return {}
        ours = await self.desk.perform(guest, get_organisation)
        theirs = await self.desk.perform(guest, get_customer, {"customerId": given["customerId"]})
        return {
            "ours": known(cells(get_organisation.output, _OURS, ours, guest.here)),
            "theirs": known(cells(get_customer.output, _THEIRS, theirs, guest.here)),
            "customer": self.desk.place_of(theirs["id"]),
        }

    def _asked(self, guest: Guest, at: Mapping[str, str]) -> list[Asked]:
        report = REPORTS[_known(at)]
        asked = {one.name: one for one in asked_of(get_report, guest.actor.rights)}
        return [replace(asked[name], help=None, required=name in report.needs) for name in report.takes]

    def _words(self, guest: Guest, at: Mapping[str, str]) -> dict[str, str]:
        """What its address says."""
        takes = REPORTS[_known(at)].takes
        sent = unchanged(self._asked(guest, at), query_words(guest.request))
        return {name: text for name, text in sent.items() if name in takes and text}

    def _ranges(self, guest: Guest, at: Mapping[str, str], words: Mapping[str, str]) -> list[dict[str, Any]]:
        """The times that people ask for most, each with its address."""
        if "from" not in REPORTS[_known(at)].takes:
            return []
        found = []
        for label, first, last in _usual(self.desk.today(guest)):
            dates = {"from": first.isoformat(), "until": last.isoformat()}
            here = dates.items() <= words.items()
            found.append({"words": label, "to": f"{_PATH}/{at['name']}?{urlencode({**words, **dates})}", "here": here})
        return found

    def _table(self, guest: Guest, report: Report | None) -> dict[str, Any]:
        """A report as its page shows it."""
        if report is None:
            return {"report": None, "chart": None}
        totals = self._row(guest, report, report["totals"])
        return {
            "report": report,
            "told_in": report["currency"] if any(one["kind"] == "money" for one in report["columns"]) else None,
            "when": days_words(report["from"] or report["until"], report["until"]),
            "rows": [self._row(guest, report, row) for row in report["rows"]],
            # Where nothing is summed up, nothing stands.
            "totals": [cell._replace(text="") if cell.is_empty else cell for cell in totals],
            "chart": chart_of(report, guest.here),
        }

    def _row(self, guest: Guest, report: Report, row: Sequence[Any]) -> list[_Cell]:
        """The cells of a row; the one behind the id of the record that the row is about leads there."""
        shown = []
        to = ""
        for column, value in zip(report["columns"], row, strict=True):
            if column["kind"] == "id":
                to = self.desk.place_of(value) if value else ""
                continue
            kind = column["kind"]
            shown.append(_Cell(column["label"], _words(kind, value, guest.here), kind not in _IN_WORDS, to))
            to = ""
        return shown


def _known(at: Mapping[str, str]) -> Any:
    if at["name"] not in REPORTS:
        raise NotFound("report")
    return at["name"]


def _usual(today: date) -> list[tuple[str, date, date]]:
    month, year = today.replace(day=1), today.replace(month=1, day=1)
    last_month, last_year = month - timedelta(days=1), year - timedelta(days=1)
    return [
        ("This month", month, today),
        ("Last month", last_month.replace(day=1), last_month),
        ("This year", year, today),
        ("Last year", last_year.replace(month=1, day=1), last_year),
    ]


def _words(kind: str, value: Any, here: Here) -> str:
    """What stands in a cell, as people read it."""
    if value is None:
        return NOTHING
    if kind == "money":
        return here.money(value)
    if kind == "percent":
        return percent(here, value)
    if kind == "minutes":
        return hours_text(value)
    return _IN_WORDS.get(kind, str)(value)


# What does not stand one below the other by its decimals.
_IN_WORDS: dict[str, Callable[[str], str]] = {"text": str, "date": date_words, "month": month_words}


def _head(column: Mapping[str, Any]) -> str:
    """What stands above a column of a file: with what its numbers count, where that is not money."""
    label = str(column["label"])
    return f"{label}, minutes" if column["kind"] == "minutes" else label


def _write_journal(listed: Export, file: IO[bytes]) -> None:
    lines = ([_plain("text", posting[name]) for name in JOURNAL_COLUMNS.values()] for posting in listed.records())
    write_rows(file, chain([list(JOURNAL_COLUMNS)], lines))


def _plain(kind: str, value: Any) -> str:
    """What stands in a cell, as spreadsheets read it."""
    text = "" if value is None else str(value)
    return harmless(text) if kind == "text" else text
