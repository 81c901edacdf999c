"""A person's own visits as a calendar for phones and other programs, opened by a secret link."""

from datetime import timedelta
from typing import Annotated

import orjson
from pydantic import AfterValidator, BaseModel, Field, SecretStr
from pydantic.config import JsonDict

from mainstay.business.organisation import store as organisations
from mainstay.business.schedule.model import Visit
from mainstay.business.schedule.store import VISITS
from mainstay.identity import calendar_links
from mainstay.identity.secrets import CALENDAR_LINK, is_secret
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.address import Address
from mainstay.values.fields import NOT_IN_FORMS
from mainstay.values.message import Message
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import column_names
from mainstay.vocabulary.refusal import Conflict, Forbidden
from mainstay.vocabulary.schemas import Input, Output

# A calendar shows visits from a month ago to a year ahead.
_TIME_BACK, _TIME_AHEAD = timedelta(days=30), timedelta(days=366)
_MAX_VISITS = 3000
_MOMENT: JsonDict = {"format": "date-time"}
# Only people manage the link to their calendar, in the office.
_OFFICE_ONLY = frozenset({Door.OFFICE})


class CalendarLinkOut(Output):
    """The link to one's own calendar, without its secret."""

    noun = "calendarLink"

    made_at: str | None = Field(
        description="When the link was created; null if there is none.", json_schema_extra={"format": "date-time"}
    )


class CalendarVisit(BaseModel):
    """A visit in its person's calendar."""

    model_config = OUTPUT_CONFIG

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


class CalendarOut(Output):
    """A person's calendar."""

    noun = "calendar"

    name: str
    visits: list[CalendarVisit]


def _check_link_secret(secret: SecretStr) -> SecretStr:
    if not is_secret(secret.get_secret_value(), CALENDAR_LINK):
        raise ValueError(Message("is not the secret of a calendar link"))
    return secret


class RotateCalendarLink(Input):
    """The secret of the new link."""

    # Stored answers to forms must not contain the secret, so the office derives it and sends it in.
    secret: Annotated[SecretStr, AfterValidator(_check_link_secret), NOT_IN_FORMS] = Field(
        description="The secret in the new link."
    )


@operation(permission=Permission.SCHEDULE_READ, effect=Effect.READ, doors=_OFFICE_ONLY)
def get_calendar_link(ctx: Context, _given: Input) -> CalendarLinkOut:
    """Show calendar link.

    The link itself is shown only once, when you create it.
    """
    return CalendarLinkOut(object=CalendarLinkOut.noun, made_at=calendar_links.find_made_at(ctx, ctx.actor.id))


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    doors=_OFFICE_ONLY,
    only_adds=False,
    done_message="Calendar link created. Earlier links no longer work.",
    not_undone=Message("Subscribe with the new link."),
    past_text="Calendar link created",
)
def rotate_calendar_link(ctx: Context, given: RotateCalendarLink) -> CalendarLinkOut:
    """Create calendar link.

    Anyone with the link can see your visits. An earlier link stops working.
    """
    calendar_links.replace_calendar_link(ctx, _require_person_id(ctx), given.secret.get_secret_value())
    return CalendarLinkOut(object=CalendarLinkOut.noun, made_at=ctx.now_text)


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    doors=_OFFICE_ONLY,
    only_adds=False,
    open_when_lapsed=True,
    not_undone=Message("Create a new link."),
    past_text="Calendar link removed",
)
def remove_calendar_link(ctx: Context, _given: Input) -> CalendarLinkOut:
    """Remove calendar link.

    The link stops working immediately.
    """
    if not calendar_links.end_calendar_link(ctx, _require_person_id(ctx)):
        raise Conflict(Message("Your calendar has no link."))
    return CalendarLinkOut(object=CalendarLinkOut.noun, made_at=None)


@operation(permission=Permission.SCHEDULE_READ, effect=Effect.READ, doors=_OFFICE_ONLY, is_slow=True)
def get_calendar(ctx: Context, _given: Input) -> CalendarOut:
    """Show own calendar.

    Your visits of the last month and the next year.
    """
    visits = VISITS.find_visible(
        ctx,
        "visit.person_id = :me AND visit.begins_at >= :begin AND visit.begins_at < :end"
        " AND visit.status <> 'cancelled'",
        _MAX_VISITS,
        begin=moment_text(ctx.now - _TIME_BACK),
        end=moment_text(ctx.now + _TIME_AHEAD),
    )
    name = organisations.organisation_name(ctx.db)
    return CalendarOut(object=CalendarOut.noun, name=name, visits=[_build_visit(visit) for visit in visits])


OPERATIONS = (get_calendar_link, rotate_calendar_link, remove_calendar_link, get_calendar)


def _require_person_id(ctx: Context) -> str:
    if ctx.actor.id is None:
        raise Forbidden(Message("Only people have a calendar."))
    return ctx.actor.id


_COLUMNS = column_names(Visit.output)
_COLUMN_POSITIONS = {name: _COLUMNS.index(name) for name in CalendarVisit.model_fields}


def _build_visit(visit: Visit) -> CalendarVisit:
    values = {name: visit.row[position] for name, position in _COLUMN_POSITIONS.items()}
    address = values.pop("site_address")
    return CalendarVisit.model_validate(values | {"site_address": orjson.loads(str(address)) if address else None})
