"""A demo organisation: believable, the same each time, with fresh keys."""

import sys
from argparse import Namespace
from dataclasses import replace
from datetime import timedelta
from threading import Thread
from time import monotonic, sleep
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from mainstay.backing.database import EVERY
from mainstay.business.issuing.printed import PRINT
from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.people.joining import add_person, create_organisation
from mainstay.business.people.operations import get_person, update_person
from mainstay.doors.cli import demo_prices, demo_purchases
from mainstay.doors.cli.demo_words import crew
from mainstay.doors.cli.demo_year import A_YEAR, DESK, HEAD, ZONE, Size, Year
from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import Outcome
from mainstay.identity.keys import create_key, list_keys, revoke_key
from mainstay.identity.passwords import is_password
from mainstay.identity.sessions import memberships
from mainstay.identity.signing_in import look_up
from mainstay.late import late
from mainstay.ledger import outbox
from mainstay.terms import actor
from mainstay.terms.refusal import Conflict, Forbidden, Lapsed
from mainstay.values.ids import new_id
from mainstay.values.moments import local_date


class Firm(NamedTuple):
    """A firm of the demo: those who are told how to sign in, others who work there, and how much there is."""

    name: str
    crew: int
    size: Size


SMALL = Firm("Hartley & Daughters Plumbing and Heating", 0, A_YEAR)
# For trying how everything is with very much of it.
LARGE = Firm(
    "Hartley & Daughters Group",
    18,
    Size(4_000, 20_000, 1_400, timedelta(days=3 * 365), timedelta(days=3 * 365), (1, 1, 1, 2), 20),
)
_TOLD_EVERY = 1_000
# What is done in so long is kept at once: to wait for the disk after each day would take as long as the days.
_TURN_SECONDS, _GAP_SECONDS = 1.0, 0.15
# Known to everyone: the demo is refused for an address that others could reach.
PASSWORD = "mainstay-demo"
KEYS = {"readOnly": ("Demo, read only", "read"), "readWrite": ("Demo, read and write", "write")}
_KEY_NAMES = {name for name, _ in KEYS.values()}

_DETAILS = {
    "legalName": "Hartley & Daughters Ltd",
    "taxNumber": "GB 417 2209 53",
    "registrationNumber": "07731842",
    "address": {"line1": "Unit 4, Canal Yard", "city": "Sowerby Bridge", "postalCode": "HX6 2AG", "country": "GB"},
    "email": "office@hartley.example",
    "phone": "+44 1422 555 0142",
    "bank": {"name": "Calder Bank", "account": "31926819", "sortCode": "20-00-00"},
    "invoiceNotes": "Thank you for your custom.",
}
_PEOPLE: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("Ruth Hartley", "ruth@hartley.example", "owner", {"phone": "+44 7700 900101", "colour": "#8a3ffc"}),
    ("Imogen Hartley", "imogen@hartley.example", "admin", {"phone": "+44 7700 900102", "colour": "#0072c3"}),
    ("Priya Nair", "priya@hartley.example", "office", {"phone": "+44 7700 900103", "colour": "#007d79"}),
    (
        "Tom Ashworth",
        "tom@hartley.example",
        "member",
        {"skills": ["gas", "boilers"], "colour": "#9f1853", "costRate": "24.50", "billRate": "62.00"},
    ),
    (
        "Marek Zielinski",
        "marek@zielinski.example",
        "subcontractor",
        {"skills": ["tiling"], "companyName": "Zielinski Tiling", "costRate": "35.00", "billRate": "58.00"},
    ),
    (
        "Grace Okafor",
        "grace@hartley.example",
        "member",
        {"skills": ["gas", "heating"], "colour": "#0e6027", "costRate": "25.00", "billRate": "62.00"},
    ),
    (
        "Ben Sutcliffe",
        "ben@hartley.example",
        "member",
        {"skills": ["drains", "leaks"], "colour": "#b28600", "costRate": "21.00", "billRate": "54.00"},
    ),
)


_OFFICE = {HEAD: "ruth@hartley.example", DESK: "priya@hartley.example"}
_WORKER = {"skills": ["gas", "heating"], "costRate": "23.00", "billRate": "58.00"}
_UNFINISHED = "not finished"


def demo(operator: Operator, words: Namespace) -> Outcome:
    """The demo organisation, made if it is not there, with its keys replaced."""
    return make(operator, LARGE if words.large else SMALL)


def make(operator: Operator, firm: Firm) -> Outcome:
    """One of the firms of the demo."""
    if urlsplit(operator.base_url).hostname not in {"localhost", "127.0.0.1", "::1"}:
        raise Forbidden("The demo's passwords are known to everyone: it is made only for a base address on loopback.")
    try:
        acting = _finished(operator, firm.name) or _made(operator, firm)
        people = _present(operator, acting)
        keys = _replaced_keys(operator, acting.organisation, people[0]["id"])
    except Lapsed:
        raise Conflict(_INACTIVE) from None
    organisation = operator.perform(get_organisation, acting)
    return {
        "organisation": {name: organisation[name] for name in ("id", "name")},
        "people": [
            {name: person[name] for name in ("id", "name", "email", "role")}
            | {"password": PASSWORD if _signs_in_as_told(operator, person["email"]) else None}
            for person in people
        ],
        "keys": keys,
    }


