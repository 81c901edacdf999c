"""The reference: the same two answers out of the same database, written as most people would write them today.

FastAPI, SQLAlchemy's asynchronous ORM and Pydantic response models; a session for each request, the key looked up in
one statement. It has no rate limit, no meters and no request ids: it does less than Mainstay does.
"""

import hashlib
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from bench.contenders.tables import ApiKey, Organisation, Person
from fastapi import Depends, FastAPI, HTTPException, Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import contains_eager


class Shape(BaseModel):
    """What all answers share."""

    model_config = ConfigDict(from_attributes=True, alias_generator=to_camel, populate_by_name=True)


class NamedShape(Shape):
    """Someone or something with a name."""

    id: str
    name: str


class ViaShape(Shape):
    """The way an act came in."""

    door: str
    client: NamedShape | None


class StampShape(Shape):
    """Who did it."""

    kind: str
    person: NamedShape | None
    via: ViaShape


class RecordShape(Shape):
    """What all records share."""

    id: str
    created_at: str
    created_by: StampShape
    updated_at: str
    updated_by: StampShape
    version: int


class SubscriptionShape(Shape):
    """Whether records may be changed."""

    status: str


class AddressShape(Shape):
    """Where something is."""

    line1: str | None
    line2: str | None
    city: str | None
    region: str | None
    postal_code: str | None
    country: str | None


class OrganisationShape(RecordShape):
    """An organisation."""

    object: Literal["organisation"] = "organisation"
    name: str
    legal_name: str | None
    tax_number: str | None
    registration_number: str | None
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


# A connection for everyone who asks at once: with the usual five, more would be opened and closed all the time.
engine = create_async_engine(f"sqlite+aiosqlite:///{os.environ['BENCH_DATABASE']}", pool_size=32, max_overflow=0)
new_session = async_sessionmaker(engine, expire_on_commit=False)
app = FastAPI()


async def open_session() -> AsyncIterator[AsyncSession]:
    async with new_session() as session:
        yield session


SessionOfRequest = Annotated[AsyncSession, Depends(open_session)]
Credentials = Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]


async def authenticate(session: SessionOfRequest, credentials: Credentials) -> ApiKey:
    """The key, with the person who made it and their organisation."""
    found = await session.scalars(
        select(ApiKey)
        .join(ApiKey.person)
        .join(Person.organisation)
        .options(contains_eager(ApiKey.person).contains_eager(Person.organisation))
        .where(
            ApiKey.hash == hashlib.sha256(credentials.credentials.encode()).hexdigest(),
            ApiKey.revoked_at.is_(None),
            Person.status == "active",
            Person.role.in_(("owner", "admin")),
        )
    )
    key = found.one_or_none()
    if key is None:
        raise HTTPException(401, "This API key is not valid.")
    return key


KeyOfRequest = Annotated[ApiKey, Depends(authenticate)]


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
