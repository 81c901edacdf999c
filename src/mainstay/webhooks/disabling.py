"""Giving up on a webhook: nothing more is sent to it, and those who can mend it are told."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import Field

from mainstay.backing.database import Handle
from mainstay.identity.mails import mail
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.outbox import Letter
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Right, holders
from mainstay.terms.shapes import Input
from mainstay.webhooks.model import Webhook
from mainstay.webhooks.store import WEBHOOKS


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A webhook that is not to be tried any more, as it was when that was found."""

    organisation: str
    webhook: str
    url: str
    failing_since: str
    reason: str


class DisableWebhook(Input):
    """Which webhook, as it was found."""

    webhook_id: str = Field(description="The webhook's id.")
    url: str = Field(description="Where it was sent to.")
    failing_since: str = Field(description="Since when every attempt has failed.")
    reason: str = Field(description="Why it is not tried any more.")


@operation(
    right=Right.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    offered=frozenset({Door.HOUSE}),
    mails=True,
    on=WEBHOOKS,
    unless=Webhook.disabled,
)
def disable_webhook(ctx: Context, given: DisableWebhook, webhook: Webhook) -> Webhook:
    """Give up on a webhook.

    What waits for it has failed, and owners and admins are written to.
    """
    if (webhook.url, webhook.failing_since) != (given.url, given.failing_since):
        raise Conflict("The webhook has changed meanwhile.")
    # The webhook before its deliveries, as the dispatcher locks them: so neither waits for the other in a circle.
    after = WEBHOOKS.save(ctx, webhook, {"status": "disabled", "disabled_reason": given.reason, "due_at": None})
    ctx.rows.run(
        "UPDATE delivery SET status = 'failed', due_at = NULL"
        " WHERE organisation_id = :organisation AND webhook_id = :webhook AND status IN ('waiting', 'sending')",
        webhook=webhook.id,
    )
    for letter in _news(ctx.rows, given, ctx.base_url):
        ctx.post(letter)
    return after


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


def _news(rows: Handle, found: DisableWebhook, base_url: str) -> list[Letter]:
    people = rows.all(
        "SELECT p.name, p.email, o.name FROM person p JOIN organisation o ON o.id = p.organisation_id"
        " WHERE p.organisation_id = :organisation AND p.status = 'active'"
        f" AND p.role IN {holders(Right.WEBHOOKS_MANAGE)}"
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
                webhook=found.webhook_id,
            ),
        )
        for name, email, organisation in people
    ]
