"""Where events are sent to: made, changed, paused and deleted by people, never by a key or an agent."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.identity.keys import FOR_PEOPLE
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.refusal import Conflict
from mainstay.kernel.rights import Right
from mainstay.kernel.shapes import Input, Irrevocable, ListInput, One, Page
from mainstay.values.fields import LAST_SEEN, Line, WebAddress, id_of, omittable
from mainstay.webhooks import store
from mainstay.webhooks.model import EventKinds, WebhookOut

MOST = 10


class CreateWebhook(Input):
    """What a webhook is made from."""

    url: WebAddress = Field(description="Where events are sent: https, and an address that the internet can reach.")
    description: Line | None = Field(None, description="What it is for.")
    events: EventKinds | None = Field(None, description="The kinds to send, such as `person.joined`. Without it, all.")


class ListWebhooks(ListInput):
    """Which webhooks to list."""

    starting_after: Annotated[str | None, id_of("webhook")] = LAST_SEEN


class GetWebhook(Input):
    """Which webhook."""

    webhook_id: str = Field(description="The webhook's id.")


class UpdateWebhook(Input):
    """Which webhook, and what to change; null clears."""

    webhook_id: str = Field(description="The webhook's id.")
    url: WebAddress = omittable(description="Where events are sent: https, and an address that the internet can reach.")
    description: Line | None = Field(None, description="What it is for.")
    events: EventKinds | None = Field(None, description="The kinds to send; null for all.")
    status: Literal["active", "paused"] = omittable(
        description="`paused` keeps what happens for later; `active` sends it, also after the webhook was disabled."
    )


class RotateWebhookSecret(Input):
    """Whose secret."""

    webhook_id: str = Field(description="The webhook's id.")


class DeleteWebhook(Irrevocable):
    """Which webhook to delete."""

    webhook_id: str = Field(description="The webhook's id.")


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE)
def create_webhook(ctx: Context, given: CreateWebhook) -> One[WebhookOut]:
    """Create a webhook.

    From now on, what happens in the organisation is sent there, signed with a secret of its own.
    """
    if store.count(ctx) >= MOST:
        raise Conflict(f"An organisation has at most {MOST} webhooks. Delete one first.")
    return store.show(ctx, store.insert(ctx, dict(given) | {"status": "active"}))


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE)
def list_webhooks(ctx: Context, given: ListWebhooks) -> Page[WebhookOut]:
    """List the webhooks of the organisation, newest first.

    Their secrets are never shown again.
    """
    return store.page(ctx, after=given.starting_after, limit=given.limit)


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE)
def get_webhook(ctx: Context, given: GetWebhook) -> One[WebhookOut]:
    """Get one webhook.

    Also one that is paused or was disabled.
    """
    return store.show(ctx, given.webhook_id)


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE)
def update_webhook(ctx: Context, given: UpdateWebhook) -> One[WebhookOut]:
    """Change, pause or resume a webhook.

    Only the fields that are sent change. A disabled one that is set active begins anew: what happened meanwhile is sent
    only when it is asked for.
    """
    webhook = store.fetch(ctx, given.webhook_id)
    ctx.expect(webhook.version)
    changes = given.sent()
    del changes["webhook_id"]
    if changes.get("url", webhook.url) != webhook.url:
        changes |= {"trusted": 0, "failing_since": None}
    if changes.get("status", webhook.status) != webhook.status:
        # While it was not active nothing was tried, so the days of a pause are no days of failure.
        changes |= {"disabled_reason": None, "failing_since": None, "due_at": ctx.at}
    store.save(ctx, webhook.id, changes)
    return store.show(ctx, webhook.id)


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE)
def rotate_webhook_secret(ctx: Context, given: RotateWebhookSecret) -> One[WebhookOut]:
    """Give a webhook a new secret.

    The one it had signs as well for 24 hours, so that the receiver can change over; any before that one ends at once.
    """
    webhook = store.fetch(ctx, given.webhook_id)
    # Whoever sends the form twice must not end the old secret at once.
    ctx.expect(webhook.version)
    store.save(ctx, webhook.id, {"generation": webhook.generation + 1, "rotated_at": ctx.at})
    return store.show(ctx, webhook.id)


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.IRREVERSIBLE, offered=FOR_PEOPLE, open_when_lapsed=True)
def delete_webhook(ctx: Context, given: DeleteWebhook) -> One[WebhookOut]:
    """Delete a webhook.

    Nothing more is sent there, and its delivery log is gone.
    """
    webhook, shown = store.fetch(ctx, given.webhook_id), store.show(ctx, given.webhook_id)
    ctx.expect(webhook.version)
    ctx.summary = f"The webhook to {webhook.url} is deleted, with its delivery log."
    if due := store.count_due(ctx, webhook.id):
        ctx.effects.append(f"Events that are still to be delivered there, and will not be: {due}.")
    store.delete(ctx, webhook.id)
    return shown
