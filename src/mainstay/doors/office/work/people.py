"""The people of the organisation."""

from mainstay.business.people.operations import invite_person
from mainstay.business.people.store import PEOPLE
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.pages.page_language import translate_label
from mainstay.vocabulary.permissions import HIGHEST_ROLE

PEOPLE_LAYOUT = RecordLayout(
    kind=PEOPLE,
    lead="Everyone in your organisation and their access.",
    create_operation=invite_person,
    first_fields=("name", "email", "role", "phone", "costRate", "billRate"),
    title_of=lambda person: str(person.name),
    subtitle_of=lambda person: f"{translate_label(person.role)} · {person.email}",
    columns=("status", "phone", "skills"),
    facts=("phone", "skills", "workingHours", "companyName", "colour", "costRate", "billRate"),
    tabs={"": "Active", "invited": "Invited", "left": "Left"},
    order="name",
    # No form can give the highest role, so no role is chosen in the form of a person who has it.
    prefill=lambda person: {**person, **({"role": None} if person["role"] == HIGHEST_ROLE else {})},
    page_body="activity_link.html",
    email_warning=(
        "The last email could not be sent: {problem} Correct the email address. If it was the invitation, invite them"
        " again."
    ),
    empty_text="No people here. Invite your team: each person gets an email with a link to join.",
)
