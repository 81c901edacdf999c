"""That documents come to what their lines do."""

from collections.abc import Iterator

import orjson

from mainstay.backing.proof import Books, Flaw, Proof
from mainstay.business.lines.model import Terms, draw_up, read_lines, read_share
from mainstay.business.lines.pricing import rates_of
from mainstay.kernel.context import Context, Envelope
from mainstay.terms.actor import operator
from mainstay.terms.refusal import Refusal

_DOCUMENTS = """
SELECT {called}, currency, prices_include_tax, lines, discount, discount_shares, net, tax, total FROM {table}
WHERE organisation_id = :organisation
"""


def totals_of(what: str, table: str, called: str) -> Proof:
    """The proof for the documents of a table; `called` is what tells one from the others, as an expression."""
    sql = _DOCUMENTS.format(table=table, called=called)

    def flaws(books: Books) -> Iterator[Flaw]:
        ctx = Context(books.rows, operator(books.rows.organisation), Envelope("check"), lambda: books.now)
        for where, currency, inclusive, lines, discount, shares, *sums in books.rows.each(sql):
            kept = orjson.loads(str(lines))
            share = read_share(orjson.loads(str(discount)) if discount else None, str(currency))
            settled = orjson.loads(str(shares)) if shares else {}
            try:
                read = read_lines(kept)
                drawn = draw_up(read, rates_of(ctx, read), Terms(str(currency), bool(inclusive), share, settled))
            except (Refusal, ValueError, KeyError) as fault:
                yield Flaw(str(where), f"has lines that cannot be added up: {fault}")
                continue
            totals = [drawn.totals.net, drawn.totals.tax, drawn.totals.total]
            amounts = [line["amount"] for line in drawn.lines]
            if totals != sums or amounts != [line["amount"] for line in kept]:
                told = " + ".join(map(str, sums[:2])), " + ".join(map(str, totals[:2]))
                yield Flaw(str(where), f"is kept as {told[0]}, and its lines come to {told[1]}")

    return Proof(f"totals_of_{what.replace(' ', '_')}", f"{what.capitalize()} come to what their lines do", flaws)
