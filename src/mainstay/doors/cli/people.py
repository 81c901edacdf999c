"""The operator's commands about people, and about organisations, which begin with one."""

import sys
from argparse import Namespace

from mainstay.backing.database import EVERY
from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.joining import add_person, create_organisation, create_password_link
from mainstay.business.people.operations import list_people
from mainstay.business.people.standing import remove_person
from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import Outcome
from mainstay.identity.links import Kind
from mainstay.identity.passwords import new_password
from mainstay.settings import is_readable
from mainstay.terms import actor
from mainstay.terms.refusal import Forbidden
from mainstay.values.ids import new_id


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
        "organisation": {
            "id": organisation.organisation,
            "name": operator.perform(get_organisation, organisation)["name"],
        },
        "owner": {"id": owner["id"], "email": owner["email"], "password": None if known else password},
    }


def organisation_list(operator: Operator, _words: Namespace) -> Outcome:
    """Every organisation."""
    with operator.stage.database.reading(EVERY) as rows:
        return {"organisations": organisations.every(rows)}


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


def person_list(operator: Operator, words: Namespace) -> Outcome:
    """Everyone of an organisation who has not left."""
    people = operator.every(list_people, operator.in_organisation(words.organisation))
    shown = ("id", "name", "email", "role", "status")
    return {"people": [{name: person[name] for name in shown} for person in people]}


def person_password(operator: Operator, words: Namespace) -> Outcome:
    """A link by which a person chooses a new password, once."""
    acting = operator.in_organisation(words.organisation)
    person = operator.person(acting.organisation, words.person)
    link = operator.perform(create_password_link, acting, personId=person)
    return {"link": operator.open_link_maker().address(Kind.RESET, link["id"])}


def person_leave(operator: Operator, words: Namespace) -> Outcome:
    """A person leaves."""
    acting = operator.in_organisation(words.organisation)
    person = operator.person(acting.organisation, words.person)
    left = operator.perform(remove_person, acting, personId=person, confirmed=True)
    return {"person": {"id": left["id"], "status": left["status"]}}


# As what is no text comes in by itself where the locale is C.
_NO_TEXT = "\udc80"


def _password(words: Namespace) -> str:
    if not words.password_stdin:
        return new_password()
    try:
        password = sys.stdin.readline().rstrip("\r\n")
    except UnicodeDecodeError:
        password = _NO_TEXT
    if not is_readable(password):
        raise Forbidden("The password on standard input is no text in UTF-8.")
    if not password:
        raise Forbidden("The password on standard input is empty.")
    return password
