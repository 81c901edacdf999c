"""Jobs: the list, the page of each, and the board by stage."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from mainstay.business.customers.store import CUSTOMERS, SITES
from mainstay.business.jobs.model import BOARD_STAGES, DONE, OFFICE_STAGES, JobOut, settable_statuses
from mainstay.business.jobs.operations import change_job_status, create_job, list_jobs, update_job
from mainstay.business.jobs.store import JOBS
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, format_count
from mainstay.doors.office.kit.record_layout import RecordLayout, SelectionAction
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.related_lists import RelatedList
from mainstay.doors.office.work.job_page import JobPageVariables
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_address, join_isolated
from mainstay.kernel.operation import Operation
from mainstay.values.choices import to_label
from mainstay.values.ids import is_id
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import find_withheld_values

_MAX_CARDS = 20

JOBS_LAYOUT = RecordLayout(
    kind=JOBS,
    lead="All work, from enquiry to completion.",
    create_operation=create_job,
    title_of=lambda job: join_isolated(job.number, job.title),
    subtitle_of=lambda job: " · ".join(filter(None, (job.customer_name, format_address(job.site_address)))),
    columns=("status", "nextAction", "dueOn", "leadPersonName"),
    facts=(
        "customerName",
        "siteName",
        "siteAddress",
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
    main_text="description",
    # The newest live jobs come first. Ordered by due date, jobs without one would be missing.
    tabs={"live": "Live", "enquiry": "Enquiries", "open": "Open", "inProgress": "In progress", "onHold": "On hold"}
    | {"done": "Done", "closed": "Closed", "cancelled": "Cancelled", "all": "All"},
    list_header="jobs_header.html",
    first_fields=("customerId", "siteId", "title", "description", "dueOn", "leadPersonId"),
    page_header="job_actions.html",
    page_body="job.html",
    page_side="job_side.html",
    has_diary=True,
    form_leads={
        create_job.name: "",
        change_job_status.name: "If you close a job with work that is not invoiced yet, you get a warning.",
    },
    possible_choices={"status": lambda job, by: settable_statuses(job.status, by)},
    selection_actions=(
        SelectionAction(
            update_job,
            "Assign lead",
            asks="leadPersonId",
            notice=lambda count: Message("{count} job assigned.", plural="{count} jobs assigned.", count=count),
        ),
    ),
    empty_text="No jobs yet. Create your first job.",
    shown_on=(
        RelatedList(CUSTOMERS, "customerId", ("status", "stage", "dueOn"), can_add=True),
        RelatedList(SITES, "siteId", ("status", "stage", "dueOn")),
    ),
)


@dataclass(frozen=True)
class JobPages:
    """The pages of jobs, and the board."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        board = Route("GET", f"{JOBS.path}/board", self.office.require_sign_in(self.show_board))
        return [
            board,
            *RecordPages(
                self.office,
                JOBS_LAYOUT,
                add_variables=JobPageVariables(self.office, JOBS_LAYOUT).collect,
                add_form_variables=self._form_variables,
            ).routes(),
        ]

    async def _form_variables(
        self, request: OfficeRequest, operation: Operation, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return what is likely for a new job: the site and the lead of the customer's last one.

        Without such a lead, it is the person who creates the job if they have led one before.
        """
        if operation is not create_job or request.http_request.method != "GET":
            return {}
        customer_id = fields.get("customerId", "")
        last = (
            await self._find_last_job(request, {"customerId": customer_id}) if is_id(customer_id, "customer") else None
        )
        lead_id = last and last.lead_person_id
        if (
            lead_id is None
            and request.actor.id
            and await self._find_last_job(request, {"leadPersonId": request.actor.id})
        ):
            lead_id = request.actor.id
        known = {"siteId": last and last.site_id, "leadPersonId": lead_id}
        return {"known_fields": {name: value for name, value in known.items() if value and not fields.get(name)}}

    async def _find_last_job(self, request: OfficeRequest, filters: Mapping[str, str]) -> JobOut | None:
        page = await self.office.perform(request, list_jobs, {**filters, "limit": 1})
        return next(iter(page.data), None)

    async def show_board(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the board: every live job at its stage, with what to do next."""
        hidden_stages = find_withheld_values([OFFICE_STAGES], request.actor.permissions)
        columns = [
            await self._build_column(request, "stage", stage) for stage in BOARD_STAGES if stage not in hidden_stages
        ]
        if hidden_stages:
            # People in the field do not see the office's stages of finished jobs.
            columns.append(await self._build_column(request, "status", DONE))
        return self.office.render_page(
            "board.html",
            request,
            of=JOBS_LAYOUT,
            columns=columns,
            sees_billing=not hidden_stages,
            can_create=request.can_perform(create_job),
        )

    async def _build_column(self, request: OfficeRequest, field: str, value: str) -> dict[str, Any]:
        page = await self.office.list_records(request, list_jobs, {field: value, "limit": _MAX_CARDS})
        return {
            "name": value,
            "list": f"{JOBS.path}?" + urlencode({"status": "all", field: value}),
            "words": to_label(value),
            "count": format_count(page.count),
            "jobs": page.data,
            "more": page.has_more,
        }
