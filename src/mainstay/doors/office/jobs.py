"""Jobs: the list, the page of each, and the board by stage."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from mainstay.business.invoices.operations import list_invoices
from mainstay.business.jobs.model import DONE, ON_BOARD, STAGES_OF_OFFICE, moves
from mainstay.business.jobs.operations import create_job, get_job, list_jobs
from mainstay.business.purchasing.bills import list_bills, record_bill
from mainstay.business.purchasing.operations import draft_purchase_order, list_purchase_orders
from mainstay.business.quotes.operations import draft_quote, list_quotes
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.beside import Related
from mainstay.doors.office.desk import Desk, Guest, told
from mainstay.doors.office.job_page import JobPage
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.words import place, side_by_side
from mainstay.terms.rights import withheld
from mainstay.values.words import words_of

_CARDS = 20

JOBS = Arrangement(
    title="Jobs",
    lead="What is to be done, for whom, and how far it is.",
    path="/jobs",
    area="Jobs",
    gets=get_job,
    lists=list_jobs,
    creates=create_job,
    called=lambda job: side_by_side(job["number"], job["title"]),
    below=lambda job: " · ".join(filter(None, (job["customerName"], place(job["siteAddress"])))),
    columns=("status", "nextAction", "dueOn", "leadPersonName"),
    facts=(
        "customerName",
        "siteName",
        "siteAddress",
        "description",
        "priority",
        "dueOn",
        "nextVisitAt",
        "leadPersonName",
        "tags",
        "billing",
        "budget",
        "customerOrderNumber",
        "cancelReason",
        "externalRef",
    ),
    # Begins with those that are live, the newest first: in the order of due dates, jobs without one would be missing.
    tabs={"live": "Live", "enquiry": "Enquiries", "open": "Open", "inProgress": "In progress", "onHold": "On hold"}
    | {"done": "Done", "closed": "Closed", "cancelled": "Cancelled", "all": "All"},
    above="jobs_above.html",
    ways="job_ways.html",
    more="job.html",
    possible={"status": lambda job, by: moves(job["status"], by)},
    empty="No jobs yet. Make the first one for a customer.",
    related=(
        Related(
            "Quotes", list_quotes, "jobId", "/quotes", ("status", "total", "validUntil"), draft_quote, "/quotes/new"
        ),
        Related("Invoices", list_invoices, "jobId", "/invoices", ("status", "total", "due", "dueOn")),
        Related(
            "Orders",
            list_purchase_orders,
            "jobId",
            "/purchasing/orders",
            ("status", "total", "neededOn"),
            draft_purchase_order,
            "/purchasing/orders/new",
        ),
        Related(
            "Suppliers' bills",
            list_bills,
            "jobId",
            "/purchasing/bills",
            ("status", "total", "dueOn"),
            record_bill,
            "/purchasing/bills/new",
        ),
    ),
)


@dataclass(frozen=True)
class Jobs:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        board = Route("GET", "/jobs/board", self.desk.signed_in(self.board))
        return [board, *Room(self.desk, JOBS, shows=JobPage(self.desk, JOBS).shown).routes()]

    async def board(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Every live job at its stage, with what is to be done next."""
        untold = withheld([STAGES_OF_OFFICE], guest.actor.rights)
        columns = [await self._column(guest, "stage", stage) for stage in ON_BOARD if stage not in untold]
        if untold:
            # How far the office is with what is done is not told to the field.
            columns.append(await self._column(guest, "status", DONE))
        return self.desk.page("board.html", guest, of=JOBS, columns=columns, may_create=guest.may(create_job))

    async def _column(self, guest: Guest, field: str, value: str) -> dict[str, Any]:
        page = await self.desk.list(guest, list_jobs, {field: value, "limit": _CARDS})
        return {
            "name": value,
            "list": "/jobs?" + urlencode({"status": "all", field: value}),
            "words": words_of(value),
            "count": told(page["count"]),
            "jobs": page["data"],
            "more": page["hasMore"],
        }
