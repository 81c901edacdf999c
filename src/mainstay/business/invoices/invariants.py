"""The invariants of invoices: numbers, totals, payments, credits, and that everything is billed only once."""

from collections.abc import Iterator
from itertools import groupby

import orjson

from mainstay.business.invoices.drafting.sources import sources_of
from mainstay.business.lines.invariants import make_totals_invariant
from mainstay.business.organisation.invariants import make_numbers_invariant
from mainstay.infrastructure.invariants import (
    CheckContext,
    Invariant,
    Violation,
    no_rows_invariant,
    same_rows_invariant,
)
from mainstay.values.money import Money

_INVOICE_NAME = "'invoice ' || coalesce(invoice.number, invoice.id)"
_SHARED_NUMBERS = f"""
SELECT {_INVOICE_NAME} FROM invoice JOIN credit_note ON credit_note.organisation_id = invoice.organisation_id
AND credit_note.number = invoice.number WHERE invoice.organisation_id = :organisation
"""
_WRONG_PAID = f"""
SELECT {_INVOICE_NAME}, invoice.paid, CAST(coalesce(sum(allocation.amount), 0) AS bigint) FROM invoice
LEFT JOIN allocation ON allocation.organisation_id = invoice.organisation_id AND allocation.invoice_id = invoice.id
WHERE invoice.organisation_id = :organisation
GROUP BY invoice.id, invoice.number, invoice.paid HAVING invoice.paid <> coalesce(sum(allocation.amount), 0)
"""
_WRONG_CREDITED = f"""
SELECT {_INVOICE_NAME}, invoice.credited, CAST(coalesce(sum(credit_note.total), 0) AS bigint) FROM invoice
LEFT JOIN credit_note ON credit_note.organisation_id = invoice.organisation_id
AND credit_note.invoice_id = invoice.id WHERE invoice.organisation_id = :organisation
GROUP BY invoice.id, invoice.number, invoice.credited
HAVING invoice.credited <> coalesce(sum(credit_note.total), 0)
"""
_WRONG_STATUS = f"""
SELECT {_INVOICE_NAME}, invoice.standing FROM invoice WHERE invoice.organisation_id = :organisation AND (
    invoice.standing <> CASE WHEN invoice.status <> 'issued' THEN invoice.status
        WHEN invoice.credited > 0 AND invoice.credited >= invoice.total THEN 'credited'
        WHEN invoice.paid + invoice.credited >= invoice.total THEN 'paid'
        WHEN invoice.paid > 0 THEN 'partPaid' ELSE 'sent' END
    OR invoice.owing <> CASE WHEN invoice.status = 'issued' AND invoice.due > 0 THEN 1 ELSE 0 END
    OR invoice.due <> invoice.total - invoice.paid - invoice.credited)
"""
_WRONG_ON_ACCOUNT = """
SELECT 'payment ' || payment.id, payment.unallocated, payment.amount,
    CAST(coalesce(sum(allocation.amount), 0) AS bigint)
FROM payment LEFT JOIN allocation ON allocation.organisation_id = payment.organisation_id
AND allocation.payment_id = payment.id WHERE payment.organisation_id = :organisation
GROUP BY payment.id, payment.unallocated, payment.amount
HAVING payment.unallocated <> payment.amount - coalesce(sum(allocation.amount), 0)
"""
_HOURS_MARKED_BILLED = "SELECT 'hours ' || id FROM time_entry WHERE organisation_id = :organisation AND billed = 1"
_HOURS_ON_INVOICES = """
SELECT 'hours ' || source_id FROM billed_source WHERE organisation_id = :organisation AND kind = 'timeEntry'
"""
_WRONG_OWED = """
SELECT 'job ' || job.number, job.owed, CAST(coalesce(sum(invoice.due), 0) AS bigint) FROM job
LEFT JOIN invoice ON invoice.organisation_id = job.organisation_id AND invoice.job_id = job.id AND invoice.owing = 1
WHERE job.organisation_id = :organisation
GROUP BY job.number, job.owed HAVING job.owed <> coalesce(sum(invoice.due), 0)
"""

