"""Customers who may be recorded twice, with links to merge them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mainstay.business.customers.duplicates import DuplicateCustomerOut, list_duplicate_customers
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.store import CUSTOMERS
from mainstay.doors.http import Response
from mainstay.doors.office.kit.list_address import ListAddress
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import verb_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.kernel.catalogue import check_permission
from mainstay.values.duplicate_keys import SharedDetail

PATH = f"{CUSTOMERS.path}/duplicates"
_MATCH_LABELS: dict[SharedDetail, str] = {
    "email": "email",
    "phone": "phone number",
    "taxNumber": "tax number",
    "name": "name",
    "address": "billing address",
}


@dataclass(frozen=True)
class DuplicatePages:
    """The page of likely duplicates."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of this page."""
        return [Route("GET", PATH, self.office.require_sign_in(self.show))]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show customers who may be recorded twice, the newest first."""
        check_permission(list_duplicate_customers, request.actor)
        address = ListAddress.parse(PATH, query_parameters(request.http_request), frozenset())
        page = await self.office.perform(request, list_duplicate_customers, address.list_input)
        return self.office.render_page(
            "duplicates.html",
            request,
            area="Customers",
            at=address,
            rows=[_describe_matches(row) for row in page.data],
            merge=verb_of(merge_customers) if request.can_perform(merge_customers) else None,
            next=address.next(page.data[-1].id) if page.has_more else None,
        )


def _describe_matches(row: DuplicateCustomerOut) -> dict[str, Any]:
    """Add what each likely duplicate has in common with the customer, in words."""
    others = [{**vars(other), "words": ", ".join(_MATCH_LABELS[one] for one in other.same)} for other in row.same_as]
    return {**vars(row), "same_as": others}
