"""Output models of the overview."""

from pydantic import BaseModel, Field

from mainstay.values.model_config import OUTPUT_CONFIG
from mainstay.vocabulary.record_json import MoneyText
from mainstay.vocabulary.schemas import Output


class Need(BaseModel):
    """Records that wait for someone."""

    model_config = OUTPUT_CONFIG

    what: str = Field(description="What they are, in a few words.", examples=["Hours to approve"])
    count: int = Field(description="How many there are; 100 stands for 100 and more.")
    amount: MoneyText | None = Field(
        description="What they come to, where that is money and there are not very many.", examples=["1440.00"]
    )
    url: str = Field(description="Exactly those, in the office.")
    operation: str = Field(description="What lists exactly those.", examples=["list_hours"])
    given: dict[str, object] = Field(description="With which input.", examples=[{"status": "submitted"}])


class RevenueNow(BaseModel):
    """What was invoiced without tax, less what was credited."""

    model_config = OUTPUT_CONFIG

    this_month: MoneyText = Field(description="Until today.", examples=["12400.00"])
    last_month: MoneyText = Field(description="All of it.", examples=["18250.50"])
    url: str = Field(description="The report of it, in the office.")
    operation: str = Field(description="What tells more.", examples=["get_report"])
    given: dict[str, object] = Field(description="With which input.", examples=[{"name": "revenue"}])


class OverviewOut(Output):
    """What needs someone now."""

    noun = "overview"

    on: str = Field(description="Today's date in the organisation's time zone.", json_schema_extra={"format": "date"})
    needs: list[Need] = Field(description="What waits, the most pressing first; what does not wait is left out.")
    currency: str = Field(description="Of every amount here.")
    revenue: RevenueNow | None = Field(
        description="Null for those who see no reports, and where it takes get_report to sum it up."
    )
    changed_by_apps: int = Field(
        description="How often connected apps changed something since yesterday began, up to 100."
    )
    hidden: list[str] = Field(description="The fields that say nothing here because your role may not see them.")
