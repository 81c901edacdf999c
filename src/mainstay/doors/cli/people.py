"""The operator's commands about organisations and people."""

import sys
from argparse import Namespace

from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.invitations import add_person, create_organisation, create_password_link
from mainstay.business.people.operations import list_people
from mainstay.business.people.roles import remove_person
from mainstay.doors.cli.operator import Operator
from mainstay.identity.links import LinkKind
from mainstay.identity.passwords import generate_password
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.settings import is_readable
from mainstay.values.ids import new_id
from mainstay.values.json_object import JsonObject
from mainstay.values.message import Message
from mainstay.vocabulary import actor
from mainstay.vocabulary.refusal import Forbidden


def organisation_create(operator: Operator, options: Namespace) -> JsonObject:
    """Create an organisation with its owner."""
    organisation = actor.operator_actor(new_id("org"))
    has_account, password = operator.has_account(options.owner_email), _read_password(options)
    places = {"country": options.country, "currency": options.currency, "timeZone": options.time_zone}
    owner = operator.perform(
        create_organisation,
        organisation,
        name=options.name,
        ownerName=options.owner_name,
        ownerEmail=options.owner_email,
        password=password,
        **{name: value for name, value in places.items() if value},
    )
    return {
        "organisation": {
            "id": organisation.organisation,
            "name": operator.perform(get_organisation, organisation)["name"],
        },
        "owner": {"id": owner["id"], "email": owner["email"], "password": None if has_account else password},
    }


def organisation_list(operator: Operator, _options: Namespace) -> JsonObject:
    """List all organisations."""
    with operator.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return {"organisations": organisations.list_organisations(db)}


def person_add(operator: Operator, options: Namespace) -> JsonObject:
    """Add a person who can sign in at once."""
    has_account, password = operator.has_account(options.email), _read_password(options)
    person = operator.perform(
        add_person,
        operator.act_in_organisation(options.organisation),
        name=options.name,
        email=options.email,
        role=options.role,
        password=password,
    )
    fields = {name: person[name] for name in ("id", "name", "email", "role")}
    return {"person": fields, "password": None if has_account else password}


def person_list(operator: Operator, options: Namespace) -> JsonObject:
    """List everyone of an organisation who has not left."""
    people = operator.list_all(list_people, operator.act_in_organisation(options.organisation))
    fields = ("id", "name", "email", "role", "status")
    return {"people": [{name: person[name] for name in fields} for person in people]}


def person_password(operator: Operator, options: Namespace) -> JsonObject:
    """Create a link with which a person can choose a new password once."""
    acting = operator.act_in_organisation(options.organisation)
    person = operator.find_person_id(acting.organisation, options.person)
    link = operator.perform(create_password_link, acting, personId=person)
    return {"link": operator.open_link_maker().build_url(LinkKind.RESET, link["id"])}


def person_leave(operator: Operator, options: Namespace) -> JsonObject:
    """Remove a person from an organisation."""
    acting = operator.act_in_organisation(options.organisation)
    person = operator.find_person_id(acting.organisation, options.person)
    removed = operator.perform(remove_person, acting, personId=person, confirmed=True)
    return {"person": {"id": removed["id"], "status": removed["status"]}}


# What Python itself reads for an invalid byte if the locale is C.
_UNREADABLE = "\udc80"


def _read_password(options: Namespace) -> str:
    if not options.password_stdin:
        return generate_password()
    try:
        password = sys.stdin.readline().rstrip("\r\n")
    except UnicodeDecodeError:
        password = _UNREADABLE
    if not is_readable(password):
        raise Forbidden(Message("The password on standard input is not text in UTF-8."))
    if not password:
        raise Forbidden(Message("The password on standard input is empty."))
    return password
