"""Hours and materials that are on no invoice yet, by job."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlencode

from mainstay.business.costing.model import UnbilledOut
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.jobs.model import TO_BILL, JobOut
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.organisation.settings import get_settings
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, refusal_variables, status_of
from mainstay.doors.office.kit.reference_fields import ReferenceFields, restore_ids
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import FormField, default_values, form_fields_of
from mainstay.doors.pages.forms import query_parameters
from mainstay.kernel.catalogue import check_permission
from mainstay.vocabulary.refusal import Invalid
from mainstay.vocabulary.schemas import RecordPage

_PATH = f"{TIME_ENTRIES.path}/to-bill"
_PAGE_SIZE = 50
_CUSTOMER_FIELD = FormField("customerId", "Customer", None, "reference", required=False, refers_to="customer")
_FILTERS = ("customerId", "jobId", "startingAfter")


@dataclass(frozen=True)
class ToBillPages:
    """The page of unbilled hours and materials."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of this page."""
        return [Route("GET", _PATH, self.office.require_sign_in(self.show))]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the jobs with something to bill. The address can filter them by customer or job."""
        check_permission(list_unbilled, request.actor)
        query = restore_ids([_CUSTOMER_FIELD], query_parameters(request.http_request))
        filters = {name: text for name, text in query.items() if name in _FILTERS and text}
        references = ReferenceFields(self.office)
        [customer], fields = await references.add_filter_choices(request, [_CUSTOMER_FIELD], filters)
        page: RecordPage[UnbilledOut] = RecordPage([], has_more=False, count=0, totals=None)
        list_query: Mapping[str, object] = {}
        refusal = None
        try:
            list_query = await references.resolve_ids(request, [customer], filters)
            page = await self.office.perform(request, list_unbilled, {**list_query, "limit": _PAGE_SIZE})
        except Invalid as invalid:
            refusal = invalid
        list_filters = {name: text for name, text in filters.items() if name != "startingAfter"}
        is_complete = not page.has_more and "startingAfter" not in filters
        return self.office.render_page(
            "to_bill.html",
            request,
            status_of(refusal),
            area="Invoices",
            can_draft=request.can_perform(draft_invoice),
            default_fields=default_values(form_fields_of(draft_invoice, request.actor.permissions)),
            customer=customer,
            fields=defaultdict(str, fields),
            is_filtered=bool(list_filters),
            jobs=[{**vars(job), "hours_path": _approved_hours_path(job.id)} for job in page.data],
            done_jobs=await self._list_done_jobs(request, list_query, page.data),
            total=str(sum(Decimal(job.amount) for job in page.data)) if is_complete and page.data else None,
            first_page=_page_path(list_filters) if "startingAfter" in filters else None,
            next_page=_page_path({**list_filters, "startingAfter": page.data[-1].id}) if page.has_more else None,
            prices_include_tax=(await self.office.perform(request, get_settings)).prices_include_tax,
            **refusal_variables(refusal),
        )

    async def _list_done_jobs(
        self, request: OfficeRequest, list_query: Mapping[str, object], listed_jobs: Sequence[UnbilledOut]
    ) -> list[JobOut]:
        """Return the jobs that are done and not invoiced, except those listed with their hours and materials."""
        if "jobId" in list_query or "startingAfter" in list_query:
            return []
        customer_filter = {name: value for name, value in list_query.items() if name == "customerId"}
        page = await self.office.perform(request, list_jobs, {**customer_filter, "stage": TO_BILL, "limit": _PAGE_SIZE})
        listed_ids = {job.id for job in listed_jobs}
        return [job for job in page.data if job.id not in listed_ids]


def _approved_hours_path(job_id: str) -> str:
    return f"{TIME_ENTRIES.path}?{urlencode({'jobId': job_id, 'status': 'approved'})}"


def _page_path(filters: Mapping[str, str]) -> str:
    return _PATH + (f"?{urlencode(filters)}" if filters else "")