_MATERIALS_MARKED_BILLED = "SELECT 'material ' || id FROM material WHERE organisation_id = :organisation AND billed = 1"
_MATERIALS_ON_INVOICES = (
    "SELECT 'material ' || source_id FROM billed_source WHERE organisation_id = :organisation"
    " AND kind IN ('orderLine', 'billLine')"
)
_SOURCES_OF_INVOICES = f"""
SELECT {_INVOICE_NAME}, invoice.status, invoice.lines, billed_source.source_id, billed_source.kind
FROM billed_source JOIN invoice ON invoice.organisation_id = billed_source.organisation_id
AND invoice.id = billed_source.invoice_id WHERE billed_source.organisation_id = :organisation ORDER BY invoice.id
"""


def find_misplaced_sources(context: CheckContext) -> Iterator[Violation]:
    """Find sources that are marked as billed by an invoice although none of its lines bills them."""
    for (name, status, lines), reserved in groupby(context.db.stream(_SOURCES_OF_INVOICES), key=lambda row: row[:3]):
        on_lines = {} if status == "void" else sources_of(orjson.loads(str(lines)))
        for *_, source, kind in reserved:
            if on_lines.get(str(source)) != kind:
                yield Violation(str(name), f"has {source} marked as billed, but none of its lines bills it")


def find_differing_allocations(context: CheckContext) -> Iterator[Violation]:
    """Find payments whose own list of allocations differs from the stored allocations."""
    payments = context.db.stream(
        "SELECT payment.id, payment.currency, payment.allocations, (SELECT string_agg(allocation.invoice_id || ' '"
        " || allocation.amount, ',') FROM allocation WHERE allocation.organisation_id = :organisation"
        " AND allocation.payment_id = payment.id) FROM payment WHERE organisation_id = :organisation"
    )
    for record_id, currency, own_list, allocated in payments:
        shares = {
            f"{one['invoiceId']} {Money.parse(one['amount'], str(currency)).minor}"
            for one in orjson.loads(str(own_list))
        }
        if shares != set(filter(None, str(allocated or "").split(","))):
            yield Violation(f"payment {record_id}", "lists other invoices than its stored allocations")


INVARIANTS = (
    make_numbers_invariant(
        "invoice", "SELECT number FROM invoice WHERE organisation_id = :organisation AND number IS NOT NULL"
    ),
    make_numbers_invariant("creditNote", "SELECT number FROM credit_note WHERE organisation_id = :organisation"),
    no_rows_invariant(
        "numbers_apart",
        "No invoice has the number of a credit note",
        _SHARED_NUMBERS,
        "has the same number as a credit note",
    ),
    make_totals_invariant("invoices", "invoice", _INVOICE_NAME),
    make_totals_invariant("credit notes", "credit_note", "'credit note ' || number"),
    no_rows_invariant(
        "paid",
        "What is paid of invoices matches the payments",
        _WRONG_PAID,
        "is stored with {0} paid, but {1} was allocated",
    ),
    no_rows_invariant(
        "credited",
        "What is credited of invoices matches the credit notes",
        _WRONG_CREDITED,
        "is stored with {0} credited, but its credit notes add up to {1}",
    ),
    no_rows_invariant(
        "standings", "Statuses of invoices match their amounts", _WRONG_STATUS, "is stored as {0}, which is wrong"
    ),
    no_rows_invariant(
        "on_account",
        "What is on account is what payments have unallocated",
        _WRONG_ON_ACCOUNT,
        "is stored with {0} on account, but of {1}, {2} is allocated",
    ),
    same_rows_invariant(
        "billed_hours",
        "Hours are marked as billed exactly if they are on an invoice",
        (_HOURS_MARKED_BILLED, "are marked as billed, but on no invoice"),
        (_HOURS_ON_INVOICES, "are on an invoice, but not marked as billed"),
    ),
    same_rows_invariant(
        "billed_materials",
        "Materials are marked as billed exactly if they are on an invoice",
        (_MATERIALS_MARKED_BILLED, "is marked as billed, but on no invoice"),
        (_MATERIALS_ON_INVOICES, "is on an invoice, but not marked as billed"),
    ),
    Invariant("sources", "Each invoice holds what its lines bill", find_misplaced_sources),
    Invariant("allocations", "Payments list the invoices that they are allocated to", find_differing_allocations),
    no_rows_invariant("owed", "Jobs know what is owed for them", _WRONG_OWED, "is stored with {0} owed, but {1} is"),
)
