"""Writes visits to the schedule, all or none, and updates their jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import JobScheduled, JobUpdated
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.schedule import emails, store
from mainstay.business.schedule.clashes import RequestedTime, find_clashes
from mainstay.business.schedule.model import Visit
from mainstay.kernel.context import Context
from mainstay.vocabulary.refusal import Reason, raise_if_blocked


@dataclass(frozen=True, slots=True)
class Placement:
    """A visit to be written: a new one, or changes of an existing one."""

    visit: Visit | None
    values: dict[str, Any]
    # The visit's job, if it was read already.
    job: Job | None = None

    @property
    def requested_time(self) -> RequestedTime | None:
        """The time to check for clashes; None if the visit takes no time, or if its time was checked before."""
        person, starts, ends = (self._value_of("person_id"), self._value_of("starts_at"), self._value_of("ends_at"))
        takes_time = person and starts and ends and not self.is_cancellation
        if not takes_time or not self._can_clash or self._value_of("allow_overlap"):
            return None
        return RequestedTime(person, starts, ends, self._value_of("time_zone"), self.visit.id if self.visit else None)

    @property
    def frees_time(self) -> bool:
        """Whether the visit may leave its current time, so that others written with it can take that time."""
        return self.visit is not None and self.visit.takes_time and not self.is_cancellation and self._can_clash

    @property
    def is_cancellation(self) -> bool:
        """Whether the visit is cancelled."""
        return bool(self._value_of("status") == "cancelled")

    @property
    def _can_clash(self) -> bool:
        """Whether to check for clashes: the visit is new, or a value changes that its clashes depend on."""
        return self.visit is None or any(
            name in self.values and self.values[name] != getattr(self.visit, name)
            for name in ("person_id", "starts_at", "ends_at", "status", "allow_overlap")
        )

    def _value_of(self, name: str) -> Any:
        return self.values[name] if self.visit is None or name in self.values else getattr(self.visit, name)


def place_visits(ctx: Context, placements: Sequence[Placement]) -> list[Visit]:
    """Write visits. If any of them clashes, refuse all of them and name every clash."""
    visits, reasons = write_visits(ctx, placements)
    raise_if_blocked(reasons)
    update_jobs_and_notify(ctx, placements, visits)
    return visits


def write_visits(ctx: Context, placements: Sequence[Placement]) -> tuple[list[Visit], list[Reason]]:
    """Write visits, and return them with all their clashes. If there are any, the caller must refuse the operation."""
    # Visits that may leave their current time are hidden first, so that two people can swap visits.
    for placement in placements:
        if placement.frees_time and placement.visit:
            store.hide_visit(ctx, placement.visit)
    reasons: list[Reason] = []
    visits: list[Visit] = []
    # Cancelled visits are written first, because they free their time.
    for placement in sorted(placements, key=lambda one: not one.is_cancellation):
        requested = placement.requested_time
        clash_reasons = find_clashes(ctx, requested) if requested else []
        reasons += clash_reasons
        # A visit that clashes is written too, so that those after it are checked against it. The operation is refused
        # and rolled back later.
        visits.append(_write_visit(ctx, placement, overrides={"allow_overlap": True} if clash_reasons else {}))
    return visits, list(dict.fromkeys(reasons))


def update_jobs_and_notify(ctx: Context, placements: Sequence[Placement], visits: Sequence[Visit]) -> None:
    """Update the jobs of written visits and who sees them, and email the people whose visits have changed."""
    old_visits = [placement.visit for placement in placements]
    job_people = {(visit.about_job, visit.person_id) for visit in (*old_visits, *visits) if visit}
    _update_job_viewers(ctx, job_people)
    emails.record_visit_changes(ctx, old_visits, visits)
    jobs_by_id = {placement.job.id: placement.job for placement in placements if placement.job}
    for job_id in sorted({job_id for job_id, _ in job_people if job_id}):
        job = jobs_by_id.get(job_id) or JOBS.find(ctx, "job.id = :id", id=job_id)
        if job and (updated := update_visit_counts(ctx, job)) is not job:
            is_newly_planned = updated.planned_visits > 0 and job.planned_visits == 0
            ctx.emit(JobScheduled(updated, job) if is_newly_planned else JobUpdated(updated, job))


def write_cancellations(ctx: Context, placements: Sequence[Placement]) -> None:
    """Write the cancelled visits of one job, and email their people. The caller updates the job."""
    visits = [_write_visit(ctx, placement, overrides={}) for placement in placements]
    emails.record_visit_changes(ctx, [placement.visit for placement in placements], visits)
    _update_job_viewers(ctx, {(one.visit.about_job, one.visit.person_id) for one in placements if one.visit})


def update_visit_counts(ctx: Context, job: Job) -> Job:
    """Update a job's number of planned visits and the time of its next visit."""
    row = ctx.db.one(
        "SELECT count(*), min(begins_at) FROM visit WHERE organisation_id = :organisation AND job_id = :job"
        " AND status = 'planned'",
        job=job.id,
    )
    planned, next_at = row or (0, None)
    return jobs.save(ctx, job, {"planned_visits": int(planned or 0), "next_visit_at": next_at})


def _write_visit(ctx: Context, placement: Placement, overrides: dict[str, Any]) -> Visit:
    if placement.visit is None:
        return store.insert(ctx, placement.values | overrides)
    # A hidden visit gets its status back, unless that changes too.
    restored = {"status": placement.visit.status} if placement.frees_time else {}
    return store.save(ctx, placement.visit, restored | placement.values | overrides)


def _update_job_viewers(ctx: Context, job_people: set[tuple[str | None, str | None]]) -> None:
    """Let people see the jobs that they have visits for, also after a visit is done."""
    for job_id, person_id in sorted((job_id, person_id) for job_id, person_id in job_people if job_id and person_id):
        jobs.set_planned_access(ctx, job_id, person_id, planned=_has_visit(ctx, job_id, person_id))


def _has_visit(ctx: Context, job_id: str, person_id: str) -> bool:
    return bool(
        ctx.db.one(
            "SELECT 1 FROM visit WHERE organisation_id = :organisation AND job_id = :job AND person_id = :person"
            " AND status <> 'cancelled' LIMIT 1",
            job=job_id,
            person=person_id,
        )
    )
