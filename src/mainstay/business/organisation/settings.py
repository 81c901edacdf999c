"""What an organisation decides about its work: when it is done, what roles may see, how things are numbered."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from mainstay.business.organisation import numbering
from mainstay.business.organisation.model import Subscription
from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Grant, Right
from mainstay.terms.shapes import Input, Kept, Record
from mainstay.values.fields import Day, WholeNumber, omittable


class Numbering(BaseModel):
    """How the numbers of jobs look."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)

    prefix: Annotated[str, Field(pattern=r"^([A-Z0-9/-]{0,9}[A-Z/-])?$")] = Field(
        "J-", description="What stands before the digits: capital letters, digits, - and /, but no digit at its end."
    )
    digits: WholeNumber = Field(4, ge=1, le=10, description="How many digits at least.")
    next: WholeNumber | None = Field(None, ge=1, le=10**9, description="Which comes next; it can only be raised.")


class SettingsOut(Record):
    """What the organisation has decided about its work."""

    noun = "settings"
    place = "/settings/work-rules"

    working_hours: WorkingHours
    members_see_prices: bool = Field(description="Whether members see prices.")
    members_see_team_schedule: bool = Field(description="Whether members see when others work.")
    subcontractors_log_hours: bool = Field(description="Whether subcontractors log their hours here.")
    hours_rounding_minutes: int = Field(description="To how many minutes hours are rounded up when they are billed.")
    books_closed_until: str | None = Field(
        description="Nothing up to this date changes any more.", json_schema_extra={"format": "date"}
    )
    job_numbers: Numbering = Field(description="How the numbers of jobs look, and which comes next.")
    prices_include_tax: bool = Field(description="Whether prices are told with tax, as to households, or before it.")
    subscription: Subscription


@dataclass(frozen=True, slots=True)
class Settings(Kept):
    """The settings as their rules see them."""

    shown = SettingsOut

    grants: str

    @property
    def called(self) -> str:
        """What people call them."""
        return "Settings"


_OF_JOBS = (
    "coalesce((SELECT number_series.{} FROM number_series WHERE number_series.organisation_id = :organisation"
    " AND number_series.kind = 'job'), {})"
)
_USUAL = numbering.USUAL["job"]

SETTINGS = Listing(
    Settings,
    source="organisation",
    what="settings",
    prefix="settings",
    id_field=None,
    tenant="id",
    columns={
        "subscription": """'{"status":"' || organisation.subscription || '"}'""",
        **{
            name: f"CASE WHEN organisation.grants LIKE '%{grant}%' THEN 1 ELSE 0 END"
            for name, grant in (
                ("members_see_prices", Grant.MEMBERS_SEE_PRICES),
                ("members_see_team_schedule", Grant.MEMBERS_SEE_TEAM_SCHEDULE),
                ("subcontractors_log_hours", Grant.SUBCONTRACTORS_LOG_HOURS),
            )
        },
        # A prefix has no letter that JSON would have to escape.
        "job_numbers": f"""'{{"prefix":"' || {_OF_JOBS.format("prefix", f"'{_USUAL.prefix}'")} || '","digits":' ||"""
        f""" {_OF_JOBS.format("padding", _USUAL.padding)} || ',"next":' || {_OF_JOBS.format("next", _USUAL.next)}"""
        """ || '}'""",
    },
    facts={"grants": "organisation.grants"},
)


class GetSettings(Input):
    """Nothing: the credential says whose."""


class UpdateSettings(Input):
    """What to change; null clears."""

    working_hours: WorkingHours = omittable(description="When people usually work; a person may have their own.")
    members_see_prices: bool = omittable(description="Whether members see prices.")
    members_see_team_schedule: bool = omittable(description="Whether members see when others work.")
    subcontractors_log_hours: bool = omittable(description="Whether subcontractors log their hours here.")
    hours_rounding_minutes: Literal[0, 6, 15] = omittable(
        description="To how many minutes hours are rounded up when they are billed; 0 for not at all."
    )
    books_closed_until: Day | None = Field(None, description="Nothing up to this date changes any more.")
    job_numbers: Numbering = omittable(description="How the numbers of new jobs look, and which comes next.")
    prices_include_tax: bool = omittable(
        description="Prices are told with tax, as to households; otherwise before it, and it is added."
    )


@operation(right=Right.SETTINGS_READ, effect=Effect.READ, rest="GET /settings", glances=True, on=SETTINGS)
def get_settings(_ctx: Context, _given: GetSettings, settings: Settings) -> Settings:
    """Get what the organisation has decided about its work.

    Working hours, what roles may see, rounding of hours, closed books, numbers of jobs, whether prices include tax.
    """
    return settings


@operation(
    right=Right.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    rest="PATCH /settings",
    offered=frozenset({Door.API, Door.OFFICE, Door.CLI}),
    on=SETTINGS,
    done="Your changes are saved.",
)
def update_settings(ctx: Context, given: UpdateSettings, settings: Settings) -> Settings:
    """Change what the organisation has decided about its work.

    Only what is sent changes. What roles may see counts from the next request on.
    """
    return save(ctx, given, settings)


OPERATIONS = (get_settings, update_settings)


def save(ctx: Context, given: UpdateSettings, settings: Settings) -> Settings:
    """Keep what was sent of the settings."""
    numbers = given.job_numbers if "job_numbers" in given.model_fields_set else None
    if numbers:
        _number_jobs(ctx, numbers)
    after = SETTINGS.save(ctx, settings, _kept(given, settings))
    return SETTINGS.fetch(ctx, None) if numbers else after


def _kept(given: UpdateSettings, settings: Settings) -> dict[str, Any]:
    changes = {name: value for name, value in given.sent(*_GRANTS, "job_numbers").items() if name in _COLUMNS}
    sent = {grant: getattr(given, name) for name, grant in _GRANTS.items() if name in given.model_fields_set}
    granted = {grant for grant in Grant if sent.get(grant, grant in settings.grants.split())}
    if sent:
        changes["grants"] = " ".join(sorted(granted))
    return changes


_COLUMNS = ("working_hours", "hours_rounding_minutes", "books_closed_until", "prices_include_tax")
_GRANTS = {
    "members_see_prices": Grant.MEMBERS_SEE_PRICES,
    "members_see_team_schedule": Grant.MEMBERS_SEE_TEAM_SCHEDULE,
    "subcontractors_log_hours": Grant.SUBCONTRACTORS_LOG_HOURS,
}


def _number_jobs(ctx: Context, numbers: Numbering) -> None:
    series = numbering.find(ctx, "job")
    if numbers.next is not None and numbers.next < series.next:
        raise Invalid([Fault("jobNumbers.next", f"is below {series.next}, and numbers are given once")])
    numbering.save(ctx, "job", numbering.Series(numbers.prefix, numbers.digits, numbers.next or series.next))
