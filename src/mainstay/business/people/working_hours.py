"""Working hours of each person: their own, or else the organisation's."""

from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.kernel.context import Context
from mainstay.values.message import Message


def find_own_hours(ctx: Context) -> dict[str, WorkingHours]:
    """Return the working hours of people who have their own, by person id."""
    people = ctx.db.all(
        "SELECT id, working_hours FROM person WHERE organisation_id = :organisation AND status <> 'left'"
        " AND working_hours IS NOT NULL"
    )
    return {str(record_id): WorkingHours.model_validate_json(str(hours)) for record_id, hours in people}


def check_not_empty(hours: WorkingHours) -> WorkingHours:
    """Refuse a week without any working time.

    A form cannot tell it from an empty field, which stands for the usual hours.
    """
    if not any(spans for _, spans in hours):
        raise ValueError(Message("has no times; leave it empty for the usual hours"))
    return hours
