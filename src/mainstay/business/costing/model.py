"""The outputs of job costing and of unbilled work."""

from pydantic import BaseModel, Field

from mainstay.business.hours.model import EntryStatus
from mainstay.business.jobs.model import Billing
from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.vocabulary.record_json import PriceText
from mainstay.vocabulary.schemas import Output


class CostedHours(BaseModel):
    """The hours of a job in one state."""

    model_config = OUTPUT_CONFIG

    status: EntryStatus
    entries: int = Field(description="How many.")
    minutes: int
    cost: PriceText = Field(description="By each person's cost per hour.")
    value: PriceText = Field(
        description="What of it is billable, by each person's rate, rounded as when billing; before tax."
    )
    without_rate: int = Field(description="Entries whose person had no cost per hour: they are not in the cost.")


class CostedMaterials(BaseModel):
    """What was bought for a job."""

    model_config = OUTPUT_CONFIG

    lines: int = Field(description="How many lines of orders and bills.")
    cost: PriceText = Field(description="Received or billed by the supplier, before tax.")
    value: PriceText = Field(
        description="What of it is billable, at the price list's price or with the markup; before tax."
    )


class UnbilledOut(Output):
    """What of a job's hours and materials is billable and on no invoice."""

    noun = "unbilled"

    id: str = Field(description="The job's id.")
    job_number: str = Field(title="Job")
    job_title: str = Field(title="Job's title")
    customer_id: str
    customer_name: str = Field(title="Customer")
    entries: int = Field(description="How many entries of hours, all approved.")
    minutes: int = Field(title="Worked", description="As they were worked.")
    billable_minutes: int = Field(title="To bill", description="Each entry rounded up as the settings say.")
    hours_amount: PriceText = Field(
        description="What the billable minutes come to, as prices are told here: before tax or with it."
    )
    without_rate: int = Field(description="Entries whose person had no rate to bill at: they are not in the amount.")
    materials: int = Field(description="How many lines of materials.")
    materials_amount: PriceText = Field(
        description="What they come to, at the price list's price or with the markup; told likewise."
    )
    amount: PriceText = Field(description="Hours and materials together.")
    first_on: str = Field(title="From", json_schema_extra={"format": "date"})
    last_on: str = Field(title="Until", json_schema_extra={"format": "date"})


class JobCostingOut(Output):
    """What a job took, and what is left of it."""

    noun = "jobCosting"

    id: str = Field(description="The job's id.")
    job_number: str = Field(title="Job")
    job_title: str = Field(title="Job's title")
    billing: Billing
    currency: str
    budget: PriceText | None = Field(description="What was agreed or estimated.")
    planned_minutes: int = Field(title="Planned", description="Of visits that have a beginning and an end.")
    worked_minutes: int = Field(title="Worked", description="Of all hours but those that were rejected.")
    hours: list[CostedHours] = Field(description="By state; a timer that runs counts once it is stopped.")
    materials: CostedMaterials
    other_cost: PriceText = Field(
        title="Cost of other lines",
        description="Of invoice lines that bill neither its hours nor its materials, unless its price is fixed.",
    )
    cost: PriceText = Field(description="Of all hours but those that were rejected, and of the materials.")
    value: PriceText = Field(description="What is billable of the hours and materials, before tax.")
    unbilled: PriceText = Field(
        description="What of the value is on no invoice: materials, and hours that are approved."
    )
    invoiced: PriceText = Field(description="Before tax, without what was credited.")
    to_invoice: PriceText = Field(
        title="Still to invoice",
        description="Unbilled hours, approved or not, unbilled materials, and drafts; or the rest of a fixed price."
        " Before tax.",
    )
    margin: PriceText | None = Field(
        description="What is invoiced and still to be invoiced, without what has no known cost, less the costs; as"
        " in the report jobProfit. Null if too little is known: a fixed price without hours or materials, unbillable"
        " hours of people without a cost per hour, or no other revenue."
    )
    uncosted: int = Field(
        title="Without a cost",
        description="Entries of hours without a cost per hour, and invoice lines without a cost.",
    )
    uncosted_revenue: PriceText = Field(
        title="Revenue without a cost", description="What those bring, which is not in the margin."
    )
