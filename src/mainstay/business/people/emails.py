"""Emails that tell people what others have done that concerns them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.identity.email_format import EmailFormat
from mainstay.identity.emails import EmailParagraph, PersonEmail, build_email_task
from mainstay.kernel.context import Context
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission, Role, has_permission

# Who acts if it is no person, as written in emails.
THE_OFFICE = Message("The office")


class Recipient(NamedTuple):
    """A person who is emailed."""

    id: str
    name: str
    email: str


def find_recipients(ctx: Context, people: Iterable[str | None]) -> list[Recipient]:
    """Return those of these people who should be emailed: active people other than the person acting."""
    if ctx.actor.door is Door.CLI:
        # The command line is used by the operator, for example to create demo data. Nobody is emailed about that.
        return []
    candidates = sorted({one for one in people if one and one != ctx.actor.id})
    rows = [(one, ctx.db.one(_ACTIVE_PERSON_SQL, id=one)) for one in candidates]
    return [Recipient(one, str(row[0]), str(row[1])) for one, row in rows if row]


def find_people_with(ctx: Context, permission: Permission) -> set[str]:
    """Return the ids of the active people whose role has a permission."""
    rows = ctx.db.all("SELECT id, role FROM person WHERE organisation_id = :organisation AND status = 'active'")
    return {str(record_id) for record_id, role in rows if has_permission(Role(str(role)), permission)}


def email_format_of(ctx: Context) -> EmailFormat:
    """Return the format of emails to people of the organisation.

    They are in the language of its documents if the installation has a translation, and otherwise in English.
    """
    settings = settings_of(ctx)
    return EmailFormat(ctx.languages.find(settings.language), settings.country, settings.time_zone)


def email_person(
    ctx: Context, recipient: Recipient, subject: Message, paragraphs: Sequence[EmailParagraph], record_id: str
) -> None:
    """Email a person about a record. The record's page shows whether the email was sent."""
    text = (Message("Hello {name},", name=recipient.name), *paragraphs)
    email = PersonEmail(recipient.email, subject, text, record_id=record_id)
    ctx.add_task(build_email_task(email, email_format_of(ctx)))


def actor_name(ctx: Context) -> Message | str:
    """Return the name of the person acting, as written in emails."""
    return ctx.actor.person.name if ctx.actor.person else THE_OFFICE


_ACTIVE_PERSON_SQL = (
    "SELECT name, email FROM person WHERE organisation_id = :organisation AND id = :id AND status = 'active'"
)
