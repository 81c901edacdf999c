"""Puts visits where they are wanted, all or none, and lets their jobs know."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mainstay.business.jobs import store as jobs
from mainstay.business.jobs.events import JobScheduled, JobUpdated
from mainstay.business.jobs.model import Job
from mainstay.business.jobs.store import JOBS
from mainstay.business.schedule import store, telling
from mainstay.business.schedule.clashes import Wanted, clashes
from mainstay.business.schedule.model import Visit
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Reason, refuse


@dataclass(frozen=True, slots=True)
class Placement:
    """A visit that is to be written: a new one, or what changes of one."""

    visit: Visit | None
    values: dict[str, Any]
    # The job it is for, where that was read already.
    job: Job | None = None

    @property
    def wanted(self) -> Wanted | None:
        """The time that it takes and did not take before."""
        person, starts, ends = (self._is("person_id"), self._is("starts_at"), self._is("ends_at"))
        if not (person and starts and ends) or self.ends or self._is("allow_overlap"):
            return None
        if self.visit and self.visit.takes_time and not self._is_elsewhere:
            return None
        return Wanted(person, starts, ends, self._is("time_zone"), self.visit.id if self.visit else None)

    @property
    def leaves(self) -> bool:
        """Whether it goes elsewhere, so that its place is free for others that are written with it."""
        return self.visit is not None and self.visit.takes_time and not self.ends and self._is_elsewhere

    @property
    def ends(self) -> bool:
        """Whether it is called off."""
        return bool(self._is("status") == "cancelled")

    @property
    def _is_elsewhere(self) -> bool:
        """Whether its time or person changes, or the leave to overlap ends."""
        before = self.visit
        return before is None or any(
            name in self.values and self.values[name] != getattr(before, name)
            for name in ("person_id", "starts_at", "ends_at", "status", "allow_overlap")
        )

    def _is(self, name: str) -> Any:
        return self.values[name] if self.visit is None or name in self.values else getattr(self.visit, name)


def place(ctx: Context, placements: Sequence[Placement]) -> list[Visit]:
    """Write visits; whatever stands in the way of any of them is told at once, and then none is written."""
    placed, reasons = put(ctx, placements)
    refuse(reasons)
    tell_all(ctx, placements, placed)
    return placed


def put(ctx: Context, placements: Sequence[Placement]) -> tuple[list[Visit], list[Reason]]:
    """Visits as they would be, and all that stands in the way: where something does, whoever calls refuses."""
    # Those that leave their places do so first: two people may swap their visits.
    for placement in placements:
        if placement.leaves and placement.visit:
            store.park(ctx, placement.visit)
    reasons: list[Reason] = []
    placed: list[Visit] = []
    for placement in sorted(placements, key=lambda one: not one.ends):
        wanted = placement.wanted
        found = clashes(ctx, wanted) if wanted else []
        reasons += found
        # It is written nevertheless, to be seen by those after it: nothing of this is kept.
        placed.append(_write(ctx, placement, let={"allow_overlap": True} if found else {}))
    return placed, list(dict.fromkeys(reasons))


def tell_all(ctx: Context, placements: Sequence[Placement], placed: Sequence[Visit]) -> None:
    """Let the jobs of visits know what is planned for them, and those see a job who are planned on it.

    People are told later what has changed for them.
    """
    before = [placement.visit for placement in placements]
    seen = {(visit.about_job, visit.person_id) for visit in (*before, *placed) if visit}
    _let_see(ctx, seen)
    telling.note(ctx, before, placed)
    read = {placement.job.id: placement.job for placement in placements if placement.job}
    for identity in sorted({job for job, _ in seen if job}):
        known = read.get(identity) or JOBS.find(ctx, "job.id = :id", id=identity)
        if known and (told := hand_down(ctx, known)) is not known:
            first = told.planned_visits and not known.planned_visits
            ctx.record((JobScheduled if first else JobUpdated)(told, known))


def withdraw(ctx: Context, placements: Sequence[Placement]) -> None:
    """Write visits that take no time any more; their job is told by whoever calls."""
    written = [_write(ctx, placement, let={}) for placement in placements]
    telling.note(ctx, [placement.visit for placement in placements], written)
    _let_see(ctx, {(one.visit.about_job, one.visit.person_id) for one in placements if one.visit})


def hand_down(ctx: Context, job: Job) -> Job:
    """Let a job know how many visits are planned, and when the next one is."""
    found = ctx.rows.one(
        "SELECT count(*), min(begins_at) FROM visit WHERE organisation_id = :organisation AND job_id = :job"
        " AND status = 'planned'",
        job=job.id,
    )
    planned, next_at = found or (0, None)
    return jobs.save(ctx, job, {"planned_visits": int(planned or 0), "next_visit_at": next_at})


def _write(ctx: Context, placement: Placement, let: dict[str, Any]) -> Visit:
    if placement.visit is None:
        return store.insert(ctx, placement.values | let)
    # One that was parked gets its state back, whatever else changes.
    kept = {"status": placement.visit.status} if placement.leaves else {}
    return store.save(ctx, placement.visit, kept | placement.values | let)


def _let_see(ctx: Context, pairs: set[tuple[str | None, str | None]]) -> None:
    """Whoever is planned on a job sees it, also when it was done."""
    for job, person in sorted((job, person) for job, person in pairs if job and person):
        jobs.let_see(ctx, job, person, planned=_is_on(ctx, job, person))


def _is_on(ctx: Context, job: str, person: str) -> bool:
    return bool(
        ctx.rows.one(
            "SELECT 1 FROM visit WHERE organisation_id = :organisation AND job_id = :job AND person_id = :person"
            " AND status <> 'cancelled' LIMIT 1",
            job=job,
            person=person,
        )
    )
