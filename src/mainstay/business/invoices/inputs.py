"""What a list of invoices is asked for by."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.invoices.model import Kind, Narrowed
from mainstay.terms.shapes import LastDay, LastDueDay, ListInput
from mainstay.values.fields import LAST_SEEN, Day, Reference, id_of
from mainstay.values.search import SearchText


class ListInvoices(ListInput):
    """Which invoices to list."""

    starting_after: Annotated[str | None, id_of("invoice")] = LAST_SEEN
    status: Narrowed | None = Field(
        None,
        description="Only these; `unpaid` are all of which something is to be paid, `sent` those not due yet;"
        " `overdue` come first due first.",
    )
    kind: Kind | None = Field(None, description="Only these.")
    customer_id: Annotated[str | None, id_of("customer")] = Field(
        None, title="Customer", description="Only invoices for this customer."
    )
    job_id: Annotated[str | None, Reference(to="job")] = Field(
        None, title="Job", description="Only invoices for this job, by id or number."
    )
    quote_id: Annotated[str | None, Reference(to="quote")] = Field(
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
        """Return the order of the date by which the invoices are narrowed."""
        if self.from_ or self.until:
            return "issued"
        return "due" if self.status == "overdue" or self.due_from or self.due_until else None
