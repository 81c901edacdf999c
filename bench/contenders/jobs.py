"""Jobs of the reference: a page of them, and a new one with all that Mainstay writes with it.

The job and who sees it, its number, the words it is found by, the event, the work that is left for later where a
webhook is to be told of it, and the act in the trail. The rules of what words a text has and how the trail is chained
are Mainstay's own. Each word is written at once where records are looked up by it; Mainstay writes those of many
together.
"""

import hashlib
import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from bench.contenders.asking import AddressShape, KeyOfRequest, RecordShape, SessionOfRequest, Shape
from bench.contenders.job_tables import (
    Audit,
    AuditRecord,
    Customer,
    Event,
    Job,
    NumberSeries,
    Outbox,
    OwnJob,
    SearchRecord,
    SearchWord,
    Site,
    Webhook,
)
from bench.contenders.tables import ApiKey, Person
from fastapi import APIRouter, HTTPException, Query
from pydantic import Field
from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import joinedload
from sqlalchemy.orm.attributes import set_committed_value

from mainstay.values.ids import new_id
from mainstay.values.search_words import combine_words, words_of_postal_address, words_of_text

jobs = APIRouter()


class JobShape(RecordShape):
    """A job."""

    object: Literal["job"] = "job"
    number: str
    title: str
    status: str
    stage: str
    next_action: str | None
    priority: str
    customer_id: str
    customer_name: str
    site_id: str | None
    site_name: str | None
    site_address: AddressShape | None
    description: str | None
    due_on: str | None
    lead_person_id: str | None
    lead_person_name: str | None
    assigned: list[str]
    tags: list[str]
    next_visit_at: str | None
    billing: str | None
    budget: str | None
    customer_order_number: str | None
    quote_id: str | None
    cancel_reason: str | None
    external_ref: str | None


class JobsShape(Shape):
    """A page of jobs."""

    object: Literal["list"] = "list"
    data: list[JobShape]
    has_more: bool


class NewJob(Shape):
    """What is to be done, and for whom."""

    customer_id: str
    title: Annotated[str, Field(min_length=1, max_length=200)]
    site_id: str | None = None
    description: Annotated[str | None, Field(max_length=10_000)] = None
    status: Literal["enquiry", "open"] = "open"
    priority: Literal["low", "normal", "high", "urgent"] = "normal"
    billing: Literal["fixed", "timeAndMaterials", "nonBillable"] = "timeAndMaterials"
    customer_order_number: str | None = None
    due_on: str | None = None
    lead_person_id: str | None = None
    assigned: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)


@jobs.get("/api/v1/jobs", response_model=JobsShape)
async def list_jobs(
    session: SessionOfRequest,
    key: KeyOfRequest,
    limit: Annotated[int, Query(ge=1, le=100)] = 25,
    starting_after: Annotated[str | None, Query(alias="startingAfter")] = None,
) -> dict[str, Any]:
    wanted = select(Job).where(Job.organisation_id == key.organisation_id)
    if starting_after:
        wanted = wanted.where(Job.id < starting_after)
    named = (joinedload(Job.customer), joinedload(Job.site), joinedload(Job.lead))
    found = await session.scalars(wanted.options(*named).order_by(Job.id.desc()).limit(limit + 1))
    page = found.all()
    return {"data": page[:limit], "has_more": len(page) > limit}


@jobs.post("/api/v1/jobs", response_model=JobShape, status_code=201)
async def create_job(session: SessionOfRequest, key: KeyOfRequest, given: NewJob) -> Job:
    customer, site, lead = await _find_related(session, key, given)
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    person = {"id": key.person.id, "name": key.person.name}
    stamp = {"kind": "person", "person": person, "via": {"door": "api", "client": {"id": key.id, "name": key.name}}}
    job = Job(
        **given.model_dump(),
        organisation_id=key.organisation_id,
        id=new_id("job"),
        number=await _next_number(session, key),
        stage="toSchedule" if given.status == "open" else "enquiry",
        next_action="Plan a visit" if given.status == "open" else "Send a quote or start the job",
        created_at=at,
        created_by=stamp,
        updated_at=at,
        updated_by=stamp,
        version=1,
    )
    session.add(job)
    for name, record in (("customer", customer), ("site", site), ("lead", lead)):
        set_committed_value(job, name, record)
    session.add_all(_make_own_jobs(job))
    session.add_all(_make_search_rows(job))
    event = _make_event(key, job, json.dumps(stamp))
    session.add(event)
    if await _has_webhook(session, key):
        session.add(
            Outbox(**_tenant_columns(key), id=new_id("out"), kind="event", payload={"event": event.id}, due_at=at)
        )
    await _write_audit(session, key, event, job, given)
    await session.commit()
    return job


