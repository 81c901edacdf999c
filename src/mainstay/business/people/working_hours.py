"""When each person works: as is said of them or, where nothing is, as everyone does."""

from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.kernel.context import Context


def own_hours(ctx: Context) -> dict[str, WorkingHours]:
    """The working hours of those who have some of their own, by their ids."""
    found = ctx.rows.all(
        "SELECT id, working_hours FROM person WHERE organisation_id = :organisation AND status <> 'left'"
        " AND working_hours IS NOT NULL"
    )
    return {str(identity): WorkingHours.model_validate_json(str(hours)) for identity, hours in found}


def check_some(hours: WorkingHours) -> WorkingHours:
    """Refuse a week without work: on a form it looks like nothing said, which stands for the usual times."""
    if not any(spans for _, spans in hours):
        raise ValueError("have no time in them; clear them for the usual ones")
    return hours
