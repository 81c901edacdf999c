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
            yield Violation(f"job {number}", f"is kept at the stage {stage}, and is at {expected[0]}")


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
            yield Violation(f"job {number}", "is not seen by exactly those who are assigned to it")


_CUSTOMERS_OF_VISIBLE_JOBS = (
    "SELECT 'customer ' || customer_id, person_id FROM own_job WHERE organisation_id = :organisation"
)
_VISIBLE_CUSTOMERS = "SELECT 'customer ' || id, person_id FROM own_customer WHERE organisation_id = :organisation"

INVARIANTS = (
    make_numbers_invariant("job", "SELECT number FROM job WHERE organisation_id = :organisation"),
    Invariant("stages", "The stage of each job follows from how far it is", find_wrong_stages),
    Invariant("assigned_people", "Those who are assigned to a job see it", find_wrong_access),
    same_rows_invariant(
        "own_customers",
        "Whoever sees a job sees its customer",
        (_CUSTOMERS_OF_VISIBLE_JOBS, "is not seen by {0}, who sees a job of it"),
        (_VISIBLE_CUSTOMERS, "is seen by {0}, who sees no job of it"),
    ),
)