_INACTIVE = (
    "The demo is there already, and its subscription is inactive, so it gets no new keys. Renew it first:"
    " mainstay subscription renew ID (`mainstay organisation list` tells its id)."
)


def _finished(operator: Operator, name: str) -> actor.Actor | None:
    """The organisation that was made by this name, whatever it is called now.

    Its keys come last, so one without any was broken off, and is not taken for it.
    """
    with operator.stage.database.reading(EVERY) as rows:
        called = organisations.find_called(rows, name)
        found = [*called, *organisations.made_as(rows, name)]
    for acting in map(actor.operator, dict.fromkeys(found)):
        if any(key["name"] in _KEY_NAMES for key in operator.every(list_keys, acting)):
            return acting
    for broken_off in called:
        operator.perform(update_organisation, actor.operator(broken_off), name=f"{name} ({_UNFINISHED})")
    return None


def _made(operator: Operator, firm: Firm) -> actor.Actor:
    acting = actor.operator(new_id("org"))
    owner_name, owner_email, _, owner_details = _PEOPLE[0]
    given = {"name": firm.name, "ownerName": owner_name, "ownerEmail": owner_email}
    # Passwords take their time, and leave Python free: meanwhile everything is read that is asked for later.
    Thread(target=late, args=["mainstay.catalogue"]).start()
    owner = operator.perform(create_organisation, acting, **given, password=PASSWORD)
    operator.perform(update_person, acting, personId=owner["id"], **owner_details)
    others = [*_PEOPLE[1:], *((name, email, "member", _WORKER) for name, email in crew(firm.crew))]
    for name, email, role, details in others:
        person = operator.perform(add_person, acting, name=name, email=email, role=role, password=PASSWORD)
        operator.perform(update_person, acting, personId=person["id"], **details)
    office = {word: operator.as_person(acting.organisation, email) for word, email in _OFFICE.items()}
    field = [
        operator.as_person(acting.organisation, email)
        for among in ("member", "subcontractor")
        for _, email, role, _ in others
        if role == among
    ]
    # What stands on documents from the beginning.
    operator.perform(update_organisation, acting, **_DETAILS)
    with operator.stage.together(acting.organisation) as stage:
        demo_prices.furnish(replace(operator, stage=stage), office[HEAD], office[DESK])
    _live(operator, firm, Year(operator, office, field, local_date(operator.stage.clock(), ZONE), firm.size))
    with operator.stage.together(acting.organisation) as stage:
        today = local_date(operator.stage.clock(), ZONE)
        demo_purchases.furnish(replace(operator, stage=stage), office[DESK], ZONE, today)
    with operator.stage.database.changing(acting.organisation) as rows:
        # A year of documents at once: each is printed when someone first asks for it.
        outbox.forget(rows, PRINT)
    return acting


def _live(operator: Operator, firm: Firm, year: Year) -> None:
    """Fill the organisation with work, some days at a time, so that others are not kept waiting."""
    organisation, told, steps = year.people[HEAD].organisation, _TOLD_EVERY, year.live()
    made: int | None = 0
    while made is not None:
        until = monotonic() + _TURN_SECONDS
        with operator.stage.together(organisation) as stage:
            year.operator = replace(operator, stage=stage)
            while (made := next(steps, None)) is not None:
                if made >= told:
                    sys.stderr.write(f"{made:,} of {firm.size.jobs:,} jobs\n")
                    told += _TOLD_EVERY
                if monotonic() >= until:
                    break
        # Whoever waits for the database looks for it only now and then. The small one is made before that matters.
        if firm is not SMALL:
            sleep(_GAP_SECONDS)


def _present(operator: Operator, acting: actor.Actor) -> list[Outcome]:
    """The people of the demo; those are back again whom someone who tried things out has removed."""
    return [
        (
            _signing_in(operator, acting, email)
            or operator.perform(add_person, acting, name=name, email=email, role=role, password=PASSWORD)
        )
        # By which they sign in, whatever address they have been given since.
        | {"email": email}
        for name, email, role, _ in _PEOPLE
    ]


def _signing_in(operator: Operator, acting: actor.Actor, email: str) -> Outcome | None:
    """Who signs in by this address."""
    with operator.stage.database.reading(EVERY) as rows:
        account = look_up(rows, email).account
        found = memberships(rows, account, acting.organisation) if account else []
    mine = [one.person for one in found if one.organisation == acting.organisation]
    return operator.perform(get_person, acting, personId=mine[0]) if mine else None


def _signs_in_as_told(operator: Operator, email: str) -> bool:
    """Whether someone still has the password of the demo."""
    with operator.stage.database.reading(EVERY) as rows:
        return is_password(PASSWORD, look_up(rows, email).password_hash)


def _replaced_keys(operator: Operator, organisation: str, owner: str) -> dict[str, str]:
    acting = operator.as_person(organisation, owner)
    every = operator.every(list_keys, acting)
    earlier = [key for key in every if key["name"] in _KEY_NAMES and not key["revokedAt"]]
    keys = {
        label: operator.perform(create_key, acting, name=name, access=access)["key"]
        for label, (name, access) in KEYS.items()
    }
    for key in earlier:
        operator.perform(revoke_key, acting, keyId=key["id"])
    return keys
