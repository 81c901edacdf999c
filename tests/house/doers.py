"""For every change of the catalogue someone by whom its example is really done."""

from house.examples import Exhibit
from house.test_rights import BY_LINK, by_link
from mainstay.business.people.joining import create_password_link
from mainstay.catalogue import CATALOGUE
from mainstay.identity import links
from mainstay.identity.authenticate import actor_of_invitation, actor_of_reset
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Actor, operator
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id

CHANGES = [operation for operation in CATALOGUE.operations if operation.changes]


def doer(exhibit: Exhibit, operation: Operation) -> Actor:
    """The owner, wherever nobody else has to come: by a link, or to make an organisation."""
    if operation.name in BY_LINK:
        return by_link(exhibit, operation.name)
    if operation.name == "create_organisation":
        return operator(new_id("org"))
    if operation.name == "accept_invitation":
        return _invited(exhibit)
    if operation.name == "reset_password":
        return _forgetful(exhibit)
    return exhibit.cast.actor(Role.OWNER)


def _invited(exhibit: Exhibit) -> Actor:
    with exhibit.cast.stage.database.changing(exhibit.cast.organisation) as rows:
        link = links.make_invitation(rows, exhibit.invited, "ian@cast.example", exhibit.cast.stage.clock())
        return actor_of_invitation(rows, link)


def _forgetful(exhibit: Exhibit) -> Actor:
    cast = exhibit.cast
    made = cast.perform(create_password_link, operator(cast.organisation), personId=cast.people[Role.OWNER])
    with cast.stage.database.reading(cast.organisation) as rows:
        return actor_of_reset(rows, str(made["id"]))
