"""Makes a sample firm for someone who begins: an organisation of its own, with some months of work."""

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from mainstay.business.people.invitations import add_person, create_organisation
from mainstay.business.people.operations import update_person
from mainstay.demo.firm import DEMO_PEOPLE, FIELD_ROLES, DemoActors, fill_firm
from mainstay.demo.performing import DemoPace
from mainstay.demo.year import TIME_ZONE, DemoSize
from mainstay.identity.authenticate import actor_of_person
from mainstay.kernel.json_performer import JsonPerformer
from mainstay.kernel.perform import Performer
from mainstay.vocabulary.actor import Actor, Door, operator_actor

SAMPLE_SIZE = DemoSize(20, 60, 45, timedelta(days=120), timedelta(weeks=3), (1, 2, 2, 3), 1)
_NAME = "Hartley & Daughters (sample)"
# Short steps, so that other firms do not wait.
_SHORT_STEPS = DemoPace(0.08, 0.05)


class SampleOwner(NamedTuple):
    """The person for whom the sample firm is made: its owner."""

    name: str
    email: str


def make_sample_firm(
    performer: Performer,
    organisation: str,
    owner: SampleOwner,
    report: Callable[[int], None],
    pace: DemoPace = _SHORT_STEPS,
) -> None:
    """Create sample firm with this id. Its other people have no accounts, so nobody else can sign in to it."""
    json_performer, operator = JsonPerformer(performer), operator_actor(organisation, Door.OFFICE)

    def act_as(person_id: str) -> Actor:
        with performer.database.read_transaction(organisation) as db:
            return actor_of_person(db, person_id, Door.OFFICE)

    created = json_performer.perform(
        create_organisation,
        operator,
        name=_NAME,
        country="GB",
        currency="GBP",
        timeZone=TIME_ZONE,
        ownerName=owner.name,
        ownerEmail=owner.email,
        # The owner has an account already, which keeps its own password.
        password=secrets.token_urlsafe(24),
        isSample=True,
    )
    actors: dict[str, list[Actor]] = {}
    for person in DEMO_PEOPLE[1:]:
        fields = {"name": person.name, "email": person.email, "role": person.role}
        added = json_performer.perform(add_person, operator, **fields)
        json_performer.perform(update_person, operator, personId=added["id"], **person.details)
        actors.setdefault(person.role, []).append(act_as(added["id"]))
    [office], field = actors["office"], [actor for role in FIELD_ROLES for actor in actors[role]]
    for jobs_made in fill_firm(
        json_performer, DemoActors(act_as(created["id"]), office, field), SAMPLE_SIZE, None, pace
    ):
        report(jobs_made)
