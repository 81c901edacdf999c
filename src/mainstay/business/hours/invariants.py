"""Invariant: the running timers that jobs count are those of the hours."""

from mainstay.infrastructure.invariants import no_rows_invariant

_WRONG_TIMER_COUNTS = """
SELECT 'job ' || job.number, job.running_timers, count(time_entry.id) FROM job
LEFT JOIN time_entry ON time_entry.organisation_id = job.organisation_id AND time_entry.job_id = job.id
AND time_entry.status = 'running' WHERE job.organisation_id = :organisation
GROUP BY job.number, job.running_timers HAVING job.running_timers <> count(time_entry.id)
"""

INVARIANTS = (
    no_rows_invariant(
        "running_timers",
        "Jobs store how many timers are running",
        _WRONG_TIMER_COUNTS,
        "stores {0} running timers but has {1}",
    ),
)
