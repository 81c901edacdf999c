"""That quotes come to what their lines do, and that jobs know of those that wait for an answer."""

from mainstay.backing.proof import follows
from mainstay.business.lines.proofs import totals_of
from mainstay.business.organisation.proofs import numbers_of

_WAITING = """
SELECT 'job ' || job.number, job.quoting FROM job WHERE job.organisation_id = :organisation
AND job.quoting <> CASE WHEN EXISTS (
    SELECT 1 FROM quote WHERE quote.organisation_id = :organisation AND quote.job_id = job.id
    AND quote.status = 'sent' AND quote.told_expired = 0) THEN 1 ELSE 0 END
"""

PROOFS = (
    numbers_of("quote", "SELECT number FROM quote WHERE organisation_id = :organisation AND revision = 1"),
    totals_of("quotes", "quote", "'quote ' || number || ', revision ' || revision"),
    follows("quoting", "Jobs know whether a quote waits for an answer", _WAITING, "is kept as quoting {0}, and is not"),
)
