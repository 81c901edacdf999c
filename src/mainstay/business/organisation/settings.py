"""The organisation's settings: working hours, what roles may see, numbering, prices and documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.alias_generators import to_camel

from mainstay.business.organisation import numbering
from mainstay.business.organisation.email_texts import MailTexts
from mainstay.business.organisation.model import Subscription
from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.changes.outbox import OutboxTask
from mainstay.changes.undo import Inverse
from mainstay.documents.snapshot import Language
from mainstay.kernel.context import Context, SavedRecord
from mainstay.kernel.inverse import Act, restore_values
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.descriptions import describe
from mainstay.values.fields import Paragraph, StoredDay, WholeNumber, omittable_field
from mainstay.values.message import Message
from mainstay.values.part_changes import RecordPart
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Grant, Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input, Record, StoredRecord


class Numbering(RecordPart):
    """The format of one kind of number."""

    prefix: Annotated[str, Field(pattern=r"^([A-Z0-9/-]{0,9}[A-Z/-])?$")] = omittable_field(
        description="Comes before the number, e.g. INV-. Capital letters, digits, - and /, but no digit at the end."
    )
    digits: WholeNumber = omittable_field(ge=1, le=10, description="Minimum number of digits: 4 gives 0042.")
    next: WholeNumber | None = Field(None, ge=1, le=10**9, description="You can increase it, but not lower it.")


# The kind of the task that reprices materials after `prices_include_tax` has changed.
REPRICE_MATERIALS = "price_materials_anew"


class SettingsOut(Record):
    """The organisation's settings."""

    noun = "settings"
    office_path = "/settings/work-rules"

    working_hours: WorkingHours
    members_see_prices: bool = Field(
        title="Field staff can see prices", description="If not, prices are hidden from field staff."
    )
    members_see_team_schedule: bool = Field(
        title="Field staff can see the team's schedule", description="If not, field staff see only their own visits."
    )
    subcontractors_log_hours: bool = Field(
        title="Subcontractors can log hours", description="If not, only field staff and the office log hours."
    )
    hours_rounding_minutes: int = Field(
        title="Round hours up to (minutes)", description="For invoicing, each entry is rounded up."
    )
    books_closed_until: str | None = Field(
        title="Books closed up to",
        description="Records dated on or before this date can't be changed.",
        json_schema_extra={"format": "date"},
    )
    job_numbers: Numbering = Field(description="Their format, and the next number.")
    prices_include_tax: bool = Field(
        description="If you quote prices including tax, as is usual for private customers."
    )
    quote_numbers: Numbering = Field(description="Their format, and the next number.")
    purchase_order_numbers: Numbering = Field(description="Their format, and the next number.")
    materials_markup_percent: int = Field(
        title="Markup on materials",
        description="Percentage added to the cost of materials that are not on the price list.",
    )
    language: Language = Field(
        description="Language of customers' documents and emails, unless the customer has another."
    )
    quote_valid_days: int = Field(title="Quotes valid for (days)", description="How many days a quote can be accepted.")
    quote_terms: str | None = Field(description="Printed below new quotes.")
    invoice_numbers: Numbering = Field(description="Their format, and the next number.")
    credit_note_numbers: Numbering = Field(description="Their format, and the next number.")
    payment_terms_days: int = Field(
        title="Payment terms (days)", description="Days to pay an invoice, unless the customer has other terms."
    )
    invoice_notes: str | None = Field(title="Text on invoices", description="Printed on new invoices.")
    mail_texts: MailTexts = Field(description="Your own wording for emails to customers.")
    subscription: Subscription


@dataclass(frozen=True, slots=True)
class SettingsRecord(StoredRecord):
    """The settings, as seen by the rules."""

    output = SettingsOut

    grants: str
    prices_include_tax: bool

    @property
    def display_name(self) -> str:
        """The name of the settings as a record."""
        return "Settings"


def _series_json_sql(kind: str) -> str:
    """Return SQL for a number series as JSON. Prefixes contain no character that JSON would have to escape."""
    default = numbering.DEFAULT_SERIES[kind]
    return (
        """coalesce((SELECT '{"prefix":"' || prefix || '","digits":' || padding || ',"next":' || next || '}'"""
        f" FROM number_series WHERE number_series.organisation_id = :organisation AND number_series.kind = '{kind}'),"
        f""" '{{"prefix":"{default.prefix}","digits":{default.padding},"next":{default.next}}}')"""
    )


