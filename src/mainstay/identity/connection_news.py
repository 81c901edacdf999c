"""What the owners of an organisation are told when an app is connected to it."""

from mainstay.backing.database import Handle
from mainstay.identity.mails import mail
from mainstay.ledger.outbox import Letter
from mainstay.terms.rights import Right, holders

_NEWS = """\
Hello {owner},

{person} has connected the app "{app}" to {organisation}, with {access} access. It can now act as {person}.

If this was not meant to happen, end it at {base_url}/settings/developer/mcp
"""


def news_for_owners(rows: Handle, connection: str, base_url: str) -> list[Letter]:
    """A mail to each owner: who has connected which app, and where to end it."""
    facts = rows.one(
        "SELECT c.client_name, c.access, p.name, o.name FROM connection c"
        " JOIN person p ON p.organisation_id = c.organisation_id AND p.id = c.person_id"
        " JOIN organisation o ON o.id = c.organisation_id WHERE c.organisation_id = :organisation AND c.id = :id",
        id=connection,
    )
    owners = rows.all(
        "SELECT name, email FROM person WHERE organisation_id = :organisation AND status = 'active'"
        f" AND role IN {holders(Right.OWNERS_NAME)}"
    )
    if facts is None:
        return []
    app, access, person, organisation = facts
    access_words = "read and write" if access == "write" else "read only"
    return [
        mail(
            str(email),
            f"A new app is connected to {organisation}",
            _NEWS.format(
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
