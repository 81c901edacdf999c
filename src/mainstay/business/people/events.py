"""Events about people."""

from mainstay.business.people.model import PersonOut
from mainstay.kernel.event import Event


class PersonInvited(Event):
    """A person was invited."""

    name = "person.invited"
    output = PersonOut


class PersonJoined(Event):
    """A person joined the organisation."""

    name = "person.joined"
    output = PersonOut


class PersonUpdated(Event):
    """A person's details or role changed."""

    name = "person.updated"
    output = PersonOut


class PersonLeft(Event):
    """A person left the organisation."""

    name = "person.left"
    output = PersonOut


EVENTS = (PersonInvited, PersonJoined, PersonUpdated, PersonLeft)
