"""What an organisation decides about its work: when it is done, what roles may see, how things are numbered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from mainstay.business.organisation import numbering
from mainstay.business.organisation.mail_texts import MailTexts
from mainstay.business.organisation.model import Language, Subscription
from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.outbox import Letter
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Fault, Invalid
from mainstay.terms.rights import Grant, Right
from mainstay.terms.shapes import Input, Kept, Record
from mainstay.values.fields import KeptDay, Paragraph, WholeNumber, omittable
from mainstay.values.parts import Part


class Numbering(Part):
    """How the numbers of one kind look."""

    prefix: Annotated[str, Field(pattern=r"^([A-Z0-9/-]{0,9}[A-Z/-])?$")] = omittable(
        description="What stands before the digits: capital letters, digits, - and /, but no digit at its end."
    )
    digits: WholeNumber = omittable(ge=1, le=10, description="How many digits at least.")
    next: WholeNumber | None = Field(None, ge=1, le=10**9, description="Which comes next; it can only be raised.")


# The kind of the letter that is left where prices are told with tax that were told before it, or the other way round.
TOLD_OTHERWISE = "price_materials_anew"


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
    quote_numbers: Numbering = Field(description="The same for quotes.")
    purchase_order_numbers: Numbering = Field(description="The same for purchase orders.")
    materials_markup_percent: int = Field(
        title="Markup on materials", description="What is added to the cost of what is not on the price list."
    )
    language: Language = Field(description="Of what customers are sent, where they have no other.")
    quote_valid_days: int = Field(description="For how many days a quote can be accepted.")
    quote_terms: str | None = Field(description="Printed below new quotes.")
    invoice_numbers: Numbering = Field(description="The same for invoices.")
    credit_note_numbers: Numbering = Field(description="The same for credit notes.")
    payment_terms_days: int = Field(
        title="Days to pay", description="Within how many days invoices are to be paid, where a customer has no other."
    )
    invoice_notes: str | None = Field(description="Printed on new invoices.")
    mail_texts: MailTexts = Field(description="Words of one's own in mails to customers.")
    subscription: Subscription


@dataclass(frozen=True, slots=True)
class OrganisationSettings(Kept):
    """The settings as their rules see them."""

    shown = SettingsOut

    grants: str
    prices_include_tax: bool

    @property
    def called(self) -> str:
        """What people call them."""
        return "Settings"


def _numbers(kind: str) -> str:
    """A series as JSON; a prefix has no letter that would have to be escaped."""
    usual = numbering.USUAL[kind]
    return (
        """coalesce((SELECT '{"prefix":"' || prefix || '","digits":' || padding || ',"next":' || next || '}'"""
        f" FROM number_series WHERE number_series.organisation_id = :organisation AND number_series.kind = '{kind}'),"
        f""" '{{"prefix":"{usual.prefix}","digits":{usual.padding},"next":{usual.next}}}')"""
    )


SETTINGS = Listing(
    OrganisationSettings,
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
        "job_numbers": _numbers("job"),
        "quote_numbers": _numbers("quote"),
        "invoice_numbers": _numbers("invoice"),
        "credit_note_numbers": _numbers("creditNote"),
        "purchase_order_numbers": _numbers("purchaseOrder"),
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
    books_closed_until: KeptDay | None = Field(None, description="Nothing up to this date changes any more.")
    job_numbers: Numbering = omittable(description="How the numbers of new jobs look, and which comes next.")
    prices_include_tax: bool = omittable(description="Prices are told with tax, as to households; otherwise before it.")
    quote_numbers: Numbering = omittable(description="The same for new quotes.")
    purchase_order_numbers: Numbering = omittable(description="The same for new purchase orders.")
    materials_markup_percent: WholeNumber = omittable(
        ge=0,
        le=1000,
        title="Markup on materials",
        description="Percent added to the cost of billed materials that are not on the price list.",
    )
    language: Language = omittable(description="Of what customers are sent, where they have no other.")
    quote_valid_days: WholeNumber = omittable(
        ge=1, le=365, description="For how many days a quote can be accepted, where it says nothing else."
    )
    quote_terms: Paragraph | None = Field(None, description="Printed below new quotes.")
    invoice_numbers: Numbering = omittable(
        description="The same for invoices. They have no gap: the next is set before the first is issued."
    )
    credit_note_numbers: Numbering = omittable(description="The same for credit notes.")
    payment_terms_days: WholeNumber = omittable(
        ge=0,
        le=365,
        title="Days to pay",
        description="Days in which invoices are to be paid, where a customer has no other.",
    )
    invoice_notes: Paragraph | None = Field(None, description="Printed on new invoices.")
    mail_texts: MailTexts | None = Field(
        None, description="Words of your own in mails to customers; null for the usual ones."
    )


@operation(right=Right.SETTINGS_READ, effect=Effect.READ, rest="GET /settings", glances=True, on=SETTINGS)
def get_settings(_ctx: Context, _given: GetSettings, settings: OrganisationSettings) -> OrganisationSettings:
    """Get what the organisation has decided about its work.

    Working hours, what roles may see, rounding of hours, closed books, numbers, prices, quotes, invoices, mails.
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
def update_settings(ctx: Context, given: UpdateSettings, settings: OrganisationSettings) -> OrganisationSettings:
    """Change what the organisation has decided about its work.

    Only what is sent changes. What roles may see counts from the next request on.
    """
    return save(ctx, given, settings)


OPERATIONS = (get_settings, update_settings)


def save(ctx: Context, given: UpdateSettings, settings: OrganisationSettings) -> OrganisationSettings:
    """Keep what was sent of the settings."""
    renumbered = _renumbered(ctx, given)
    for field, series in renumbered.items():
        numbering.save(ctx, _NUMBERED[field], series)
    after = SETTINGS.save(ctx, settings, _kept(given, settings))
    if renumbered:
        # A series has a row of its own, and is told as one of the settings.
        ctx.pen.restamp(SETTINGS.table, settings.id, map(to_camel, renumbered), SETTINGS.tenant)
        after = SETTINGS.fetch(ctx, None)
    if after.prices_include_tax != settings.prices_include_tax:
        ctx.post(Letter(TOLD_OTHERWISE, {}, "What materials are billed at"))
    return after


def _kept(given: UpdateSettings, settings: OrganisationSettings) -> dict[str, Any]:
    changes = {name: value for name, value in given.sent(*_GRANTS, *_NUMBERED).items() if name in _COLUMNS}
    if "mail_texts" in changes:
        changes["mail_texts"] = given.mail_texts or MailTexts()
    sent = {grant: getattr(given, name) for name, grant in _GRANTS.items() if name in given.model_fields_set}
    granted = {grant for grant in Grant if sent.get(grant, grant in settings.grants.split())}
    if sent:
        changes["grants"] = " ".join(sorted(granted))
    return changes


_COLUMNS = (
    "working_hours",
    "hours_rounding_minutes",
    "books_closed_until",
    "prices_include_tax",
    "language",
    "quote_valid_days",
    "quote_terms",
    "payment_terms_days",
    "invoice_notes",
    "mail_texts",
    "materials_markup_percent",
)
# The series by the field that is about them.
_NUMBERED = {
    "job_numbers": "job",
    "quote_numbers": "quote",
    "invoice_numbers": "invoice",
    "credit_note_numbers": "creditNote",
    "purchase_order_numbers": "purchaseOrder",
}
# Those whose numbers must differ, and what the others are called.
_APART = (
    ("invoice_numbers", "credit_note_numbers", "credit notes"),
    ("credit_note_numbers", "invoice_numbers", "invoices"),
)
_GRANTS = {
    "members_see_prices": Grant.MEMBERS_SEE_PRICES,
    "members_see_team_schedule": Grant.MEMBERS_SEE_TEAM_SCHEDULE,
    "subcontractors_log_hours": Grant.SUBCONTRACTORS_LOG_HOURS,
}


def _renumbered(ctx: Context, given: UpdateSettings) -> dict[str, numbering.Series]:
    """The series that are to go on otherwise than they would, by the fields that say so."""
    wished: dict[str, numbering.Series] = {}
    faults: list[Fault] = []
    for field, kind in _NUMBERED.items():
        if field in given.model_fields_set:
            series, numbers = numbering.find(ctx, kind), getattr(given, field)
            following = numbers.next or series.next
            prefix = series.prefix if numbers.prefix is None else numbers.prefix
            wish = numbering.Series(prefix, numbers.digits or series.padding, following)
            wished |= {field: wish} if wish != series else {}
            faults += [Fault(f"{to_camel(field)}.next", problem) for problem in _against(ctx, kind, series, following)]
    faults += _shared_numbers(ctx, wished)
    if faults:
        raise Invalid(faults)
    return wished


def _shared_numbers(ctx: Context, wished: Mapping[str, numbering.Series]) -> Iterator[Fault]:
    """Refuse prefixes by which an invoice and a credit note could have the same number."""
    for field, other, called in _APART:
        if field in wished:
            theirs = wished.get(other) or numbering.find(ctx, _NUMBERED[other])
            if number := numbering.find_clash(ctx, wished[field], _NUMBERED[other], theirs):
                told = f"would let an invoice and a credit note share the number {number}; {called} have this prefix"
                yield Fault(f"{to_camel(field)}.prefix", f"{told}, so choose another")


def _against(ctx: Context, kind: str, series: numbering.Series, following: int) -> Iterator[str]:
    """Why a series cannot go on with this number."""
    if following < series.next:
        yield f"is below {series.next}, and numbers are given once"
    if following > series.next and numbering.is_settled(ctx, kind):
        yield f"must stay {series.next}: these numbers have no gap, and the first was given already"
