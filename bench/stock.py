"""The records that are measured: organisations in one database with as many keys as a load needs, and a larger firm."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.firm import Firm, make_firm
from bench.performing import insert_key, perform, sign_in

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.joining import create_organisation
from mainstay.business.people.store import PEOPLE
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.perform import Stage
from mainstay.settings import read_settings
from mainstay.staging import open_stage
from mainstay.terms.actor import operator
from mainstay.values.ids import new_id

SMALL = 100
LARGE = 50_000
JOBS = 1_000
# So many jobs, and invoices, has the firm whose pages are looked at.
PAGED = 20_000
# A key may ask 600 times a minute. This many take turns, so that the limit judges every request and refuses none.
KEYS = 1_000

_ROLES = ("member", "member", "office", "subcontractor")
_SKILLS = ("gas", "boilers", "roofing", "tiling", "electrics")


@dataclass(frozen=True, slots=True)
class Stock:
    """A data folder, the files with the keys of its organisations, and what is asked for in them.

    Two of them have people, the third has jobs. The firm whose pages are looked at has a folder of its own.
    """

    data: Path
    small_keys: Path
    large_keys: Path
    person: str
    job_keys: Path
    jobs: Firm
    paged_data: Path
    paged: Firm
    sign_in: Path


def make_stock(folder: Path) -> Stock:
    """Fill new data folders below this one."""
    data, paged_data = folder / "data", folder / "paged"
    small_keys, large_keys, job_keys, signed_in = (folder / name for name in ("small", "large", "jobs", "sign-in"))
    with _opened(data) as stage:
        person, keys = _organisation(stage, SMALL)
        small_keys.write_text("\n".join(keys))
        large_keys.write_text("\n".join(_organisation(stage, LARGE)[1]))
        jobs = make_firm(stage, data, JOBS)
        with _owner_s(stage, jobs) as ctx:
            job_keys.write_text("\n".join(insert_key(ctx, str(jobs.owner.id)) for _ in range(KEYS)))
    with _opened(paged_data) as stage:
        paged = make_firm(stage, paged_data, PAGED)
        with _owner_s(stage, paged) as ctx:
            signed_in.write_text(sign_in(ctx, str(paged.owner.id)))
    return Stock(data, small_keys, large_keys, person, job_keys, jobs, paged_data, paged, signed_in)


@contextmanager
def _opened(data: Path) -> Iterator[Stage]:
    stage = open_stage(replace(read_settings({}), data=data))
    try:
        yield stage
    finally:
        stage.database.close()


@contextmanager
def _owner_s(stage: Stage, firm: Firm) -> Iterator[Context]:
    with stage.database.changing(firm.owner.organisation) as rows:
        yield Context(rows, firm.owner, Envelope(new_id("req")), stage.clock)


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
        return person, [insert_key(ctx, owner["id"]) for _ in range(KEYS)]


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
