"""The report on gaps in the numbers of invoices and credit notes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from mainstay.business.organisation.numbering import position_of
from mainstay.business.reporting.entries import CREDIT_NOTES, INVOICES, BookEntries, iterate_entries
from mainstay.business.reporting.inputs import ReportQuery
from mainstay.business.reporting.model import ReportTable, RowValue, make_column, make_table
from mainstay.kernel.context import Context
from mainstay.values.message import Message

_COLUMNS = (
    make_column("series", "Series", "text"),
    make_column("first", "First", "text"),
    make_column("last", "Last", "text"),
    make_column("count", "Numbers", "count"),
    make_column("missing", "Missing", "count"),
    make_column("gaps", "Gaps", "text"),
    make_column("void", "Void", "count"),
    make_column("voids", "Void numbers", "text"),
)
# At most this many are named, followed by the number of the others.
_MAX_NAMED = 50


def report_number_series(ctx: Context, query: ReportQuery) -> ReportTable:
    """Build the report on the numbers between two dates: which are missing, and which are void."""
    series = ((Message("Invoices"), INVOICES, "status"), (Message("Credit notes"), CREDIT_NOTES, "'issued'"))
    rows = [row for name, entries, status in series for row in _read_series(ctx, query, name, entries, status)]
    return make_table(_COLUMNS, rows, _NOTES)


_NOTES = (
    Message("Each number is used once, when a document is issued. A void invoice keeps its number."),
    Message("Numbers are missing only if someone raised the next number in the settings."),
)


def _read_series(
    ctx: Context, query: ReportQuery, name: Message, entries: BookEntries, status: str
) -> Iterator[list[RowValue]]:
    numbers: list[tuple[int, str]] = []
    voids: list[tuple[int, str]] = []
    for _, _, number, state in iterate_entries(ctx, entries, query.entry_range, "number", status):
        number_with_place = (position_of(str(number)) or 0, str(number))
        numbers.append(number_with_place)
        if state == "void":
            voids.append(number_with_place)
    if not numbers:
        return
    numbers.sort()
    gaps = [
        (previous + 1, following - 1) for (previous, _), (following, _) in pairwise(numbers) if following > previous + 1
    ]
    missing = sum(last - first + 1 for first, last in gaps)
    spans = [f"{first}" if first == last else f"{first}\N{EN DASH}{last}" for first, last in gaps]
    void_numbers = _join_some([number for _, number in sorted(voids)])
    yield [name, numbers[0][1], numbers[-1][1], len(numbers), missing, _join_some(spans), len(voids), void_numbers]


def _join_some(names: Sequence[str]) -> Message | str:
    named, rest = ", ".join(names[:_MAX_NAMED]), len(names) - _MAX_NAMED
    if rest > 0:
        return Message("{names}, and {count} more", names=named, count=rest)
    return named or Message("none")
