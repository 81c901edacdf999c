"""Disable a webhook that keeps failing, and email the people who can repair it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import Field

from mainstay.changes.outbox import OutboxTask
from mainstay.identity.email_format import undated_format_of
from mainstay.identity.emails import PersonEmail, build_email_task
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission, sql_roles_with
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.schemas import Input
from mainstay.webhooks.model import Webhook
from mainstay.webhooks.retry_schedule import FAILING, GONE
from mainstay.webhooks.store import WEBHOOKS


@dataclass(frozen=True, slots=True)
class FailedWebhook:
    """A webhook that is to be disabled, with its address and failures as the dispatcher saw them."""

    organisation: str
    webhook: str
    url: str
    failing_since: str
    reason: str


class DisableWebhook(Input):
    """A webhook to disable, as the dispatcher saw it."""

    webhook_id: str = Field(description="The webhook's ID.")
    url: str = Field(description="The webhook's address.")
    failing_since: str = Field(description="Since when every attempt has failed.")
    reason: str = Field(description="Why it is disabled.")


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.SYSTEM}),
    emails_outside=True,
    on=WEBHOOKS,
    blocked_by=Webhook.not_deliverable,
    not_undone=Message("Resume the webhook instead."),
    past_text="Webhook disabled",
)
def disable_webhook(ctx: Context, given: DisableWebhook, webhook: Webhook) -> Webhook:
    """Disable webhook.

    Waiting deliveries are marked as failed, and owners and admins get an email.
    """
    if (webhook.url, webhook.failing_since) != (given.url, given.failing_since):
        raise Conflict(Message("The webhook was changed in the meantime."))
    # The webhook is changed before its deliveries, in the order in which the dispatcher locks them. So the two never
    # deadlock.
    after = WEBHOOKS.save(ctx, webhook, {"status": "disabled", "disabled_reason": given.reason, "due_at": None})
    ctx.db.run(
        "UPDATE delivery SET status = 'failed', due_at = NULL"
        " WHERE organisation_id = :organisation AND webhook_id = :webhook AND status IN ('waiting', 'sending')",
        webhook=webhook.id,
    )
    for task in _build_emails(ctx, given):
        ctx.add_task(task)
    return after


def hide_url_secrets(url: str) -> str:
    """Return a URL without its query, user name and password, because receivers keep secrets in them."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


_REASONS = {GONE: Message(GONE), FAILING: Message(FAILING)}


def _build_emails(ctx: Context, given: DisableWebhook) -> list[OutboxTask]:
    people = ctx.db.all(
        "SELECT p.name, p.email, o.name FROM person p JOIN organisation o ON o.id = p.organisation_id"
        " WHERE p.organisation_id = :organisation AND p.status = 'active'"
        f" AND p.role IN {sql_roles_with(Permission.WEBHOOKS_MANAGE)}"
    )
    style = undated_format_of(ctx.db, ctx.languages)
    return [
        build_email_task(_write_email(ctx, given, *map(str, names_and_address)), style) for names_and_address in people
    ]


def _write_email(ctx: Context, given: DisableWebhook, name: str, to: str, organisation: str) -> PersonEmail:
    paragraphs = (
        Message("Hello {name},", name=name),
        Message("Mainstay no longer sends events of {organisation} to this address:", organisation=organisation),
        hide_url_secrets(given.url),
        Message(
            "{reason} Waiting events have been marked as failed, and new events are not stored for this webhook.",
            reason=_REASONS.get(given.reason, given.reason),
        ),
        Message(
            "Once the receiver works again, resume the webhook in Settings → Developer → Webhooks. You can also resend"
            " the events it missed there:\n{address}",
            address=f"{ctx.base_url}/settings/developer/webhooks/{given.webhook_id}",
        ),
    )
    return PersonEmail(to, Message("A webhook of {organisation} was disabled", organisation=organisation), paragraphs)