async def _find_related(
    session: AsyncSession, key: ApiKey, given: NewJob
) -> tuple[Customer, Site | None, Person | None]:
    """For whom, where and led by whom; refuses what does not belong together."""
    customer = await session.get(Customer, (key.organisation_id, given.customer_id))
    if customer is None or customer.status != "active" or key.access != "write":
        raise HTTPException(404, "There is no such customer.")
    site = await session.get(Site, (key.organisation_id, given.site_id)) if given.site_id else None
    if given.site_id and (site is None or site.customer_id != customer.id):
        raise HTTPException(422, "This is a site of another customer.")
    lead = await session.get(Person, (key.organisation_id, given.lead_person_id)) if given.lead_person_id else None
    if given.lead_person_id and (lead is None or lead.status == "left"):
        raise HTTPException(422, "There is no such person.")
    return customer, site, lead


async def _next_number(session: AsyncSession, key: ApiKey) -> str:
    series = await session.get_one(NumberSeries, (key.organisation_id, "job"))
    number = f"{series.prefix}{series.next:0{series.padding}d}"
    series.next += 1
    return number


def _tenant_columns(key: ApiKey) -> dict[str, str]:
    return {"organisation_id": key.organisation_id}


def _make_own_jobs(job: Job) -> list[OwnJob]:
    names = ("organisation_id", "id", "status", "stage", "priority", "customer_id", "site_id", "lead_person_id")
    copies = {name: getattr(job, name) for name in (*names, "due_on")}
    return [OwnJob(**copies, person_id=person, assigned=1) for person in {*job.assigned, job.lead_person_id} - {None}]


def _make_search_rows(job: Job) -> list[SearchRecord | SearchWord]:
    texts = (job.number, job.title, job.customer_name, job.site_name, job.description, *job.tags)
    place = words_of_postal_address(job.site_address) if job.site_address else set()
    words = combine_words(words_of_text(" ".join(text for text in texts if text)), place)
    columns = {"organisation_id": job.organisation_id, "kind": "job", "record_id": job.id}
    return [SearchRecord(**columns, words=sorted(words)), *(SearchWord(**columns, word=word) for word in words)]


def _make_event(key: ApiKey, job: Job, actor: str) -> Event:
    organisation = key.person.organisation
    organisation.event_sequence += 1
    job_json = JobShape.model_validate(job).model_dump_json(by_alias=True)
    data = f'{{"object":{job_json},"previous":{{}}}}'
    numbered = {"sequence": organisation.event_sequence, "id": new_id("evt")}
    return Event(
        **_tenant_columns(key), **numbered, type="job.created", created_at=job.created_at, actor=actor, data=data
    )


async def _has_webhook(session: AsyncSession, key: ApiKey) -> bool:
    hearing = (Webhook.organisation_id == key.organisation_id, Webhook.status != "disabled")
    return bool(await session.scalar(select(exists().where(*hearing))))


async def _write_audit(session: AsyncSession, key: ApiKey, event: Event, job: Job, given: NewJob) -> None:
    """The act, chained to the one before."""
    last = await session.scalar(
        select(Audit).where(Audit.organisation_id == key.organisation_id).order_by(Audit.sequence.desc()).limit(1)
    )
    sequence, previous = (last.sequence + 1, last.hash) if last else (1, "0" * 64)
    given_json = given.model_dump_json(by_alias=True, exclude_unset=True)
    act = {"at": event.created_at, "actor": event.actor, "request_id": new_id("req"), "operation": "create_job"}
    touched = {"given": given_json, "events": json.dumps([event.id]), "records": json.dumps([job.id])}
    link = hashlib.sha256(json.dumps([previous, sequence, *act.values(), *touched.values()]).encode()).hexdigest()
    doer = {"person_id": key.person_id, "client_id": key.id, "acted_by": "key"}
    session.add(Audit(**_tenant_columns(key), sequence=sequence, **act, **touched, hash=link, **doer))
    session.add(AuditRecord(**_tenant_columns(key), record_id=job.id, sequence=sequence))
