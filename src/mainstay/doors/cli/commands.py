"""What the operator can do: each command takes its words and gives one JSON object."""

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from mainstay.business.organisation.operations import change_subscription, get_organisation
from mainstay.business.people.joining import add_person, create_organisation
from mainstay.business.people.standing import remove_person
from mainstay.doors.cli.operator import Operator
from mainstay.identity.keys import create_key, list_keys, revoke_key
from mainstay.identity.passwords import new_password
from mainstay.terms import actor
from mainstay.terms.refusal import Forbidden
from mainstay.values.ids import new_id
from mainstay.webhooks.endpoints import create_webhook, delete_webhook, list_webhooks

Outcome = dict[str, Any]
Command = Callable[[Operator, Namespace], Outcome]


def organisation_create(operator: Operator, words: Namespace) -> Outcome:
    """A new organisation with its owner."""
    organisation = actor.operator(new_id("org"))
    known, password = operator.has_account(words.owner_email), _password(words)
    places = {"country": words.country, "currency": words.currency, "timeZone": words.time_zone}
    owner = operator.perform(
        create_organisation,
        organisation,
        name=words.name,
        ownerName=words.owner_name,
        ownerEmail=words.owner_email,
        password=password,
        **{name: value for name, value in places.items() if value},
    )
    return {
        "organisation": {"id": organisation.organisation, "name": words.name},
        "owner": {"id": owner["id"], "email": owner["email"], "password": None if known else password},
    }


def person_add(operator: Operator, words: Namespace) -> Outcome:
    """A person who can sign in at once."""
    known, password = operator.has_account(words.email), _password(words)
    person = operator.perform(
        add_person,
        operator.in_organisation(words.organisation),
        name=words.name,
        email=words.email,
        role=words.role,
        password=password,
    )
    shown = {name: person[name] for name in ("id", "name", "email", "role")}
    return {"person": shown, "password": None if known else password}


def person_leave(operator: Operator, words: Namespace) -> Outcome:
    """A person leaves."""
    acting = operator.in_organisation(words.organisation)
    person = operator.person(acting.organisation, words.person)
    left = operator.perform(remove_person, acting, personId=person, confirmed=True)
    return {"person": {"id": left["id"], "status": left["status"]}}


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
    return {"keys": all_keys(operator, operator.in_organisation(words.organisation))}


def all_keys(operator: Operator, acting: actor.Actor) -> list[Outcome]:
    """Every key, page by page."""
    keys: list[Outcome] = []
    while True:
        behind = {"startingAfter": keys[-1]["id"]} if keys else {}
        page = operator.perform(list_keys, acting, limit=100, **behind)
        keys += page["data"]
        if not page["hasMore"]:
            return keys


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


def _password(words: Namespace) -> str:
    if not words.password_stdin:
        return new_password()
    password = sys.stdin.readline().rstrip("\n")
    if not password:
        raise Forbidden("The password on standard input is empty.")
    return password