SETTINGS = Kind(
    SettingsRecord,
    source="organisation",
    label="settings",
    plural="settings",
    heading="Work",
    area="Settings",
    prefix="settings",
    id_field=None,
    tenant_column="id",
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
        "job_numbers": _series_json_sql("job"),
        "quote_numbers": _series_json_sql("quote"),
        "invoice_numbers": _series_json_sql("invoice"),
        "credit_note_numbers": _series_json_sql("creditNote"),
        "purchase_order_numbers": _series_json_sql("purchaseOrder"),
    },
)


class UpdateSettings(Input):
    """What to change; null clears."""

    working_hours: WorkingHours = omittable_field(description="Usual working hours. A person may have their own.")
    members_see_prices: bool = omittable_field(
        title="Field staff can see prices", description="If not, prices are hidden from field staff."
    )
    members_see_team_schedule: bool = omittable_field(
        title="Field staff can see the team's schedule", description="If not, field staff see only their own visits."
    )
    subcontractors_log_hours: bool = omittable_field(
        title="Subcontractors can log hours", description="If not, only field staff and the office log hours."
    )
    hours_rounding_minutes: Literal[0, 6, 15] = omittable_field(
        title="Round hours up to (minutes)",
        description=describe("For invoicing, each entry is rounded up. [[`0` for no rounding.]]"),
    )
    books_closed_until: StoredDay | None = Field(
        None, title="Books closed up to", description="Records dated on or before this date can't be changed."
    )
    job_numbers: Numbering = omittable_field(description="Their format, and the next number.")
    prices_include_tax: bool = omittable_field(
        description="If you quote prices including tax, as is usual for private customers."
    )
    quote_numbers: Numbering = omittable_field(description="Their format, and the next number.")
    purchase_order_numbers: Numbering = omittable_field(description="Their format, and the next number.")
    materials_markup_percent: WholeNumber = omittable_field(
        ge=0,
        le=1000,
        title="Markup on materials",
        description="Percentage added to the cost of invoiced materials that are not on the price list.",
    )
    language: Language = omittable_field(
        description="Language of customers' documents and emails, unless the customer has another."
    )
    quote_valid_days: WholeNumber = omittable_field(
        title="Quotes valid for (days)", ge=1, le=365, description="How many days new quotes can be accepted."
    )
    quote_terms: Paragraph | None = Field(None, description="Printed below new quotes.")
    invoice_numbers: Numbering = omittable_field(
        description="Their format, and the next number. Numbers have no gaps, so set the next number before you"
        " issue the first invoice."
    )
    credit_note_numbers: Numbering = omittable_field(description="Their format, and the next number.")
    payment_terms_days: WholeNumber = omittable_field(
        ge=0,
        le=365,
        title="Payment terms (days)",
        description="Days to pay an invoice, unless the customer has other terms.",
    )
    invoice_notes: Paragraph | None = Field(None, title="Text on invoices", description="Printed on new invoices.")
    mail_texts: MailTexts | None = Field(
        None, description=describe("[[Your own wording for emails to customers; null for the standard texts.]]")
    )


get_settings = declare_get(
    SETTINGS,
    "Get settings. Working hours, what roles may see, rounding of hours, closed books, numbers, prices, quotes,"
    " invoices and emails.",
    Permission.SETTINGS_READ,
    api_path="GET /settings",
)


def restore_settings(act: Act) -> Sequence[Inverse]:
    """Restore the previous values, except the next numbers: no number is used twice."""
    series = {*map(to_camel, _SERIES_KINDS)}
    return [
        inverse._replace(
            input={
                name: {part: was for part, was in value.items() if part != "next"} if name in series else value
                for name, value in inverse.input.items()
            }
        )
        for inverse in restore_values(act)
    ]


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /settings",
    doors=frozenset({Door.API, Door.OFFICE, Door.CLI}),
    on=SETTINGS,
    done_message="Settings saved.",
    undone_by=restore_settings,
    past_text="Settings changed",
)
def update_settings(ctx: Context, given: UpdateSettings, settings: SettingsRecord) -> SettingsRecord:
    """Edit settings.

    Changes to what roles may see apply at once. [[Only the fields sent change.]]
    """
    return save_settings(ctx, given, settings)


OPERATIONS = (get_settings, update_settings)


