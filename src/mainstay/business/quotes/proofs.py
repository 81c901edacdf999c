"""That quotes come to what their lines do, and that jobs know of those that wait for an answer."""

from collections.abc import Iterator

import orjson

from mainstay.backing.proof import Books, Flaw, Proof, follows
from mainstay.business.lines.model import Terms, draw_up, read_lines, read_share
from mainstay.business.lines.pricing import rates_of
from mainstay.business.organisation.proofs import numbers_of
from mainstay.kernel.context import Context, Envelope
from mainstay.terms.actor import operator
from mainstay.terms.refusal import Refusal

_QUOTES = """
SELECT number, revision, currency, prices_include_tax, lines, discount, net, tax, total FROM quote
WHERE organisation_id = :organisation
"""
_WAITING = """
SELECT 'job ' || job.number, job.quoting FROM job WHERE job.organisation_id = :organisation
AND job.quoting <> CASE WHEN EXISTS (
    SELECT 1 FROM quote WHERE quote.organisation_id = :organisation AND quote.job_id = job.id
    AND quote.status = 'sent' AND quote.told_expired = 0) THEN 1 ELSE 0 END
"""


def wrong_totals(books: Books) -> Iterator[Flaw]:
    """The quotes whose sums are not those of their lines."""
    ctx = Context(books.rows, operator(books.rows.organisation), Envelope("check"), lambda: books.now)
    for number, revision, currency, inclusive, lines, discount, *sums in books.rows.each(_QUOTES):
        kept = orjson.loads(str(lines))
        share = read_share(orjson.loads(str(discount)) if discount else None, str(currency))
        try:
            read = read_lines(kept)
            drawn = draw_up(read, rates_of(ctx, read), Terms(str(currency), bool(inclusive), share))
        except (Refusal, ValueError, KeyError) as fault:
            yield Flaw(f"quote {number}, revision {revision}", f"has lines that cannot be added up: {fault}")
            continue
        totals = [drawn.totals.net, drawn.totals.tax, drawn.totals.total]
        amounts = [line["amount"] for line in drawn.lines]
        if totals != sums or amounts != [line["amount"] for line in kept]:
            told = " + ".join(map(str, sums[:2])), " + ".join(map(str, totals[:2]))
            yield Flaw(f"quote {number}, revision {revision}", f"is kept as {told[0]}, and its lines come to {told[1]}")


PROOFS = (
    numbers_of("quote", "SELECT number FROM quote WHERE organisation_id = :organisation AND revision = 1"),
    Proof("totals_of_quotes", "Quotes come to what their lines do", wrong_totals),
    follows("quoting", "Jobs know whether a quote waits for an answer", _WAITING, "is kept as quoting {0}, and is not"),
)
