"""The records that are measured: two organisations in one database, with as many keys as a load needs."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.joining import create_organisation
from mainstay.business.people.store import PEOPLE
from mainstay.identity.secrets import API_KEY, new_secret, secret_hash
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.settings import read_settings
from mainstay.staging import open_stage
from mainstay.terms.actor import Actor, operator
from mainstay.values.ids import new_id

SMALL = 100
LARGE = 50_000
# A key may ask 600 times a minute. This many take turns, so that the limit judges every request and refuses none.
KEYS = 1_000

_ROLES = ("member", "member", "office", "subcontractor")
_SKILLS = ("gas", "boilers", "roofing", "tiling", "electrics")


@dataclass(frozen=True, slots=True)
class Stock:
    """A data folder, the files with the keys of its two organisations, and one of the people of the smaller."""

    data: Path
    small_keys: Path
    large_keys: Path
    person: str


def make_stock(folder: Path) -> Stock:
    """Fill a new data folder below this one."""
    data, small_keys, large_keys = folder / "data", folder / "small.keys", folder / "large.keys"
    stage = open_stage(replace(read_settings({}), data=data))
    try:
        person, keys = _organisation(stage, SMALL)
        small_keys.write_text("\n".join(keys))
        large_keys.write_text("\n".join(_organisation(stage, LARGE)[1]))
    finally:
        stage.database.close()
    return Stock(data, small_keys, large_keys, person)


def _organisation(stage: Stage, people: int) -> tuple[str, list[str]]:
    """An organisation with this many people; one of them, and the keys of its owner."""
    acting = operator(new_id("org"))
    owner = perform(
        stage,
        create_organisation,
        acting,
        name=f"Hartley & {people} Plumbing and Heating",
        ownerName="Ruth Hartley",
        ownerEmail="ruth@hartley.example",
        password="a password for the bench",
    )
    perform(
        stage,
        update_organisation,
        acting,
        legalName="Hartley & Daughters Ltd",
        taxNumber="GB 417 2209 53",
        address={"line1": "Unit 4, Canal Yard", "city": "Sowerby Bridge", "postalCode": "HX6 2AG", "country": "GB"},
        email="office@hartley.example",
        phone="+44 1422 555 0142",
    )
    # One transaction for all of them: a commit for each would wait for the disk tens of thousands of times.
    with stage.database.changing(acting.organisation) as rows:
        ctx = Context(rows, acting, Envelope(new_id("req")), stage.clock)
        *_, person = (PEOPLE.insert(ctx, _person(number)).id for number in range(1, people))
        return person, [_insert_key(ctx, owner["id"]) for _ in range(KEYS)]


def _person(number: int) -> dict[str, Any]:
    return {
        "name": f"Person Number {number}",
        "email": f"person.{number}@hartley.example",
        "phone": f"+44 7700 {number:06}",
        "role": _ROLES[number % len(_ROLES)],
        "status": "invited" if number % 10 == 0 else "active",
        "skills": list(_SKILLS[: number % 4]),
        "colour": "#0072c3",
        "company_name": None,
        "cost_rate": 24_5000 + number % 100,
        "bill_rate": 62_0000,
    }


def _insert_key(ctx: Context, owner: str) -> str:
    secret = new_secret(API_KEY)
    ctx.rows.run(
        "INSERT INTO api_key (organisation_id, id, person_id, name, access, hash, last_four, created_at)"
        " VALUES (:organisation, :id, :person, 'Bench', 'write', :hash, :last_four, :at)",
        id=new_id("key"),
        person=owner,
        hash=secret_hash(secret),
        last_four=secret[-4:],
        at=ctx.at,
    )
    return secret


def perform(stage: Stage, operation: Operation, acting: Actor, **given: object) -> dict[str, Any]:
    """Perform an operation; what it answered."""
    answer = stage.perform(operation, acting, orjson.dumps(given), Envelope(new_id("req")))
    result: dict[str, Any] = orjson.loads(answer.body)
    return result
