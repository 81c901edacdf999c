"""The operator's commands about API keys."""

from argparse import Namespace

from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import Outcome
from mainstay.identity.keys import create_key, list_keys, revoke_key


def key_create(operator: Operator, words: Namespace) -> Outcome:
    """A new API key, shown this once."""
    organisation = operator.in_organisation(words.organisation).organisation
    acting = operator.as_person(organisation, words.person)
    key = operator.perform(create_key, acting, name=words.name, access=words.access)
    return {"id": key["id"], "key": key["key"]}


def key_revoke(operator: Operator, words: Namespace) -> Outcome:
    """A key ends."""
    key = operator.perform(revoke_key, operator.organisation_of_key(words.key), keyId=words.key)
    return {"id": key["id"], "revokedAt": key["revokedAt"]}


def key_list(operator: Operator, words: Namespace) -> Outcome:
    """Every key of an organisation, newest first."""
    return {"keys": operator.every(list_keys, operator.in_organisation(words.organisation))}
