"""The invariants of quotes: totals, numbers, and the jobs with a quote that waits for an answer."""

from mainstay.business.lines.invariants import make_totals_invariant
from mainstay.business.organisation.invariants import make_numbers_invariant
from mainstay.infrastructure.invariants import no_rows_invariant

_WRONG_QUOTING = """
SELECT 'job ' || job.number, job.quoting FROM job WHERE job.organisation_id = :organisation
AND job.quoting <> CASE WHEN EXISTS (
    SELECT 1 FROM quote WHERE quote.organisation_id = :organisation AND quote.job_id = job.id
    AND quote.status = 'sent' AND quote.told_expired = 0) THEN 1 ELSE 0 END
"""

INVARIANTS = (
    make_numbers_invariant("quote", "SELECT number FROM quote WHERE organisation_id = :organisation AND revision = 1"),
    make_totals_invariant("quotes", "quote", "'quote ' || number || ', revision ' || revision"),
    no_rows_invariant(
        "quoting",
        "Jobs know whether a quote waits for an answer",
        _WRONG_QUOTING,
        "is stored as quoting {0}, which is wrong",
    ),
)
