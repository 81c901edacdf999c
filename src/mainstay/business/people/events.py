"""What happens to people."""

from mainstay.business.people.model import PersonOut
from mainstay.kernel.event import Event


class PersonInvited(Event):
    """Someone was asked to join."""

    name = "person.invited"
    about = PersonOut


class PersonJoined(Event):
    """A person became active."""

    name = "person.joined"
    about = PersonOut


class PersonUpdated(Event):
    """A person's details or role changed."""

    name = "person.updated"
    about = PersonOut


class PersonLeft(Event):
    """A person left the organisation."""

    name = "person.left"
    about = PersonOut


EVENTS = (PersonInvited, PersonJoined, PersonUpdated, PersonLeft)
