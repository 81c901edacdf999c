"""That what was bought for jobs is billed on as they are billed."""

from mainstay.backing.proof import follows

_BILLABLE = """
SELECT 'job ' || job.number, material.id, material.billable FROM material
JOIN job ON job.organisation_id = material.organisation_id AND job.id = material.job_id
WHERE material.organisation_id = :organisation AND material.billed = 0
AND material.billable <> CASE WHEN material.value > 0 AND job.billing = 'timeAndMaterials' THEN 1 ELSE 0 END
"""

PROOFS = (
    follows(
        "billable_materials",
        "What was bought is billed on where its job is billed by work",
        _BILLABLE,
        "has {0}, which is kept as billable {1}, and is not",
    ),
)
