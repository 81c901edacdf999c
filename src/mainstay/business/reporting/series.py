"""That the numbers of invoices and credit notes run on without a gap."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from mainstay.business.organisation.numbering import place_of
from mainstay.business.reporting.asked import Asked
from mainstay.business.reporting.books import CREDIT_NOTES, INVOICES, Entries, each
from mainstay.business.reporting.model import Cell, Table, column, table
from mainstay.kernel.context import Context

_COLUMNS = (
    column("series", "Series", "text"),
    column("first", "First", "text"),
    column("last", "Last", "text"),
    column("count", "Numbers", "count"),
    column("missing", "Missing", "count"),
    column("gaps", "Gaps", "text"),
    column("void", "Void", "count"),
    column("voids", "Which are void", "text"),
)
# So many are named; of others it is said how many.
_NAMED = 50


def number_series(ctx: Context, asked: Asked) -> Table:
    """The numbers that were given between two dates, what is missing among them, and which are void."""
    series = (("Invoices", INVOICES, "status"), ("Credit notes", CREDIT_NOTES, "'issued'"))
    rows = [row for name, entries, status in series for row in _series(ctx, asked, name, entries, status)]
    return table(_COLUMNS, rows, _NOTES)


_NOTES = (
    "A number is given when a document is issued, and never again; a void invoice keeps its own.",
    "Numbers are missing only where someone raised the next one in the settings.",
)


def _series(ctx: Context, asked: Asked, name: str, entries: Entries, status: str) -> Iterator[list[Cell]]:
    given: list[tuple[int, str]] = []
    voids: list[tuple[int, str]] = []
    for _, _, number, known in each(ctx, entries, asked.stretch, "number", status):
        one = (place_of(str(number)) or 0, str(number))
        given.append(one)
        if known == "void":
            voids.append(one)
    if not given:
        return
    given.sort()
    gaps = [(before + 1, after - 1) for (before, _), (after, _) in pairwise(given) if after > before + 1]
    missing = sum(last - first + 1 for first, last in gaps)
    spans = [f"{first}" if first == last else f"{first}\N{EN DASH}{last}" for first, last in gaps]
    listed = _listed([number for _, number in sorted(voids)])
    yield [name, given[0][1], given[-1][1], len(given), missing, _listed(spans), len(voids), listed]


def _listed(names: Sequence[str]) -> str:
    more = [f"and {len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more]) or "none"
