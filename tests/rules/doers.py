"""An actor who may perform the example of each change of the catalogue."""

from mainstay.business.people.invitations import create_password_link
from mainstay.catalogue import CATALOGUE
from mainstay.identity import links
from mainstay.identity.authenticate import actor_of_invitation, actor_of_reset
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor, operator_actor
from mainstay.vocabulary.permissions import Role
from rules.examples import SampleRecords
from rules.test_rights import BY_LINK, actor_with_link

CHANGES = [operation for operation in CATALOGUE.operations if operation.changes]


def actor_for(samples: SampleRecords, operation: Operation) -> Actor:
    """Return the owner, or another actor if the change needs a link or makes an organisation."""
    if operation.name in BY_LINK:
        return actor_with_link(samples, operation.name)
    if operation.name == "create_organisation":
        return operator_actor(new_id("org"))
    if operation.name == "accept_invitation":
        return _make_invited_actor(samples)
    if operation.name == "reset_password":
        return _make_resetting_actor(samples)
    return samples.cast.actor(Role.OWNER)


def _make_invited_actor(samples: SampleRecords) -> Actor:
    with samples.cast.performer.database.write_transaction(samples.cast.organisation) as db:
        link = links.create_invitation_link(db, samples.invited, "ian@cast.example", samples.cast.performer.clock())
        return actor_of_invitation(db, link)


def _make_resetting_actor(samples: SampleRecords) -> Actor:
    cast = samples.cast
    link = cast.perform(create_password_link, operator_actor(cast.organisation), personId=cast.people[Role.OWNER])
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return actor_of_reset(db, str(link["id"]))
