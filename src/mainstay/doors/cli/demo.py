"""Creates a demo organisation: believable, the same each time, with fresh keys."""

import sys
from argparse import Namespace
from datetime import timedelta
from threading import Thread
from typing import NamedTuple
from urllib.parse import urlsplit

from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.people.invitations import add_person, create_organisation
from mainstay.business.people.operations import get_person, update_person
from mainstay.demo.files import DemoFiles
from mainstay.demo.firm import DEMO_PEOPLE, FIELD_ROLES, DemoActors, fill_firm, make_crew_people
from mainstay.demo.performing import DemoPace
from mainstay.demo.year import ONE_YEAR, DemoSize
from mainstay.doors.cli.operator import Operator
from mainstay.identity.keys import create_key, list_keys, revoke_key
from mainstay.identity.passwords import is_password
from mainstay.identity.sessions import list_memberships
from mainstay.identity.sign_in import look_up_address
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.lazy_import import import_lazily
from mainstay.values.ids import new_id
from mainstay.values.json_object import JsonObject
from mainstay.values.message import Message
from mainstay.vocabulary import actor
from mainstay.vocabulary.refusal import Conflict, Forbidden, Lapsed


class DemoFirm(NamedTuple):
    """A firm of the demo: its name, how many more people work there, and how much data it has."""

    name: str
    crew: int
    size: DemoSize


SMALL_FIRM = DemoFirm("Hartley & Daughters Plumbing and Heating", 0, ONE_YEAR)
# For trying everything with a lot of data.
LARGE_FIRM = DemoFirm(
    "Hartley & Daughters Group",
    18,
    DemoSize(4_000, 20_000, 1_400, timedelta(days=3 * 365), timedelta(days=3 * 365), (1, 1, 1, 2), 20),
)
_PROGRESS_EVERY = 1_000
# The work of this many seconds is committed at once, because a commit for each day would double the time.
# The pause after it lets others use the database.
_BATCH_SECONDS, _PAUSE_SECONDS = 1.0, 0.15
# Known to everyone: the demo is refused for an address that others could reach.
DEMO_PASSWORD = "mainstay-demo"
DEMO_KEYS = {"readOnly": ("Demo, read only", "read"), "readWrite": ("Demo, read and write", "write")}
_KEY_NAMES = {name for name, _ in DEMO_KEYS.values()}

_OFFICE_EMAILS = ("ruth@hartley.example", "priya@hartley.example")
_UNFINISHED = "not finished"


def demo(operator: Operator, options: Namespace) -> JsonObject:
    """Create the demo organisation if it does not exist, and replace its keys."""
    return make_demo(operator, LARGE_FIRM if options.large else SMALL_FIRM)


def make_demo(operator: Operator, firm: DemoFirm) -> JsonObject:
    """Create one of the demo's firms if it does not exist, and replace its keys."""
    if urlsplit(operator.base_url).hostname not in {"localhost", "127.0.0.1", "::1"}:
        raise Forbidden(
            Message("The demo's passwords are public, so it can only be created with a base address on loopback.")
        )
    try:
        acting = _find_finished(operator, firm.name) or _make_firm(operator, firm)
        people = _ensure_people(operator, acting)
        keys = _replace_keys(operator, acting.organisation, people[0]["id"])
    except Lapsed:
        raise Conflict(_INACTIVE_TEXT) from None
    organisation = operator.perform(get_organisation, acting)
    return {
        "organisation": {name: organisation[name] for name in ("id", "name")},
        "people": [
            {name: person[name] for name in ("id", "name", "email", "role")}
            | {"password": DEMO_PASSWORD if _has_demo_password(operator, person["email"]) else None}
            for person in people
        ],
        "keys": keys,
    }


_INACTIVE_TEXT = Message(
    "The demo already exists and its subscription is inactive, so it gets no new keys. Renew it first:"
    " mainstay subscription renew ID (`mainstay organisation list` shows its ID)."
)


