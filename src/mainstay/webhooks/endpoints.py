"""Operations on webhooks: only people create, change, pause and delete them, never a key or an agent."""

from typing import Annotated

from pydantic import Field

from mainstay.identity.keys import PEOPLE_DOORS
from mainstay.infrastructure.address_guard import AddressDenied
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, Preparation, operation
from mainstay.values.fields import STARTING_AFTER, TextLine, WebAddress, make_id_validator, omittable_field
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid
from mainstay.vocabulary.schemas import Input, IrreversibleInput, ListInput, PageResult
from mainstay.webhooks import store
from mainstay.webhooks.model import EventKinds, Webhook, WebhookOut, check_kinds
from mainstay.webhooks.store import WEBHOOKS

MAX_WEBHOOKS = 10
_EVENTS_DESCRIPTION = "Which kinds of events are sent there; all, unless some are chosen."


class CreateWebhook(Input):
    """What a webhook is made from."""

    url: WebAddress = Field(
        title="Address", description="Where events are sent: https, and an address that the internet can reach."
    )
    description: TextLine | None = Field(None, description="For yourselves, such as Accounting.")
    events: EventKinds | None = Field(None, description=_EVENTS_DESCRIPTION)


class ListWebhooks(ListInput):
    """Which webhooks to list."""

    starting_after: Annotated[str | None, make_id_validator("webhook")] = STARTING_AFTER


class GetWebhook(Input):
    """Which webhook."""

    webhook_id: str = Field(description="The webhook's id.")


class UpdateWebhook(Input):
    """Which webhook, and what to change; null clears."""

    webhook_id: str = Field(description="The webhook's id.")
    url: WebAddress = omittable_field(
        title="Address", description="Where events are sent: https, and an address that the internet can reach."
    )
    description: TextLine | None = Field(None, description="For yourselves, such as Accounting.")
    events: EventKinds | None = Field(None, description=_EVENTS_DESCRIPTION)


class PauseWebhook(Input):
    """Which webhook to pause."""

    webhook_id: str = Field(description="The webhook's id.")


class ResumeWebhook(Input):
    """Which webhook to set active."""

    webhook_id: str = Field(description="The webhook's id.")


class RotateWebhookSecret(Input):
    """Whose secret."""

    webhook_id: str = Field(description="The webhook's id.")


class DeleteWebhook(IrreversibleInput):
    """Which webhook to delete."""

    webhook_id: str = Field(description="The webhook's id.")


def _check_address(preparation: Preparation, given: CreateWebhook | UpdateWebhook) -> None:
    """Refuse an address that must not be called. This asks name servers, which may take their time."""
    if "url" not in given.sent_fields():
        return
    try:
        preparation.guard.check(given.url, preparation.actor.organisation)
    except AddressDenied as denied:
        raise Invalid([Fault("url", str(denied))]) from None


def _check_count_and_address(preparation: Preparation, given: CreateWebhook) -> None:
    preparation.read(_check_count)
    _check_address(preparation, given)


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    prepare=_check_count_and_address,
    done_message="The webhook is ready.",
)
def create_webhook(ctx: Context, given: CreateWebhook) -> Webhook:
    """Create a webhook.

    From now on, what happens in the organisation is sent there, signed with a secret of its own.
    """
    _check_count(ctx)
    check_kinds(ctx, "events", *given.events or ())
    return WEBHOOKS.insert(ctx, dict(given) | {"status": "active"})


@operation(permission=Permission.WEBHOOKS_MANAGE, effect=Effect.READ, doors=PEOPLE_DOORS)
def list_webhooks(ctx: Context, given: ListWebhooks) -> PageResult[WebhookOut]:
    """List the webhooks of the organisation, newest first.

    Their secrets are never shown again.
    """
    return WEBHOOKS.page(ctx, given)


@operation(permission=Permission.WEBHOOKS_MANAGE, effect=Effect.READ, doors=PEOPLE_DOORS, on=WEBHOOKS)
def get_webhook(_ctx: Context, _given: GetWebhook, webhook: Webhook) -> Webhook:
    """Get one webhook.

    Also one that is paused or was disabled.
    """
    return webhook


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=WEBHOOKS,
    prepare=_check_address,
    done_message="Your changes are saved.",
)
def update_webhook(ctx: Context, given: UpdateWebhook, webhook: Webhook) -> Webhook:
    """Change where events are sent, and which.

    It takes effect with the next event.
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
    done_message="The webhook is paused. What happens is kept for it, and sent when you resume it.",
)
def pause_webhook(ctx: Context, _given: PauseWebhook, webhook: Webhook) -> Webhook:
    """Pause a webhook.

    What happens is kept for it, and sent when it is resumed.
    """
    return _set_status(ctx, webhook, "paused")


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.CHANGE,
    doors=PEOPLE_DOORS,
    on=WEBHOOKS,
    blocked_by=Webhook.not_resumable,
    done_message="The webhook is active. What was kept for it is being sent.",
)
def resume_webhook(ctx: Context, _given: ResumeWebhook, webhook: Webhook) -> Webhook:
    """Resume a webhook.

    What was kept for it while it was paused is sent. One that was disabled begins anew: what happened meanwhile is sent
    only when it is asked for.
    """
    return _set_status(ctx, webhook, "active")


@operation(
    permission=Permission.WEBHOOKS_MANAGE, effect=Effect.CHANGE, doors=PEOPLE_DOORS, on=WEBHOOKS, asks_again=True
)
def rotate_webhook_secret(ctx: Context, _given: RotateWebhookSecret, webhook: Webhook) -> Webhook:
    """Give a webhook a new secret.

    The one it had signs as well for 24 hours, so that the receiver can change over; any before that one ends at once.
    """
    return WEBHOOKS.save(ctx, webhook, {"generation": webhook.generation + 1, "rotated_at": ctx.now_text})


@operation(
    permission=Permission.WEBHOOKS_MANAGE,
    effect=Effect.IRREVERSIBLE,
    doors=PEOPLE_DOORS,
    open_when_lapsed=True,
    on=WEBHOOKS,
    done_message="The webhook is deleted. Nothing more is sent there.",
    deletes=True,
)
def delete_webhook(ctx: Context, _given: DeleteWebhook, webhook: Webhook) -> Webhook:
    """Delete a webhook.

    Nothing more is sent there, and its delivery log is gone.
    """
    ctx.summary = f"The webhook to {webhook.url} is deleted, with its delivery log."
    if due := store.count_due_deliveries(ctx, webhook.id):
        ctx.effects.append(f"Events that are still to be delivered there, and will not be: {due}.")
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
    if store.count_webhooks(ctx) >= MAX_WEBHOOKS:
        raise Conflict(f"An organisation has at most {MAX_WEBHOOKS} webhooks. Delete one first.")


def _set_status(ctx: Context, webhook: Webhook, status: str) -> Webhook:
    # Nothing was tried while it was not active, so the days of a pause do not count as days of failure.
    changes = {"status": status, "disabled_reason": None, "failing_since": None, "due_at": ctx.now_text}
    return WEBHOOKS.save(ctx, webhook, changes)
