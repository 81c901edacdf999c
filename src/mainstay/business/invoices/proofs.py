"""That the books of invoices hold: numbers, sums, what is paid, what is credited, and what is billed once."""

from collections.abc import Iterator
from itertools import groupby

import orjson

from mainstay.backing.proof import Books, Flaw, Proof, agree, follows
from mainstay.business.invoices.sources import sources_of
from mainstay.business.lines.proofs import totals_of
from mainstay.business.organisation.proofs import numbers_of
from mainstay.values.money import Money

_CALLED = "'invoice ' || coalesce(invoice.number, invoice.id)"
_SHARED = f"""
SELECT {_CALLED} FROM invoice JOIN credit_note ON credit_note.organisation_id = invoice.organisation_id
AND credit_note.number = invoice.number WHERE invoice.organisation_id = :organisation
"""
_PAID = f"""
SELECT {_CALLED}, invoice.paid, CAST(coalesce(sum(allocation.amount), 0) AS bigint) FROM invoice
LEFT JOIN allocation ON allocation.organisation_id = invoice.organisation_id AND allocation.invoice_id = invoice.id
WHERE invoice.organisation_id = :organisation
GROUP BY invoice.id, invoice.number, invoice.paid HAVING invoice.paid <> coalesce(sum(allocation.amount), 0)
"""
_CREDITED = f"""
SELECT {_CALLED}, invoice.credited, CAST(coalesce(sum(credit_note.total), 0) AS bigint) FROM invoice
LEFT JOIN credit_note ON credit_note.organisation_id = invoice.organisation_id
AND credit_note.invoice_id = invoice.id WHERE invoice.organisation_id = :organisation
GROUP BY invoice.id, invoice.number, invoice.credited
HAVING invoice.credited <> coalesce(sum(credit_note.total), 0)
"""
_STANDING = f"""
SELECT {_CALLED}, invoice.standing FROM invoice WHERE invoice.organisation_id = :organisation AND (
    invoice.standing <> CASE WHEN invoice.status <> 'issued' THEN invoice.status
        WHEN invoice.credited > 0 AND invoice.credited >= invoice.total THEN 'credited'
        WHEN invoice.paid + invoice.credited >= invoice.total THEN 'paid'
        WHEN invoice.paid > 0 THEN 'partPaid' ELSE 'sent' END
    OR invoice.owing <> CASE WHEN invoice.status = 'issued' AND invoice.due > 0 THEN 1 ELSE 0 END
    OR invoice.due <> invoice.total - invoice.paid - invoice.credited)
"""
_ON_ACCOUNT = """
SELECT 'payment ' || payment.id, payment.unallocated, payment.amount,
    CAST(coalesce(sum(allocation.amount), 0) AS bigint)
FROM payment LEFT JOIN allocation ON allocation.organisation_id = payment.organisation_id
AND allocation.payment_id = payment.id WHERE payment.organisation_id = :organisation
GROUP BY payment.id, payment.unallocated, payment.amount
HAVING payment.unallocated <> payment.amount - coalesce(sum(allocation.amount), 0)
"""
_BILLED = "SELECT 'hours ' || id FROM time_entry WHERE organisation_id = :organisation AND billed = 1"
_SOURCES = """
SELECT 'hours ' || source_id FROM billed_source WHERE organisation_id = :organisation AND kind = 'timeEntry'
"""
_OWED = """
SELECT 'job ' || job.number, job.owed, CAST(coalesce(sum(invoice.due), 0) AS bigint) FROM job
LEFT JOIN invoice ON invoice.organisation_id = job.organisation_id AND invoice.job_id = job.id AND invoice.owing = 1
WHERE job.organisation_id = :organisation
GROUP BY job.number, job.owed HAVING job.owed <> coalesce(sum(invoice.due), 0)
"""

_BILLED_MATERIALS = "SELECT 'material ' || id FROM material WHERE organisation_id = :organisation AND billed = 1"
_MATERIALS = (
    "SELECT 'material ' || source_id FROM billed_source WHERE organisation_id = :organisation"
    " AND kind IN ('orderLine', 'billLine')"
)
_HOLDING = f"""
SELECT {_CALLED}, invoice.status, invoice.lines, billed_source.source_id, billed_source.kind
FROM billed_source JOIN invoice ON invoice.organisation_id = billed_source.organisation_id
AND invoice.id = billed_source.invoice_id WHERE billed_source.organisation_id = :organisation ORDER BY invoice.id
"""


def misplaced_sources(books: Books) -> Iterator[Flaw]:
    """The sources that an invoice holds though none of its lines bills them."""
    for (called, status, lines), held in groupby(books.rows.each(_HOLDING), key=lambda row: row[:3]):
        billed = {} if status == "void" else sources_of(orjson.loads(str(lines)))
        for *_, source, kind in held:
            if billed.get(str(source)) != kind:
                yield Flaw(str(called), f"holds {source} as billed, which is on no line of it")


def other_allocations(books: Books) -> Iterator[Flaw]:
    """The payments that say otherwise to which invoices they are put than the allocations do."""
    payments = books.rows.each(
        "SELECT payment.id, payment.currency, payment.allocations, (SELECT string_agg(allocation.invoice_id || ' '"
        " || allocation.amount, ',') FROM allocation WHERE allocation.organisation_id = :organisation"
        " AND allocation.payment_id = payment.id) FROM payment WHERE organisation_id = :organisation"
    )
    for identity, currency, said, allocated in payments:
        shares = {
            f"{one['invoiceId']} {Money.parse(one['amount'], str(currency)).minor}" for one in orjson.loads(str(said))
        }
        if shares != set(filter(None, str(allocated or "").split(","))):
            yield Flaw(f"payment {identity}", "is put to other invoices than it says")


PROOFS = (
    numbers_of("invoice", "SELECT number FROM invoice WHERE organisation_id = :organisation AND number IS NOT NULL"),
    numbers_of("creditNote", "SELECT number FROM credit_note WHERE organisation_id = :organisation"),
    follows(
        "numbers_apart", "No invoice has the number of a credit note", _SHARED, "has the number of a credit note too"
    ),
    totals_of("invoices", "invoice", _CALLED),
    totals_of("credit notes", "credit_note", "'credit note ' || number"),
    follows("paid", "What is paid of invoices is what payments say", _PAID, "is kept with {0} paid, and {1} is"),
    follows(
        "credited",
        "What is credited of invoices is what credit notes say",
        _CREDITED,
        "is kept with {0} credited, and {1} is",
    ),
    follows("standings", "Invoices are what their sums make them", _STANDING, "is kept as {0}, and is not"),
    follows(
        "on_account",
        "What is on account is what payments have left",
        _ON_ACCOUNT,
        "is kept with {0} on account, and of {1}, {2} is put to invoices",
    ),
    agree(
        "billed_hours",
        "Hours are billed that are on an invoice, and no others",
        (_BILLED, "are kept as billed, and are on no invoice"),
        (_SOURCES, "are on an invoice, and not kept as billed"),
    ),
    agree(
        "billed_materials",
        "Materials are billed that are on an invoice, and no others",
        (_BILLED_MATERIALS, "is kept as billed, and is on no invoice"),
        (_MATERIALS, "is on an invoice, and not kept as billed"),
    ),
    Proof("sources", "Each invoice holds what its lines bill", misplaced_sources),
    Proof("allocations", "Payments say to which invoices they are put", other_allocations),
    follows("owed", "Jobs know what is owed for them", _OWED, "is kept with {0} owed, and {1} is"),
)
