"""What was done in a firm: one act of each job, as the trail has them. Their chain is none, since nobody proves it."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from bench.bulk import Bulk

from mainstay.ledger import audit
from mainstay.terms.actor import ActorKind, Named, house
from mainstay.values.moments import moment_text

# What a part of it was done through.
TILL = Named("key_01JCDZ8Q4X0V9M2T6W3B7K5N1R", "Till")
# Behind what has made the organisation.
_FIRST = 1_000


def write_acts(bulk: Bulk, jobs: Sequence[str], crew: Sequence[str], today: date) -> None:
    """By the crew themselves or through a key, and by the house; a minute between any two."""
    began = datetime.combine(today, time(), UTC) - timedelta(minutes=len(jobs))
    for number, job in enumerate(jobs):
        actor = house(bulk.organisation)
        if number % 3:
            person = Named(crew[number % len(crew)], "Someone")
            actor = actor._replace(kind=ActorKind.PERSON, person=person, client=TILL if number % 3 == 1 else None)
        person_id, client_id, acted_by = audit.doer(actor.stamp)
        bulk.row(
            "audit",
            {
                "sequence": _FIRST + number,
                "at": moment_text(began + timedelta(minutes=number)),
                "actor": actor.stamp,
                "request_id": f"req_{number}",
                "operation": "update_job",
                "given": "{}",
                "events": "[]",
                "records": f'["{job}"]',
                "hash": "",
                "person_id": person_id,
                "client_id": client_id,
                "acted_by": acted_by,
            },
        )
