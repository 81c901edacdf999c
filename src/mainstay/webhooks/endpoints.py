"""Operations on webhooks: only people create, change, pause and delete them, never a key or an agent."""

from pydantic import Field

from mainstay.identity.keys import PEOPLE_DOORS
from mainstay.infrastructure.address_guard import AddressDenied
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import declare_inverse, restore_values
from mainstay.kernel.operation import Effect, Preparation, operation
from mainstay.kernel.reads import declare_get, declare_list
from mainstay.values.fields import TextLine, WebAddress, omittable_field
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid
from mainstay.vocabulary.schemas import Input, IrreversibleInput
from mainstay.webhooks import store
from mainstay.webhooks.model import EventKinds, Webhook, check_kinds
from mainstay.webhooks.store import WEBHOOKS

MAX_WEBHOOKS = 10
_EVENTS_DESCRIPTION = "The types of events to send. Default: all."


class CreateWebhook(Input):
    """A new webhook."""

    url: WebAddress = Field(title="URL", description="Where events are sent: https, and reachable from the internet.")
    description: TextLine | None = Field(None, description="For your own use, e.g. Accounting.")
    events: EventKinds | None = Field(None, description=_EVENTS_DESCRIPTION)


class UpdateWebhook(Input):
    """Which webhook, and what to change; null clears."""

    webhook_id: str = Field(description="The webhook's ID.")
    url: WebAddress = omittable_field(
        title="URL", description="Where events are sent: https, and reachable from the internet."
    )
    description: TextLine | None = Field(None, description="For your own use, e.g. Accounting.")
    events: EventKinds | None = Field(None, description=_EVENTS_DESCRIPTION)


def _check_address(preparation: Preparation, given: CreateWebhook | UpdateWebhook) -> None:
    """Refuse an address that must not be called. This asks name servers, which may take their time."""
    if "url" not in given.sent_fields():
        return
    try:
        preparation.guard.check(given.url, preparation.actor.organisation)
    except AddressDenied as denied:
        raise Invalid([Fault("url", denied.message)]) from None


def _check_count_and_address(preparation: Preparation, given: CreateWebhook) -> None:
    preparation.read(_check_count)
    _check_address(preparation, given)


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    prepare=_check_count_and_address,
    undone_by=declare_inverse("delete_webhook", "webhookId", confirmed=True),
    past_text="Webhook created",
)
def create_webhook(ctx: Context, given: CreateWebhook) -> Webhook:
    """Create webhook.

    Mainstay will send events to this address, signed with a secret.
    """
    _check_count(ctx)
    check_kinds(ctx, "events", *given.events or ())
    return WEBHOOKS.insert(ctx, dict(given) | {"status": "active"})


list_webhooks = declare_list(
    WEBHOOKS,
    "List webhooks. Newest first. Their secrets are never shown again.",
    Permission.WEBHOOKS_MANAGE,
    {},
    doors=PEOPLE_DOORS | {Door.AGENT},
)


get_webhook = declare_get(
    WEBHOOKS,
    "Get webhook. Works for paused and disabled webhooks too.",
    Permission.WEBHOOKS_MANAGE,
    doors=PEOPLE_DOORS,
)


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=WEBHOOKS,
    prepare=_check_address,
    done_message="Webhook saved.",
    undone_by=restore_values,
    past_text="Webhook edited",
)
def update_webhook(ctx: Context, given: UpdateWebhook, webhook: Webhook) -> Webhook:
    """Edit webhook.

    Where events are sent, and which. Applies from the next event.
    """
    changes = given.sent_fields("webhook_id")
    check_kinds(ctx, "events", *given.events or ())
    if changes.get("url", webhook.url) != webhook.url:
        changes |= {"trusted": 0, "failing_since": None}
    return WEBHOOKS.save(ctx, webhook, changes)


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=WEBHOOKS,
    blocked_by=Webhook.not_sent_to,
    done_message="Webhook paused. Events are stored and sent when you resume it.",
    undone_by=declare_inverse("resume_webhook", "webhookId"),
    past_text="Webhook paused",
)
def pause_webhook(ctx: Context, _given: Input, webhook: Webhook) -> Webhook:
    """Pause webhook.

    Events are stored, and sent when it is resumed.
    """
    return _set_status(ctx, webhook, "paused")


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=WEBHOOKS,
    blocked_by=Webhook.not_resumable,
    done_message="Webhook resumed. Stored events are being sent.",
    undone_by=declare_inverse("pause_webhook", "webhookId"),
    past_text="Webhook resumed",
)
def resume_webhook(ctx: Context, _given: Input, webhook: Webhook) -> Webhook:
    """Resume webhook.

    Events stored while it was paused are sent. If it was disabled, events of that time are sent only if you resend
    them.
    """
    return _set_status(ctx, webhook, "active")


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=WEBHOOKS,
    asks_again=True,
    not_undone=Message("Replace the secret again, or use the new one."),
    past_text="Webhook secret replaced",
)
def rotate_webhook_secret(ctx: Context, _given: Input, webhook: Webhook) -> Webhook:
    """Replace webhook secret.

    The previous secret also signs for 24 hours, so that the receiver can switch over; older ones end at once.
    """
    return WEBHOOKS.save(ctx, webhook, {"generation": webhook.generation + 1, "rotated_at": ctx.now_text})


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.IRREVERSIBLE,
    doors=PEOPLE_DOORS,
    open_when_lapsed=True,
    on=WEBHOOKS,
    not_undone=Message("Create the webhook again."),
    past_text="Webhook deleted",
    deletes=True,
)
def delete_webhook(ctx: Context, _given: IrreversibleInput, webhook: Webhook) -> Webhook:
    """Delete webhook.

    Nothing more is sent to it, and its delivery log is deleted.
    """
    ctx.summary = Message("The webhook to {url} will be deleted, with its delivery log.", url=webhook.url)
    if due := store.count_due_deliveries(ctx, webhook.id):
        ctx.effects.append(
            Message(
                "{count} waiting event will not be delivered.",
                plural="{count} waiting events will not be delivered.",
                count=due,
            )
        )
    store.remove_webhook(ctx, webhook.id)
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


def _check_count(ctx: Context) -> None:
    count, is_sample = store.count_webhooks(ctx)
    if is_sample:
        raise Conflict(Message("A sample firm sends no webhooks. Create it in your own organisation instead."))
    if count >= MAX_WEBHOOKS:
        raise Conflict(Message("You can have up to {limit} webhooks. Delete one first.", limit=MAX_WEBHOOKS))


def _set_status(ctx: Context, webhook: Webhook, status: str) -> Webhook:
    # Nothing was tried while it was not active, so the days of a pause do not count as days of failure.
    changes = {"status": status, "disabled_reason": None, "failing_since": None, "due_at": ctx.now_text}
    return WEBHOOKS.save(ctx, webhook, changes)
