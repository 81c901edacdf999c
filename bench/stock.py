"""The records that are measured: organisations in one database with as many keys as a load needs, and a larger firm."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.firm import BenchFirm, make_firm
from bench.performing import insert_key, perform, sign_in

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.invitations import create_organisation
from mainstay.business.people.store import PEOPLE
from mainstay.composition import open_performer
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.settings import read_settings
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import operator_actor

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
class BenchStock:
    """A data folder, the files with the keys of its organisations, and what is asked for in them.

    Two of them have people, the third has jobs. The firm whose pages are looked at has a folder of its own.
    """

    data: Path
    small_keys: Path
    large_keys: Path
    person: str
    job_keys: Path
    jobs: BenchFirm
    paged_data: Path
    paged: BenchFirm
    sign_in: Path


def make_stock(folder: Path) -> BenchStock:
    """Fill new data folders below this one."""
    data, paged_data = folder / "data", folder / "paged"
    small_keys, large_keys, job_keys, signed_in = (folder / name for name in ("small", "large", "jobs", "sign-in"))
    with _open_performer(data) as performer:
        person, keys = _make_organisation(performer, SMALL)
        small_keys.write_text("\n".join(keys))
        large_keys.write_text("\n".join(_make_organisation(performer, LARGE)[1]))
        jobs = make_firm(performer, data, JOBS)
        with _open_owner_context(performer, jobs) as ctx:
            job_keys.write_text("\n".join(insert_key(ctx, str(jobs.owner.id)) for _ in range(KEYS)))
    with _open_performer(paged_data) as performer:
        paged = make_firm(performer, paged_data, PAGED)
        with _open_owner_context(performer, paged) as ctx:
            signed_in.write_text(sign_in(ctx, str(paged.owner.id)))
    return BenchStock(data, small_keys, large_keys, person, job_keys, jobs, paged_data, paged, signed_in)


@contextmanager
def _open_performer(data: Path) -> Iterator[Performer]:
    performer = open_performer(replace(read_settings({}), data=data))
    try:
        yield performer
    finally:
        performer.database.close()


@contextmanager
def _open_owner_context(performer: Performer, firm: BenchFirm) -> Iterator[Context]:
    with performer.database.write_transaction(firm.owner.organisation) as db:
        yield Context(db, firm.owner, RequestDetails(new_id("req")), performer.clock)


def _make_organisation(performer: Performer, people: int) -> tuple[str, list[str]]:
    """An organisation with this many people; one of them, and the keys of its owner."""
    actor = operator_actor(new_id("org"))
    owner = perform(
        performer,
        create_organisation,
        actor,
        name=f"Hartley & {people} Plumbing and Heating",
        ownerName="Ruth Hartley",
        ownerEmail="ruth@hartley.example",
        password="a password for the bench",
    )
    perform(
        performer,
        update_organisation,
        actor,
        legalName="Hartley & Daughters Ltd",
        taxNumber="GB 417 2209 53",
        address={"line1": "Unit 4, Canal Yard", "city": "Sowerby Bridge", "postalCode": "HX6 2AG", "country": "GB"},
        email="office@hartley.example",
        phone="+44 1422 555 0142",
    )
    # One transaction for all of them: a commit for each would wait for the disk tens of thousands of times.
    with performer.database.write_transaction(actor.organisation) as db:
        ctx = Context(db, actor, RequestDetails(new_id("req")), performer.clock)
        *_, person = (PEOPLE.insert(ctx, _make_person(number)).id for number in range(1, people))
        return person, [insert_key(ctx, owner["id"]) for _ in range(KEYS)]


def _make_person(number: int) -> dict[str, Any]:
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
