"""One's own visits as a calendar, for phones and other programs: by a secret link."""

from datetime import timedelta
from typing import Annotated

import orjson
from pydantic import AfterValidator, BaseModel, Field, SecretStr
from pydantic.config import JsonDict

from mainstay.business.organisation import store as organisations
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.store import VISITS
from mainstay.identity import calendars
from mainstay.identity.secrets import CALENDAR, is_secret
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Conflict, Forbidden
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, Shown
from mainstay.terms.wire import column_names
from mainstay.values.address import Address
from mainstay.values.fields import NOT_ASKED
from mainstay.values.models import TOLD
from mainstay.values.moments import moment_text

# A calendar shows what was lately and what comes within a year.
_BEFORE, _AHEAD = timedelta(days=30), timedelta(days=366)
_MOST = 3000
_MOMENT: JsonDict = {"format": "date-time"}
# Only a person handles the link to their calendar, in the office.
_IN_THE_OFFICE = frozenset({Door.OFFICE})


class CalendarLinkOut(Shown):
    """The link to one's own calendar, without its secret."""

    noun = "calendarLink"

    made_at: str | None = Field(
        description="Since when there is a link; null where there is none.", json_schema_extra={"format": "date-time"}
    )


class InCalendar(BaseModel):
    """A visit as it stands in its person's calendar."""

    model_config = TOLD

    id: str
    version: int
    updated_at: str = Field(json_schema_extra=_MOMENT)
    starts_at: str | None = Field(json_schema_extra=_MOMENT)
    ends_at: str | None = Field(json_schema_extra=_MOMENT)
    on: str | None = Field(json_schema_extra={"format": "date"})
    job_number: str | None
    job_title: str | None
    title: str | None
    customer_name: str | None
    site_name: str | None
    site_address: Address | None
    access_notes: str | None
    contact_name: str | None
    contact_phone: str | None
    notes: str | None


class CalendarOut(Shown):
    """What stands in someone's calendar."""

    noun = "calendar"

    name: str
    visits: list[InCalendar]


def _could_be_a_link(given: SecretStr) -> SecretStr:
    if not is_secret(given.get_secret_value(), CALENDAR):
        raise ValueError("is not the secret of a link")
    return given


class GetCalendarLink(Input):
    """Nothing: everyone has their own."""


class RotateCalendarLink(Input):
    """The secret of the new link."""

    # Kept answers to forms must not hold it: the office hands in one that it can derive again.
    secret: Annotated[SecretStr, AfterValidator(_could_be_a_link), NOT_ASKED] = Field(
        description="What opens the calendar from now on."
    )


class RemoveCalendarLink(Input):
    """Nothing: everyone has their own."""


class GetCalendar(Input):
    """Nothing: the link says whose."""


@operation(right=Right.SCHEDULE_READ, effect=Effect.READ, offered=_IN_THE_OFFICE)
def get_calendar_link(ctx: Context, _given: GetCalendarLink) -> CalendarLinkOut:
    """Tell whether there is a link to one's own calendar.

    The link itself is shown once, when it is made.
    """
    return CalendarLinkOut(object=CalendarLinkOut.noun, made_at=calendars.made_at(ctx, ctx.actor.id))


@operation(
    right=Right.ME_CHANGE,
    effect=Effect.CHANGE,
    offered=_IN_THE_OFFICE,
    only_adds=False,
    done="There is a new link to your calendar, and no other opens it.",
)
def rotate_calendar_link(ctx: Context, given: RotateCalendarLink) -> CalendarLinkOut:
    """Make a new link to one's own calendar.

    Whoever has it sees your visits. One that was made before opens nothing any more.
    """
    calendars.replace_calendar_of(ctx, _me(ctx), given.secret.get_secret_value())
    return CalendarLinkOut(object=CalendarLinkOut.noun, made_at=ctx.at)


@operation(
    right=Right.ME_CHANGE,
    effect=Effect.CHANGE,
    offered=_IN_THE_OFFICE,
    only_adds=False,
    open_when_lapsed=True,
    done="The link opens nothing any more.",
)
def remove_calendar_link(ctx: Context, _given: RemoveCalendarLink) -> CalendarLinkOut:
    """Remove the link to one's own calendar.

    It opens nothing any more, at once.
    """
    if not calendars.end_calendar_of(ctx, _me(ctx)):
        raise Conflict("There is no link to your calendar.")
    return CalendarLinkOut(object=CalendarLinkOut.noun, made_at=None)


@operation(right=Right.SCHEDULE_READ, effect=Effect.READ, offered=_IN_THE_OFFICE, takes_long=True)
def get_calendar(ctx: Context, _given: GetCalendar) -> CalendarOut:
    """Get one's own calendar.

    The visits of the last month and of the year to come.
    """
    visits = VISITS.seen(
        ctx,
        "visit.person_id = :me AND visit.begins_at >= :begin AND visit.begins_at < :end"
        " AND visit.status <> 'cancelled'",
        _MOST,
        begin=moment_text(ctx.now - _BEFORE),
        end=moment_text(ctx.now + _AHEAD),
    )
    name = organisations.name(ctx.rows)
    return CalendarOut(object=CalendarOut.noun, name=name, visits=[_in_calendar(visit) for visit in visits])


OPERATIONS = (get_calendar_link, rotate_calendar_link, remove_calendar_link, get_calendar)


def _me(ctx: Context) -> str:
    if ctx.actor.id is None:
        raise Forbidden("Only a person has a calendar.")
    return ctx.actor.id


_COLUMNS = column_names(Visit.shown)
_AT = {name: _COLUMNS.index(name) for name in InCalendar.model_fields}


def _in_calendar(visit: Visit) -> InCalendar:
    shown = {name: visit.row[place] for name, place in _AT.items()}
    address = shown.pop("site_address")
    return InCalendar.model_validate(shown | {"site_address": orjson.loads(str(address)) if address else None})
