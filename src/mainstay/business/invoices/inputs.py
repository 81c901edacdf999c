"""The input of the list of invoices."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.invoices.model import InvoiceKind, InvoiceStatusFilter
from mainstay.values.fields import STARTING_AFTER, Day, RecordReference, make_id_validator
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.schemas import LastDay, LastDueDay, ListInput


class ListInvoices(ListInput):
    """Which invoices to list."""

    starting_after: Annotated[str | None, make_id_validator("invoice")] = STARTING_AFTER
    status: InvoiceStatusFilter | None = Field(
        None,
        description="Only these; `unpaid` are all of which something is to be paid, `sent` those not due yet;"
        " `overdue` come first due first.",
    )
    kind: InvoiceKind | None = Field(None, description="Only these.")
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only invoices for this customer."
    )
    job_id: Annotated[str | None, RecordReference(prefix="job")] = Field(
        None, title="Job", description="Only invoices for this job, by id or number."
    )
    quote_id: Annotated[str | None, RecordReference(prefix="quote")] = Field(
        None, title="Quote", description="Only invoices of this quote, by id or number."
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Only those issued on this date or later.")
    until: LastDay | None = Field(None, description="Only those issued on this date or earlier.")
    due_from: Day | None = Field(None, title="Due from", description="Only those due on this date or later.")
    due_until: LastDueDay | None = Field(
        None,
        title="Due until",
        description="Only those due on this date or earlier; with status `unpaid`, what to pay.",
    )
    text: SearchText | None = Field(None, title="Search", description="Number, amount, or words of title or customer.")
    order: Literal["newest", "issued", "due"] = Field(
        "newest",
        description="`newest` first, last `issued` first, or first `due` first, without those that have no date.",
    )
    totals: bool = Field(
        default=False,
        description="Whether to answer also with `totals`: how many invoices the whole list has, and the sums of their"
        " totals and of what is due. Not with text.",
    )

    def fixed_order(self) -> str | None:
        """Return the order that fits a filter by date of issue or due date."""
        if self.from_ or self.until:
            return "issued"
        return "due" if self.status == "overdue" or self.due_from or self.due_until else None
