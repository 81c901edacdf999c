"""The emails that tell the owners of an organisation that an app was connected to it."""

from mainstay.changes.outbox import OutboxTask
from mainstay.identity.email_format import undated_format_of
from mainstay.identity.emails import PersonEmail, build_email_task
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.message import Message
from mainstay.values.reader_language import Languages
from mainstay.vocabulary.permissions import Permission, sql_roles_with


def build_owner_emails(db: DatabaseHandle, connection_id: str, base_url: str, languages: Languages) -> list[OutboxTask]:
    """Return an email for each owner: who connected which app, and where to end its access."""
    found = db.one(
        "SELECT c.client_name, c.access, p.name, o.name FROM connection c"
        " JOIN person p ON p.organisation_id = c.organisation_id AND p.id = c.person_id"
        " JOIN organisation o ON o.id = c.organisation_id WHERE c.organisation_id = :organisation AND c.id = :id",
        id=connection_id,
    )
    owners = db.all(
        "SELECT name, email FROM person WHERE organisation_id = :organisation AND status = 'active'"
        f" AND role IN {sql_roles_with(Permission.OWNERS_NAME)}"
    )
    if found is None:
        return []
    app, access, person, organisation = map(str, found)
    subject = Message("New app connected to {organisation}", organisation=organisation)
    paragraphs = (
        Message(
            '{person} has connected the app "{app}" to {organisation} with {access} access.'
            " It can now act as {person}.",
            person=person,
            app=app,
            organisation=organisation,
            access=Message("read and write") if access == "write" else Message("read-only"),
        ),
        Message("If you don't want this, disconnect it at {address}", address=f"{base_url}/settings/developer/mcp"),
    )
    email_format = undated_format_of(db, languages)
    greeted = [(str(email), Message("Hello {name},", name=str(owner))) for owner, email in owners]
    return [
        build_email_task(PersonEmail(to, subject, (greeting, *paragraphs)), email_format) for to, greeting in greeted
    ]
