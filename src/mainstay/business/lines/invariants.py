"""The invariant that the totals of documents are the sums of their lines."""

from collections.abc import Iterator

import orjson

from mainstay.business.lines.model import PricingTerms, price_document, read_lines, share_to_discount
from mainstay.business.lines.pricing import rates_of
from mainstay.infrastructure.invariants import CheckContext, Invariant, Violation
from mainstay.kernel.context import Context, RequestDetails
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.refusal import Refusal

_DOCUMENTS = """
SELECT {called}, currency, prices_include_tax, lines, discount, discount_shares, net, tax, total FROM {table}
WHERE organisation_id = :organisation
"""


def make_totals_invariant(what: str, table: str, label: str) -> Invariant:
    """Create the invariant for the documents of a table; `label` is an SQL expression that identifies a document."""
    sql = _DOCUMENTS.format(table=table, called=label)

    def find_violations(context: CheckContext) -> Iterator[Violation]:
        ctx = Context(context.db, operator_actor(context.db.organisation), RequestDetails("check"), lambda: context.now)
        for name, currency, inclusive, lines, discount, shares, *sums in context.db.stream(sql):
            stored = orjson.loads(str(lines))
            document_discount = share_to_discount(orjson.loads(str(discount)) if discount else None, str(currency))
            settled_shares = orjson.loads(str(shares)) if shares else {}
            try:
                line_records = read_lines(stored)
                priced = price_document(
                    line_records,
                    rates_of(ctx, line_records),
                    PricingTerms(str(currency), bool(inclusive), document_discount, settled_shares),
                )
            except (Refusal, ValueError, KeyError) as error:
                yield Violation(str(name), f"has lines that can't be added up: {error}")
                continue
            totals = [priced.totals.net, priced.totals.tax, priced.totals.total]
            amounts = [line["amount"] for line in priced.lines]
            if totals != sums or amounts != [line["amount"] for line in stored]:
                comparison = " + ".join(map(str, sums[:2])), " + ".join(map(str, totals[:2]))
                yield Violation(str(name), f"is stored as {comparison[0]}, but its lines add up to {comparison[1]}")

    return Invariant(
        f"totals_of_{what.replace(' ', '_')}", f"Totals of {what} are the sums of their lines", find_violations
    )
