"""What every answer of the reference shares: shapes, a session for each request, and who asks."""

import hashlib
import os
from collections.abc import AsyncIterator
from typing import Annotated, Any

from bench.contenders.tables import ApiKey, Person
from fastapi import Depends, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from sqlalchemy import event, select
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


class AddressShape(Shape):
    """Where something is."""

    line1: str | None
    line2: str | None
    city: str | None
    region: str | None
    postal_code: str | None
    country: str | None


# A connection for everyone who asks at once: with the usual five, more would be opened and closed all the time.
engine = create_async_engine(f"sqlite+aiosqlite:///{os.environ['BENCH_DATABASE']}", pool_size=32, max_overflow=0)


@event.listens_for(engine.sync_engine, "connect")
def set_full_durability(connection: Any, _record: object) -> None:
    """Let a commit be as durable as Mainstay's; that there is a log of writes ahead stands in the file."""
    connection.execute("PRAGMA synchronous = FULL")


new_session = async_sessionmaker(engine, expire_on_commit=False)


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
