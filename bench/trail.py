"""What was done in a firm: one act of each job, as the trail has them. Their chain is none, since nobody proves it."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from bench.bulk import BulkWriter

from mainstay.changes import audit
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import ActorKind, Named, system_actor

# What a part of it was done through.
TILL_KEY = Named("key_01JCDZ8Q4X0V9M2T6W3B7K5N1R", "Till")
# Behind what has made the organisation.
_FIRST_SEQUENCE = 1_000


def write_acts(bulk: BulkWriter, jobs: Sequence[str], crew: Sequence[str], today: date) -> None:
    """Write one act for each job: by the crew, through a key or by the system; a minute apart."""
    began = datetime.combine(today, time(), UTC) - timedelta(minutes=len(jobs))
    for number, job in enumerate(jobs):
        actor = system_actor(bulk.organisation)
        if number % 3:
            person = Named(crew[number % len(crew)], "Someone")
            actor = actor._replace(kind=ActorKind.PERSON, person=person, client=TILL_KEY if number % 3 == 1 else None)
        person_id, client_id, acted_by = audit.parse_actor(actor.stamp)
        bulk.add_row(
            "audit",
            {
                "sequence": _FIRST_SEQUENCE + number,
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
