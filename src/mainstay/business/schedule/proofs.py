"""That what jobs know of their visits is what the schedule says."""

from mainstay.backing.proof import agree, follows

_VISITS = (
    "FROM job LEFT JOIN visit ON visit.organisation_id = job.organisation_id AND visit.job_id = job.id"
    " AND visit.status = 'planned' WHERE job.organisation_id = :organisation"
)
_PLANNED = f"""
SELECT 'job ' || job.number, job.planned_visits, count(visit.id) {_VISITS}
GROUP BY job.number, job.planned_visits HAVING job.planned_visits <> count(visit.id)
"""
_NEXT = f"""
SELECT 'job ' || job.number, coalesce(job.next_visit_at, 'never'), coalesce(min(visit.begins_at), 'never') {_VISITS}
GROUP BY job.number, job.next_visit_at HAVING job.next_visit_at IS DISTINCT FROM min(visit.begins_at)
"""
# Someone sees a job for being planned on it, also when the visit was done.
_PLACED = """
SELECT 'job ' || job_id, person_id FROM visit WHERE organisation_id = :organisation AND status <> 'cancelled'
AND job_id IS NOT NULL AND person_id IS NOT NULL
"""
_SEEN = "SELECT 'job ' || id, person_id FROM own_job WHERE organisation_id = :organisation AND planned = 1"

PROOFS = (
    follows(
        "planned_visits",
        "Jobs know how many visits are planned",
        _PLANNED,
        "is kept with {0} planned visits, and has {1}",
    ),
    follows(
        "next_visits",
        "Jobs know when the next visit is",
        _NEXT,
        "is kept with the next visit at {0}, and has it at {1}",
    ),
    agree(
        "planned_people",
        "Those who are planned on a job see it",
        (_PLACED, "is not seen by {0}, who is planned on it"),
        (_SEEN, "is seen by {0} for a visit that there is not"),
    ),
)
