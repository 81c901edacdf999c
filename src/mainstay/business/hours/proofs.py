"""That what jobs know of timers is what the hours say."""

from mainstay.backing.proof import follows

_RUNNING = """
SELECT 'job ' || job.number, job.running_timers, count(time_entry.id) FROM job
LEFT JOIN time_entry ON time_entry.organisation_id = job.organisation_id AND time_entry.job_id = job.id
AND time_entry.status = 'running' WHERE job.organisation_id = :organisation
GROUP BY job.number, job.running_timers HAVING job.running_timers <> count(time_entry.id)
"""

PROOFS = (
    follows("running_timers", "Jobs know which timers run", _RUNNING, "is kept with {0} timers that run, and has {1}"),
)
