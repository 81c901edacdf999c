"""Invariants of the schedule: what jobs store about their visits matches the visits."""

from mainstay.infrastructure.invariants import no_rows_invariant, same_rows_invariant

_JOBS_WITH_PLANNED_VISITS = (
    "FROM job LEFT JOIN visit ON visit.organisation_id = job.organisation_id AND visit.job_id = job.id"
    " AND visit.status = 'planned' WHERE job.organisation_id = :organisation"
)
_WRONG_VISIT_COUNTS = f"""
SELECT 'job ' || job.number, job.planned_visits, count(visit.id) {_JOBS_WITH_PLANNED_VISITS}
GROUP BY job.number, job.planned_visits HAVING job.planned_visits <> count(visit.id)
"""
_WRONG_NEXT_VISITS = f"""
SELECT 'job ' || job.number, coalesce(job.next_visit_at, 'never'), coalesce(min(visit.begins_at), 'never')
{_JOBS_WITH_PLANNED_VISITS}
GROUP BY job.number, job.next_visit_at HAVING job.next_visit_at IS DISTINCT FROM min(visit.begins_at)
"""
# People see the jobs they have visits for, also after the visit is done.
_PEOPLE_WITH_VISITS = """
SELECT 'job ' || job_id, person_id FROM visit WHERE organisation_id = :organisation AND status <> 'cancelled'
AND job_id IS NOT NULL AND person_id IS NOT NULL
"""
_PEOPLE_WHO_SEE = "SELECT 'job ' || id, person_id FROM own_job WHERE organisation_id = :organisation AND planned = 1"

INVARIANTS = (
    no_rows_invariant(
        "planned_visits",
        "Jobs store how many visits are planned",
        _WRONG_VISIT_COUNTS,
        "stores {0} planned visits but has {1}",
    ),
    no_rows_invariant(
        "next_visits",
        "Jobs store when their next visit is",
        _WRONG_NEXT_VISITS,
        "stores {0} as its next visit but has {1}",
    ),
    same_rows_invariant(
        "planned_people",
        "People with a visit can see its job",
        (_PEOPLE_WITH_VISITS, "cannot be seen by {0}, who has a visit"),
        (_PEOPLE_WHO_SEE, "can be seen by {0}, who has no visit"),
    ),
)
