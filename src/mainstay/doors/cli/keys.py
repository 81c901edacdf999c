"""The operator's commands about API keys."""

from argparse import Namespace

from mainstay.doors.cli.operator import Operator
from mainstay.identity.keys import create_key, list_keys, revoke_key
from mainstay.values.json_object import JsonObject


def key_create(operator: Operator, options: Namespace) -> JsonObject:
    """Create an API key, and show it this once."""
    organisation = operator.act_in_organisation(options.organisation).organisation
    acting = operator.act_as_person(organisation, options.person)
    key = operator.perform(create_key, acting, name=options.name, access=options.access)
    return {"id": key["id"], "key": key["key"]}


def key_revoke(operator: Operator, options: Namespace) -> JsonObject:
    """Revoke a key."""
    key = operator.perform(revoke_key, operator.act_for_key(options.key), keyId=options.key)
    return {"id": key["id"], "revokedAt": key["revokedAt"]}


def key_list(operator: Operator, options: Namespace) -> JsonObject:
    """List the keys of an organisation, newest first."""
    return {"keys": operator.list_all(list_keys, operator.act_in_organisation(options.organisation))}
