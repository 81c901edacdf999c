"""That what is kept of jobs follows from the rest of them."""

from collections.abc import Iterator

import orjson

from mainstay.backing.proof import Books, Flaw, Proof, agree
from mainstay.business.jobs.model import Standing, stage_of
from mainstay.business.organisation.proofs import numbers_of


def wrong_stages(books: Books) -> Iterator[Flaw]:
    """The jobs whose stage or next step is not the one that follows from how far they are."""
    jobs = books.rows.each(
        f"SELECT number, stage, next_action, {', '.join(Standing._fields)} FROM job"
        " WHERE organisation_id = :organisation"
    )
    for number, stage, next_action, *standing in jobs:
        expected = stage_of(Standing._make(standing))
        if (stage, next_action) != expected:
            yield Flaw(f"job {number}", f"is kept at the stage {stage}, and is at {expected[0]}")


def wrong_people(books: Books) -> Iterator[Flaw]:
    """The jobs that others see for their being assigned than those who are."""
    jobs = books.rows.each(
        "SELECT number, assigned, lead_person_id, (SELECT string_agg(own_job.person_id, ' ') FROM own_job"
        " WHERE own_job.organisation_id = :organisation AND own_job.id = job.id AND own_job.assigned = 1)"
        " FROM job WHERE organisation_id = :organisation"
    )
    for number, assigned, lead, seeing in jobs:
        people = {*orjson.loads(str(assigned)), *([lead] if lead else [])}
        if people != set(str(seeing or "").split()):
            yield Flaw(f"job {number}", "is not seen by exactly those who are assigned to it")


_SEEN = "SELECT 'customer ' || customer_id, person_id FROM own_job WHERE organisation_id = :organisation"
_SHOWN = "SELECT 'customer ' || id, person_id FROM own_customer WHERE organisation_id = :organisation"

PROOFS = (
    numbers_of("job", "SELECT number FROM job WHERE organisation_id = :organisation"),
    Proof("stages", "The stage of each job follows from how far it is", wrong_stages),
    Proof("assigned_people", "Those who are assigned to a job see it", wrong_people),
    agree(
        "own_customers",
        "Whoever sees a job sees its customer",
        (_SEEN, "is not seen by {0}, who sees a job of it"),
        (_SHOWN, "is seen by {0}, who sees no job of it"),
    ),
)
