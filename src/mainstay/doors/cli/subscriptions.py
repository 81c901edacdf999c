"""The operator's commands about subscriptions."""

from argparse import Namespace

from mainstay.business.organisation.operations import change_subscription, get_organisation
from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import Outcome


def subscription_lapse(operator: Operator, words: Namespace) -> Outcome:
    """Changes are closed."""
    return _subscription(operator, words, "inactive")


def subscription_renew(operator: Operator, words: Namespace) -> Outcome:
    """Changes are open again."""
    return _subscription(operator, words, "active")


def subscription_show(operator: Operator, words: Namespace) -> Outcome:
    """Whether changes are open."""
    shown = operator.perform(get_organisation, operator.in_organisation(words.organisation))
    return {"organisation": shown["id"], "status": shown["subscription"]["status"]}


def _subscription(operator: Operator, words: Namespace, status: str) -> Outcome:
    changed = operator.perform(change_subscription, operator.in_organisation(words.organisation), status=status)
    return {"organisation": changed["id"], "status": changed["subscription"]["status"]}
