"""Fills an organisation with the work of the demo's firm: its people, its price list, and a past."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from mainstay.business.issuing.document_files import PRINT
from mainstay.business.organisation.operations import update_organisation
from mainstay.changes import outbox
from mainstay.demo import prices, purchases
from mainstay.demo.files import DemoFiles
from mainstay.demo.performing import DemoPace, DemoPerformer
from mainstay.demo.texts import make_crew
from mainstay.demo.year import OFFICE, OWNER, TIME_ZONE, DemoSize, DemoYear
from mainstay.kernel.json_performer import JsonPerformer
from mainstay.values.moments import local_date
from mainstay.vocabulary.actor import Actor


class DemoPerson(NamedTuple):
    """A person of the firm, and details besides their name, email and role."""

    name: str
    email: str
    role: str
    details: dict[str, Any]


ORGANISATION_DETAILS = {
    "legalName": "Hartley & Daughters Ltd",
    "taxNumber": "GB 417 2209 53",
    "registrationNumber": "07731842",
    "address": {"line1": "Unit 4, Canal Yard", "city": "Sowerby Bridge", "postalCode": "HX6 2AG", "country": "GB"},
    "email": "office@hartley.example",
    "phone": "+44 1422 555 0142",
    "bank": {"name": "Calder Bank", "account": "31926819", "sortCode": "20-00-00"},
    "invoiceNotes": "Thank you for your custom.",
}
DEMO_PEOPLE = (
    DemoPerson("Ruth Hartley", "ruth@hartley.example", "owner", {"phone": "+44 7700 900101", "colour": "#8a3ffc"}),
    DemoPerson("Imogen Hartley", "imogen@hartley.example", "admin", {"phone": "+44 7700 900102", "colour": "#0072c3"}),
    DemoPerson("Priya Nair", "priya@hartley.example", "office", {"phone": "+44 7700 900103", "colour": "#007d79"}),
    DemoPerson(
        "Tom Ashworth",
        "tom@hartley.example",
        "member",
        {"skills": ["gas", "boilers"], "colour": "#9f1853", "costRate": "24.50", "billRate": "62.00"},
    ),
    DemoPerson(
        "Marek Zielinski",
        "marek@zielinski.example",
        "subcontractor",
        {"skills": ["tiling"], "companyName": "Zielinski Tiling", "costRate": "35.00", "billRate": "58.00"},
    ),
    DemoPerson(
        "Grace Okafor",
        "grace@hartley.example",
        "member",
        {"skills": ["gas", "heating"], "colour": "#0e6027", "costRate": "25.00", "billRate": "62.00"},
    ),
    DemoPerson(
        "Ben Sutcliffe",
        "ben@hartley.example",
        "member",
        {"skills": ["drains", "leaks"], "colour": "#b28600", "costRate": "21.00", "billRate": "54.00"},
    ),
)


# The roles of those who work in the field, in the order in which jobs are given to them.
FIELD_ROLES = ("member", "subcontractor")


def make_crew_people(count: int) -> list[DemoPerson]:
    """Return so many more people who work in the field."""
    details = {"skills": ["gas", "heating"], "costRate": "23.00", "billRate": "58.00"}
    return [DemoPerson(name, email, FIELD_ROLES[0], details) for name, email in make_crew(count)]


class DemoActors(NamedTuple):
    """Who does the work of the firm."""

    owner: Actor
    office: Actor
    # First those who lead jobs most often.
    field: Sequence[Actor]


def fill_firm(
    json_performer: JsonPerformer, actors: DemoActors, size: DemoSize, files: DemoFiles | None, pace: DemoPace
) -> Iterator[int]:
    """Fill an organisation with a price list and work; yield the number of jobs after each batch."""
    organisation = actors.owner.organisation
    # Documents show these details, so they come first.
    json_performer.perform(update_organisation, actors.owner, **ORGANISATION_DETAILS)
    performer = DemoPerformer(json_performer)
    today = local_date(performer.now, TIME_ZONE)
    year = DemoYear(performer, {OWNER: actors.owner, OFFICE: actors.office}, list(actors.field), today, size, files)
    steps = chain(
        prices.make_prices(performer, actors.owner, actors.office),
        year.make_work(),
        purchases.make_purchases(performer, actors.office, TIME_ZONE, today),
    )
    yield from performer.run_steps(organisation, steps, pace)
    with json_performer.performer.database.write_transaction(organisation) as db:
        # The PDFs of a year are not made now: each is made when someone first asks for it.
        outbox.delete_tasks(db, PRINT)
