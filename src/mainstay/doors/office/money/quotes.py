"""Quotes: the list, the page of each with its lines and the customer's answer, and the line editor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.invoices.store import INVOICES
from mainstay.business.issuing.document_files import is_issued
from mainstay.business.jobs.model import JobOut, has_to_be_planned
from mainstay.business.jobs.operations import get_job
from mainstay.business.jobs.store import JOBS
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.business.quotes.model import QuoteOut
from mainstay.business.quotes.operations import draft_quote, update_quote
from mainstay.business.quotes.sending import get_quote_proof, send_quote
from mainstay.business.quotes.store import QUOTES
from mainstay.business.schedule.operations import plan_visit
from mainstay.doors.office.kit.document_actions import order_draft_actions
from mainstay.doors.office.kit.line_editor import LinePages
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import DELIVERY_CHOICES, Action, FormPart, RecordLayout, SelectionAction
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.related_lists import RelatedList
from mainstay.doors.office.money.draft_previews import DraftPreviewPages
from mainstay.doors.office.work.quick_visits import plan_visit_action
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import join_isolated
from mainstay.doors.pages.page_language import translate_text
from mainstay.identity.links import LinkKind, LinkMaker
from mainstay.values.message import Message

_CHOSEN_PREFIX = "chosen "


def _read_chosen_options(_quote: QuoteOut, fields: Mapping[str, str], _display: DisplaySettings) -> dict[str, object]:
    """Return the ticked options as input of the operation."""
    return {"chosen": [name.removeprefix(_CHOSEN_PREFIX) for name in fields if name.startswith(_CHOSEN_PREFIX)]}


def _quote_subtitle(quote: QuoteOut) -> str:
    """Return the customer, and the revision if it is not the first."""
    number = quote.revision
    revision = translate_text("Revision {number}", number=number) if number > 1 else ""
    return join_isolated(quote.customer_name, revision, separator=" · ")


def _quote_fields(job: JobOut) -> dict[str, str]:
    """Return the fields that are filled in for a quote for a job."""
    known = {"customerId": job.customer_id, "siteId": job.site_id, "title": job.title}
    return {name: value for name, value in known.items() if value}


QUOTES_LAYOUT = RecordLayout(
    kind=QUOTES,
    lead="What you have quoted, and how customers answered.",
    create_operation=draft_quote,
    send_operation=send_quote,
    first_fields=("customerId", "jobId", "siteId", "title", "validUntil"),
    title_of=lambda quote: join_isolated(quote.number, quote.title),
    subtitle_of=_quote_subtitle,
    columns=("status", "total", "issuedOn", "validUntil"),
    optional_columns=("issuedOn",),
    facts=(
        "customerName",
        "siteName",
        "jobNumber",
        "issuedOn",
        "validUntil",
        "sentAt",
        "viewedAt",
        "decidedAt",
        "declineReason",
        "withdrawReason",
        "terms",
    ),
    tabs={"all": "All", "draft": "Drafts", "sent": "Sent", "expired": "Expired", "accepted": "Accepted"}
    | {"declined": "Declined", "withdrawn": "Withdrawn", "superseded": "Replaced"},
    choices={"deliver": DELIVERY_CHOICES},
    skipped_fields=frozenset({"lines", "edits", "chosen"}),
    page_body="quote.html",
    form_headers={send_quote.name: "document_links.html"},
    previews={send_quote.name: "draft"},
    form_leads={
        record_quote_decision.name: "For an answer by phone, email or on paper. If accepted, the job is created unless "
        "the quote has one, a deposit invoice is drafted if a deposit was quoted, and the customer gets an email."
    },
    form_parts={record_quote_decision.name: FormPart("chosen_options.html", _read_chosen_options)},
    selection_actions=(
        SelectionAction(
            send_quote,
            "Send",
            notice=lambda count: Message("{count} quote sent.", plural="{count} quotes sent.", count=count),
        ),
    ),
    summed_field="total",
    empty_text="No quotes yet. Create the first one for a customer.",
    shown_on=(
        RelatedList(CUSTOMERS, "customerId", ("status", "total", "validUntil"), can_add=True),
        RelatedList(
            JOBS, "jobId", ("total", "status"), can_add=True, adds_at_once=True, prefill=_quote_fields, is_side=True
        ),
    ),
)


@dataclass(frozen=True)
class QuotePages:
    """The pages of quotes."""

    office: OfficePages
    link_maker: LinkMaker

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            *RecordPages(self.office, QUOTES_LAYOUT, add_variables=self._page_variables).routes(),
            *DraftPreviewPages(self.office, QUOTES_LAYOUT, get_quote_proof).routes(),
            *LinePages(self.office, QUOTES_LAYOUT, update_quote, is_sales=True, has_options=True).routes(),
        ]

    async def _page_variables(self, request: OfficeRequest, quote: QuoteOut | None) -> dict[str, Any]:
        """Return what only a quote's page has: the customer's link, and the address that bills what they accepted."""
        if quote is None:
            return {}
        to_plan = await self._find_job_to_plan(request, quote)
        can_bill = quote.acceptance is not None and request.can_perform(draft_invoice)
        bill_path = f"{INVOICES.new_path}?{urlencode({'quoteId': quote.id})}"
        bill_action = Action("Create invoice", bill_path, is_next=to_plan is None)
        return {
            "public": self.link_maker.build_url(LinkKind.QUOTE, quote.id) if is_issued(quote) else None,
            "actions": [
                *([plan_visit_action(to_plan)._replace(is_next=True)] if to_plan else []),
                *([bill_action] if can_bill else []),
                *order_draft_actions(QUOTES_LAYOUT, quote, QUOTES_LAYOUT.actions_of(self.office, quote)),
            ],
            "editable": update_quote.name in quote.available_actions,
        }

    async def _find_job_to_plan(self, request: OfficeRequest, quote: QuoteOut) -> JobOut | None:
        """Return the job of an accepted quote, if its next step is to plan a visit and the viewer can do that."""
        can_plan = request.can_perform(plan_visit) and request.can_perform(get_job)
        if quote.acceptance is None or quote.job_id is None or not can_plan:
            return None
        job = await self.office.perform(request, get_job, {"jobId": quote.job_id})
        return job if job.stage and has_to_be_planned(job.stage) else None
