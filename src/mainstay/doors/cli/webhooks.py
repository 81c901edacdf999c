"""The operator's commands about webhooks."""

from argparse import Namespace

from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import Outcome
from mainstay.webhooks.endpoints import create_webhook, delete_webhook, list_webhooks


def webhook_create(operator: Operator, words: Namespace) -> Outcome:
    """A new webhook, its secret shown this once."""
    acting = operator.in_organisation(words.organisation)
    webhook = operator.perform(create_webhook, acting, url=words.url, events=words.event)
    return {"id": webhook["id"], "secret": operator.open_signer().shown(webhook["id"], webhook["generation"])}


def webhook_list(operator: Operator, words: Namespace) -> Outcome:
    """Every webhook of an organisation, newest first: there are few enough for one page."""
    page = operator.perform(list_webhooks, operator.in_organisation(words.organisation), limit=100)
    return {"webhooks": page["data"]}


def webhook_delete(operator: Operator, words: Namespace) -> Outcome:
    """A webhook is deleted."""
    acting = operator.organisation_of_webhook(words.webhook)
    return {"id": operator.perform(delete_webhook, acting, webhookId=words.webhook, confirmed=True)["id"]}
