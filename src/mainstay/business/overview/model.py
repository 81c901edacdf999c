"""Output models of the overview."""

from pydantic import BaseModel, Field

from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.schemas import Output


class Need(BaseModel):
    """Records that need attention."""

    model_config = OUTPUT_CONFIG

    what: str = Field(description="A short title.", examples=["Time entries to approve"])
    count: int = Field(description="How many; 100 means 100 or more.")
    amount: MoneyText | None = Field(
        description="Their total, if it is money and there are not too many.", examples=["1440.00"]
    )
    url: str = Field(description="The list on the website.")
    operation: str = Field(description="The operation that lists them.", examples=["list_hours"])
    given: dict[str, object] = Field(description="The input for it.", examples=[{"status": "submitted"}])


class RevenueNow(BaseModel):
    """Invoiced less credited, excluding tax."""

    model_config = OUTPUT_CONFIG

    this_month: MoneyText = Field(description="Up to today.", examples=["12400.00"])
    last_month: MoneyText = Field(description="The whole month.", examples=["18250.50"])
    url: str = Field(description="The report on the website.")
    operation: str = Field(description="The operation with the details.", examples=["get_report"])
    given: dict[str, object] = Field(description="The input for it.", examples=[{"name": "revenue"}])


class OverviewOut(Output):
    """What needs attention now."""

    noun = "overview"

    on: str = Field(description="Today's date in the organisation's time zone.", json_schema_extra={"format": "date"})
    needs: list[Need] = Field(description="What needs attention, most urgent first.")
    currency: str = Field(description="The currency of all amounts.")
    revenue: RevenueNow | None = Field(
        description="Null if you don't see reports, or if there is too much; then use get_report."
    )
    changed_by_apps: int = Field(description="Changes by connected apps since the start of yesterday, up to 100.")
    hidden: list[str] = Field(description="The fields that are empty because your role may not see them.")
