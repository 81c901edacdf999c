"""The operator's commands about webhooks."""

from argparse import Namespace

from mainstay.doors.cli.operator import Operator
from mainstay.values.json_object import JsonObject
from mainstay.webhooks.endpoints import create_webhook, delete_webhook, list_webhooks


def webhook_create(operator: Operator, options: Namespace) -> JsonObject:
    """Create a webhook, and show its secret this once."""
    acting = operator.act_in_organisation(options.organisation)
    webhook = operator.perform(create_webhook, acting, url=options.url, events=options.event)
    return {"id": webhook["id"], "secret": operator.open_signer().reveal_secret(webhook["id"], webhook["generation"])}


def webhook_list(operator: Operator, options: Namespace) -> JsonObject:
    """List the webhooks of an organisation, newest first; one page is enough for all."""
    page = operator.perform(list_webhooks, operator.act_in_organisation(options.organisation), limit=100)
    return {"webhooks": page["data"]}


def webhook_delete(operator: Operator, options: Namespace) -> JsonObject:
    """Delete a webhook."""
    acting = operator.act_for_webhook(options.webhook)
    return {"id": operator.perform(delete_webhook, acting, webhookId=options.webhook, confirmed=True)["id"]}
