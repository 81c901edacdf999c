"""The input of the list of invoices."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.business.invoices.model import InvoiceKind, InvoiceStatusFilter
from mainstay.values.descriptions import describe
from mainstay.values.fields import STARTING_AFTER, Day, RecordReference, make_id_validator
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.schemas import LastDay, LastDueDay, ListInput


class ListInvoices(ListInput):
    """The invoices to list."""

    starting_after: Annotated[str | None, make_id_validator("invoice")] = STARTING_AFTER
    status: InvoiceStatusFilter | None = Field(
        None,
        description=describe(
            "Only invoices with this status. [[`unpaid`: all that customers still owe; "
            "`sent`: not due yet; `overdue`: oldest due date first.]]"
        ),
    )
    kind: InvoiceKind | None = Field(None, description="Only invoices of this kind.")
    customer_id: Annotated[str | None, make_id_validator("customer")] = Field(
        None, title="Customer", description="Only invoices for this customer."
    )
    job_id: Annotated[str | None, RecordReference(prefix="job")] = Field(
        None, title="Job", description=describe("[[Only invoices for this job, by ID or number.]]")
    )
    quote_id: Annotated[str | None, RecordReference(prefix="quote")] = Field(
        None, title="Quote", description=describe("[[Only invoices for this quote, by ID or number.]]")
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Issued on or after this date.")
    until: LastDay | None = Field(None, description="Issued on or before this date.")
    due_from: Day | None = Field(None, title="Due from", description="Due on or after this date.")
    due_until: LastDueDay | None = Field(
        None,
        title="Due to",
        description=describe(
            "[[Due on or before this date; with status `unpaid`: what customers should have paid by then.]]"
        ),
    )
    text: SearchText | None = Field(
        None, title="Search", description="Number, amount, or words in the title or the customer's name."
    )
    order: Literal["newest", "issued", "due"] = Field(
        "newest",
        description=describe(
            "[[`newest` first, last `issued` first, or earliest `due` first, without those that have no date.]]"
        ),
    )
    totals: bool = Field(
        default=False,
        description=describe(
            "[[Adds `totals`: the number of invoices in the whole list, their total and the "
            "amount due.]] Can't be combined with text."
        ),
    )

    def fixed_order(self) -> str | None:
        """Return the order that fits a filter by date of issue or due date."""
        if self.from_ or self.until:
            return "issued"
        return "due" if self.status == "overdue" or self.due_from or self.due_until else None
