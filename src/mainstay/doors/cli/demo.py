"""A demo organisation: believable, the same each time, with fresh keys."""

from argparse import Namespace
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from mainstay.backing.database import EVERY
from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.joining import add_person, create_organisation
from mainstay.business.people.operations import list_people, update_person
from mainstay.doors.cli.demo_year import DESK, HEAD, ZONE, Year
from mainstay.doors.cli.keys import all_keys
from mainstay.doors.cli.operator import Operator, Outcome
from mainstay.identity.keys import create_key, revoke_key
from mainstay.terms import actor
from mainstay.terms.refusal import Forbidden
from mainstay.values.ids import new_id
from mainstay.values.moments import local_date

ORGANISATION = "Hartley & Daughters Plumbing and Heating"
# Known to everyone: the demo is refused for an address that others could reach.
PASSWORD = "mainstay-demo"
KEYS = {"readOnly": ("Demo, read only", "read"), "readWrite": ("Demo, read and write", "write")}

_DETAILS = {
    "legalName": "Hartley & Daughters Ltd",
    "taxNumber": "GB 417 2209 53",
    "registrationNumber": "07731842",
    "address": {"line1": "Unit 4, Canal Yard", "city": "Sowerby Bridge", "postalCode": "HX6 2AG", "country": "GB"},
    "email": "office@hartley.example",
    "phone": "+44 1422 555 0142",
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


def demo(operator: Operator, _words: Namespace) -> Outcome:
    """The demo organisation, made if it is not there, with its keys replaced."""
    if urlsplit(operator.base_url).hostname not in {"localhost", "127.0.0.1", "::1"}:
        raise Forbidden("The demo's passwords are known to everyone: it is made only for a base address on loopback.")
    acting = _found(operator) or _made(operator)
    people = [_present(operator, acting, name, email, role) for name, email, role, _ in _PEOPLE]
    return {
        "organisation": {"id": acting.organisation, "name": ORGANISATION},
        "people": [
            {**{name: person[name] for name in ("id", "name", "email", "role")}, "password": PASSWORD}
            for person in people
        ],
        "keys": _replaced_keys(operator, acting.organisation, people[0]["id"]),
    }


def _found(operator: Operator) -> actor.Actor | None:
    with operator.stage.database.reading(EVERY) as rows:
        found = organisations.find_called(rows, ORGANISATION)
    return actor.operator(found[0]) if found else None


def _made(operator: Operator) -> actor.Actor:
    acting = actor.operator(new_id("org"))
    owner_name, owner_email, _, owner_details = _PEOPLE[0]
    owner = operator.perform(
        create_organisation, acting, name=ORGANISATION, ownerName=owner_name, ownerEmail=owner_email, password=PASSWORD
    )
    operator.perform(update_organisation, acting, **_DETAILS)
    operator.perform(update_person, acting, personId=owner["id"], **owner_details)
    for name, email, role, details in _PEOPLE[1:]:
        person = operator.perform(add_person, acting, name=name, email=email, role=role, password=PASSWORD)
        operator.perform(update_person, acting, personId=person["id"], **details)
    _live(operator, acting.organisation)
    return acting


def _live(operator: Operator, organisation: str) -> None:
    """Fill the organisation with a year of work, as one change."""
    with operator.stage.together(organisation) as stage:
        within = replace(operator, stage=stage)
        people = {email: within.as_person(organisation, email) for _, email, _, _ in _PEOPLE}
        office = {HEAD: people["ruth@hartley.example"], DESK: people["priya@hartley.example"]}
        names = ("tom", "grace", "ben")
        field = [*(people[f"{name}@hartley.example"] for name in names), people["marek@zielinski.example"]]
        Year(within, office, field, local_date(operator.stage.clock(), ZONE)).live()


def _present(operator: Operator, acting: actor.Actor, name: str, email: str, role: str) -> Outcome:
    """A person of the demo, back again if someone who tried things out has removed them."""
    people: list[Outcome] = operator.perform(list_people, acting, status="active", limit=100)["data"]
    for person in people:
        if person["email"] == email:
            return person
    return operator.perform(add_person, acting, name=name, email=email, role=role, password=PASSWORD)


def _replaced_keys(operator: Operator, organisation: str, owner: str) -> dict[str, str]:
    acting = operator.as_person(organisation, owner)
    names = {name for name, _ in KEYS.values()}
    earlier = [key for key in all_keys(operator, acting) if key["name"] in names and not key["revokedAt"]]
    keys = {
        label: operator.perform(create_key, acting, name=name, access=access)["key"]
        for label, (name, access) in KEYS.items()
    }
    for key in earlier:
        operator.perform(revoke_key, acting, keyId=key["id"])
    return keys
