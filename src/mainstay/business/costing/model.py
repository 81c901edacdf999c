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
    entries: int = Field(description="The number of time entries.")
    minutes: int
    cost: PriceText = Field(description="At each person's cost per hour.")
    value: PriceText = Field(
        description="The billable part at each person's hourly rate, rounded as for invoicing; before tax."
    )
    without_rate: int = Field(description="Entries of people without a cost per hour, which are not in the cost.")


class CostedMaterials(BaseModel):
    """What was bought for a job."""

    model_config = OUTPUT_CONFIG

    lines: int = Field(description="The number of lines on orders and bills.")
    cost: PriceText = Field(description="What was received or billed by suppliers, before tax.")
    value: PriceText = Field(description="The billable part at price list prices or with the markup; before tax.")


class UnbilledOut(Output):
    """The hours and materials of a job that are billable and on no invoice."""

    noun = "unbilled"

    id: str = Field(description="The job's ID.")
    job_number: str = Field(title="Job")
    job_title: str = Field(title="Job title")
    customer_id: str
    customer_name: str = Field(title="Customer")
    entries: int = Field(description="The number of approved time entries.")
    minutes: int = Field(title="Worked", description="The time worked.")
    billable_minutes: int = Field(title="To invoice", description="Each entry rounded up as set in the settings.")
    hours_amount: PriceText = Field(
        description="The amount for the billable minutes; with tax if your prices include tax."
    )
    without_rate: int = Field(description="Entries of people without an hourly rate, which are not in the amount.")
    materials: int = Field(description="The number of lines of materials.")
    materials_amount: PriceText = Field(
        description="At price list prices or with the markup; with tax if your prices include tax."
    )
    amount: PriceText = Field(description="Hours and materials together.")
    first_on: str = Field(title="From", json_schema_extra={"format": "date"})
    last_on: str = Field(title="To", json_schema_extra={"format": "date"})


class JobCostingOut(Output):
    """The hours, materials, costs and margin of a job."""

    noun = "jobCosting"

    id: str = Field(description="The job's ID.")
    job_number: str = Field(title="Job")
    job_title: str = Field(title="Job title")
    billing: Billing
    currency: str
    budget: PriceText | None = Field(description="The agreed or estimated price, excluding tax.")
    planned_minutes: int = Field(title="Planned", description="The time of visits with a start and an end.")
    worked_minutes: int = Field(title="Worked", description="All hours that were not rejected.")
    hours: list[CostedHours] = Field(description="By status. A running timer counts once it is stopped.")
    materials: CostedMaterials
    other_cost: PriceText = Field(
        title="Cost of other lines",
        description="The cost of invoice lines for neither its hours nor its materials, unless its price is fixed.",
    )
    cost: PriceText = Field(description="The cost of materials and of all hours that were not rejected.")
    value: PriceText = Field(description="The billable hours and materials, before tax.")
    unbilled: PriceText = Field(description="The part of the value on no invoice: materials and approved hours.")
    invoiced: PriceText = Field(description="Before tax, minus credit notes.")
    to_invoice: PriceText = Field(
        title="Still to invoice",
        description="Hours not invoiced yet, approved or not, materials not invoiced yet, and drafts; or the rest of"
        " a fixed price. Before tax.",
    )
    margin: PriceText | None = Field(
        description="Revenue invoiced and still to invoice, without revenue of unknown cost, minus costs; as in the"
        " report jobProfit. Null if too little is known: a fixed price without hours or materials, unbillable hours"
        " of people without a cost per hour, or no other revenue."
    )
    uncosted: int = Field(
        title="Lines without cost",
        description="Time entries without a cost per hour, and invoice lines without a cost.",
    )
    uncosted_revenue: PriceText = Field(
        title="Revenue of these lines", description="The revenue of lines without cost, which is not in the margin."
    )
