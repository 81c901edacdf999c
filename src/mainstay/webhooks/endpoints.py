"""Where events are sent to: made, changed, paused and deleted by people, never by a key or an agent."""

from typing import Annotated

from pydantic import Field

from mainstay.backing.guard import Denied
from mainstay.identity.keys import FOR_PEOPLE
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Ahead, Effect, operation
from mainstay.terms.refusal import Conflict, Fault, Invalid
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Irrevocable, ListInput, Page
from mainstay.values.fields import LAST_SEEN, Line, WebAddress, id_of, omittable
from mainstay.webhooks import store
from mainstay.webhooks.model import EventKinds, Webhook, WebhookOut, check_kinds
from mainstay.webhooks.store import WEBHOOKS

MOST = 10
_KINDS = "Which kinds of events are sent there; all, unless some are chosen."


class CreateWebhook(Input):
    """What a webhook is made from."""

    url: WebAddress = Field(
        title="Address", description="Where events are sent: https, and an address that the internet can reach."
    )
    description: Line | None = Field(None, description="For yourselves, such as Accounting.")
    events: EventKinds | None = Field(None, description=_KINDS)


class ListWebhooks(ListInput):
    """Which webhooks to list."""

    starting_after: Annotated[str | None, id_of("webhook")] = LAST_SEEN


class GetWebhook(Input):
    """Which webhook."""

    webhook_id: str = Field(description="The webhook's id.")


class UpdateWebhook(Input):
    """Which webhook, and what to change; null clears."""

    webhook_id: str = Field(description="The webhook's id.")
    url: WebAddress = omittable(
        title="Address", description="Where events are sent: https, and an address that the internet can reach."
    )
    description: Line | None = Field(None, description="For yourselves, such as Accounting.")
    events: EventKinds | None = Field(None, description=_KINDS)


class PauseWebhook(Input):
    """Which webhook to pause."""

    webhook_id: str = Field(description="The webhook's id.")


class ResumeWebhook(Input):
    """Which webhook to set active."""

    webhook_id: str = Field(description="The webhook's id.")


class RotateWebhookSecret(Input):
    """Whose secret."""

    webhook_id: str = Field(description="The webhook's id.")


class DeleteWebhook(Irrevocable):
    """Which webhook to delete."""

    webhook_id: str = Field(description="The webhook's id.")


def _address_checked(ahead: Ahead, given: CreateWebhook | UpdateWebhook) -> None:
    """Whether the address may be called: asked of the names' own servers, which may take their time."""
    if "url" not in given.sent():
        return
    try:
        ahead.guard.check(given.url, ahead.actor.organisation)
    except Denied as denied:
        raise Invalid([Fault("url", str(denied))]) from None


def _room_and_address_checked(ahead: Ahead, given: CreateWebhook) -> None:
    ahead.read(_check_room)
    _address_checked(ahead, given)


@operation(
    right=Right.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    ahead=_room_and_address_checked,
    done="The webhook is ready.",
)
def create_webhook(ctx: Context, given: CreateWebhook) -> Webhook:
    """Create a webhook.

    From now on, what happens in the organisation is sent there, signed with a secret of its own.
    """
    _check_room(ctx)
    check_kinds(ctx, "events", *given.events or ())
    return WEBHOOKS.insert(ctx, dict(given) | {"status": "active"})


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE)
def list_webhooks(ctx: Context, given: ListWebhooks) -> Page[WebhookOut]:
    """List the webhooks of the organisation, newest first.

    Their secrets are never shown again.
    """
    return WEBHOOKS.page(ctx, given)


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.READ, offered=FOR_PEOPLE, on=WEBHOOKS)
def get_webhook(_ctx: Context, _given: GetWebhook, webhook: Webhook) -> Webhook:
    """Get one webhook.

    Also one that is paused or was disabled.
    """
    return webhook


@operation(
    right=Right.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    on=WEBHOOKS,
    ahead=_address_checked,
    done="Your changes are saved.",
)
def update_webhook(ctx: Context, given: UpdateWebhook, webhook: Webhook) -> Webhook:
    """Change where events are sent, and which.

    It takes effect with the next event.
    """
    changes = given.sent("webhook_id")
    check_kinds(ctx, "events", *given.events or ())
    if changes.get("url", webhook.url) != webhook.url:
        changes |= {"trusted": 0, "failing_since": None}
    return WEBHOOKS.save(ctx, webhook, changes)


@operation(
    right=Right.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    on=WEBHOOKS,
    unless=Webhook.not_sent_to,
    done="The webhook is paused. What happens is kept for it, and sent when you resume it.",
)
def pause_webhook(ctx: Context, _given: PauseWebhook, webhook: Webhook) -> Webhook:
    """Pause a webhook.

    What happens is kept for it, and sent when it is resumed.
    """
    return _set_status(ctx, webhook, "paused")


@operation(
    right=Right.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    offered=FOR_PEOPLE,
    on=WEBHOOKS,
    unless=Webhook.not_resumable,
    done="The webhook is active. What was kept for it is being sent.",
)
def resume_webhook(ctx: Context, _given: ResumeWebhook, webhook: Webhook) -> Webhook:
    """Resume a webhook.

    What was kept for it while it was paused is sent. One that was disabled begins anew: what happened meanwhile is sent
    only when it is asked for.
    """
    return _set_status(ctx, webhook, "active")


@operation(right=Right.WEBHOOKS_MANAGE, effect=Effect.CHANGE, offered=FOR_PEOPLE, on=WEBHOOKS, grave=True)
def rotate_webhook_secret(ctx: Context, _given: RotateWebhookSecret, webhook: Webhook) -> Webhook:
    """Give a webhook a new secret.

    The one it had signs as well for 24 hours, so that the receiver can change over; any before that one ends at once.
    """
    return WEBHOOKS.save(ctx, webhook, {"generation": webhook.generation + 1, "rotated_at": ctx.at})


@operation(
    right=Right.WEBHOOKS_MANAGE,
    effect=Effect.IRREVERSIBLE,
    offered=FOR_PEOPLE,
    open_when_lapsed=True,
    on=WEBHOOKS,
    done="The webhook is deleted. Nothing more is sent there.",
    ends=True,
)
def delete_webhook(ctx: Context, _given: DeleteWebhook, webhook: Webhook) -> Webhook:
    """Delete a webhook.

    Nothing more is sent there, and its delivery log is gone.
    """
    ctx.summary = f"The webhook to {webhook.url} is deleted, with its delivery log."
    if due := store.count_due(ctx, webhook.id):
        ctx.effects.append(f"Events that are still to be delivered there, and will not be: {due}.")
    store.delete(ctx, webhook.id)
    return webhook


OPERATIONS = (
    create_webhook,
    list_webhooks,
    get_webhook,
    update_webhook,
    pause_webhook,
    resume_webhook,
    rotate_webhook_secret,
    delete_webhook,
)


def _check_room(ctx: Context) -> None:
    if store.count(ctx) >= MOST:
        raise Conflict(f"An organisation has at most {MOST} webhooks. Delete one first.")


def _set_status(ctx: Context, webhook: Webhook, status: str) -> Webhook:
    # While it was not active nothing was tried, so the days of a pause are no days of failure.
    changes = {"status": status, "disabled_reason": None, "failing_since": None, "due_at": ctx.at}
    return WEBHOOKS.save(ctx, webhook, changes)
