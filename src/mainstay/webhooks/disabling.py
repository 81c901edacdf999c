"""Giving up on a webhook: nothing more is sent to it, and those who can mend it are told."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from mainstay.backing.database import Handle
from mainstay.backing.saving import Pen
from mainstay.identity.mails import mail
from mainstay.kernel import outbox
from mainstay.kernel.actor import operator
from mainstay.kernel.context import Letter
from mainstay.values.moments import moment_text


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A webhook that is not to be tried any more, as it was when that was found."""

    organisation: str
    webhook: str
    url: str
    failing_since: str
    reason: str


def disable(rows: Handle, found: GivenUp, base_url: str, now: datetime) -> bool:
    """Disable it, fail what waits for it, and write to owners and admins; False when it has changed meanwhile."""
    still = rows.one(
        "SELECT 1 FROM webhook WHERE organisation_id = :organisation AND id = :id AND status <> 'disabled'"
        " AND url = :url AND failing_since = :failing_since",
        id=found.webhook,
        url=found.url,
        failing_since=found.failing_since,
    )
    if still is None:
        return False
    at = moment_text(now)
    # Nobody of the organisation did it: it is the installation's own doing.
    pen = Pen(rows, at, operator(found.organisation).stamp.model_dump_json())
    pen.save("webhook", found.webhook, {"status": "disabled", "disabled_reason": found.reason, "due_at": None})
    rows.run(
        "UPDATE delivery SET status = 'failed', due_at = NULL"
        " WHERE organisation_id = :organisation AND webhook_id = :webhook AND status IN ('waiting', 'sending')",
        webhook=found.webhook,
    )
    for letter in _news(rows, found, base_url):
        outbox.put(rows, letter, at)
    return True


def plain(url: str) -> str:
    """An address without its query, in which receivers keep secrets, and without a name and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


_NEWS = """\
Hello {name},

Mainstay no longer sends events of {organisation} to this address:

{url}

{reason} What waited to be sent there has been marked as failed, and what happens from now on is not kept for it.

Once the receiver works again, set the webhook active in Settings → Developer → Webhooks, at
{base_url}/settings/developer/webhooks/{webhook}
where you can also have everything sent that was missed.
"""


def _news(rows: Handle, found: GivenUp, base_url: str) -> list[Letter]:
    people = rows.all(
        "SELECT p.name, p.email, o.name FROM person p JOIN organisation o ON o.id = p.organisation_id"
        " WHERE p.organisation_id = :organisation AND p.role IN ('owner', 'admin') AND p.status = 'active'"
    )
    return [
        mail(
            str(email),
            f"A webhook of {organisation} was disabled",
            _NEWS.format(
                name=name,
                organisation=organisation,
                url=plain(found.url),
                reason=found.reason,
                base_url=base_url,
                webhook=found.webhook,
            ),
        )
        for name, email, organisation in people
    ]
