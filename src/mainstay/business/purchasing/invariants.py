"""The invariant of material: it is billable if its job is billed by work."""

from mainstay.infrastructure.invariants import no_rows_invariant

_WRONG_BILLABLE = """
SELECT 'job ' || job.number, material.id, material.billable FROM material
JOIN job ON job.organisation_id = material.organisation_id AND job.id = material.job_id
WHERE material.organisation_id = :organisation AND material.billed = 0
AND material.billable <> CASE WHEN material.value > 0 AND job.billing = 'timeAndMaterials' THEN 1 ELSE 0 END
"""

INVARIANTS = (
    no_rows_invariant(
        "billable_materials",
        "Material is billable if its job is billed by time and materials",
        _WRONG_BILLABLE,
        "has {0}, which is wrongly stored as billable {1}",
    ),
)
