"""Mainstay's tables as the reference maps them."""

from typing import Any

from sqlalchemy import JSON, BigInteger, Dialect, ForeignKey, ForeignKeyConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.types import TypeDecorator

from mainstay.values.money import price_text


class Price(TypeDecorator[str]):
    """A decimal that is kept as a whole number of ten-thousandths."""

    impl = BigInteger
    cache_ok = True

    def process_result_value(self, value: int | None, _dialect: Dialect) -> str | None:
        """As it is shown."""
        return None if value is None else price_text(value)


class Table(DeclarativeBase):
    """What all tables share."""


class Stamped:
    """The columns of every record."""

    created_at: Mapped[str]
    created_by: Mapped[dict[str, Any]] = mapped_column(JSON)
    updated_at: Mapped[str]
    updated_by: Mapped[dict[str, Any]] = mapped_column(JSON)
    version: Mapped[int]


class Organisation(Stamped, Table):
    """An organisation."""

    __tablename__ = "organisation"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    legal_name: Mapped[str | None]
    tax_number: Mapped[str | None]
    registration_number: Mapped[str | None]
    e_invoice_address: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    bank: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    address: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    email: Mapped[str | None]
    phone: Mapped[str | None]
    country: Mapped[str]
    currency: Mapped[str]
    time_zone: Mapped[str]
    subscription_status: Mapped[str] = mapped_column("subscription")
    event_sequence: Mapped[int]

    @property
    def subscription(self) -> dict[str, str]:
        """As it is shown."""
        return {"status": self.subscription_status}


class Person(Stamped, Table):
    """A person of an organisation."""

    __tablename__ = "person"

    organisation_id: Mapped[str] = mapped_column(ForeignKey("organisation.id"), primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    email: Mapped[str]
    phone: Mapped[str | None]
    role: Mapped[str]
    status: Mapped[str]
    skills: Mapped[list[str]] = mapped_column(JSON)
    colour: Mapped[str | None]
    working_hours: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    company_name: Mapped[str | None]
    cost_rate: Mapped[str | None] = mapped_column(Price)
    bill_rate: Mapped[str | None] = mapped_column(Price)

    organisation: Mapped[Organisation] = relationship()


class ApiKey(Table):
    """A key, made by a person."""

    __tablename__ = "api_key"
    __table_args__ = (ForeignKeyConstraint(["organisation_id", "person_id"], ["person.organisation_id", "person.id"]),)

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str]
    name: Mapped[str]
    hash: Mapped[str] = mapped_column(unique=True)
    access: Mapped[str]
    revoked_at: Mapped[str | None]

    person: Mapped[Person] = relationship()
