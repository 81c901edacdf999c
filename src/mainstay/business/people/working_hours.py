"""When each person works: as they said of themselves or, where they did not, as everyone does."""

from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.kernel.context import Context


def own_hours(ctx: Context) -> dict[str, WorkingHours]:
    """The working hours of those who have some of their own, by their ids."""
    found = ctx.rows.all(
        "SELECT id, working_hours FROM person WHERE organisation_id = :organisation AND status <> 'left'"
        " AND working_hours IS NOT NULL"
    )
    return {str(identity): WorkingHours.model_validate_json(str(hours)) for identity, hours in found}