def _find_finished(operator: Operator, name: str) -> actor.Actor | None:
    """Find the organisation that was created with this name, even if it was renamed since.

    Its keys are created last, so an organisation without keys is unfinished: it gets another name and is not used.
    """
    with operator.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        same_name = organisations.find_by_name(db, name)
        organisation_ids = [*same_name, *organisations.find_by_original_name(db, name)]
    for acting in map(actor.operator_actor, dict.fromkeys(organisation_ids)):
        if any(key["name"] in _KEY_NAMES for key in operator.list_all(list_keys, acting)):
            return acting
    for unfinished in same_name:
        operator.perform(update_organisation, actor.operator_actor(unfinished), name=f"{name} ({_UNFINISHED})")
    return None


def _make_firm(operator: Operator, firm: DemoFirm) -> actor.Actor:
    acting = actor.operator_actor(new_id("org"))
    owner = DEMO_PEOPLE[0]
    given = {"name": firm.name, "ownerName": owner.name, "ownerEmail": owner.email}
    # Hashing passwords takes long and does not hold the GIL, so modules for later are imported meanwhile.
    Thread(target=import_lazily, args=["mainstay.catalogue"]).start()
    person = operator.perform(create_organisation, acting, **given, password=DEMO_PASSWORD)
    operator.perform(update_person, acting, personId=person["id"], **owner.details)
    others = [*DEMO_PEOPLE[1:], *make_crew_people(firm.crew)]
    for name, email, role, details in others:
        person = operator.perform(add_person, acting, name=name, email=email, role=role, password=DEMO_PASSWORD)
        operator.perform(update_person, acting, personId=person["id"], **details)
    field = [
        operator.act_as_person(acting.organisation, person.email)
        for wanted_role in FIELD_ROLES
        for person in others
        if person.role == wanted_role
    ]
    owner_actor, office = (operator.act_as_person(acting.organisation, email) for email in _OFFICE_EMAILS)
    next_report = _PROGRESS_EVERY
    # Others who wait for the database retry only now and then. The small firm is made before that matters.
    pace = DemoPace(_BATCH_SECONDS, 0.0 if firm is SMALL_FIRM else _PAUSE_SECONDS)
    for jobs_made in fill_firm(
        operator, DemoActors(owner_actor, office, field), firm.size, DemoFiles(operator.files), pace
    ):
        if jobs_made >= next_report:
            sys.stderr.write(f"{jobs_made:,} of {firm.size.jobs:,} jobs\n")
            next_report += _PROGRESS_EVERY
    return acting


def _ensure_people(operator: Operator, acting: actor.Actor) -> list[JsonObject]:
    """Return the people of the demo; add those again whom someone has removed."""
    return [
        (
            _find_person(operator, acting, email)
            or operator.perform(add_person, acting, name=name, email=email, role=role, password=DEMO_PASSWORD)
        )
        # The address to sign in with, even if the person was given another one since.
        | {"email": email}
        for name, email, role, _ in DEMO_PEOPLE
    ]


def _find_person(operator: Operator, acting: actor.Actor, email: str) -> JsonObject | None:
    """Return the person who signs in with this address, or None."""
    with operator.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        account = look_up_address(db, email).account
        found = list_memberships(db, account, acting.organisation) if account else []
    person_ids = [membership.person for membership in found if membership.organisation == acting.organisation]
    return operator.perform(get_person, acting, personId=person_ids[0]) if person_ids else None


def _has_demo_password(operator: Operator, email: str) -> bool:
    """Return whether an account still has the password of the demo."""
    with operator.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return is_password(DEMO_PASSWORD, look_up_address(db, email).password_hash)


def _replace_keys(operator: Operator, organisation: str, owner: str) -> dict[str, str]:
    acting = operator.act_as_person(organisation, owner)
    all_keys = operator.list_all(list_keys, acting)
    earlier = [key for key in all_keys if key["name"] in _KEY_NAMES and not key["revokedAt"]]
    keys = {
        label: operator.perform(create_key, acting, name=name, access=access)["key"]
        for label, (name, access) in DEMO_KEYS.items()
    }
    for key in earlier:
        operator.perform(revoke_key, acting, keyId=key["id"])
    return keys