def save_settings(ctx: Context, given: UpdateSettings, settings: SettingsRecord) -> SettingsRecord:
    """Store the settings that were sent."""
    changed_series = _find_changed_series(ctx, given)
    for field, series in changed_series.items():
        numbering.save_series(ctx, _SERIES_KINDS[field], series)
    updated = SETTINGS.save(ctx, settings, _changed_columns(given, settings))
    if changed_series:
        # A number series is stored in a row of its own, but is part of the settings, so their version changes too.
        ctx.writer.bump_version(SETTINGS.table, settings.id, map(to_camel, changed_series), SETTINGS.tenant_column)
        updated = SETTINGS.fetch(ctx, None)
        ctx.saved.append(SavedRecord(settings, updated))
    if updated.prices_include_tax != settings.prices_include_tax:
        ctx.add_task(OutboxTask(REPRICE_MATERIALS, {}, Message("Update selling prices of materials")))
    return updated


def _changed_columns(given: UpdateSettings, settings: SettingsRecord) -> dict[str, Any]:
    changes = {
        name: value for name, value in given.sent_fields(*_GRANTS, *_SERIES_KINDS).items() if name in _PLAIN_COLUMNS
    }
    if "mail_texts" in changes:
        changes["mail_texts"] = given.mail_texts or MailTexts()
    sent_grants = {grant: getattr(given, name) for name, grant in _GRANTS.items() if name in given.model_fields_set}
    granted = {grant for grant in Grant if sent_grants.get(grant, grant in settings.grants.split())}
    if sent_grants:
        changes["grants"] = " ".join(sorted(granted))
    return changes


_PLAIN_COLUMNS = (
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
# The kind of number series by the settings field.
_SERIES_KINDS = {
    "job_numbers": "job",
    "quote_numbers": "quote",
    "invoice_numbers": "invoice",
    "credit_note_numbers": "creditNote",
    "purchase_order_numbers": "purchaseOrder",
}
# Pairs of series whose numbers must differ: field, and other field.
_DISTINCT_SERIES = (("invoice_numbers", "credit_note_numbers"), ("credit_note_numbers", "invoice_numbers"))
_GRANTS = {
    "members_see_prices": Grant.MEMBERS_SEE_PRICES,
    "members_see_team_schedule": Grant.MEMBERS_SEE_TEAM_SCHEDULE,
    "subcontractors_log_hours": Grant.SUBCONTRACTORS_LOG_HOURS,
}


def _find_changed_series(ctx: Context, given: UpdateSettings) -> dict[str, numbering.NumberSeries]:
    """Return the number series that change, by settings field."""
    changed: dict[str, numbering.NumberSeries] = {}
    faults: list[Fault] = []
    for field, kind in _SERIES_KINDS.items():
        if field in given.model_fields_set:
            series, wanted = numbering.find_series(ctx, kind), getattr(given, field)
            next_number = wanted.next or series.next
            prefix = series.prefix if wanted.prefix is None else wanted.prefix
            new_series = numbering.NumberSeries(prefix, wanted.digits or series.padding, next_number)
            changed |= {field: new_series} if new_series != series else {}
            faults += [
                Fault(f"{to_camel(field)}.next", problem)
                for problem in _find_number_problems(ctx, kind, series, next_number)
            ]
    faults += _find_shared_numbers(ctx, changed)
    if faults:
        raise Invalid(faults)
    return changed


def _find_shared_numbers(ctx: Context, changed: Mapping[str, numbering.NumberSeries]) -> Iterator[Fault]:
    """Yield a fault for each prefix with which an invoice and a credit note could get the same number."""
    for field, other in _DISTINCT_SERIES:
        if field in changed:
            other_series = changed.get(other) or numbering.find_series(ctx, _SERIES_KINDS[other])
            if number := numbering.find_shared_number(ctx, changed[field], _SERIES_KINDS[other], other_series):
                problem = Message(
                    "would give an invoice and a credit note the same number, {number}; choose another prefix",
                    number=number,
                )
                yield Fault(f"{to_camel(field)}.prefix", problem)


def _find_number_problems(
    ctx: Context, kind: str, series: numbering.NumberSeries, next_number: int
) -> Iterator[Message]:
    """Yield why a series cannot continue with this number."""
    if next_number < series.next:
        yield Message("is below {next}; numbers can't be used twice", next=series.next)
    if next_number > series.next and numbering.is_next_fixed(ctx, kind):
        yield Message("must stay {next}, because these numbers have no gaps and are already in use", next=series.next)
