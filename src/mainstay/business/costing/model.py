"""What a job took and what of it is to be billed, as it is shown."""

from pydantic import BaseModel, Field

from mainstay.business.hours.model import Status
from mainstay.business.jobs.model import Billing
from mainstay.terms.shapes import Shown
from mainstay.terms.wire import PriceText
from mainstay.values.models import TOLD


class CostedHours(BaseModel):
    """The hours of a job in one state."""

    model_config = TOLD

    status: Status
    entries: int = Field(description="How many.")
    minutes: int
    cost: PriceText = Field(description="By each person's cost per hour.")
    value: PriceText = Field(
        description="What of it is billable, by each person's rate, rounded as when billing; before tax."
    )
    without_rate: int = Field(description="Entries whose person had no cost per hour: they are not in the cost.")


class CostedMaterials(BaseModel):
    """What was bought for a job."""

    model_config = TOLD

    lines: int = Field(description="How many lines of orders and bills.")
    cost: PriceText = Field(description="Received or billed by the supplier, before tax.")
    value: PriceText = Field(
        description="What of it is billable, at the price list's price or with the markup; before tax."
    )


class UnbilledOut(Shown):
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


class JobCostingOut(Shown):
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
    cost: PriceText = Field(description="Of all hours but those that were rejected, and of the materials.")
    value: PriceText = Field(description="Likewise, what is billable of them, before tax.")
    unbilled: PriceText = Field(
        description="What of the value is on no invoice: materials, and hours that are approved."
    )
    margin: PriceText | None = Field(
        description="What the job brings less what it cost: its budget where the price is fixed, else the value of its"
        " hours and materials, both before tax. Null for a fixed price without a budget."
    )


def margin(billing: Billing, budget: int | None, value: int, cost: int) -> int | None:
    """What is left of what a job brings."""
    if billing == "fixed":
        return None if budget is None else budget - cost
    return (value if billing == "timeAndMaterials" else 0) - cost
