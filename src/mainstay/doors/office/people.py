"""The people of the organisation."""

from mainstay.business.people.operations import get_person, invite_person, list_people
from mainstay.doors.office.arrangement import Arrangement
from mainstay.terms.rights import HIGHEST, Role

PEOPLE = Arrangement(
    title="People",
    lead="Everyone who works here, and what they may do.",
    path="/people",
    area="People",
    gets=get_person,
    lists=list_people,
    creates=invite_person,
    create_path="invite",
    called=lambda person: str(person["name"]),
    below=lambda person: f"{Role(person['role']).words} · {person['email']}",
    columns=("status", "phone", "skills"),
    facts=("phone", "skills", "workingHours", "companyName", "colour", "costRate", "billRate"),
    tabs={"": "Current", "invited": "Invited", "left": "Left"},
    order="name",
    # The highest role is given by no form, so none is chosen there for those who have it.
    fills=lambda person: person | ({"role": None} if person["role"] == HIGHEST else {}),
    more="activity_link.html",
    unsent="The last mail could not be sent: {problem} Correct the address; if it was the invitation, invite again.",
    empty="Nobody here. Invite the people you work with: they get a mail with a link to join.",
)
