"""Mainstay's tables of jobs, and of all that is written with one, as the reference maps them."""

from typing import Any

from bench.contenders.tables import Person, Price, Stamped, Table
from sqlalchemy import JSON, ForeignKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship


class Customer(Table):
    """For whom work is done."""

    __tablename__ = "customer"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    status: Mapped[str]


class Site(Table):
    """Where work is done."""

    __tablename__ = "site"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str]
    name: Mapped[str]
    address: Mapped[dict[str, Any]] = mapped_column(JSON)


class Job(Stamped, Table):
    """A job."""

    __tablename__ = "job"
    __table_args__ = (
        ForeignKeyConstraint(["organisation_id", "customer_id"], ["customer.organisation_id", "customer.id"]),
        ForeignKeyConstraint(["organisation_id", "site_id"], ["site.organisation_id", "site.id"]),
        ForeignKeyConstraint(["organisation_id", "lead_person_id"], ["person.organisation_id", "person.id"]),
    )

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[str]
    customer_id: Mapped[str]
    site_id: Mapped[str | None]
    title: Mapped[str]
    description: Mapped[str | None]
    status: Mapped[str]
    stage: Mapped[str]
    next_action: Mapped[str | None]
    priority: Mapped[str]
    billing: Mapped[str]
    customer_order_number: Mapped[str | None]
    quote_id: Mapped[str | None]
    budget: Mapped[str | None] = mapped_column(Price)
    due_on: Mapped[str | None]
    lead_person_id: Mapped[str | None]
    tags: Mapped[list[str]] = mapped_column(JSON)
    assigned: Mapped[list[str]] = mapped_column(JSON)
    cancel_reason: Mapped[str | None]
    external_ref: Mapped[str | None]
    next_visit_at: Mapped[str | None]

    # All three share the organisation's column, so none of them is written through.
    customer: Mapped[Customer] = relationship(viewonly=True)
    site: Mapped[Site | None] = relationship(viewonly=True)
    lead: Mapped[Person | None] = relationship(viewonly=True)

    @property
    def customer_name(self) -> str:
        """As it is shown."""
        return self.customer.name

    @property
    def site_name(self) -> str | None:
        """As it is shown."""
        return self.site.name if self.site else None

    @property
    def site_address(self) -> dict[str, Any] | None:
        """As it is shown."""
        return self.site.address if self.site else None

    @property
    def lead_person_name(self) -> str | None:
        """As it is shown."""
        return self.lead.name if self.lead else None


class OwnJob(Table):
    """Who sees a job without seeing all of them."""

    __tablename__ = "own_job"
    __table_args__ = (ForeignKeyConstraint(["organisation_id", "id"], ["job.organisation_id", "job.id"]),)

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    assigned: Mapped[int]
    status: Mapped[str]
    stage: Mapped[str]
    priority: Mapped[str]
    customer_id: Mapped[str]
    site_id: Mapped[str | None]
    lead_person_id: Mapped[str | None]
    due_on: Mapped[str | None]


class NumberSeries(Table):
    """The next number of a kind of record."""

    __tablename__ = "number_series"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    prefix: Mapped[str]
    padding: Mapped[int]
    next: Mapped[int]


class SearchRecord(Table):
    """All words that a record is found by."""

    __tablename__ = "search_record"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    record_id: Mapped[str] = mapped_column(primary_key=True)
    words: Mapped[list[str]] = mapped_column(JSON)


class SearchWord(Table):
    """A word by which a record is found."""

    __tablename__ = "search_word"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    word: Mapped[str] = mapped_column(primary_key=True)
    record_id: Mapped[str] = mapped_column(primary_key=True)


class Event(Table):
    """What happened."""

    __tablename__ = "event"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[str]
    type: Mapped[str]
    created_at: Mapped[str]
    actor: Mapped[str]
    data: Mapped[str]


class Webhook(Table):
    """Who is told of events."""

    __tablename__ = "webhook"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[str]


class Outbox(Table):
    """What is to follow a change."""

    __tablename__ = "outbox"

    id: Mapped[str] = mapped_column(primary_key=True)
    organisation_id: Mapped[str]
    kind: Mapped[str]
    payload: Mapped[dict[str, str]] = mapped_column(JSON)
    due_at: Mapped[str | None]
    attempts: Mapped[int] = mapped_column(default=0)


class Audit(Table):
    """An act of the trail."""

    __tablename__ = "audit"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[str]
    actor: Mapped[str]
    request_id: Mapped[str]
    operation: Mapped[str]
    given: Mapped[str]
    events: Mapped[str]
    records: Mapped[str]
    hash: Mapped[str]
    person_id: Mapped[str | None]
    client_id: Mapped[str | None]
    acted_by: Mapped[str]


class AuditRecord(Table):
    """A record that an act touched."""

    __tablename__ = "audit_record"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    record_id: Mapped[str] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
