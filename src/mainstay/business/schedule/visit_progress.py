"""Sets how far a visit is, and starts its job."""

from mainstay.business.jobs.events import JobUpdated
from mainstay.business.jobs.operations import start_job
from mainstay.business.jobs.store import JOBS
from mainstay.business.schedule.model import SettableStatus, Visit
from mainstay.business.schedule.placement import update_visit_counts
from mainstay.business.schedule.store import save
from mainstay.kernel.context import Context
from mainstay.vocabulary.refusal import raise_if_blocked


def save_visit_status(
    ctx: Context, visit: Visit, status: SettableStatus, started_at: str | None = None, finished_at: str | None = None
) -> Visit:
    """Set the status of a visit, with the moments at which its work began and ended. Without them, it is now."""
    job = JOBS.find(ctx, "job.id = :id", id=visit.about_job) if visit.about_job else None
    if job:
        raise_if_blocked(job.not_workable())
    times = _build_progress_times(ctx, status, visit, started_at, finished_at)
    after = save(ctx, visit, {"status": status, **times})
    if job:
        updated = update_visit_counts(ctx, job)
        started = start_job(ctx, updated) if status != "planned" else updated
        if started is updated and updated is not job:
            ctx.emit(JobUpdated(updated, job))
    return after


def _build_progress_times(
    ctx: Context, status: SettableStatus, visit: Visit, started_at: str | None, finished_at: str | None
) -> dict[str, str | None]:
    """Return the start and finish times that belong to a status."""
    if status == "planned":
        return {"started_at": None, "finished_at": None}
    if started_at is None and visit.status == "planned":
        started_at = finished_at or ctx.now_text
    times: dict[str, str | None] = {} if started_at is None else {"started_at": started_at}
    return times | {"finished_at": None if status == "started" else finished_at or ctx.now_text}
