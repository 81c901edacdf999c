"""The emails that tell the owners of an organisation that an app was connected to it."""

from mainstay.changes.outbox import OutboxTask
from mainstay.identity.emails import build_email_task
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.vocabulary.permissions import Permission, sql_roles_with

_EMAIL_TEXT = """\
Hello {owner},

{person} has connected the app "{app}" to {organisation} with {access} access. It can now act as {person}.

If you don't want this, end its access at {base_url}/settings/developer/mcp
"""


def build_owner_emails(db: DatabaseHandle, connection: str, base_url: str) -> list[OutboxTask]:
    """Return an email for each owner: who connected which app, and where to end its access."""
    found = db.one(
        "SELECT c.client_name, c.access, p.name, o.name FROM connection c"
        " JOIN person p ON p.organisation_id = c.organisation_id AND p.id = c.person_id"
        " JOIN organisation o ON o.id = c.organisation_id WHERE c.organisation_id = :organisation AND c.id = :id",
        id=connection,
    )
    owners = db.all(
        "SELECT name, email FROM person WHERE organisation_id = :organisation AND status = 'active'"
        f" AND role IN {sql_roles_with(Permission.OWNERS_NAME)}"
    )
    if found is None:
        return []
    app, access, person, organisation = found
    access_words = "read and write" if access == "write" else "read-only"
    return [
        build_email_task(
            str(email),
            f"New app connected to {organisation}",
            _EMAIL_TEXT.format(
                owner=owner,
                person=person,
                app=app,
                organisation=organisation,
                access=access_words,
                base_url=base_url,
            ),
        )
        for owner, email in owners
    ]
