"""What was worked and bought and is on no invoice yet, by job."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.invoices.operations import draft_invoice
from mainstay.business.jobs.model import TO_BILL
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.organisation.operations import get_organisation
from mainstay.doors.http import Response
from mainstay.doors.office.desk import Desk, Guest, status_of, wrong
from mainstay.doors.office.references import References, unchanged
from mainstay.doors.pages.asking import Asked, asked_of, usual
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Invalid

_PATH = "/hours/to-bill"
_PAGE = 50
_CUSTOMER = Asked("customerId", "Customer", None, "reference", required=False, refers="customer")
_NARROWED = ("customerId", "jobId", "startingAfter")


@dataclass(frozen=True)
class ToBill:
    """The page."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where it is."""
        return [Route("GET", _PATH, self.desk.signed_in(self.show))]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The jobs with something to bill; of which customer or job is in the address."""
        admit(list_unbilled, guest.actor)
        sent = unchanged([_CUSTOMER], query_words(guest.request))
        words = {name: text for name, text in sent.items() if name in _NARROWED and text}
        references = References(self.desk)
        [customer], fields = await references.offered(guest, [_CUSTOMER], words, None)
        found: dict[str, Any] = {"data": [], "hasMore": False}
        asked: Mapping[str, object] = {}
        refusal = None
        try:
            asked = await references.resolved(guest, [customer], words)
            found = await self.desk.perform(guest, list_unbilled, {**asked, "limit": _PAGE})
        except Invalid as invalid:
            refusal = invalid
        narrowed = {name: text for name, text in words.items() if name != "startingAfter"}
        whole = not found["hasMore"] and "startingAfter" not in words
        return self.desk.page(
            "to_bill.html",
            guest,
            status_of(refusal),
            area="Invoices",
            drafts=guest.may(draft_invoice),
            usual=usual(asked_of(draft_invoice, guest.actor.rights)),
            customer=customer,
            fields=defaultdict(str, fields),
            narrowed=narrowed,
            jobs=[{**job, "hours": _approved(job["id"])} for job in found["data"]],
            agreed=await self._agreed(guest, asked, found["data"]),
            total=str(sum(Decimal(job["amount"]) for job in found["data"])) if whole and found["data"] else None,
            first=_address(narrowed) if "startingAfter" in words else None,
            next=_address({**narrowed, "startingAfter": found["data"][-1]["id"]}) if found["hasMore"] else None,
            currency=(await self.desk.perform(guest, get_organisation))["currency"],
            **wrong(refusal),
        )

    async def _agreed(
        self, guest: Guest, asked: Mapping[str, object], listed: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """The jobs that are done and not invoiced, but for those that are listed with their hours and materials."""
        if "jobId" in asked or "startingAfter" in asked:
            return []
        of_customer = {name: value for name, value in asked.items() if name == "customerId"}
        page = await self.desk.perform(guest, list_jobs, {**of_customer, "stage": TO_BILL, "limit": _PAGE})
        known = {job["id"] for job in listed}
        return [job for job in page["data"] if job["id"] not in known]


def _approved(job: str) -> str:
    return f"/hours?{urlencode({'jobId': job, 'status': 'approved'})}"


def _address(asked: Mapping[str, str]) -> str:
    return _PATH + (f"?{urlencode(asked)}" if asked else "")
