"""The operator's commands about subscriptions."""

from argparse import Namespace

from mainstay.business.organisation.operations import change_subscription, get_organisation
from mainstay.doors.cli.operator import Operator
from mainstay.values.json_object import JsonObject


def subscription_lapse(operator: Operator, options: Namespace) -> JsonObject:
    """End the subscription of an organisation, so that most changes are refused."""
    return _change_subscription(operator, options, "inactive")


def subscription_renew(operator: Operator, options: Namespace) -> JsonObject:
    """Renew the subscription of an organisation, so that changes are possible again."""
    return _change_subscription(operator, options, "active")


def subscription_show(operator: Operator, options: Namespace) -> JsonObject:
    """Show whether the subscription of an organisation is active."""
    organisation = operator.perform(get_organisation, operator.act_in_organisation(options.organisation))
    return {"organisation": organisation["id"], "status": organisation["subscription"]["status"]}


def _change_subscription(operator: Operator, options: Namespace, status: str) -> JsonObject:
    changed = operator.perform(change_subscription, operator.act_in_organisation(options.organisation), status=status)
    return {"organisation": changed["id"], "status": changed["subscription"]["status"]}
