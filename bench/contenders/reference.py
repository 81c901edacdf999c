"""The reference: the same answers out of the same tables, written as most people would write them today.

FastAPI, SQLAlchemy's asynchronous ORM and Pydantic response models; a session for each request, the key looked up in
one statement. It has no rate limit, no meters and no request ids: it does less than Mainstay does.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from bench.contenders.asking import AddressShape, KeyOfRequest, RecordShape, SessionOfRequest, Shape
from bench.contenders.jobs import jobs
from bench.contenders.tables import Organisation, Person
from fastapi import FastAPI, HTTPException, Query
from sqlalchemy import select


class SubscriptionShape(Shape):
    """Whether records may be changed."""

    status: str


class OrganisationShape(RecordShape):
    """An organisation."""

    object: Literal["organisation"] = "organisation"
    name: str
    legal_name: str | None
    tax_number: str | None
    registration_number: str | None
    e_invoice_address: dict[str, Any] | None
    bank: dict[str, Any] | None
    address: AddressShape | None
    email: str | None
    phone: str | None
    country: str
    currency: str
    time_zone: str
    subscription: SubscriptionShape


class PersonShape(RecordShape):
    """A person."""

    object: Literal["person"] = "person"
    name: str
    email: str
    phone: str | None
    role: str
    status: str
    skills: list[str]
    colour: str | None
    working_hours: dict[str, Any] | None
    company_name: str | None
    cost_rate: str | None
    bill_rate: str | None


class PeopleShape(Shape):
    """A page of people."""

    object: Literal["list"] = "list"
    data: list[PersonShape]
    has_more: bool


class PersonChange(Shape):
    """What to change."""

    phone: str | None = None


app = FastAPI()
app.include_router(jobs)


@app.get("/api/v1/organisation", response_model=OrganisationShape)
async def get_organisation(key: KeyOfRequest) -> Organisation:
    return key.person.organisation


@app.patch("/api/v1/people/{person_id}", response_model=PersonShape)
async def update_person(session: SessionOfRequest, key: KeyOfRequest, person_id: str, given: PersonChange) -> Person:
    person = await session.get(Person, (key.organisation_id, person_id))
    if person is None or key.access != "write":
        raise HTTPException(404, "There is no such person.")
    for name, value in given.model_dump(exclude_unset=True).items():
        setattr(person, name, value)
    person.updated_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    person.version += 1
    await session.commit()
    return person


@app.get("/api/v1/people", response_model=PeopleShape)
async def list_people(
    session: SessionOfRequest,
    key: KeyOfRequest,
    limit: Annotated[int, Query(ge=1, le=100)] = 25,
    starting_after: Annotated[str | None, Query(alias="startingAfter")] = None,
) -> dict[str, Any]:
    wanted = select(Person).where(Person.organisation_id == key.organisation_id, Person.status != "left")
    if starting_after:
        wanted = wanted.where(Person.id < starting_after)
    found = await session.scalars(wanted.order_by(Person.id.desc()).limit(limit + 1))
    people = found.all()
    return {"data": people[:limit], "has_more": len(people) > limit}
