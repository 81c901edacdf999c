"""Events about people."""

from mainstay.business.people.model import PersonOut
from mainstay.kernel.event import declare_event

PersonInvited = declare_event("person.invited", PersonOut, "A person was invited.")
PersonJoined = declare_event("person.joined", PersonOut, "A person joined the organisation.")
PersonUpdated = declare_event("person.updated", PersonOut, "A person's details or role changed.")
PersonLeft = declare_event("person.left", PersonOut, "A person left the organisation.")


EVENTS = (PersonInvited, PersonJoined, PersonUpdated, PersonLeft)
