"""Invariants of jobs: stored stages and access match what they are derived from."""

from collections.abc import Iterator

import orjson

from mainstay.business.jobs.model import JobProgress, stage_of
from mainstay.business.organisation.invariants import make_numbers_invariant
from mainstay.infrastructure.invariants import CheckContext, Invariant, Violation, same_rows_invariant


def find_wrong_stages(context: CheckContext) -> Iterator[Violation]:
    """Yield jobs whose stored stage or next step differs from the one computed from their progress."""
    jobs = context.db.stream(
        f"SELECT number, stage, next_action, {', '.join(JobProgress._fields)} FROM job"
        " WHERE organisation_id = :organisation"
    )
    for number, stage, next_action, *progress in jobs:
        expected = stage_of(JobProgress._make(progress))
        if (stage, next_action) != expected:
            yield Violation(f"job {number}", f"stores the stage {stage} but is at {expected[0]}")


def find_wrong_access(context: CheckContext) -> Iterator[Violation]:
    """Yield jobs that are not visible to exactly the people assigned to them."""
    jobs = context.db.stream(
        "SELECT number, assigned, lead_person_id, (SELECT string_agg(own_job.person_id, ' ') FROM own_job"
        " WHERE own_job.organisation_id = :organisation AND own_job.id = job.id AND own_job.assigned = 1)"
        " FROM job WHERE organisation_id = :organisation"
    )
    for number, assigned, lead, viewers in jobs:
        people = {*orjson.loads(str(assigned)), *([lead] if lead else [])}
        if people != set(str(viewers or "").split()):
            yield Violation(f"job {number}", "cannot be seen by exactly the people assigned to it")


_CUSTOMERS_OF_VISIBLE_JOBS = (
    "SELECT 'customer ' || customer_id, person_id FROM own_job WHERE organisation_id = :organisation"
)
_VISIBLE_CUSTOMERS = "SELECT 'customer ' || id, person_id FROM own_customer WHERE organisation_id = :organisation"

INVARIANTS = (
    make_numbers_invariant("job", "SELECT number FROM job WHERE organisation_id = :organisation"),
    Invariant("stages", "Jobs store the stage that their progress gives", find_wrong_stages),
    Invariant("assigned_people", "People assigned to a job can see it", find_wrong_access),
    same_rows_invariant(
        "own_customers",
        "People who can see a job can see its customer",
        (_CUSTOMERS_OF_VISIBLE_JOBS, "cannot be seen by {0}, who can see one of its jobs"),
        (_VISIBLE_CUSTOMERS, "can be seen by {0}, who cannot see any of its jobs"),
    ),
)
