"""Reactions of hours to events in other areas."""

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.people.events import PersonLeft
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import ImmediateReaction
from mainstay.values.message import LocalMoment, Message
from mainstay.vocabulary.schemas import StoredRecord

_RUNNING_TIMER = (
    "SELECT person.name, time_entry.started_at FROM time_entry JOIN person"
    " ON person.organisation_id = time_entry.organisation_id AND person.id = time_entry.person_id"
    " WHERE time_entry.organisation_id = :organisation AND time_entry.person_id = :person"
    " AND time_entry.status = 'running'"
)


def warn_of_timer(ctx: Context, person: StoredRecord) -> None:
    """Warn that the timer of a person who leaves keeps running until someone stops it, so that no hours are lost."""
    for name, started_at in ctx.db.all(_RUNNING_TIMER, person=person.id):
        message = Message(
            "{person}'s timer has been running since {start}. Stop it and enter when the work ended.",
            for_programs=Message("Call stop_timer."),
            person=str(name),
            start=LocalMoment(str(started_at), settings_of(ctx).time_zone),
        )
        ctx.warnings.append(message)


IMMEDIATE_REACTIONS = (ImmediateReaction(PersonLeft, warn_of_timer),)
