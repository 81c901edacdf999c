"""What needs someone now."""

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from mainstay.terms.shapes import Shown


class Need(BaseModel):
    """Records that wait for someone."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True)

    what: str = Field(description="What they are, in a few words.", examples=["Hours to approve"])
    count: int = Field(description="How many there are; 100 stands for 100 and more.")
    url: str = Field(description="Exactly those, in the office.")
    operation: str = Field(description="What lists exactly those.", examples=["list_hours"])
    given: dict[str, object] = Field(description="With which input.", examples=[{"status": "submitted"}])


class OverviewOut(Shown):
    """What needs someone now."""

    noun = "overview"

    on: str = Field(description="Today's date in the organisation's time zone.", json_schema_extra={"format": "date"})
    needs: list[Need] = Field(description="What waits, the most pressing first; what does not wait is left out.")
    changed_by_apps: int = Field(description="How often connected apps changed something within a day, up to 100.")
